"""messages.json: frames in, messages out, chapter 8."""

from .wire import LIMIT, Refused, document, seeded, sha256, test


class Receiver:
    """Joins MSG_PART* MSG."""

    def __init__(self, maximum):
        self.maximum, self.parts, self.delivered = maximum, b"", []

    def receive(self, kind, payload):
        if kind == "MSG_PART" and len(payload) < LIMIT["smallestPart"]:
            raise Refused("FLOOD", "part-size")
        if len(self.parts) + len(payload) > self.maximum:
            raise Refused("TOO_LARGE", "max-message")
        self.parts += payload
        if kind == "MSG":
            self.delivered.append(self.parts)
            self.parts = b""


def build():
    random = seeded("messages")
    groups = {"valid": [], "invalid": []}

    def part(length, fill=0xAB, count=1):
        return dict(kind="MSG_PART", length=length, fill=f"{fill:02x}", count=count)

    def last(length, fill=0xCD):
        return dict(kind="MSG", length=length, fill=f"{fill:02x}", count=1)

    def literal(data, kind="MSG"):
        return dict(kind=kind, hex=data.hex())

    def add(id, comment, flags, maximum, frames, expect=None):
        receiver, verdict = Receiver(maximum), None
        try:
            for frame in frames:
                payload = bytes.fromhex(frame["hex"]) if "hex" in frame else bytes.fromhex(frame["fill"]) * frame["length"]
                for _ in range(frame.get("count", 1)):
                    receiver.receive(frame["kind"], payload)
        except Refused as refused:
            verdict = refused
        assert (verdict.code if verdict else None) == expect, (id, verdict)
        fields = dict(maxMessage=maximum, frames=frames,
                      delivered=[dict(length=len(m), sha256=sha256(m).hex()) for m in receiver.delivered],
                      reassembling=0 if verdict else len(receiver.parts))
        if verdict:
            fields.update(result="invalid", error=verdict.code, check=verdict.check)
        else:
            fields.update(result="valid")
        groups[fields["result"]].append(test(id, comment, flags, **fields))

    small, usual = LIMIT["smallestMaxMessage"], LIMIT["maxMessage"]
    add("one-frame", "a message in one frame", ["Whole"], usual, [literal(b"hello")])
    add("empty", "a message of no bytes", ["Whole"], usual, [literal(b"")])
    add("full-frame", "a message that fills one frame", ["Whole"], usual, [last(65536)])
    add("three-messages", "order is kept, equal messages are two messages", ["Whole"], usual,
        [literal(b"b"), literal(b"a"), literal(b"a")])
    add("many-empty", "twenty empty messages", ["Whole"], usual, [literal(b"")] * 20)
    add("part-and-end", "a message in two frames", ["Parts"], usual, [part(1024), literal(random.randbytes(10))])
    add("part-and-empty-end", "the last frame may be empty", ["Parts"], usual, [part(65536), literal(b"")])
    add("many-parts", "65 frames", ["Parts"], usual, [part(1024, count=64), last(1)])
    add("parts-of-different-sizes", "each part has its own size", ["Parts"], usual,
        [part(1024, 1), part(65536, 2), part(2000, 3), last(7)])
    add("two-long-messages", "one after the other", ["Parts"], usual,
        [part(2048, 1), last(3, 2), part(4096, 3), last(5, 4)])
    add("unfinished", "parts without an end are not a message yet", ["Parts"], usual, [literal(b"first"), part(1024)])
    add("at-smallest-limit", "a message as long as the smallest max_message", ["Limit"], small,
        [part(32768), last(32768)])
    add("at-limit-in-one-frame", "the same in one frame", ["Limit"], small, [last(65536)])
    add("at-limit-empty-end", "the limit is reached before the last, empty frame", ["Limit"], small,
        [part(65536), literal(b"")])
    add("limit-counts-each-message", "each of two messages fits", ["Limit"], small, [last(65536), last(65536)])
    add("sixteen-mebibytes", "the longest message by default", ["Limit"], usual, [part(65536, count=255), last(65536)])
    add("limit-above-default", "a receiver may allow more", ["Limit"], usual + 1, [part(65536, count=256), last(1)])

    add("one-byte-over", "one byte more than max_message", ["Limit"], small, [part(65536), last(1)], "TOO_LARGE")
    add("over-in-a-part", "a part exceeds the limit", ["Limit"], small, [part(65536), part(1024)], "TOO_LARGE")
    add("over-default", "one byte more than 16 MiB", ["Limit"], usual, [part(65536, count=256), last(1)], "TOO_LARGE")
    add("over-after-good", "the message before is delivered", ["Limit"], small,
        [literal(b"fine"), part(40000), last(30000)], "TOO_LARGE")
    add("part-1023", "a part of 1,023 bytes", ["Small"], usual, [part(1023), last(1)], "FLOOD")
    add("part-empty", "a part of no bytes", ["Small"], usual, [part(0), last(1)], "FLOOD")
    add("part-one", "a part of one byte", ["Small"], usual, [part(1), last(1)], "FLOOD")
    add("second-part-small", "only the second part is too small", ["Small"], usual, [part(65536), part(1023), last(1)],
        "FLOOD")
    add("small-after-good", "the message before is delivered", ["Small"], usual, [literal(b"fine"), part(16), last(1)],
        "FLOOD")
    notes = {"Whole": "a message in one frame", "Parts": "a message in several frames",
             "Limit": "the receiver's max_message", "Small": "a part has at least 1,024 bytes"}
    return document("messages", notes, [
        dict(type="messages", spec="8", labels=["msg.order", "msg.empty", "msg.max"], tests=groups["valid"]),
        dict(type="messages", spec="8", labels=["msg.max", "msg.part-size"], tests=groups["invalid"])])
