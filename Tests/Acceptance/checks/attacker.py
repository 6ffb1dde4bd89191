"""Processes of `MultipeerAttacker`, and the commands that it attacks, found as any stranger finds them."""

import json
import queue
import re
import subprocess
import threading
import time

from .impostors import environment
from .peer import COMMAND, Failure, Process, expect, program, register, unregister

ATTACKER = program("MultipeerAttacker")


class Attacker(Process):
    """One attack, which ends with its standard input."""

    def __init__(self, attack, **parameters):
        self.name = f"the attacker ({attack})"
        words = [ATTACKER, attack, *(f"{key}={value}" for key, value in parameters.items())]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.pid = self.process.pid
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._collect, daemon=True).start()
        register(self)

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def _collect(self):
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace").strip())

    def told(self, seconds=30):
        """Waits for the next report."""
        try:
            facts = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise Failure(f"{self.name} reports nothing within {seconds} s") from None
        if facts is None:
            self.process.wait(10)
            raise Failure(f"{self.name} has ended: {' '.join(self.errors)[-400:]}")
        return facts

    def stop(self):
        """Ends the attack, and returns its last report, if there is one."""
        self.process.stdin.close()
        last = None
        while True:
            facts = self.lines.get(timeout=20)
            if facts is None:
                break
            last = facts
        code = self.process.wait(20)
        unregister(self)
        expect(code == 0, f"{self.name} failed: {' '.join(self.errors)[-400:]}")
        return last


class Chatter(Process):
    """`multipeer chat` in a room, whose lines are typed by the check."""

    def __init__(self, home, name, *arguments):
        self.name = name
        self.said = ""
        self.lock = threading.Lock()
        words = [COMMAND, "chat", "--name", name, "--unverified", *arguments]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment(home))
        self.pid = self.process.pid
        threading.Thread(target=self._listen, daemon=True).start()
        register(self)

    def _listen(self):
        for line in self.process.stdout:
            with self.lock:
                self.said += line.decode(errors="replace")

    def types(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def sees(self, pattern, seconds=30):
        """Waits until the pattern was shown, and returns the match."""
        deadline = time.monotonic() + seconds
        while True:
            with self.lock:
                said = self.said
            found = re.search(pattern, said)
            if found:
                return found
            if time.monotonic() > deadline or self.has_ended():
                raise Failure(f"{self.name} did not show {pattern!r}: {said[-500:]!r}")
            time.sleep(0.02)

    def leave(self):
        self.process.stdin.close()
        expect(self.end(20) == 0, f"{self.name}: {self.said[-400:]!r}")


def found(home, name, *arguments, seconds=10):
    """Returns the id and the port that a peer of this name announces, as `multipeer browse` shows them."""
    deadline = time.monotonic() + seconds
    while True:
        words = [COMMAND, "browse", "--json", "--resolve", "--for", "1", *arguments]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, env=environment(home))
        for line in done.stdout.splitlines():
            event = json.loads(line)
            ports = [address.rsplit(":", 1)[1] for address in event.get("addresses") or []]
            if event["name"] == name and ports:
                return event["id"], int(ports[0])
        if time.monotonic() > deadline:
            raise Failure(f"{name} is not found: {done.stderr.decode()}")
