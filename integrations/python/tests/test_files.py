# SPDX-License-Identifier: MPL-2.0
"""Transport streams as file objects."""
import socket
import threading

import perigee
import pytest


def packets(count):
    """A transport stream of one program element, a unit in seven packets."""
    return b"".join(
        bytes([0x47, 0x41 if i % 7 == 0 else 0x01, 0, 0x10 | i % 16]) +
        i.to_bytes(4, "big") + bytes(180) for i in range(count))


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_what_is_written_is_read():
    stream = packets(7 * 400)
    port = free_port()
    got = []

    def read():
        with perigee.open(f"tltcp://127.0.0.1:{port}?mode=listener") as file:
            while part := file.read(65536):
                got.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    with perigee.open(f"tltcp://127.0.0.1:{port}", "wb",
                      deadline_mode="none") as file:
        while file.stats()["connected"] == 0:
            threading.Event().wait(0.01)  # until then it is let go
        for at in range(0, len(stream), 1316):
            assert file.write(stream[at:at + 1316]) == 1316
    reader.join()
    assert b"".join(got) == stream


def test_a_file_of_the_wrong_kind_is_refused():
    with pytest.raises(ValueError, match="mode"):
        perigee.open("tltcp://127.0.0.1:1", "r+b")
    with perigee.open("tltcp://127.0.0.1:0?mode=listener") as file:
        with pytest.raises(OSError):
            file.write(b"x")


def test_a_reader_that_is_refused_says_why():
    with perigee.open(f"tltcp://127.0.0.1:{free_port()}",
                      auto_reconnect=False) as file:
        with pytest.raises(perigee.Refused):
            file.read(1)


def test_a_closed_file_is_an_error():
    file = perigee.open("tltcp://127.0.0.1:0?mode=listener")
    file.close()
    with pytest.raises(ValueError):
        file.read(1)
