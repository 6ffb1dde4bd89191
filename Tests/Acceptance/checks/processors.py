"""The processor share of other processes during a measurement, which makes the same program slower."""

import os
import resource

# From this share on, the limits on times are this many times as high.
MUCH, WIDER = 0.2, 10


class Others:
    """The share of all processors that other processes have used since its creation."""

    def __init__(self):
        self.start = self._now()

    @staticmethod
    def _now():
        ticks = os.sysconf("SC_CLK_TCK")
        with open("/proc/stat", encoding="ascii") as figures:
            words = [int(word) / ticks for word in figures.readline().split()[1:9]]
        idle = words[3] + words[4]
        own = sum(usage.ru_utime + usage.ru_stime for usage in
                  (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))
        return sum(words), sum(words) - idle - own

    def share(self):
        """Only processes that have ended are known to be ours."""
        total, others = (new - old for new, old in zip(self._now(), self.start))
        return max(0.0, others / total) if total else 0.0


def allowance(share):
    """Returns the factor for the limits, and a remark about it."""
    if share < MUCH:
        return 1, ""
    return WIDER, f"; others used {share * 100:.0f} % of the processors, so the limit is {WIDER} times as high"
