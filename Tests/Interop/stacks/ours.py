"""`multipeer advertise` and `multipeer browse` at a place."""

import base64
import json
import os

from checks import peer
from .place import Running


def label(name, uid):
    """The instance label of a peer, as chapter 12 of the spec makes it; `uid` has 16 bytes."""
    tail = b"-" + base64.b32encode(uid).rstrip(b"=").lower()
    text = name.encode()
    while len(text) + len(tail) > 63:
        text = text.decode()[:-1].encode()
    return (text + tail).decode()


class Told(Running):
    """A program that reports what it sees, one JSON object per line."""

    def __init__(self, there, words, name):
        super().__init__(there, words, {**os.environ, "MULTIPEER_INTERFACES": ""}, name)

    def events(self):
        found = []
        for line in list(self.lines):
            if line.startswith("{"):
                found.append(json.loads(line))
        return found

    def await_event(self, event, name, seconds, where=lambda _: True):
        def search():
            return next((one for one in self.events() if one["event"] == event and one["name"] == name and where(one)),
                        None)
        try:
            return peer.until(search, seconds, f"{self.name} does not report '{event}' of '{name}'")
        except peer.Failure as failure:
            raise peer.Failure(f"{failure}; it printed {self.lines[-3:]}") from None

    def knows(self):
        """Returns the names that were found and not lost since."""
        known = {}
        for one in self.events():
            if one["event"] == "lost":
                known.pop(one["id"], None)
            else:
                known[one["id"]] = one["name"]
        return sorted(known.values())


def browse(there, service, interfaces=()):
    return Told(there, [peer.COMMAND, "browse", "--type", service, "--json", "--resolve", *_only(interfaces)], "browse")


def advertise(there, service, name, *info, interfaces=(), more=()):
    words = [word for entry in info for word in ("--info", entry)]
    running = Told(there, [peer.COMMAND, "advertise", "--type", service, "--name", name, "--json", *words,
                           *_only(interfaces), *more], "advertise")
    running.wait_for(lambda line: "announcing" in line or "rror" in line or "cannot" in line, 15, "advertise does not start")
    peer.expect(not running.has_ended, f"advertise ended: {running.lines}")
    return running


def _only(interfaces):
    return [word for name in interfaces for word in ("--interface", name)]
