"""datagrams.json: UDP payloads, their content, and the replay window, chapter 10."""

from .wire import LIMIT, REGISTRIES, Refused, document, seeded, test, u8, u16, u32, u64

KINDS = {row["value"]: row for row in REGISTRIES["datagramKinds"]}
CONTENTS = {row["value"]: row for row in REGISTRIES["datagramContents"]}


def read_datagram(data, link, association):
    """Returns the body."""
    if not 9 < len(data) <= LIMIT["datagram"]:
        raise Refused("NONE", "size")
    if int.from_bytes(data[1:9], "big") != association:
        raise Refused("NONE", "association")
    if data[0] not in KINDS or KINDS[data[0]]["link"] != link:
        raise Refused("NONE", "kind")
    return data[9:]


def read_content(data):
    row = CONTENTS.get(data[0]) if len(data) >= 5 else None
    if not row or not row["min"] <= len(data) - 5 <= row["max"]:
        raise Refused("NONE", "content")
    return dict(kind=row["name"], sequence=int.from_bytes(data[1:5], "big"), body=data[5:].hex())


class Window:
    """The newest sequence, modulo 2^32, and which of the last 64 were received."""

    def __init__(self):
        self.newest, self.seen = None, set()

    def take(self, sequence):
        if self.newest is None:
            self.newest = sequence
        ahead = (sequence - self.newest) % 2 ** 32
        if 0 < ahead < 2 ** 31:
            self.newest = sequence
        elif (self.newest - sequence) % 2 ** 32 >= LIMIT["datagramWindow"] or sequence in self.seen:
            return False
        self.seen.add(sequence)
        self.seen = {one for one in self.seen if (self.newest - one) % 2 ** 32 < LIMIT["datagramWindow"]}
        return True


