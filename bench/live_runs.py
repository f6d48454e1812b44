# SPDX-License-Identifier: MPL-2.0
"""Runs of ./dev bench live: some at a time, each on a link of its own."""
import concurrent.futures
import contextlib
import os
import shutil
import time

import demo
import live_quality
import measure

OVERHEAD_S = 5    # of a run beside the stream: starting, ending, looking at it
HELD_UP_S = 0.05  # by a busy machine: more spoils a run, and it is made again
PER_CORE = 2      # runs that one idle processor carries


def idle_processors(seconds=2):
    """How many processors have had nothing to do."""
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            numbers = [int(n) for n in file.readline().split()[1:9]]
        return numbers[3] + numbers[4], sum(numbers)

    before = read()
    time.sleep(seconds)
    idle, total = (b - a for a, b in zip(before, read()))
    return os.cpu_count() * idle / max(1, total)


class Pool:
    """Makes runs, and ends them when it is left."""

    def __init__(self, jobs, command, keep):
        self.executor = concurrent.futures.ThreadPoolExecutor(jobs)
        self.command, self.keep = command, keep
        self.running = set()
        self.ending = False
        self.again = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending = True
        self.executor.shutdown(wait=False, cancel_futures=True)
        for process in list(self.running):
            process.terminate()
        self.executor.shutdown()

    def submit(self, which, spec):
        return self.executor.submit(self.make, which, spec)

    @staticmethod
    def done(run):
        """A run that was made before."""
        future = concurrent.futures.Future()
        future.set_result(run)
        return future

    def attempt(self, which, spec):
        process = demo.start(self.command(spec))
        self.running.add(process)
        try:
            return finish(which, spec, demo.collect(process))
        finally:
            self.running.discard(process)
            if not self.keep:
                with contextlib.suppress(OSError):
                    shutil.rmtree(spec["dir"])

    def make(self, which, spec):
        """A run that the machine disturbed, or that failed, is made again; of
        two disturbed ones the better counts."""
        first = self.attempt(which, spec)
        if first.get("held_up", 1) <= HELD_UP_S or self.ending:
            return first
        self.again += 1
        second = self.attempt(which, spec)
        return min((second, first), key=lambda r: r.get("held_up", 1e9))


def finish(which, spec, result):
    """Adds what needs the pictures, and the bound; drops what is bulky."""
    result["key"] = spec["key"]
    if "error" in result:
        return result
    frames = result.pop("sent")
    best = measure.at_best(frames, which.share_bps(spec["seconds"]),
                           spec["latency_ms"] / 1e3)
    result["bound"] = sum(best.values())
    for kind, row in result["classes"].items():
        row["bound"] = best[kind]
    result["of_bound"] = result["frames"]["all"]["decodable"] / result["bound"]
    result["beyond_of_bound"] = result["beyond_path"] / result["bound"]
    result.update(live_quality.after_concealment(spec["clip"], frames))
    del result["series"]
    return result
