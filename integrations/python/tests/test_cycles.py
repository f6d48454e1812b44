# SPDX-License-Identifier: MPL-2.0
"""Connecting and leaving, over and over, costs no memory."""
import gc
import os

import perigee
import pytest

CYCLES = 1000
SETTLED = 300
#: Less than two pages for every cycle that leaked anything.
GROWTH = 2 << 20


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif("PERIGEE_LONG" not in os.environ,
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
