"""The conformance suite against the library's own shim, and against the suite's own peer with each of its faults."""

import re
import subprocess

from . import peer
from .peer import CONFORM, expect


def conformance():
    """The library passes the quick cases of the conformance suite"""
    if not peer.FULL:
        return _run(["run", "--quick", "--jobs", "4"], 120)
    runs = [_run(["run", "--jobs", "4", "--seed", str(seed)], 900) for seed in (1, 2, 3)]
    return "; ".join(runs)


def conformance_selftest():
    """The conformance suite finds the faults of a deliberately broken peer"""
    if peer.FULL:
        return _run(["selftest", "--jobs", "4"], 3_600)
    # A fault of each kind: in cryptography, a limit, a path, a notification.
    faults = ["mac-role-wrong", "ignores-fingerprint", "no-credit-check", "path-of-name", "two-links-per-pair"]
    return _run(["selftest", *(word for fault in faults for word in ("--bug", fault))], 120)


def _run(words, seconds):
    """Returns its last line; raises with what failed."""
    try:
        done = subprocess.run([CONFORM, *words], capture_output=True, timeout=seconds, text=True)
    except subprocess.TimeoutExpired:
        raise peer.Failure(f"not over after {seconds} s") from None
    wrong = re.findall(r"^(?:FAIL|FAULT|missed) .*$", done.stderr, re.MULTILINE)
    expect(done.returncode == 0, "; ".join(wrong[:5]) or f"exit code {done.returncode}: {done.stderr[-300:]}")
    said = [line for line in done.stdout.splitlines() if "; seed " in line]
    expect(said, "it does not print how many cases passed")
    return said[-1]
