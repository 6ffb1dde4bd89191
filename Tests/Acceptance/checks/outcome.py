"""The results of checks, printed in one line each, and counted in the last."""

import time

from . import network, peer


def carry_out(check):
    """The outcome of a check, its details, and its duration."""
    start = time.monotonic()
    try:
        result, found = "ok", check()
    except network.Skipped as reason:
        result, found = "skipped", str(reason)
    except Exception as error:  # A check that cannot run has failed.
        kind = "" if isinstance(error, peer.Failure) else f"{type(error).__name__}: "
        result, found = "FAILED", f"{kind}{error}"
    return result, found, time.monotonic() - start


def tell(check, result, found, passed):
    print(f"{result} {' '.join(check.__doc__.split())} ({passed:.1f} s)\n   {found}", flush=True)


def summary(results):
    """Prints the last line, and returns the exit code."""
    count = {result: results.count(result) for result in ("ok", "FAILED", "skipped")}
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{count['ok']} passed, {count['FAILED']} failed{skipped}")
    return 1 if count["FAILED"] or not results else 0
