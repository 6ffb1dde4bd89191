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
        digest, killed, deadline = hashlib.sha256(content).hexdigest(), 0, time.monotonic() + 300
        while killed < kills or begun != 0:
            peer.expect(time.monotonic() < deadline, f"{killed} of {kills} kills in 300 s")
            sender, receiver = Shim(uids[0]), Shim(uids[1], receiving=inbox, resumes=True)
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
