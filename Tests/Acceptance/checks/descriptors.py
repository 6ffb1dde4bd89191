"""Seven senders whose files would take more descriptors than the receiver may have."""

import os
import random
import re
import resource
import subprocess
import tempfile
import time

from . import peer
from .peer import COMMAND, Failure, expect, register, unregister, until

SENDERS = 7
# What a sender has on its way at once.
FILES = 32
SIZE = 30_000
# In all about 3 s, so that all of them are on their way at once.
RATE = "300K"
LIMITS = (64, 128, 256, 1_024)
# With which a peer starts, and cannot do more than say why.
FEW = range(16, 27)
WORDS = "too many open files"


def few_descriptors():
    """Seven peers send 32 files each, at once, to one that may have 64, 128, 256 or 1,024 descriptors, of which it leaves 40: no
    process ends, each file arrives or is refused in words, and the next one arrives"""
    rounds = 10 if peer.FULL else 1
    told = []
    for limit in LIMITS:
        arrived = refused = 0
        slowest = 0.0
        for _ in range(rounds):
            began = time.monotonic()
            got, said = _round(limit)
            slowest = max(slowest, time.monotonic() - began)
            arrived, refused = arrived + got, refused + said
        told.append(f"{limit}: {arrived} arrived, {refused} refused in {rounds} rounds, at most {slowest:.1f} s")
    return "; ".join(told)


def starved_receiver():
    """A receiver with 16 to 26 descriptors says that it has too many open files, or its sender does, or the file arrives"""
    told = {}
    for limit in FEW:
        told.setdefault(_starve(limit), []).append(limit)
    return "; ".join(f"{what}: {numbers[0]}-{numbers[-1]}" for what, numbers in told.items())


class Command(peer.Process):
    """One command whose standard error is kept."""

    def __init__(self, directory, name, *words, limit=None, held=()):
        self.name = name
        self.log = os.path.join(directory, f"{name}.log")
        home = os.path.join(directory, name)
        os.makedirs(home, exist_ok=True)

        def prepare():
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [COMMAND, *words, "--name", name], stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=held,
                preexec_fn=prepare, env={**os.environ, "HOME": home, "TMPDIR": home, "MULTIPEER_INTERFACES": "lo"})
        register(self)

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()


def _round(limit):
    """Returns how many files arrived, and how many were refused."""
    with tempfile.TemporaryDirectory() as directory:
        kind = f"few{random.randrange(10**9)}"
        # With many descriptors seven senders could not use them up: other files of the process have them.
        held = [os.open("/dev/null", os.O_RDONLY) for _ in range(max(0, limit - 256))]
        inbox = os.path.join(directory, "inbox")
        os.mkdir(inbox)
        receiver = Command(directory, "ann", "receive", "--yes", "--keep", "--type", kind, "--into", inbox, limit=limit,
                           held=held)
        for one in held:
            os.close(one)
        try:
            until(lambda: "waiting as" in receiver.said(), 20, f"the receiver does not start: {receiver.said()}")
            senders = [_send(directory, kind, number, FILES, "--limit", RATE) for number in range(SENDERS)]
            most = 0
            while any(not sender.has_ended() for sender in senders):
                most = max(most, _descriptors(receiver))
                expect(not receiver.has_ended(), f"the receiver ended: {receiver.process.poll()} {receiver.said()}")
                time.sleep(0.05)
            refused = sum(_judge(sender) for sender in senders)
            # The last ones are given their names before the sender is told.
            arrived = len([name for name in os.listdir(inbox) if not name.startswith("multipeer-")])
            expect(arrived + refused >= SENDERS * FILES, f"{arrived} arrived, {refused} refused")
            expect(most <= limit - 4, f"the receiver had {most} of {limit} descriptors")
            late = _send(directory, kind, SENDERS, 1)
            expect(late.end(30) == 0, f"no file arrives afterwards: {late.said()}")
            expect(not receiver.has_ended(), "the receiver ended")
        finally:
            receiver.kill()
            receiver.end()
    return arrived, refused


def _send(directory, kind, number, count, *options):
    paths = []
    for index in range(count):
        paths.append(os.path.join(directory, f"{number}-{index}"))
        with open(paths[-1], "wb") as file:
            file.write(os.urandom(SIZE))
    return Command(directory, f"bob{number}", "send", *paths, "--to", "ann", "--type", kind, "--unverified", "--timeout",
                   "60", *options)


def _judge(sender):
    """Returns how many files of this sender were refused, all of them in words."""
    code = sender.end(60)
    said = sender.said()
    expect(code >= 0, f"{sender.name} ended by signal {-code}: {said}")
    expect("INTERNAL" not in said and "of the operating system" not in said, said)
    if code == 0:
        return 0
    expect(WORDS in said, f"{sender.name} ended with {code}: {said}")
    sent = len(re.findall(r"^sent ", said, re.MULTILINE))
    return FILES - sent


def _descriptors(process):
    try:
        return len(os.listdir(f"/proc/{process.process.pid}/fd"))
    except OSError:
        return 0


def _starve(limit):
    with tempfile.TemporaryDirectory() as directory:
        kind = f"few{random.randrange(10**9)}"
        inbox = os.path.join(directory, "inbox")
        os.mkdir(inbox)
        receiver = Command(directory, "ann", "receive", "--yes", "--type", kind, "--into", inbox, limit=limit)
        try:
            until(lambda: receiver.has_ended() or "waiting as" in receiver.said(), 20, "the receiver does not start")
            if receiver.has_ended():
                expect(WORDS in receiver.said(), f"with {limit}: {receiver.said()}")
                return "does not start"
            sender = _send(directory, kind, 0, 1)
            code = sender.end(90)
            if code == 0:
                expect(receiver.end(30) == 0, f"with {limit}: {receiver.said()}")
                return "arrives"
            expect(WORDS in sender.said(), f"with {limit}, the sender: {sender.said()}; the receiver: {receiver.said()}")
            until(lambda: WORDS in receiver.said(), 10, f"with {limit}, the receiver says: {receiver.said()}")
            return "refused"
        finally:
            if not receiver.has_ended():
                receiver.kill()
                receiver.end()
            else:
                unregister(receiver)
