"""One `multipeer link` process, and the system's figures about it."""

import os
import random
import signal
import socket
import subprocess
import threading
import time
import uuid

from . import blob

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Where the programs are that are checked: in the release build, unless the variable names folders, separated by ":".
FOLDERS = [os.path.abspath(name)
           for name in (os.environ.get("MULTIPEER_PRODUCTS") or os.path.join(ROOT, ".build", "release")).split(":")]
PRODUCTS = FOLDERS[0]


def program(name):
    """Returns the path of a program in the first folder that has it."""
    paths = [os.path.join(folder, name) for folder in FOLDERS]
    return next((path for path in paths if os.access(path, os.X_OK)), paths[0])


COMMAND = program("multipeer")
CONFORM = program("multipeer-conform")
DEMO = program("multipeer-demo")
ENDURANCE = program("MultipeerEndurance")

# Whether checks run in their long forms: `run --full`.
FULL = False
# How long the longest of them takes: `run --full --minutes=N`.
MINUTES = 30

_running = set()
_lock = threading.Lock()
_given = set()


class Failure(Exception):
    """The reason why a check failed, in one line."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


def until(condition, seconds, text):
    """Waits until the condition holds and returns its result."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"{text}, not within {seconds} s")
        time.sleep(0.01)


def register(process):
    """Registers a process, which `end_everything` ends."""
    with _lock:
        _running.add(process)


def unregister(process):
    with _lock:
        _running.discard(process)


def free_port():
    """Returns a port below those that the system assigns, so that no other process gets it in the meantime."""
    while True:
        port = random.randrange(20_000, 30_000)
        with _lock:
            if port in _given:
                continue
            _given.add(port)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def random_uid():
    """Returns the bytes of an id that is no hash of a key."""
    return uuid.UUID(bytes=random.randbytes(16), version=4).bytes


class Process:
    """A base class for objects with a `name` and a registered `process`."""

    def has_ended(self):
        return self.process.poll() is not None

    def kill(self, number=signal.SIGKILL):
        if not self.has_ended():
            os.kill(self.process.pid, number)

    def end(self, seconds=10):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end") from None
        unregister(self)
        return code


class Peer(Process):
    """`multipeer link`, or another command that links, in a directory where it leaves its data as NAME.data."""

    def __init__(self, directory, name, source, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, port=None,
                 timeout=20, arguments=(), command=("link",), environment=None):
        self.name = name
        self.data = os.path.join(directory, name + ".data")
        self.log = os.path.join(directory, name + ".log")
        self.code = None
        self.peak = 0
        # Seconds of processor time, when it has ended.
        self.seconds = 0
        listen = "127.0.0.1" if port is None else f"127.0.0.1:{port}"
        if command[0] != "receive":
            command = (command[0], "--unverified", *command[1:])
        words = [COMMAND, *command, "--name", name, "--out", self.data, "--from", os.path.join(directory, source),
                 "--listen", listen, "--timeout", str(timeout), *arguments]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(words, stdin=stdin, stdout=stdout, stderr=log, cwd=directory,
                                            env={**os.environ, **(environment or {})})
        self.pid = self.process.pid
        register(self)

    def said(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def last_words(self):
        lines = [line for line in self.said().splitlines() if line.strip()]
        return lines[-1] if lines else ""

    def has_ended(self):
        if self.code is not None:
            return True
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.code = os.waitstatus_to_exitcode(status)
        self.process.returncode = self.code
        self.peak = usage.ru_maxrss // 1_024
        self.seconds = usage.ru_utime + usage.ru_stime
        unregister(self)
        return True

    def end(self, seconds):
        """Waits for the end of the process and returns its exit code."""
        until(self.has_ended, seconds, f"{self.name} did not end; it printed: {self.last_words()}")
        return self.code

    def await_link(self, seconds=20):
        def is_linked():
            if "linked with" in self.said():
                return True
            expect(not self.has_ended(), f"{self.name} ended before it was linked: {self.last_words()}")
            return False
        until(is_linked, seconds, f"{self.name} is not linked")

    def status(self, name):
        """A number of /proc/PID/status; memory in MiB."""
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith(name + ":"):
                    number = int(line.split()[1])
                    return number // 1_024 if "kB" in line else number
        return 0

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def bytes_read(self):
        with open(f"/proc/{self.pid}/io", encoding="ascii") as figures:
            return int(figures.readline().split()[1])


def exchange(*peers, forgers=(None, None)):
    """Passes each peer's data to the other, which expects it as NAME.given, optionally changed in transit.

    A process that is refused at once takes its own file back, so the carrier keeps copies.
    """
    found = []
    for peer in peers:
        until(lambda: os.path.exists(peer.data), 10, f"{peer.name} wrote no data")
        found.append(blob.read(peer.data))
    for peer, data, forge in zip(peers, found, forgers):
        given = os.path.join(os.path.dirname(peer.data), peer.name + ".given")
        blob.write(given + ".new", forge(data) if forge else data)
        os.rename(given + ".new", given)


def end_everything():
    """Ends the processes that were started here, by their ids."""
    with _lock:
        left = list(_running)
    for peer in left:
        peer.kill()
        try:
            peer.end(5)
        except Failure:
            pass


def identity(directory, name):
    """Creates a new identity in a file."""
    path = os.path.join(directory, name)
    done = subprocess.run([COMMAND, "identity", "new", "--out", path, "--name", name], capture_output=True, timeout=20)
    expect(done.returncode == 0, f"identity new: {done.stderr.decode()}")
    return path
