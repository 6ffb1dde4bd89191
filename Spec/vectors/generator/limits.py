"""limits.json: how much a peer may send before it counts as a flood, 15.2."""

from .wire import CODE, KIND, LIMIT, Refused, document, test, tlv, u8, u16

STREAM = tlv(1, u8(1)) + tlv(2, b"s")


class Receiver:
    """Time in milliseconds; a token of the bucket is 1,000 parts, so that nothing is rounded."""

    def __init__(self):
        self.parts, self.filled, self.traffic, self.empty = LIMIT["controlBucket"] * 1000, 0, 0, 0
        self.open, self.highest = set(), 0

    def earn(self, cost):
        self.traffic += cost
        self.parts += self.traffic // LIMIT["controlPayload"] * 1000
        self.traffic %= LIMIT["controlPayload"]
        self.parts = min(self.parts, LIMIT["controlBucket"] * 1000)

    def control(self, at):
        self.parts = min(self.parts + (at - self.filled) * LIMIT["controlPerSecond"], LIMIT["controlBucket"] * 1000)
        self.filled = at
        if self.parts < 1000:
            raise Refused("FLOOD", "budget")
        self.parts -= 1000

    def receive(self, at, kind, channel, length):
        if kind in ("MSG", "MSG_PART"):
            self.earn(length + LIMIT["messageOverhead"])
        elif kind == "OPEN":
            self.earn(length + LIMIT["channelOverhead"])
            self.open.add(channel)
        elif kind == "DATA":
            self.empty = 0 if length else self.empty + 1
            if self.empty > LIMIT["emptyInARow"]:
                raise Refused("FLOOD", "empty")
            self.earn(length)
        elif kind == "FIN":
            self.open.discard(channel)
        elif kind == "RESET" and channel in self.open:
            self.open.discard(channel)
        else:
            self.control(at)


