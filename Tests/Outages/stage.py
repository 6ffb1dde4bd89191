"""Programs that run on the hosts of a network, and one loop that reads what they print and does things in time.

A job has one thread for this loop, and one for its switch. """

import errno
import heapq
import itertools
import os
import selectors
import shutil
import subprocess
import tempfile
import time
import tty

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = [os.path.abspath(name) for name in (
    os.environ.get("MULTIPEER_PRODUCTS") or ":".join(os.path.join(ROOT, ".build", kind) for kind in ("release", "debug"))
).split(":")]


class Failure(Exception):
    """Why a check failed, in one line."""


def product(name):
    """Returns the path of a program in the first folder that has it; None without one."""
    paths = [os.path.join(folder, name) for folder in FOLDERS]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


class Stage:
    """Where programs run. `run` is the loop; whatever happens in it calls back."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="outages-")
        self.programs = []
        self._selector = selectors.DefaultSelector()
        self._timers, self._numbers = [], itertools.count()

    def start(self, host, name, words, on_line, environment=None, descriptors=None):
        program = Program(self, host, name, words, on_line, environment or {}, descriptors)
        self.programs.append(program)
        self._selector.register(program.output, selectors.EVENT_READ, program)
        return program

    def end(self, program):
        """Kills a program, and forgets it."""
        program.kill()
        if program.is_open:
            self._selector.unregister(program.output)
        os.close(program.output)
        self.programs.remove(program)

    def after(self, seconds, call):
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._numbers), call))

    def run(self, seconds, until=lambda: False):
        """Runs until a condition holds, and returns whether it does; at most that long."""
        deadline = time.monotonic() + seconds
        while True:
            while self._timers and self._timers[0][0] <= time.monotonic():
                heapq.heappop(self._timers)[2]()
            if until():
                return True
            now = time.monotonic()
            if now >= deadline:
                return False
            # Conditions may depend on the time.
            wait = min(deadline - now, 0.1)
            if self._timers:
                wait = min(wait, max(0.0, self._timers[0][0] - now))
            for key, _ in self._selector.select(wait):
                if not key.data.read():
                    self._selector.unregister(key.fd)

    def close(self):
        for program in list(self.programs):
            self.end(program)
        shutil.rmtree(self.folder, ignore_errors=True)


class Program:
    """One process. It writes to a terminal, so that every line that it prints arrives at once; its input is a pipe."""

    def __init__(self, stage, host, name, words, on_line, environment, descriptors):
        self.name, self._on_line, self._rest, self.is_open = name, on_line, b"", True
        self.home = os.path.join(stage.folder, name)
        os.makedirs(self.home, exist_ok=True)
        self.log = os.path.join(self.home, "errors")
        self.output, terminal = os.openpty()
        tty.setraw(terminal)
        os.set_blocking(self.output, False)
        variables = {**os.environ, "HOME": self.home, "TMPDIR": self.home, "LC_ALL": "C.UTF-8", **environment}
        variables.pop("MULTIPEER_INTERFACES", None)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(host.words(*words, descriptors=descriptors), stdin=subprocess.PIPE, stdout=terminal,
                                            stderr=log, cwd=self.home, env=variables)
        os.close(terminal)
        os.set_blocking(self.process.stdin.fileno(), False)

    def read(self):
        """Reads what there is; returns False at the end."""
        try:
            read = os.read(self.output, 65_536)
        except BlockingIOError:
            return True
        except OSError as error:
            if error.errno != errno.EIO:  # the program has ended
                raise
            self.is_open = False
            return False
        lines = (self._rest + read).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            self._on_line(self, line.decode(errors="replace"))
        return True

    def type(self, line):
        """Writes a line to the program; one that does not read its input loses it. Returns whether it was written."""
        try:
            os.write(self.process.stdin.fileno(), line.encode() + b"\n")
            return True
        except (BlockingIOError, BrokenPipeError):
            return False

    def has_ended(self):
        return self.process.poll() is not None

    def kill(self):
        if not self.has_ended():
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return lines[-1][:200] if lines else "nothing"
