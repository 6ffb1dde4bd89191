"""frame-sequences.json: an open link over time: liveness, PONG, CLOSE, chapters 14 and 16."""

from .wire import CODE, KIND, REGISTRIES, document, frame, seeded, test, u16

TIMER = {row["name"]: row["milliseconds"] for row in REGISTRIES["timers"]}
NAME = {value: name for name, value in CODE.items()}


class Link:
    """The timers and the end of one open link. Times are in milliseconds since it began."""

    def __init__(self):
        self.heard, self.until, self.end = 0, None, None

    @property
    def deadline(self):
        return self.heard + TIMER["ping"] if self.until is None else self.until

    def receive(self, at, data):
        """Returns the replies."""
        kind, payload = data[3], data[8:]
        if self.end:
            return []
        self.heard, self.until = at, None
        if kind == KIND["PING"]["value"]:
            return [frame("PONG", payload)]
        if kind == KIND["CLOSE"]["value"]:
            code = int.from_bytes(payload[:2], "big")
            self.end = dict(by="peer", code=NAME.get(code, "INTERNAL"), reason=payload[2:].decode())
        return []

    def look(self, at):
        """The owner checks the clock. Returns ping, dead or nothing."""
        if self.end or at < self.deadline:
            return None
        if at > self.deadline + TIMER["clockGap"]:
            self.until = at + TIMER["resumeGrace"]
            return "ping"
        if self.until is None:
            self.until = max(self.heard + TIMER["dead"], at + 1000)
            return "ping"
        self.end = dict(by="us", code="TIMEOUT", reason="")
        return "dead"


def build():
    random = seeded("sequences")
    tests = []

    def add(id, comment, flags, *steps):
        link, told = Link(), []
        for at, data in steps:
            step = dict(at=at)
            if data is None:
                step.update(do="look", verdict=link.look(at))
            else:
                step.update(do="receive", hex=data.hex(), replies=[reply.hex() for reply in link.receive(at, data)])
            step.update(state="ended" if link.end else "open", deadline=None if link.end else link.deadline)
            told.append(step)
        fields = dict(steps=told, end=link.end)
        if link.end and link.end["by"] == "us":
            fields.update(result="invalid", error=link.end["code"], check="dead")
        else:
            fields.update(result="valid")
        tests.append(test(id, comment, flags, **fields))

    ping, pong = frame("PING", random.randbytes(8)), frame("PONG", random.randbytes(8))
    message, grease = frame("MSG", b"x"), frame(0xCA, b"zz", 3)
    close = lambda code, reason=b"": frame("CLOSE", u16(code) + reason)
    look = None
    add("quiet-start", "nothing is sent before 3 s", ["Idle"], (0, look), (2999, look))
    add("ping-at-3-s", "PING after receiving nothing for 3 s", ["Idle"], (3000, look))
    add("ping-once", "PING is sent only once", ["Idle"], (3000, look), (3001, look), (9999, look))
    add("dead-at-10-s", "nothing received for 10 s", ["Idle"], (3000, look), (9999, look), (10000, look))
    add("message-counts", "any frame shows that the peer is alive", ["Idle"], (2900, message), (3000, look),
        (5899, look), (5900, look))
    add("ignored-frame-counts", "so does an ignored frame", ["Idle"], (2900, grease), (3000, look), (5900, look))
    add("pong-counts", "PONG answers PING", ["Idle"], (3000, look), (3050, pong), (10000 - 4000, look), (6050, look))
    add("late-answer", "an answer just before the timeout", ["Idle"], (3000, look), (9999, message), (10000, look),
        (12999, look), (19999, look))
    add("looked-late", "a late check sends PING before it decides", ["Idle"], (7900, look), (8900, look),
        (9999, look), (10000, look))
    add("slept", "the clock jumps by more than 5 s", ["Suspension"], (60000, look), (62999, look))
    add("slept-and-dead", "nothing is received within the 3 s of grace", ["Suspension"], (60000, look), (63000, look))
    add("slept-and-alive", "the peer answers in time", ["Suspension"], (60000, look), (60200, pong), (63000, look),
        (63200, look))
    add("slept-while-asked", "the gap occurs after a PING", ["Suspension"], (3000, look), (60000, look), (62999, look),
        (63000, look))
    add("gap-of-5-s", "a gap of 5 s does not count", ["Suspension"], (8000, look), (9999, look), (10000, look))
    add("ping-answered", "PONG has the same 8 bytes", ["Pong"], (100, ping))
    add("pings-answered", "every PING is answered, in order", ["Pong"], (100, ping), (101, frame("PING", bytes(8))),
        (102, frame("PING", b"\xff" * 8)))
    add("pong-unasked", "an unsolicited PONG is ignored", ["Pong"], (100, pong), (200, pong))
    for row in REGISTRIES["codes"]:
        if row["value"] in (1, 2, 16):
            add(f"close-{row['value']}", f"CLOSE with {row['name']}", ["Close"], (100, close(row["value"], b"why")))
    for code in (23, 999, 0xFFFF):
        add(f"close-{code}", "an unregistered code counts as INTERNAL", ["Close"], (100, close(code)))
    add("silent-after-close", "nothing is sent in reply after CLOSE", ["Close"], (100, close(CODE["GOODBYE"])), (200, ping),
        (20000, look))
    notes = {"Idle": "keep-alive: PING after 3 s; idle timeout: the end after 10 s",
             "Suspension": "after a gap in the clock, the peer has 3 s to answer",
             "Pong": "PONG carries the bytes of PING", "Close": "frames after CLOSE, and how its code is read"}
    return document("frame sequences", notes, [
        dict(type="link-over-time", spec="14", tests=tests,
             labels=["live.ping", "live.idle-timeout", "live.resume", "live.pong", "close.after", "code.unknown"])])
