"""Jobs: calls that run in processes of their own, each with networks, processes and a /proc of its own, several at once.

A job is the first process of a PID namespace: when it ends, or is killed at the end of its time, the kernel kills everything that
it has started, and its networks are gone with it. It gets its call on its standard input and answers on its standard output. """

import importlib
import json
import os
import selectors
import subprocess
import sys
import time
import traceback

from network import Unavailable, tool
from stage import Failure

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
# Kill the job when this process ends, in whatever way.
PREFIX = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child"]


class Job:
    """A call `MODULE.FUNCTION(report, **arguments)`. `longest`: its seconds at most. `weight`: of how many programs."""

    def __init__(self, function, longest, weight, /, **arguments):
        self.function, self.longest, self.weight, self.arguments = function, longest, weight, arguments
        # What it has returned; or why it was skipped, or failed.
        self.value = self.skipped = self.failed = None
        self.is_over, self.unread = False, b""

    def __str__(self):
        return f"{self.function} " + " ".join(f"{name}={value}" for name, value in self.arguments.items())


class Pool:
    """Runs jobs at once whose weights are at most `capacity` together."""

    def __init__(self, capacity, report):
        self.capacity, self.report = capacity, report
        self._selector = selectors.DefaultSelector()
        self._running = {}

    def run(self, jobs, after):
        """Runs all jobs, those that take longest first; calls `after` after each."""
        waiting = sorted(jobs, key=lambda job: -job.longest)
        try:
            while waiting or self._running:
                used = sum(job.weight for job in self._running)
                for job in list(waiting):
                    if used == 0 or used + job.weight <= self.capacity:
                        waiting.remove(job)
                        self._start(job)
                        used += job.weight
                for key, _ in self._selector.select(1):
                    self._read(*key.data)
                for job, (process, deadline) in list(self._running.items()):
                    if time.monotonic() > deadline:
                        self._end(job, process)
                        job.failed = f"it did not end within {job.longest} s"
                    if job.is_over or job.failed is not None:
                        self._end(job, process)
                        after(job)
        finally:
            for job, (process, _) in list(self._running.items()):
                self._end(job, process)

    def _start(self, job):
        process = subprocess.Popen([tool(PREFIX[0]), *PREFIX[1:], sys.executable, RUN, "--job"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        process.stdin.write(json.dumps([job.function, job.arguments]).encode())
        process.stdin.close()
        self._running[job] = process, time.monotonic() + job.longest
        self._selector.register(process.stdout, selectors.EVENT_READ, (job, process))

    def _read(self, job, process):
        read = os.read(process.stdout.fileno(), 65_536)
        if not read and not job.is_over and job.failed is None:
            job.failed = f"the job has ended with {process.wait()}"
        *lines, job.unread = (job.unread + read).split(b"\n")
        for line in lines:
            what, value = json.loads(line)
            if what == "report":
                self.report(f"{job.function}: {value}")
            else:
                setattr(job, what, value)
                job.is_over = True

    def _end(self, job, process):
        if self._running.pop(job, None) is None:
            return
        self._selector.unregister(process.stdout)
        process.stdout.close()
        process.kill()
        process.wait()


def carry_out():
    """What the process of a job does."""
    def answer(what, value):
        os.write(1, json.dumps([what, value]).encode() + b"\n")

    function, arguments = json.load(sys.stdin)
    module, name = function.split(".")
    try:
        answer("value", getattr(importlib.import_module(module), name)(lambda text: answer("report", text), **arguments))
    except Unavailable as reason:
        answer("skipped", str(reason))
    except Failure as reason:
        answer("failed", str(reason))
    except Exception:
        answer("failed", " / ".join(traceback.format_exc().strip().splitlines()[-3:]))
