# SPDX-License-Identifier: MPL-2.0
"""Connecting and leaving, over and over, costs no memory: neither sections nor
transport streams, which the modules for other programs carry by the same calls.
"""
import gc
import os
import socket

import perigee
import pytest

CYCLES = 1000
SETTLED = 300
#: Less than two pages for every cycle that leaked anything.
GROWTH = 2 << 20


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


pytestmark = pytest.mark.skipif("PERIGEE_LONG" not in os.environ,
                                reason="takes long; set PERIGEE_LONG")


async def test_a_thousand_connections_leave_no_memory_behind():
    before = 0
    async with perigee.listen("tltcp://127.0.0.1:0?mode=listener") as listener:
        for cycle in range(CYCLES):
            async with perigee.connect(
                    f"tltcp://127.0.0.1:{listener.port}") as caller:
                async with await listener.accept() as callee:
                    await caller.send(b"x" * 2000)
                    await callee.recv()
                    await caller.close(0)
            if cycle == SETTLED:
                gc.collect()
                before = resident()
    gc.collect()
    assert resident() - before < GROWTH


def test_a_thousand_live_streams_leave_no_memory_behind():
    before = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    packet = bytes([0x47, 0x41, 0, 0x10]) + bytes(184)
    for cycle in range(CYCLES):
        with perigee.open(f"tltcp://127.0.0.1:{port}?mode=listener") as reader:
            with perigee.open(f"tltcp://127.0.0.1:{port}", "wb") as writer:
                writer.write(packet)
                assert reader.name
        if cycle == SETTLED:
            gc.collect()
            before = resident()
    gc.collect()
    assert resident() - before < GROWTH
