# SPDX-License-Identifier: MPL-2.0
"""Runs experiments side by side and keeps what they gave."""
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile


@dataclasses.dataclass(frozen=True)
class Job:
    """A run of a scenario with some of its parameters set."""
    scenario: str
    params: tuple = ()

    @classmethod
    def of(cls, scenario, **params):
        return cls(scenario, tuple(sorted(
            (k, format(v, ".12g") if isinstance(v, float) else str(v))
            for k, v in params.items())))


@dataclasses.dataclass(frozen=True)
class Ns2Job(Job):
    """A run of a script of sim/ns2 by ns-2, where that is installed."""


@dataclasses.dataclass(frozen=True)
class Ns3Job(Job):
    """A run of a scenario with ns-3 as the network, where that is there.
    native_GROUP=TYPE lets a TCP of ns-3 play a group of flows."""

    @classmethod
    def of(cls, scenario, **params):
        return super().of(scenario, **{
            k.replace("native_", "native."): v for k, v in params.items()})


@dataclasses.dataclass(frozen=True)
class TrialJob(Job):
    """A run with an engine that a patch of sim/trials has changed, where that
    was built."""
    trial: str = ""

    @classmethod
    def of(cls, scenario, *, trial, **params):
        return cls(scenario, Job.of(scenario, **params).params, trial)


def pacing(controller):
    """The TCPs of the papers do not pace; what cannot do without does."""
    return "on" if controller == "bbr" else "off"


class Run:
    """The results of one run."""

    def __init__(self, lines):
        self.lines = lines

    def flows(self, name=None, period=0):
        return [x for x in self.lines if x["kind"] == "flow" and
                x["period"] == period and name in (None, x["flow"])]

    def link(self, a, b, period=0):
        return next(x for x in self.lines if x["kind"] == "link" and
                    x["period"] == period and x["from"] == a and x["to"] == b)

    def samples(self, name, index=0):
        return [x for x in self.lines if x["kind"] == "sample" and
                x["flow"] == name and x["index"] == index]

    def segments(self, name=None, period=0):
        """Full packets' worth of data acknowledged, per flow."""
        return [x["segments"] for x in self.flows(name, period)]

    def received(self, name=None, period=0):
        """Data packets that reached the receivers, per flow."""
        return [x["arrived_full"] for x in self.flows(name, period)]


def timed(command, out):
    """Runs a command; its exit code, what it says on stderr, and the processor
    time that it took."""
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL,
                              stderr=said) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return (child.returncode, said.read().decode(errors="replace").strip(),
                usage.ru_utime + usage.ru_stime)


def parse_ns2(text):
    """Lines of key=value, as the scripts of sim/ns2 print them."""
    lines = []
    for line in text.splitlines():
        words = [w.split("=", 1) for w in line.split() if "=" in w]
        if words:
            lines.append({"kind": "ns2"} | {
                k: float(v) if _is_number(v) else v for k, v in words})
    return lines


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


