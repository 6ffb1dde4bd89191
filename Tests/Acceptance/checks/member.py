"""Processes of `MultipeerMember`, their histories, and the nemesis that injects faults."""

import json
import os
import queue
import random
import shutil
import signal
import subprocess
import threading
import time

from . import peer
from .peer import ROOT, Failure, Process, expect, program, until

MEMBER = program("MultipeerMember")
CHECKER = program("check-history")
NEMESIS = "nemesis"


class Member(Process):
    """One member, in a directory where it leaves its data as NAME.data and its history as NAME.jsonl."""

    def __init__(self, directory, name, *arguments, there=()):
        self.directory, self.name, self.arguments, self.there = directory, name, arguments, there
        self.uid = peer.random_uid().hex()
        self.data = os.path.join(directory, name + ".data")
        self.history = os.path.join(directory, name + ".jsonl")
        self.log = os.path.join(directory, name + ".log")
        self.start()

    def program(self):
        return MEMBER

    def start(self):
        """A new process of the same peer."""
        words = [*self.there, self.program(), self.name, self.directory, self.history, "--uid", self.uid, *self.arguments]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                            cwd=self.directory)
        self.pid = self.process.pid
        self.replies = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process.stdout, self.replies), daemon=True).start()
        peer.register(self)

    @staticmethod
    def _listen(pipe, replies):
        for line in pipe:
            replies.put(line.decode().strip())
        replies.put(None)

    def reply(self, seconds=20):
        try:
            line = self.replies.get(timeout=seconds)
        except queue.Empty:
            raise Failure(f"{self.name} does not answer within {seconds} s") from None
        expect(line is not None and not line.startswith("failed"), f"{self.name} has ended: {line} {self.last_words()}")
        return line

    def await_ready(self):
        expect(self.reply() == "ready", f"{self.name} is not ready")

    def tell(self, *words):
        self.process.stdin.write((" ".join(words) + "\n").encode())
        self.process.stdin.flush()

    def order(self, *words, seconds=30):
        self.tell(*words)
        return self.reply(seconds)

    def who(self):
        """Returns the uids of the peers to which it is linked."""
        return set(self.order("who").split()[1:])

    def entries(self):
        """Returns what it has written so far; the last line may be incomplete after a kill."""
        with open(self.history, encoding="utf-8") as file:
            lines = file.read().split("\n")
        found = [json.loads(line) for line in lines[:-1]]
        return found

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-300:]


class Nemesis:
    """Injects faults, and records each of them first."""

    def __init__(self, directory):
        self.history = os.path.join(directory, NEMESIS + ".jsonl")
        self.lock = threading.Lock()
        self.cuts = 0
        with open(self.history, "wb"):
            pass

    def write(self, event, **more):
        line = {"t": time.clock_gettime_ns(time.CLOCK_BOOTTIME), "me": NEMESIS, "event": event, **more}
        with self.lock, open(self.history, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def kill(self, member):
        self.write("kill", peer=member.uid)
        member.kill()
        member.end(10)

    def stop(self, member, seconds):
        self.write("stop", peer=member.uid)
        member.kill(signal.SIGSTOP)
        time.sleep(seconds)
        member.kill(signal.SIGCONT)
        self.write("continue", peer=member.uid)

    def cut(self, members, seconds, apart, together):
        with self.lock:
            self.cuts += 1
            number = str(self.cuts)
        self.write("cut", id=number, peers=[member.uid for member in members])
        apart()
        time.sleep(seconds)
        together()
        self.write("heal", id=number, peers=[member.uid for member in members])


class Mesh:
    """The members of one mesh, in one directory, with their nemesis."""

    def __init__(self, directory, count, *arguments, prefix="m", make=Member):
        self.directory = directory
        self.nemesis = Nemesis(directory)
        self.members = [make(directory, f"{prefix}{number}", *arguments) for number in range(1, count + 1)]
        for member in self.members:
            member.await_ready()
        self.marks = 0

    def chain(self):
        for one, other in zip(self.members, self.members[1:]):
            self.join(one, other)
        self.await_full()

    @staticmethod
    def join(one, other):
        """Gives each member the other's current data."""
        for member, data in ((one, other.data), (other, one.data)):
            member.order("join", data)

    def is_full(self, members=None):
        members = members or self.members
        everybody = {member.uid for member in members}
        for member in members:
            member.tell("who")
        views = [set(member.reply().split()[1:]) | {member.uid} for member in members]
        return all(view == everybody for view in views)

    def await_full(self, seconds=20, members=None):
        until(lambda: self.is_full(members), seconds, "the mesh is not full")

    def rejoin(self, victim, seconds=60):
        """Waits until the mesh is full again: members without all others are introduced once more, should all links be
        gone."""
        deadline = time.monotonic() + seconds
        self.join(victim, random.choice([member for member in self.members if member is not victim]))
        while True:
            try:
                return self.await_full(4)
            except Failure:
                expect(time.monotonic() < deadline, f"the mesh of {victim.name} is not full within {seconds} s")
            for member in self.members:
                known = member.who() | {member.uid}
                missing = [other for other in self.members if other.uid not in known]
                if missing:
                    self.join(member, random.choice(missing))

    def rest(self):
        """Lets all members record what they see, at the same time."""
        self.marks += 1
        for member in self.members:
            member.order("rest", str(self.marks))

    def quit(self):
        for member in self.members:
            if not member.has_ended():
                member.tell("quit")
        for member in self.members:
            expect(member.end(30) == 0, f"{member.name} failed on quit: {member.last_words()}")

    def files(self):
        return [self.nemesis.history, *(member.history for member in self.members)]


def judge(files, slack=0):
    """Returns the checker's output for the histories, in one line; they are kept if it finds a violation."""
    done = subprocess.run([CHECKER, "--slack", str(slack), *files], capture_output=True, timeout=600)
    lines = done.stdout.decode().strip().splitlines()
    if done.returncode:
        kept = os.path.join(ROOT, ".build", f"history-{int(time.time() * 1000)}")
        os.makedirs(kept)
        for file in files:
            shutil.copy(file, os.path.join(kept, "-".join(file.split(os.sep)[-2:])))
        raise Failure(f"{done.stderr.decode()}{' | '.join(lines[:3] + lines[-1:])} (kept in {kept})")
    return lines[-1]
