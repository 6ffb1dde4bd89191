"""Repeated and heavy use of the same `MCSession` objects, by a separate program."""

import os
import subprocess

from . import peer
from .peer import expect

REUSE = peer.program("MultipeerReuse")


def run(*words, seconds=300):
    environment = dict(os.environ, MULTIPEER_INTERFACES="lo")
    done = subprocess.run([REUSE, *words], capture_output=True, timeout=seconds, env=environment)
    said = done.stdout.decode().strip()
    expect(done.returncode == 0, said or done.stderr.decode().strip()[-300:])
    return said


def session_reuse():
    """The same two MCSession objects connect and disconnect over and over, with transfers in flight: no resources remain"""
    return run("cycles", "200" if peer.FULL else "40")


def stopped_reader():
    """A delegate that does not return holds back its sender at a limit, where send fails, and memory is bounded"""
    return run("reader-that-stops")


def long_stream():
    """2 GiB through one stream: the speed does not decrease, and memory is bounded"""
    return run("long-stream", "2048")


def sudden_exit():
    """A process that calls exit(3) while files are in flight in many threads exits, and does not crash"""
    times = 50 if peer.FULL else 10
    for _ in range(times):
        run("exit", seconds=60)
    return f"{times} times"