class Lab:
    """Knows the programs, the scenarios and the results."""

    def __init__(self, root, build, results):
        self.root = root
        self.simulate = build / "sim" / "simulate"
        self.results = pathlib.Path(results)
        self.ns2 = shutil.which("ns")
        self.ns3 = build / "sim" / "ns3" / "simulate-ns3"
        self.trials = build / "trials"
        if not self.simulate.is_file():
            sys.exit(f"reproduce: {self.simulate} is not there; "
                     "./dev build makes it")

    # ---- what to run ----

    @functools.lru_cache(maxsize=None)
    def _digest(self, path):
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()

    def _file(self, job):
        if isinstance(job, Ns2Job):
            return self.root / "sim" / "ns2" / f"{job.scenario}.tcl"
        return self.root / "sim" / "scenarios" / f"{job.scenario}.scn"

    def _program(self, job):
        if isinstance(job, Ns2Job):
            return self.ns2
        if isinstance(job, TrialJob):
            return self.trials / job.trial / "sim" / "simulate"
        return self.ns3 if isinstance(job, Ns3Job) else self.simulate

    def key(self, job):
        """Changes with the program, the scenario and its parameters."""
        parts = [self._digest(os.path.realpath(self._program(job))),
                 self._digest(self._file(job)), *map("=".join, job.params)]
        if isinstance(job, Ns2Job):
            parts.append(self._digest(self.root / "sim/ns2/common.tcl"))
        if isinstance(job, TrialJob):
            parts.append(self._digest(
                self.root / "sim" / "trials" / f"{job.trial}.patch"))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]

    def can_run(self, job):
        if isinstance(job, (Ns3Job, TrialJob)):
            return self._program(job).is_file()
        return self.ns2 is not None or not isinstance(job, Ns2Job)

    def absent(self, jobs):
        """What is not there of what jobs need."""
        names = {Ns2Job: "ns-2", Ns3Job: "ns-3",
                 TrialJob: "engines changed for trials"}
        missing = {type(j) for j in jobs if not self.can_run(j)}
        return " and ".join(f"no {words}" for kind, words in names.items()
                            if kind in missing)

    def command(self, job):
        params = ["=".join(p) for p in job.params]
        return [str(self._program(job)), str(self._file(job)), *params]

    def distinct(self, plans):
        """All jobs of some plans, each once, by key."""
        jobs = {}
        for plan in plans:
            for job in plan.values():
                if self.can_run(job):
                    jobs.setdefault(self.key(job), job)
        return jobs

    # ---- results ----

    def path(self, key):
        return self.results / f"{key}.jsonl"

    def cost_path(self, key):
        return self.results / f"{key}.seconds"

    def cost(self, jobs):
        """Processor time that the results of some jobs took, s."""
        return sum(float(self.cost_path(k).read_text(encoding="utf-8"))
                   for k in jobs if self.cost_path(k).is_file())

    def missing(self, jobs):
        return {k: j for k, j in jobs.items() if not self.path(k).is_file()}

    def load(self, job):
        path = self.path(self.key(job))
        text = path.read_text(encoding="utf-8")
        try:
            lines = parse_ns2(text) if isinstance(job, Ns2Job) else [
                json.loads(line) for line in text.splitlines()]
            if lines[-1]["kind"] in ("end", "ns2"):
                return Run(lines)
        except (ValueError, LookupError, TypeError):
            pass
        sys.exit(f"reproduce: {path} is not a complete result of "
                 f"{shlex.join(self.command(job))}; remove it and run again")

    # ---- running ----

    def run(self, key, job):
        """Runs a job; its result appears whole or not at all."""
        self.results.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=key, suffix=".part",
                                        dir=self.results)
        try:
            with os.fdopen(handle, "wb") as out:
                code, why, seconds = timed(self.command(job), out)
                os.fsync(out.fileno())  # whole before it has its name
            if code != 0:
                return why or f"ended with {code}"
            self.cost_path(key).write_text(f"{seconds:.3f}\n", encoding="utf-8")
            os.replace(name, self.path(key))
            return None
        finally:
            if os.path.exists(name):
                os.unlink(name)

    def run_one(self, jobs, key):
        if key not in jobs:
            return f"reproduce: no job {key} among these pages"
        wrong = None if self.path(key).is_file() else self.run(key, jobs[key])
        return f"reproduce: {shlex.join(self.command(jobs[key]))}: {wrong}" \
            if wrong else 0

    def run_all(self, jobs, at_once):
        todo = self.missing(jobs)
        bar = Bar(len(todo), len(jobs) - len(todo))
        wrong = []
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            futures = {pool.submit(self.run, k, j): j for k, j in todo.items()}
            try:
                for future in concurrent.futures.as_completed(futures):
                    job = futures[future]
                    bar.step(job.scenario)
                    if future.result() is not None:
                        wrong.append((job, future.result()))
                        pool.shutdown(wait=False, cancel_futures=True)
                        break
            except OSError:  # a full disk, say
                pool.shutdown(wait=False, cancel_futures=True)
                bar.end()
                raise
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                bar.end()
                sys.exit("reproduce: interrupted; the same command goes on "
                         "from here")
        bar.end()
        for job, why in wrong:
            sys.exit(f"reproduce: {shlex.join(self.command(job))}: {why}")

    def print_jobs(self, jobs, arguments):
        program = self.root / "sim" / "reproduce"
        build = self.simulate.parent.parent.resolve()
        for key in self.missing(jobs):
            print(f"PERIGEE_BUILD_DIR={shlex.quote(str(build))} " + shlex.join(
                [str(program), *arguments, "--job", key]))


class Bar:
    """Tells on stderr how far it is."""
    WIDTH = 30

    def __init__(self, total, known):
        self.total = total
        self.done = 0
        self.live = sys.stderr.isatty()
        if known:
            print(f"reproduce: {known} results are there already",
                  file=sys.stderr)
        if total:
            print(f"reproduce: {total} runs", file=sys.stderr)

    def step(self, what):
        self.done += 1
        if self.live:
            full = self.WIDTH * self.done // self.total
            print(f"\r[{'#' * full}{'.' * (self.WIDTH - full)}] "
                  f"{self.done}/{self.total} {what[:30]:30}", end="",
                  file=sys.stderr, flush=True)
        elif self.done * 10 // self.total != (self.done - 1) * 10 // self.total:
            print(f"reproduce: {self.done} of {self.total}", file=sys.stderr)

    def end(self):
        if self.live and self.done:
            print(file=sys.stderr)
