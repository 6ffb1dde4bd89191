"""One-time codes: a file between two machines, wrong guesses, and how much there is to type."""

import os
import re
import statistics
import subprocess
import tempfile
import time

from . import network, peer
from .discovery import service_type
from .peer import COMMAND, expect
from .processors import Others, allowance

# The longest time from the second command to the link, on loopback.
LONGEST = 0.3
# What croc 10 takes on Linux: its codes are three words of the EFF's first short list, 4.54 letters on average, in an
# environment variable, and the receiver presses Enter to accept.
CROC = len("croc send photo.jpg\n") + len("CROC_SECRET= croc\n") + 3 * 4.54 + 2 + len("\n")


class _Command:
    """A process whose messages can be waited for, each with the time of its arrival."""

    def __init__(self, there, interfaces, directory, *words):
        environment = dict(os.environ, MULTIPEER_INTERFACES=interfaces, SSLKEYLOGFILE="", HOME=directory, TERM="dumb")
        self.words = words
        self.start = time.monotonic()
        self.process = subprocess.Popen([*there, COMMAND, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env=environment, cwd=directory, text=True)
        self.said = ""

    def says(self, pattern):
        """Returns the match, and how many seconds after the start it came."""
        for line in self.process.stderr:
            self.said += line
            found = re.search(pattern, line)
            if found:
                return found, time.monotonic() - self.start
        raise peer.Failure(f"{self.words[0]} did not say {pattern!r}: {self.said}")

    def end(self, seconds=30):
        _, rest = self.process.communicate(timeout=seconds)
        self.said += rest
        return self.process.returncode


def _send(there, interfaces, directory, kind):
    """Starts a sender, and returns it and the code that it shows."""
    ann = _Command(there, interfaces, directory, "send", "photo.jpg", "--name", "ann", "--type", kind)
    found, _ = ann.says(r"run: multipeer (\S+)")
    return ann, found.group(1)


def _transfer(there, interfaces, directory):
    """Sends a file with a code, and returns how long the link took after the second command, and the code."""
    kind = service_type()
    photo, copy = os.path.join(directory, "photo.jpg"), os.path.join(directory, "inbox", "photo.jpg")
    with open(photo, "wb") as file:
        file.write(os.urandom(100_000))
    ann, code = _send((), interfaces, directory, kind)
    bob = _Command(there, interfaces, directory, code, "--into", "inbox", "--name", "bob", "--type", kind, "--force")
    found, took = bob.says("linked with ann, encrypted")
    expect(bob.end() == 0 and ann.end() == 0, ann.said + bob.said)
    expect("ann is verified by code" in bob.said and "bob is verified by code" in ann.said, ann.said + bob.said)
    expect(open(photo, "rb").read() == open(copy, "rb").read(), "the file has changed")
    return took, code


def code_transfer():
    """A file goes between two machines (namespaces) with a one-time code; on loopback they are linked within 0.3 s of the
    second command, and there is no more to type than with croc"""
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "inbox"))
        others = Others()
        found = [_transfer((), "lo", directory) for _ in range(100 if peer.FULL else 10)]
        times, codes = [took for took, _ in found], [code for _, code in found]
        factor, remark = allowance(others.share())
        expect(statistics.median(times) <= LONGEST * factor, f"linked after {sorted(times)}")
        keys = len("multipeer send photo.jpg\n") + statistics.mean(len(f"multipeer {code}\n") for code in codes)
        expect(keys <= CROC, f"{keys:.0f} keystrokes, {CROC:.0f} with croc")
        distant, _ = network.inside(_between_machines, directory, seconds=60)
    return (f"linked after {statistics.median(times):.2f} s (median; at most {max(times):.2f}), between namespaces "
            f"{distant:.2f} s; {keys:.0f} keystrokes, {CROC:.0f} with croc{remark}")


def _between_machines(directory):
    cable = network.Cable(1_000)
    try:
        return _transfer(cable.far, "", directory)
    finally:
        cable.close()


def code_guesses():
    """Wrong guesses of one-time codes get no link, and each is reported to both users"""
    count = 1_000 if peer.FULL else 10
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "inbox"))
        with open(os.path.join(directory, "photo.jpg"), "wb") as file:
            file.write(b"secret")
        for number in range(count):
            kind = service_type()
            ann, code = _send((), "lo", directory, kind)
            words = "guitar-island" if not code.endswith("guitar-island") else "island-guitar"
            eve = _Command((), "lo", directory, f"{code.split('-')[0]}-{words}", "--into", "inbox", "--type", kind)
            expect(eve.end() == 1 and "the code is wrong" in eve.said, f"guess {number}: {eve.said}")
            expect(ann.end() == 1 and "entered a wrong code, so" in ann.said, f"{number}: {ann.said}")
        expect(os.listdir(os.path.join(directory, "inbox")) == [], "something was received")
    return f"{count} guesses, {count} reports on each side, no link"
