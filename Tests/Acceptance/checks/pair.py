"""Two applications of Apple's API that find each other and connect, as fresh processes."""

import json
import os
import random
import string
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager

from . import peer
from .peer import Failure, expect

PAIR = peer.program("MultipeerPair")

# How many pairs of processes are started, in a row.
STARTS = int(os.environ.get("STARTS", "0"))
MOST_GROWTH = 32


class Companion(peer.Process):
    """One of the two processes."""

    def __init__(self, directory, name, *words):
        self.name = name
        self.log = os.path.join(directory, name + ".log")
        environment = dict(os.environ, MULTIPEER_INTERFACES="lo", TMPDIR=directory)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([PAIR, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                            env=environment)
        peer.register(self)
        self.outcome = ""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        self.outcome = self.process.stdout.readline().decode().strip()

    def await_outcome(self, deadline):
        """Returns what it reports."""
        self.reader.join(max(0, deadline - time.monotonic()))
        expect(self.outcome.startswith("done: "), f"{self.name}: {self.outcome or 'no outcome in time'}")
        return self.outcome.removeprefix("done: ")

    def finish(self):
        self.process.stdin.close()
        expect(self.end() == 0, f"{self.name} ended with {self.process.returncode}")
        self.process.stdout.close()

    def give_up(self):
        self.kill()
        self.end()

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()


def together(directory, commands, seconds):
    """Runs both, each with its own command and argument; returns what each reports."""
    kind = "p-" + "".join(random.choices(string.ascii_lowercase, k=10))
    both = [Companion(directory, name, command, name, kind, word)
            for name, (command, word) in zip(("one", "other"), commands)]
    deadline = time.monotonic() + seconds
    try:
        outcomes = [companion.await_outcome(deadline) for companion in both]
        for companion in both:
            companion.finish()
        return outcomes
    except Failure:
        for companion in both:
            companion.give_up()
        raise


@contextmanager
def load(count):
    """Processes that only compute, and give way to all others."""
    busy = [subprocess.Popen(["nice", "-n", "15", "sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def facade_starts():
    """Two fresh processes that advertise, browse and invite each other at once are both connected, and a message arrives each
    way, in every start, although four other processes compute; with sessions made before, or inside the first delegate call"""
    count = STARTS or (2_000 if peer.FULL else 40)
    longest, failures, began = 0, [], time.monotonic()
    with load(4):
        for number in range(count):
            shape = "eager" if number % 2 == 0 else "lazy"
            begun = time.monotonic()
            # Kept if the start fails.
            directory = tempfile.mkdtemp(prefix="start-")
            try:
                together(directory, [("meet", shape)] * 2, 20)
            except Failure as failure:
                failures.append(f"start {number}, {shape}: {failure} ({directory})")
                continue
            longest = max(longest, time.monotonic() - begun)
            for name in os.listdir(directory):
                os.remove(os.path.join(directory, name))
            os.rmdir(directory)
    expect(not failures, f"{len(failures)} of {count} failed: {'; '.join(failures[:5])}")
    mean = (time.monotonic() - began) / count
    return f"{count} starts, half of them of each shape; {mean:.2f} s each with both processes, the longest {longest:.2f} s"


def facade_short_streams():
    """Streams that are opened, carry a few bytes and are closed, one after the other, between two processes: no memory,
    descriptor, thread or stream remains at either side"""
    count = 10_000 if peer.FULL else 2_000
    with tempfile.TemporaryDirectory() as directory:
        begun = time.monotonic()
        figures = together(directory, [("write-streams", str(count)), ("read-streams", str(count))], 600)
        passed = time.monotonic() - begun
    return f"{count} streams in {passed:.1f} s; writer: {figures[0]}; reader: {figures[1]}"


def facade_large_file():
    """A file sent as a resource arrives unchanged; neither process grows by 32 MiB, and the progress of each changes at least
    ten times a second, never backwards, and is complete at the end"""
    size = (1 << 30) if peer.FULL else (256 << 20)
    with tempfile.TemporaryDirectory() as directory:
        source, copy = os.path.join(directory, "source"), os.path.join(directory, "copy")
        with open(source, "wb") as file:
            for _ in range(size >> 22):
                file.write(os.urandom(1 << 22))
        told = [json.loads(text) for text in together(directory, [("send-file", source), ("receive-file", copy)], 300)]
        same = subprocess.run(["cmp", source, copy], capture_output=True, timeout=60)
        expect(same.returncode == 0, f"not equal: {same.stdout.decode()}{same.stderr.decode()}")
    lines = []
    for name, side in zip(("sender", "receiver"), told):
        growth, rate = side["peak"] - side["before"], side["changes"] / side["seconds"]
        lines.append(f"{name}: grown by {growth} MiB from {side['before']} MiB, {rate:.1f} changes of progress a second, the "
                     f"longest pause {side['longest']:.3f} s")
        expect(growth < MOST_GROWTH, lines[-1])
        expect(rate >= 10, lines[-1])
        expect(side["forwards"], f"{name}: the progress went back")
        expect(side["finished"] and side["fraction"] == 1 and side["total"] == size, f"{name}: not complete: {side}")
    return f"{size >> 20} MiB in {max(side['seconds'] for side in told):.1f} s; {'; '.join(lines)}"
