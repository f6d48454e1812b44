# SPDX-License-Identifier: MPL-2.0
"""Every test ends with the threads and descriptors that it began with.

libuv opens a pipe and begins its pool of threads for files once in a process.
"""
import asyncio
import gc
import inspect
import os
import threading
import time

import perigee.saratoga
import pytest

LIMIT = 500 if "PERIGEE_LONG" in os.environ else 60


def pytest_pyfunc_call(pyfuncitem):
    """Tests that are coroutines, each in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), LIMIT))
    return True


def _threads():
    return len(os.listdir("/proc/self/task"))


def _await_threads(most):
    """A thread that was joined stays in the kernel's list for a moment."""
    end = time.monotonic() + LIMIT
    while _threads() > most:
        assert time.monotonic() < end, f"{_threads()} threads, {most} before"
        time.sleep(0.001)


async def _transfer(folder):
    (folder / "a").write_bytes(b"a")
    async with perigee.saratoga.serve(folder, host="127.0.0.1",
                                      port=0) as server:
        await perigee.saratoga.get(f"saratoga://127.0.0.1:{server.port}/a",
                                   folder / "b")


@pytest.fixture(autouse=True, scope="session")
def libuv_has_begun(tmp_path_factory):
    asyncio.run(_transfer(tmp_path_factory.mktemp("first")))


@pytest.fixture(autouse=True)
def nothing_left_behind():
    gc.collect()
    threads, descriptors = _threads(), len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert threading.active_count() == 1
    _await_threads(threads)
    assert len(os.listdir("/proc/self/fd")) <= descriptors
