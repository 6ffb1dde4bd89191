"""Processes of `MultipeerDevice`, which use only Apple's interface: their commands, and their reports."""

import json
import os
import queue
import random
import subprocess
import threading
import time
from urllib.parse import quote

from . import peer
from .peer import Failure, Process, expect, program, until

DEVICE = program("MultipeerDevice")
# The reports of a controller, which runs on the main actor.
ON_MAIN = ("present", "finished", "abandoned")
# The calls that are made on the main queue where that runs.
OF_DISCOVERY = ("found", "lost", "invited", "not-browsing", "not-advertising", "presenting", "dismissed")
# The timeout for what takes a fraction of a second on a quiet machine.
TIMEOUT = 30


def now():
    """Returns the clock of the devices' reports, in seconds."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def service_type():
    """Returns a service type that no other test uses: all share the loopback interface."""
    return "f-" + "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12))


class Device(Process):
    """One process with its own home, which is its working directory."""

    def __init__(self, directory, name, *arguments, archive=None, session=()):
        """Starts a new peer, or one that was archived; with a session, unless that is None."""
        self.name = name
        self.runs_loop = "--run-loop" in arguments
        self.home = os.path.join(directory, name)
        os.makedirs(os.path.join(self.home, "tmp"), exist_ok=True)
        self.said, self.answers, self.asked = [], queue.Queue(), 0
        self.log = os.path.join(self.home, "log")
        environment = {**os.environ, "HOME": self.home, "TMPDIR": os.path.join(self.home, "tmp"),
                       "MULTIPEER_INTERFACES": "lo"}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([DEVICE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=log, cwd=self.home, env=environment)
        self.pid = self.process.pid
        peer.register(self)
        threading.Thread(target=self._listen, daemon=True).start()
        self.id = (self.order("restore", archive) if archive else self.order("peer", name))["id"]
        if session is not None:
            self.order("session", *session)

    def _listen(self):
        for line in self.process.stdout:
            entry = json.loads(line)
            entry["t"] /= 1e9
            self.said.append(entry)
            if entry["event"] in ("did", "refused"):
                self.answers.put(entry)
        self.answers.put(None)

    # Commands.

    def tell(self, *words):
        self.process.stdin.write((" ".join(quote(str(word), safe="/:@+=,-._") for word in words) + "\n").encode())
        self.process.stdin.flush()

    def answer(self, seconds=TIMEOUT):
        try:
            entry = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise Failure(f"{self.name} does not answer within {seconds} s") from None
        expect(entry is not None, f"{self.name} has ended: {self.last_words()}")
        return entry

    def order(self, *words):
        """Sends a command, and returns its report."""
        self.tell(*words)
        entry = self.answer()
        expect(entry["event"] == "did", f"{self.name} refused '{' '.join(map(str, words))}': {entry.get('error')}")
        return entry

    def refused(self, *words):
        """Sends a command that must fail, and returns the code of the error."""
        self.tell(*words)
        entry = self.answer()
        expect(entry["event"] == "refused", f"{self.name} did '{' '.join(map(str, words))}'")
        return entry.get("code", entry["error"])

    # Reports.

    def heard(self, event, since=0, **fields):
        found = [entry for entry in self.said[since:] if entry["event"] == event]
        return [entry for entry in found if all(entry.get(key) == value for key, value in fields.items())]

    def await_said(self, event, since=0, count=1, seconds=TIMEOUT, **fields):
        """Waits until there are enough such reports, and returns the last of them."""
        def look():
            found = self.heard(event, since, **fields)
            if len(found) >= count:
                return found[count - 1]
            expect(not self.has_ended(), f"{self.name} has ended with {self.process.poll()}: {self.last_words()}")
            return None
        return until(look, seconds, f"{self.name} does not report {event} {fields}")

    def mark(self):
        """Returns the position from here on, for `since`."""
        return len(self.said)

    def await_state(self, other, state, since=0, count=1, seconds=TIMEOUT):
        return self.await_said("state", since, count, seconds, id=other.id, state=state)

    def await_found(self, other, since=0):
        return self.await_said("found", since, id=other.id)

    def states(self, other, since=0):
        return [entry["state"] for entry in self.heard("state", since, id=other.id)]

    # The system's figures about it.

    def figures(self):
        """Its descriptors and threads, and its memory in MiB."""
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as status:
            words = dict(line.split(":", 1) for line in status)
        return (len(os.listdir(f"/proc/{self.pid}/fd")), int(words["Threads"]), int(words["VmRSS"].split()[0]) / 1024)

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-300:]


def quit_all(*devices):
    """Checks that the devices end without an error, and that their delegates were called correctly: one call at a time,
    on the right thread, not before `start…` had returned, and with peers that are equal to themselves."""
    for device in devices:
        device.tell("quit")
    for device in devices:
        code = device.end(TIMEOUT)
        expect(code == 0, f"{device.name} has ended with {code}: {device.last_words()}")
        until(lambda: device.heard("quit"), TIMEOUT, f"{device.name} has not quit")
        for entry in device.said:
            if entry["event"] in ("ready", "did", "refused", "quit", *ON_MAIN):
                continue
            expected = device.runs_loop and entry["event"] in OF_DISCOVERY
            expect(entry["main"] == expected, f"{device.name} was called on the wrong thread: {entry}")
            expect(not entry.get("overlapping"), f"{device.name} was called twice at once: {entry}")
            expect(not entry.get("early"), f"{device.name} was called before start… had returned: {entry}")
            expect(entry.get("same", True), f"{device.name} got a different object for a known peer: {entry}")
        for entry in device.heard("state"):
            expect(entry["listed"] == (entry["state"] == "connected"),
                   f"{device.name}: connectedPeers does not match: {entry}")
        for entry in device.heard("message"):
            expect(entry["listed"], f"{device.name} got a message of a peer that is not connected: {entry}")


def invite(inviter, *others, kind=None, timeout=30):
    """Lets the inviter find and invite each of the others, which accept; returns when all are connected."""
    kind = kind or service_type()
    for other in others:
        other.order("answer", "yes")
        other.order("advertise", kind)
    inviter.order("browse", kind)
    for other in others:
        inviter.await_found(other)
    marks = [(device, device.mark()) for device in (inviter, *others)]
    for other in others:
        inviter.order("invite", other.id, timeout)
    for other, (_, mark) in zip(others, marks[1:]):
        inviter.await_state(other, "connected", marks[0][1])
        other.await_state(inviter, "connected", mark)
    return kind
