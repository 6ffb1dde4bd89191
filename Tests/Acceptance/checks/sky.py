"""The example `sky`: the same answer whichever process scans, and how much faster several processes are than one."""

import os
import re
import resource
import statistics
import subprocess
import time

from . import peer
from .peer import expect
from .processors import MUCH, Others

SKY = peer.program("sky")


class Run:
    """One complete run: its answer, the time that it reports, and the processor time of it and its workers."""

    def __init__(self, *words, seconds=180):
        before = self._used()
        # Two processors, however many there are: the limits are made for two.
        done = subprocess.run([SKY, *words], capture_output=True, timeout=seconds,
                              preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2]))
        self.used = self._used() - before
        self.lines = done.stdout.decode().splitlines()
        expect(done.returncode == 0, f"sky {' '.join(words)}: {done.stderr.decode().strip()[-300:]}")
        self.answer = next(line for line in self.lines if "fingerprint" in line)
        self.seconds = int(re.fullmatch(r"(\d+) ms in total", self.lines[-1])[1]) / 1000

    @staticmethod
    def _used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


def sky_answers():
    """Clouds, a slow worker and one that is killed change nothing of what sky finds, and each tile is counted once"""
    what = ("--tiles", "200", "--size", "128", "--wait", "20")
    answer = Run("--workers", "0", *what).answer
    for more in ((), ("--fail", "20"), ("--slow", "200"), ("--kill", "50"), ("--kill", "1", "--fail", "200")):
        run = Run("--workers", "3", *what, *more)
        expect(run.answer == answer, f"{' '.join(more)}: {run.answer}, not {answer}")
        tiles = [int(match[1]) for match in map(re.compile(r"tile (\d+), .* stars, .*").fullmatch, run.lines) if match]
        expect(sorted(tiles) == list(range(200)), f"{' '.join(more)}: {len(tiles)} tiles were counted")
        expect("--kill" not in more or any(" was lost, " in line for line in run.lines), "no worker was lost")
    return answer


def sky_waiting():
    """With 3 workers sky is at least twice as fast as without where tiles wait for something other than the processor"""
    what = ("--tiles", "120", "--size", "128", "--wait", "100")
    pairs = [(Run("--workers", "0", *what), Run("--workers", "3", *what)) for _ in range(7 if peer.FULL else 3)]
    alone, together = (statistics.median(run.seconds for run in runs) for runs in zip(*pairs))
    expect(alone >= 2 * together, f"{alone:.2f} s alone, {together:.2f} s with 3 workers")
    return f"{alone:.2f} s alone, {together:.2f} s with 3 workers: {alone / together:.1f} times as fast"


def sky_computing():
    """Where tiles need nothing but the processor, sky with 3 workers takes 2 processors at 0.9 of what they can do"""
    what = ("--tiles", "400", "--size", "512", "--wait", "0")
    efficiencies, seconds, shares = [], [], []
    for _ in range(7 if peer.FULL else 3):
        # A single process scans one tile after the other: the ideal is half of its total time.
        alone = Run("--workers", "0", *what)
        others, start = Others(), time.monotonic()
        together = Run("--workers", "3", *what)
        passed, share = time.monotonic() - start, others.share()
        # Of the time that other processes have left to us: with much other load, the ideal is lower.
        left = passed * min(2, os.cpu_count()) * (1 - share) if share >= MUCH else 2 * together.seconds
        efficiencies.append(alone.used / left)
        seconds.append(together.seconds)
        shares.append(share)
    efficiency, share = statistics.median(efficiencies), statistics.median(shares)
    # Under other load the same work takes more processor time, the more so the more processes share it.
    least, remark = (0.9, "") if share < MUCH else (0.75, ", so 0.75 is enough")
    expect(efficiency >= least, f"{efficiency:.2f} of the ideal, while others used {share * 100:.0f} % of the processors{remark}")
    return (f"{statistics.median(seconds):.2f} s, {efficiency:.2f} of the ideal; others used {share * 100:.0f} % of the "
            f"processors{remark}")
