# SPDX-License-Identifier: MPL-2.0
"""Calls that block, each in a thread that is gone when the call is over."""
from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T],
                    on_cancel: Callable[[], Any] | None = None) -> T:
    """Runs ``work`` in a thread and waits for it, even when cancelled:
    ``on_cancel`` is to make it end soon then."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    outcome: list[Any] = [None, None]

    def tell() -> None:
        if not done.done():
            done.set_result(None)

    def run() -> None:
        try:
            outcome[0] = work()
        except BaseException as failure:  # it belongs to the caller
            outcome[1] = failure
        loop.call_soon_threadsafe(tell)

    thread = threading.Thread(target=run, name="perigee", daemon=True)
    thread.start()
    cancelled: asyncio.CancelledError | None = None
    while not done.done():
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError as reason:
            cancelled = reason
            if on_cancel:
                on_cancel()
    thread.join()
    if cancelled:
        raise cancelled
    if outcome[1]:
        raise outcome[1]
    return outcome[0]
