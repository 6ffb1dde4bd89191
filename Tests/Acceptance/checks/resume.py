"""Files that go on where they stopped when a process was killed."""

import hashlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time

from . import peer
from .faults import Chance

SIZE = 96 << 20
TWICE = 2 << 20


class Shim:
    """One process of the library, with one session."""

    def __init__(self, uid, **options):
        self.process = subprocess.Popen([peer.CONFORM, "shim"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        peer.register(self.process)
        self.uid, self.number, self.lines = uid, 0, []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("session", name="shim", uid=uid, **options)

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self.lines.append({"event": "end of the process"})
            self.changed.notify_all()

    def expect(self, matches, what, seconds=20):
        """Returns the first line that matches."""
        with self.changed:
            found = lambda: next((line for line in self.lines if matches(line)), None)
            peer.expect(self.changed.wait_for(found, seconds), f"{what}, not within {seconds} s")
            return found()

    def ask(self, op, **fields):
        self.number += 1
        number = self.number
        if op != "session":
            fields["session"] = "shim"
        self.process.stdin.write((json.dumps(dict(id=number, op=op, **fields)) + "\n").encode())
        self.process.stdin.flush()
        answer = self.expect(lambda line: line.get("re") == number, f"an answer to {op}")
        peer.expect(answer.get("ok"), f"{op}: {answer}")
        return answer

    def event(self, name, seconds=20):
        return self.expect(lambda line: line.get("event") == name, name, seconds)

    def completed(self):
        """Returns how many bytes of its file are transferred, by its last event about that."""
        return max((line.get("completed", 0) for line in list(self.lines) if line.get("event") == "resource-progress"),
                   default=0)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        peer.unregister(self.process)


def link(one, other):
    data = {end: end.ask("data", peer=far.uid)["data"] for end, far in ((one, other), (other, one))}
    one.ask("connect", data=data[other])
    other.ask("connect", data=data[one])
    for end in (one, other):
        end.expect(lambda line: line.get("event") == "state" and line["state"] == "connected", "connected")


def parts(folder):
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".multipeer-part")]


def resumes():
    """A file goes on where it stopped when its sender or its receiver is killed, and at most 2 MiB are sent twice."""
    chance = Chance()
    try:
        return f"seed {chance.said}; {_resumes(chance)}"
    except peer.Failure as failure:
        raise peer.Failure(f"seed {chance.said}: {failure}") from None


def _resumes(chance):
    kills, twice, files, begun = 50 if peer.FULL else 16, 0, 0, 0
    uids = [peer.random_uid().hex() for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        source, inbox = os.path.join(folder, "source"), os.path.join(folder, "inbox")
        os.mkdir(inbox)
        content = chance.randbytes(SIZE)
        with open(source, "wb") as file:
            file.write(content)
        # A part belongs to the key of its sender, so each end keeps its own.
        keys = [peer.identity(folder, name) for name in ("sender.pem", "receiver.pem")]
        digest, killed, deadline = hashlib.sha256(content).hexdigest(), 0, time.monotonic() + 300
        while killed < kills or begun != 0:
            peer.expect(time.monotonic() < deadline, f"{killed} of {kills} kills in 300 s")
            sender = Shim(uids[0], identity=keys[0])
            receiver = Shim(uids[1], identity=keys[1], receiving=inbox, resumes=True)
            link(sender, receiver)
            sender.ask("resource", to=uids[1], path=source, name="movie.mp4", resumable=True)
            if killed == kills:
                end = receiver.event("resource-end", 60)
            else:
                time.sleep(chance.uniform(0, 0.12))
                end = next((line for line in list(receiver.lines) if line.get("event") == "resource-end"), None)
            if end is None:
                victim = chance.choice((sender, receiver))
                victim.kill()
                killed += 1
                if victim is receiver:
                    sender.event("sent")
                    left = parts(inbox)
                    count = os.path.getsize(left[0]) if left else 0
                    arrived = [name for name in os.listdir(inbox) if not name.endswith("-part")]
                    if not arrived:
                        twice = max(twice, sender.completed() - count)
                else:
                    receiver.event("resource-end")
            left = parts(inbox)
            peer.expect(len(left) <= 1, f"{len(left)} parts are left")
            if left:
                with open(left[0], "rb") as file:
                    part = file.read()
                peer.expect(content.startswith(part), "a part is not the beginning of the file")
                peer.expect(os.stat(left[0]).st_mode & 0o777 == 0o600, "others can read a part")
                begun = max(begun, len(part)) if part else begun
            for name in os.listdir(inbox):
                if name.endswith(".multipeer-part"):
                    continue
                with open(os.path.join(inbox, name), "rb") as file:
                    found = hashlib.sha256(file.read()).hexdigest()
                if name.endswith(".part"):
                    raise peer.Failure(f"{name} is left")
                peer.expect(found == digest, "the file is not what was sent")
                os.remove(os.path.join(inbox, name))
                files, begun = files + 1, 0
            for end in (sender, receiver):
                if end.process.poll() is None:
                    end.kill()
    peer.expect(files > 0, "no file arrived")
    peer.expect(twice <= TWICE, f"{twice} bytes were sent twice")
    return f"{killed} kills, {files} files of {SIZE >> 20} MiB arrived, at most {twice:,} bytes were sent twice"


FILES = 2_000


def interrupted_directory():
    """A loop that sends a directory until it has arrived ends, when the receiver was killed in the middle of it: what was there
    is compared, and counts"""
    with tempfile.TemporaryDirectory() as folder:
        album, inbox = os.path.join(folder, "album"), os.path.join(folder, "inbox")
        for name in (album, inbox):
            os.mkdir(name)
        for number in range(FILES):
            with open(os.path.join(album, f"{number}.txt"), "wb") as file:
                file.write(b"%d " % number * 200)
        received, codes, there = os.path.join(inbox, "album"), [], 0
        while not codes or codes[-1] != 0:
            peer.expect(len(codes) < 3, f"exit codes {codes}")
            first = not codes
            sender = peer.Peer(folder, "sender", "receiver.data", command=("send", album),
                               arguments=("--limit", "1M") if first else ())
            receiver = peer.Peer(folder, "receiver", "sender.data", command=("receive", inbox),
                                 arguments=("--exists", "skip"))
            if first:
                peer.until(lambda: os.path.isdir(received) and len(os.listdir(received)) >= FILES // 4, 30,
                           "a quarter has arrived")
                receiver.kill()
                receiver.end(5)
                there = len(os.listdir(received))
                peer.expect(there < FILES, "all was there before the receiver was killed")
            codes.append(sender.end(40))
            for name in ("sender.data", "receiver.data"):
                path = os.path.join(folder, name)
                if os.path.exists(path):
                    os.remove(path)
            if not first:
                peer.expect(receiver.end(10) == 0, f"the receiver: {receiver.last_words()}")
        words = f"sent album, {FILES - there} files, "
        peer.expect(words in sender.said() and f"; {there} were there already" in sender.said(), sender.said())
        for number in range(FILES):
            names = [os.path.join(place, f"{number}.txt") for place in (album, received)]
            peer.expect(open(names[0], "rb").read() == open(names[1], "rb").read(), f"{number}.txt differs")
        return f"exit codes {codes}; {there} of {FILES} files were there"