def build():
    random = seeded("datagrams")
    mine = int.from_bytes(random.randbytes(8), "big")
    datagrams, contents, windows = {"valid": [], "invalid": []}, {"valid": [], "invalid": []}, []

    def verdict(groups, id, comment, flags, read, expect, fields):
        try:
            told, refused = read(), None
        except Refused as found:
            told, refused = None, found
        assert (refused.check if refused else None) == expect, (id, refused)
        fields = dict(fields, **(dict(result="invalid", error="NONE", check=refused.check) if refused
                                 else dict(told, result="valid")))
        groups[fields["result"]].append(test(id, comment, flags, **fields))

    def datagram(id, comment, flags, link, data, expect=None):
        verdict(datagrams, id, comment, flags, lambda: dict(body=read_datagram(data, link, mine).hex()), expect,
                dict(link=link, association=f"{mine:016x}", hex=data.hex()))

    def content(id, comment, flags, data, expect=None):
        verdict(contents, id, comment, flags, lambda: dict(content=read_content(data)), expect, dict(hex=data.hex()))

    def window(id, comment, flags, sequences):
        seen = Window()
        windows.append(test(id, comment, flags, sequences=sequences, accepted=[seen.take(one) for one in sequences],
                            result="valid"))

    whole = lambda kind, body, association=mine: u8(kind) + u64(association) + body
    record = u8(23) + u16(0xFEFD) + u16(1) + bytes(6) + u16(40) + random.randbytes(40)
    message = lambda length, sequence=0: u8(1) + u32(sequence) + random.randbytes(length)
    datagram("record", "a record on a TLS link", ["Kind"], "tls", whole(1, record))
    datagram("two-records", "several records in one datagram", ["Kind"], "tls", whole(1, record + record))
    datagram("plain", "a content on a plain link", ["Kind"], "plain", whole(2, message(4)))
    datagram("largest", "1,200 bytes", ["Size"], "tls", whole(1, random.randbytes(1191)))
    datagram("too-long", "one byte too many", ["Size"], "tls", whole(1, random.randbytes(1192)), "size")
    datagram("nothing", "no bytes", ["Size"], "tls", b"", "size")
    datagram("one-byte", "one byte", ["Size"], "tls", b"\1", "size")
    datagram("half-header", "a header of eight bytes", ["Size"], "tls", whole(1, b"")[:8], "size")
    datagram("no-body", "a header without a body", ["Size"], "tls", whole(1, b""), "size")
    datagram("other-association", "one bit of the association is wrong", ["Association"], "tls",
             whole(1, record, mine ^ 1), "association")
    datagram("zero-association", "association 0", ["Association"], "plain", whole(2, message(4), 0), "association")
    datagram("reversed-association", "the association in the other byte order", ["Association"], "tls",
             whole(1, record, int.from_bytes(u64(mine), "little")), "association")
    datagram("plain-on-tls", "content without protection", ["Kind"], "tls", whole(2, message(4)), "kind")
    datagram("record-on-plain", "a record on a plain link", ["Kind"], "plain", whole(1, record), "kind")
    for kind in (0, 3, 0xF0, 0xFF):
        datagram(f"kind-{kind:02x}", "an unknown kind", ["Kind"], "tls", whole(kind, record), "kind")

    content("message", "a message", ["Content"], u8(1) + u32(7) + b"hi")
    content("message-empty", "a message of no bytes", ["Content"], message(0))
    content("message-1150", "the longest", ["Content"], message(1150, 2 ** 32 - 1))
    content("message-1151", "one byte too many", ["Content"], message(1151), "content")
    content("ping", "a ping", ["Content"], u8(2) + u32(0) + random.randbytes(8))
    content("pong", "a pong", ["Content"], u8(3) + u32(1) + random.randbytes(8))
    content("ping-7", "a ping of seven bytes", ["Content"], u8(2) + u32(0) + bytes(7), "content")
    content("pong-9", "a pong of nine bytes", ["Content"], u8(3) + u32(0) + bytes(9), "content")
    content("content-empty", "no bytes", ["Content"], b"", "content")
    content("content-4", "half a sequence", ["Content"], u8(1) + bytes(3), "content")
    for kind in (0, 4, 0xFF):
        content(f"content-kind-{kind:02x}", "an unknown kind", ["Content"], u8(kind) + u32(0) + bytes(8), "content")

    window("in-order", "one after the other", ["Window"], [0, 1, 2, 3])
    window("repeated", "each is accepted once", ["Window"], [0, 0, 1, 1, 0])
    window("overtaken", "late sequences are accepted", ["Window"], [0, 3, 1, 2, 1])
    window("first-any", "the first sequence to arrive may be any", ["Window"], [40, 39, 41])
    window("late-63", "63 behind the newest", ["Window"], [0, 64, 1, 1])
    window("late-64", "64 behind the newest", ["Window"], [0, 65, 1, 2])
    window("jump", "a jump discards the window", ["Window"], [5, 1000, 5, 937, 936, 937])
    window("jump-far", "the largest jump ahead", ["Window"], [0, 2 ** 31 - 1, 0])
    window("half-circle", "a sequence half the range ahead counts as old", ["Window"], [0, 2 ** 31])
    window("wrap", "the newest sequence wraps around", ["Window"],
           [2 ** 32 - 2, 2 ** 32 - 1, 0, 2 ** 32 - 1, 1, 2 ** 32 - 2])
    window("wrap-late", "late sequences from before the wrap", ["Window"],
           [2 ** 32 - 3, 1, 2 ** 32 - 1, 2 ** 32 - 2, 0, 2 ** 32 - 3])
    notes = {"Kind": "which kind goes on which link", "Size": "10 to 1,200 bytes",
             "Association": "the receiver's own association",
             "Content": "kinds and their sizes", "Window": "64 sequences up to the newest"}
    return document("datagrams", notes, [
        dict(type="datagram", spec="10", labels=["dgram.header", "dgram.size", "dgram.mode", "dgram.drop"],
             tests=datagrams["valid"] + datagrams["invalid"]),
        dict(type="datagram-content", spec="10", labels=["dgram.message-max", "dgram.drop"],
             tests=contents["valid"] + contents["invalid"]),
        dict(type="datagram-window", spec="10", labels=["dgram.sequence"], tests=windows)])
