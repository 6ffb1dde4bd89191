"""Actions repeated very often, by a separate program."""

import subprocess

from . import peer
from .peer import ENDURANCE, expect


def run(*words, seconds=120):
    done = subprocess.run([ENDURANCE, *words], capture_output=True, timeout=seconds)
    said = done.stdout.decode().strip()
    expect(done.returncode == 0, said or done.stderr.decode().strip()[-300:])
    return said


def rounds():
    """Both sides dial at once, hundreds of times with random skew: one link, the same at both ends"""
    return run("rounds", "1000" if peer.FULL else "300")


def mutual_invitations():
    """Two peers invite each other at once, both accept, or one declines, is slow or cancels: one link, or a clean refusal"""
    return run("mutual-invitations", "1000" if peer.FULL else "200", seconds=600)


def cycles():
    """Connecting and disconnecting the same sessions 200 times leaks no resources"""
    return run("cycles", "200")