def build():
    tests = []

    def step(kind, count=1, channel=0, stride=0, at=0, hex=None, length=None):
        fields = dict(at=at, kind=KIND[kind]["value"] if isinstance(kind, str) else kind, channel=channel, count=count)
        if stride:
            fields["stride"] = stride
        fields.update(dict(fill=1, length=length) if length is not None else dict(hex=(hex or b"").hex()))
        return fields, kind

    def case(id, comment, steps, expect=None, flags=()):
        receiver, verdict = Receiver(), None
        for number, (fields, kind) in enumerate(steps):
            length = fields.get("length", len(fields.get("hex", "")) // 2)
            for turn in range(fields["count"]):
                try:
                    receiver.receive(fields["at"], kind, fields["channel"] + turn * fields.get("stride", 0), length)
                except Refused as refused:
                    verdict = refused
                    break
            if verdict:
                assert number == len(steps) - 1, id
        assert (verdict.check if verdict else None) == expect, (id, verdict)
        result = dict(result="invalid", error=verdict.code, check=verdict.check) if verdict else dict(result="valid")
        tests.append(test(id, comment, list(flags), steps=[fields for fields, _ in steps], **result))

    def skip(count, at=0):
        return step(0xAA, count, at=at, hex=b"Z")

    def ping(count, at=0):
        return step("PING", count, at=at, length=8)

    reset = u16(CODE["CANCELLED"])
    case("full", "as many control frames as the bucket holds", [skip(400)])
    case("one-more", "one more than allowed", [skip(401)], "budget", ["burst"])
    case("ping", "PING is a control frame", [ping(400)])
    case("ping-more", "many PINGs, each of which is answered", [ping(401)], "budget", ["burst"])
    case("pong", "a PONG that answers no PING is a control frame", [step("PONG", 400, length=8), ping(1)], "budget",
         ["burst"])
    case("mixed", "kinds share one bucket", [skip(200), ping(200), skip(1)], "budget", ["burst"])
    case("channel", "ignorable kinds count on every channel", [step(0xFA, 401, channel=7)], "budget", ["burst"])
    case("time", "15 ms refill one", [skip(400), skip(1, 15)], None, ["time"])
    case("time-more", "15 ms do not refill two", [skip(400), skip(2, 15)], "budget", ["time"])
    case("too-soon", "5 ms refill none", [skip(400), skip(1, 5)], "budget", ["time"])
    case("second", "a second refills a hundred", [skip(400), skip(100, 1005)], None, ["time"])
    case("second-more", "a second does not refill more", [skip(400), skip(101, 1005)], "budget", ["time"])
    case("cap", "an idle minute does not fill the bucket above 400", [skip(400), skip(400, 60_005)], None, ["time"])
    case("cap-more", "nor does an idle minute before the first frame", [skip(401, 60_005)], "budget", ["time"])
    case("steady", "a hundred per second for a minute", [skip(100, 1000 * second) for second in range(60)], None,
         ["time"])
    case("drain", "150 per second are too many after six seconds", [skip(150, 1000 * second) for second in range(7)],
         "budget",
         ["time"])
    case("message", "a message that costs 16,384 refills one", [skip(400), step("MSG", length=16_320), skip(1)], None,
         ["traffic"])
    case("message-less", "a message that costs 16,383 refills none", [skip(400), step("MSG", length=16_319), skip(1)],
         "budget", ["traffic"])
    case("halves", "two halves add up", [skip(400), step("MSG", 2, length=8_128), skip(1)], None, ["traffic"])
    case("empty-messages", "empty messages cost 64: 256 of them refill one",
         [skip(400), step("MSG", 256), skip(1)], None, ["traffic"])
    case("part", "parts refill as much", [skip(400), step("MSG_PART", length=65_472), step("MSG"), skip(4)], None,
         ["traffic"])
    case("part-more", "a second does not refill more", [skip(400), step("MSG_PART", length=65_472), step("MSG"), skip(5)],
         "budget",
         ["traffic"])
    case("traffic-cap", "traffic does not fill the bucket above 400", [step("MSG", 20, length=65_536), skip(401)],
         "budget", ["traffic"])
    case("open", "OPEN is not a control frame, and costs 1,024 plus its payload: 16 of 10 bytes refill one",
         [skip(400), step("OPEN", 16, channel=1, stride=1, hex=STREAM), skip(1)], None, ["traffic"])
    case("data", "DATA is not a control frame, and 16,384 bytes of it refill one",
         [skip(400), step("OPEN", channel=1, hex=STREAM), step("DATA", channel=1, length=16_384), skip(1)], None,
         ["traffic"])
    case("fin", "FIN is not a control frame", [skip(400), step("OPEN", channel=1, hex=STREAM), step("FIN", channel=1)],
         None, ["free"])
    case("reset", "RESET of an open channel is not a control frame",
         [skip(400), step("OPEN", channel=1, hex=STREAM), step("RESET", channel=1, hex=reset)], None, ["free"])
    case("reset-closed", "RESET of a closed channel is a control frame",
         [skip(400), step("OPEN", channel=1, hex=STREAM), step("RESET", 2, channel=1, hex=reset)], "budget", ["free"])
    case("empty", "eight empty DATA frames in a row",
         [step("OPEN", channel=1, hex=STREAM), step("DATA", 8, channel=1), step("DATA", channel=1, length=1),
          step("DATA", 8, channel=1)], None, ["empty"])
    case("empty-more", "nine in a row", [step("OPEN", channel=1, hex=STREAM), step("DATA", 9, channel=1)], "empty",
         ["empty"])
    case("empty-spread", "nine on two channels",
         [step("OPEN", 2, channel=1, stride=1, hex=STREAM), step("DATA", 5, channel=1), step("DATA", 4, channel=2)],
         "empty", ["empty"])
    notes = {
        "burst": "more frames at once than the bucket holds",
        "time": "how time refills the bucket",
        "traffic": "how messages and channels refill the bucket",
        "free": "kinds that are not control frames",
        "empty": "DATA without payload",
    }
    return document("Budgets", notes, [
        dict(type="budget", spec="15", labels=["limit.control", "limit.empty", "channel.exempt", "live.pong"],
             tests=tests)])
