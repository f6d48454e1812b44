# SPDX-License-Identifier: MPL-2.0
"""Files over loopback."""
import asyncio
import os

import perigee
import pytest
from perigee import saratoga

HERE = "127.0.0.1"


def served(tmp_path, **options):
    folder = tmp_path / "served"
    folder.mkdir(exist_ok=True)
    return folder, saratoga.serve(folder, host=HERE, port=0, **options)


def url(server, path):
    return f"saratoga://{HERE}:{server.port}/{path}"


async def test_a_file_is_fetched_and_verified(tmp_path):
    folder, serving = served(tmp_path)
    content = os.urandom(300000)
    (folder / "a file.bin").write_bytes(content)
    seen = []
    async with serving as server:
        report = await saratoga.get(url(server, "a%20file.bin"),
                                    tmp_path / "copy.bin",
                                    progress=seen.append)
    assert (tmp_path / "copy.bin").read_bytes() == content
    assert report.verified and report.bytes == len(content)
    assert report.checksum == "md5"


async def test_a_file_is_sent_and_listed(tmp_path):
    folder, serving = served(tmp_path, write=True)
    source = tmp_path / "source.bin"
    source.write_bytes(b"x" * 100001)
    async with serving as server:
        report = await saratoga.put(source, url(server, "dir.bin"),
                                    checksum="sha1")
        listed = await saratoga.ls(url(server, ""))
    assert (folder / "dir.bin").read_bytes() == source.read_bytes()
    assert report.bytes == 100001
    assert [(entry.path, entry.size, entry.directory) for entry in listed] == [
        ("dir.bin", 100001, False)]


async def test_a_file_that_is_not_there_is_refused_with_the_cause(tmp_path):
    _, serving = served(tmp_path)
    async with serving as server:
        with pytest.raises(perigee.Refused):
            await saratoga.get(url(server, "nothing"), tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


async def test_a_secured_server_refuses_a_peer_without_the_passphrase(
        tmp_path):
    folder, serving = served(tmp_path, passphrase="correct horse")
    (folder / "secret").write_bytes(b"secret")
    async with serving as server:
        await saratoga.get(url(server, "secret"), tmp_path / "got",
                           passphrase="correct horse")
        with pytest.raises(perigee.Error):
            await saratoga.get(url(server, "secret"), tmp_path / "stolen",
                               passphrase="wrong horse")
    assert (tmp_path / "got").read_bytes() == b"secret"
    assert not (tmp_path / "stolen").exists()


async def test_a_cancelled_transfer_ends_soon(tmp_path):
    folder, serving = served(tmp_path, rate=1_000_000)  # who sends sets it
    (folder / "large").write_bytes(bytes(50_000_000))
    begun = asyncio.Event()
    async with serving as server:
        task = asyncio.create_task(saratoga.get(
            url(server, "large"), tmp_path / "large",
            progress=lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not (tmp_path / "large").exists()


async def test_files_are_deleted(tmp_path):
    folder, serving = served(tmp_path, delete=True)
    (folder / "old").write_bytes(b"old")
    async with serving as server:
        await saratoga.rm(url(server, "old"))
    assert not (folder / "old").exists()


async def test_all_after_the_host_is_the_path(tmp_path):
    folder, serving = served(tmp_path, delete=True)
    names = ["a", "a#1", "a?b", "a;b", "a b\n", os.fsdecode(b"caf\xe9")]
    for name in names:
        (folder / name).write_text(name, errors="surrogateescape")
    async with serving as server:
        await saratoga.get(url(server, "a#1"), tmp_path / "hash")
        await saratoga.get(url(server, "caf%E9"), tmp_path / "latin")
        for path in "a#1", "a?b", "a;b", "a%20b%0A", os.fsdecode(b"caf\xe9"):
            await saratoga.rm(url(server, path))
    assert (tmp_path / "hash").read_text() == "a#1"
    assert (tmp_path / "latin").read_bytes() == b"caf\xe9"
    assert os.listdir(folder) == ["a"]


async def test_a_zero_octet_in_a_name_is_refused(tmp_path):
    folder, serving = served(tmp_path, delete=True)
    (folder / "a").write_text("a")
    async with serving as server:
        for path in "a\0b", "a%00b":
            with pytest.raises(perigee.OptionError, match="zero octet"):
                await saratoga.rm(url(server, path))
        with pytest.raises(perigee.OptionError, match="zero octet"):
            await saratoga.get(url(server, "a"), str(tmp_path / "b\0c"))
        with pytest.raises(perigee.OptionError, match="zero octet"):
            await saratoga.rm(url(server, "a"), passphrase="secret\0more")
    assert os.listdir(folder) == ["a"]
    assert not (tmp_path / "b").exists()


async def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    folder, serving = served(tmp_path, delete=True)
    (folder / "100%").write_text("a")
    async with serving as server:
        with pytest.raises(perigee.OptionError, match="hexadecimal digits"):
            await saratoga.rm(url(server, "100%"))
        with pytest.raises(perigee.OptionError, match="UTF-8"):
            await saratoga.rm(url(server, "a\ud800"))
        with pytest.raises(perigee.OptionError, match="UTF-8"):
            await saratoga.rm(url(server, "a"), passphrase="secret\ud800")
    assert os.listdir(folder) == ["100%"]


async def test_a_folder_that_is_not_there_cannot_be_served(tmp_path):
    with pytest.raises(perigee.Error, match="nowhere"):
        async with saratoga.serve(tmp_path / "nowhere", host=HERE, port=0):
            pass


@pytest.mark.parametrize("wrong, told", [
    ("http://host/file", "must begin with saratoga://"),
    ("saratoga:///file", "host is missing"),
    ("saratoga://host:99999/file", "Port"),
    ("saratoga://host:0/file", "port cannot be 0"),
    ("saratoga://user@host/file", "no user"),
    ("saratoga://host?file", "host name"),
    ("saratoga://ho\0st/file", "host name"),
])
async def test_a_wrong_url_is_refused(wrong, told):
    with pytest.raises(perigee.OptionError, match=told):
        await saratoga.get(wrong, "file")


async def test_wrong_options_are_refused_with_the_choice():
    with pytest.raises(perigee.OptionError, match="crc32c"):
        await saratoga.get("saratoga://host/file", "file", checksum="crc")
    with pytest.raises(perigee.OptionError, match="cubic"):
        await saratoga.get("saratoga://host/file", "file", congestion="fast2")
