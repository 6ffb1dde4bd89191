"""Peers that use another peer's name, and users who are asked who is at the other end."""

import os
import pty
import re
import select
import subprocess
import tempfile
import time

from .discovery import service_type
from .peer import COMMAND, Process, Failure, expect, register, unregister


def environment(home):
    return dict(os.environ, MULTIPEER_INTERFACES="lo", SSLKEYLOGFILE="", HOME=home, TERM="dumb")


class Script(Process):
    """A command without a terminal."""

    def __init__(self, home, *words):
        self.name = words[0]
        self.process = subprocess.Popen([COMMAND, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment(home), start_new_session=True)
        self.pid = self.process.pid
        register(self)

    def end(self, seconds=30):
        """Returns the exit code, and what was printed."""
        try:
            output, errors = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end") from None
        unregister(self)
        return self.process.returncode, (output + errors).decode(errors="replace")


class Typist(Process):
    """A command on a terminal of its own."""

    def __init__(self, home, *words):
        self.name = words[0]
        self.screen = ""
        self.terminal, far = pty.openpty()
        # The terminal has to be the controlling one: that is where the command asks.
        self.process = subprocess.Popen(["setsid", "--ctty", "--wait", COMMAND, *words], stdin=far, stdout=far,
                                        stderr=far, env=environment(home))
        os.close(far)
        self.pid = self.process.pid
        register(self)

    def types(self, text):
        os.write(self.terminal, text.encode())

    def _read(self, seconds):
        if not select.select((self.terminal,), (), (), seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 4_096)
        except OSError:
            return False
        self.screen += data.decode(errors="replace")
        return bool(data)

    def sees(self, pattern, seconds=30):
        """Waits until the pattern was shown, and returns the match."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, self.screen)
            if found:
                return found
            if not self._read(0.1) and not re.search(pattern, self.screen):
                break
        raise Failure(f"{self.name} did not show {pattern!r}: {self.screen[-400:]!r}")

    def end(self, seconds=30):
        deadline = time.monotonic() + seconds
        while self._read(0.1) and self.process.poll() is None and time.monotonic() < deadline:
            pass
        code = self.process.wait(max(0.1, deadline - time.monotonic()))
        while self._read(0):
            if not select.select((self.terminal,), (), (), 0)[0]:
                break
        os.close(self.terminal)
        unregister(self)
        return code


def _file(directory):
    path = os.path.join(directory, "secret.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("for ann only\n")
    return path


def forged_name():
    """A peer that announces ann's name gets no file before the user goes on past *not verified*"""
    with tempfile.TemporaryDirectory() as directory:
        path, kind = _file(directory), service_type()
        os.mkdir(os.path.join(directory, "inbox"))

        def impostor():
            return Script(directory, "receive", "--yes", "--name", "ann", "--type", kind, "--into",
                          os.path.join(directory, "inbox"), "--timeout", "60")

        def is_stolen():
            return os.path.exists(os.path.join(directory, "inbox", "secret.txt"))

        thief = impostor()
        code, said = Script(directory, "send", path, "--to", "ann", "--name", "bob", "--type", kind).end()
        expect(code == 1 and "ann is not verified: found on the network; first contact" in said, said)
        expect(not is_stolen(), "a script sent the file to an impostor")
        # It waits for the next sender.
        bob = Typist(directory, "send", path, "--to", "ann", "--name", "bob", "--type", kind)
        bob.types("y\n")  # typed before the question
        bob.sees(r"ann is not verified: found on the network; first contact\s+go on\?")
        expect(not is_stolen(), "the file was sent before the question")
        bob.types("n\n")
        expect(bob.end() == 1, bob.screen)
        expect("nothing was sent" in bob.screen and not is_stolen(), bob.screen)
        code, said = Script(directory, "send", path, "--to", "ann", "--name", "bob", "--type", kind,
                            "--unverified").end()
        expect(code == 0 and is_stolen(), said)
        thief.end()


def changed_key():
    """A second ann with another key is a question with both fingerprints and the date, and an error in a script"""
    with tempfile.TemporaryDirectory() as directory:
        path, kind = _file(directory), service_type()
        os.mkdir(os.path.join(directory, "inbox"))
        keys = []
        for name in ["true", "false"]:
            keys.append(os.path.join(directory, name + ".pem"))
            subprocess.run([COMMAND, "identity", "new", "--out", keys[-1]], check=True, capture_output=True,
                           env=environment(directory), timeout=20)
        store = os.path.join(directory, "store")

        def receiver(key):
            return Script(directory, "receive", "--yes", "--force", "--name", "ann", "--identity", key, "--type", kind,
                          "--into", os.path.join(directory, "inbox"), "--timeout", "60")

        words = ["send", path, "--to", "ann", "--name", "bob", "--type", kind, "--trust", "tofu", "--trust-store", store]
        ann = receiver(keys[0])
        code, said = Script(directory, *words, "--unverified").end()
        expect(code == 0 and "first contact" in said, said)
        ann.end()
        ann = receiver(keys[0])
        code, said = Script(directory, *words).end()
        expect(code == 0 and re.search(r"ann: key known since 20\d\d-\d\d-\d\d, never verified", said), said)
        ann.end()
        change = r"the key has changed since 20\d\d-\d\d-\d\d: old (?:[0-9a-f]{4} ?){4}, new (?:[0-9a-f]{4} ?){4}"
        false = receiver(keys[1])
        code, said = Script(directory, *words, "--unverified").end()
        expect(code == 1 and re.search(change, said), said)
        bob = Typist(directory, *words)
        bob.sees("WARNING: ann: " + change)
        bob.types("n\n")
        expect(bob.end() == 1, bob.screen)
        false.process.terminate()
        false.end()


def renamed_key():
    """A known key under another name is a question with both names, and an error in a script"""
    with tempfile.TemporaryDirectory() as directory:
        path, kind = _file(directory), service_type()
        os.mkdir(os.path.join(directory, "inbox"))
        key, store = os.path.join(directory, "key.pem"), os.path.join(directory, "store")
        subprocess.run([COMMAND, "identity", "new", "--out", key], check=True, capture_output=True,
                       env=environment(directory), timeout=20)

        def receiver(name):
            return Script(directory, "receive", "--yes", "--force", "--name", name, "--identity", key, "--type", kind,
                          "--into", os.path.join(directory, "inbox"), "--timeout", "60")

        def words(name):
            return ["send", path, "--to", name, "--name", "bob", "--type", kind, "--trust", "tofu", "--trust-store", store]

        ann = receiver("ann")
        code, said = Script(directory, *words("ann"), "--unverified").end()
        expect(code == 0 and "first contact" in said, said)
        ann.end()
        os.remove(os.path.join(directory, "inbox", "secret.txt"))
        renamed = r"the key has been known since 20\d\d-\d\d-\d\d under another name"
        eve = receiver("eve")
        code, said = Script(directory, *words("eve"), "--unverified").end()
        expect(code == 1 and re.search(renamed, said), said)
        bob = Typist(directory, *words("eve"))
        bob.sees("WARNING: eve: " + renamed + r"\. eve was known as ann\.")
        bob.types("n\n")
        expect(bob.end() == 1, bob.screen)
        eve.process.terminate()
        eve.end()
        expect(not os.listdir(os.path.join(directory, "inbox")), "a file was sent before the answer")
    return "eve with ann's key: a question with both names, an error without a terminal, and no file"
