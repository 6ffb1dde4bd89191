"""A terminal of 80 columns and 24 rows on a machine, and the screen that its user sees."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios

from .screen import Screen, UnknownSequence

KEYS = {"⏎": "\r", "⇥": "\t", "⌫": "\x7f", "↑": "\x1b[A", "↓": "\x1b[B", "→": "\x1b[C", "←": "\x1b[D", "^C": "\x03",
        "^D": "\x04", "^\\": "\x1c", "^R": "\x12", "^U": "\x15", "^A": "\x01"}


class Broken(Exception):
    """A transcript that does not hold; the message has several lines."""


class Terminal:
    """A terminal of a machine, with the user's shell prompt; one command runs there at a time."""

    def __init__(self, machine):
        self.machine = machine
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.variables = {}
        # The command that wrote a control sequence, and text that is not ASCII and was not typed.
        self.has_escapes = None
        self.foreign = None
        self.line = ""
        self.process = None
        self.rest = b""
        self.clear()

    def clear(self):
        self.screen = Screen()

    def start(self, line):
        if self.process and self.process.poll() is None:
            raise Broken(f"{self.machine.name} still runs a command")
        self.line = line
        self.screen.begin()
        self.screen.write(f"$ {line}\r\n")
        variables = self.machine.environment(**self.variables)
        # Without `exec`, a shell that a signal interrupts hides the exit code of its command.
        is_simple = not re.search(r"[|;]|&& | & ", line)
        there = [*self.machine.prefix, "/bin/sh", "-c", f"exec {line}" if is_simple else line]
        self.process = subprocess.Popen(
            there, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=variables, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self):
        """Takes what was written; returns whether there was any."""
        try:
            data = os.read(self.master, 65_536)
        except (BlockingIOError, OSError):
            return False
        self.rest += data
        try:
            text, self.rest = self.rest.decode(), b""
        except UnicodeDecodeError as error:
            if len(self.rest) - error.start > 3:
                raise Broken(f"{self.machine.name}: output is not UTF-8: {self.rest!r}") from None
            text, self.rest = self.rest[:error.start].decode(), self.rest[error.start:]
        if "\x1b" in text:
            self.has_escapes = self.line
        if not text.isascii() and "grüße" not in text:
            self.foreign = text
        try:
            self.screen.write(text)
        except UnknownSequence as sequence:
            raise Broken(f"{self.machine.name}: the output has {sequence}") from None
        return bool(data)

    def close(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
