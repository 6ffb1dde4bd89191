"""dns-messages.json: DNS messages, and the labels and TXT records that make an instance, chapter 12."""

import base64

from .wire import LIMIT, Refused, document, seeded, test, u8, u16, u32

A, CNAME, PTR, TXT, AAAA, SRV, NSEC, OPT, ANY = 1, 5, 12, 16, 28, 33, 47, 41, 255
BYTES, RECORDS, NAME, LABEL, POINTERS, TXT_BYTES = 9_000, 512, 255, 63, 127, 1_300


def refuse(check):
    raise Refused("NONE", check)


class Reader:
    def __init__(self, data, place=0):
        self.data, self.place = data, place

    def take(self, count):
        if self.place + count > len(self.data):
            refuse("form")
        self.place += count
        return self.data[self.place - count:self.place]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def name(self):
        """Returns the name without compression: lengths, labels and a zero byte."""
        wire, after, pointers, start = b"", None, 0, self.place
        while True:
            head = self.number(1)
            if head == 0:
                if after is not None:
                    self.place = after
                return wire + b"\0"
            if head >= 0xC0:
                target = (head - 0xC0) * 256 + self.number(1)
                after = self.place if after is None else after
                pointers += 1
                if pointers > POINTERS or not 12 <= target < start:
                    refuse("pointer")
                self.place = start = target
            elif head > LABEL:
                refuse("form")
            else:
                if len(wire) + head + 2 > NAME:
                    refuse("name")
                wire += u8(head) + self.take(head)

    def record(self):
        name, kind, code = self.name(), self.number(2), self.number(2)
        ttl, length = self.number(4), self.number(2)
        inside, data = Reader(self.data, self.place), self.take(length)
        if code & 0x7FFF != 1:
            return None
        if kind in (A, AAAA) and length != {A: 4, AAAA: 16}[kind]:
            refuse("form")
        if kind in (PTR, SRV):
            data = (inside.take(6) if kind == SRV else b"") + inside.name()
            if inside.place != self.place:
                refuse("form")
        if kind == NSEC:
            try:
                data = inside.name() + inside.take(2)
                if data[-2] != 0 or not 1 <= data[-1] <= 32:
                    return None
                data += inside.take(data[-1])
            except Refused:
                return None
            if inside.place != self.place:
                return None
        if kind == TXT and not data:
            data = b"\0"
        return dict(name=name.hex(), flush=code >= 0x8000, ttl=ttl, type=kind, data=data.hex())


def read_message(data):
    if len(data) > BYTES:
        refuse("limit")
    reader = Reader(data)
    number, flags = reader.number(2), reader.number(2)
    counts = [reader.number(2) for _ in range(4)]
    if sum(counts) > RECORDS:
        refuse("limit")
    questions, sections = [], []
    for _ in range(counts[0]):
        name, kind, code = reader.name(), reader.number(2), reader.number(2)
        if code & 0x7FFF in (1, 255):
            questions.append(dict(name=name.hex(), type=kind, unicast=code >= 0x8000))
    for count in counts[1:]:
        records = [reader.record() for _ in range(count)]
        sections.append([one for one in records if one])
    return dict(number=number, response=flags >= 0x8000, truncated=bool(flags & 0x0200), questions=questions,
                answers=sections[0], authorities=sections[1], additionals=sections[2])


def read_instance(label, txt):
    if len(label) < 27 or label[-27:-26] != b"-":
        refuse("label")
    try:
        uid = base64.b32decode(label[-26:].upper() + b"======")
    except ValueError:
        refuse("label")
    if base64.b32encode(uid)[:26].lower() != label[-26:].lower():
        refuse("label")
    if len(txt) > TXT_BYTES:
        refuse("txt")
    found, rest = {}, txt
    while rest:
        if rest[0] > len(rest) - 1:
            refuse("txt")
        entry, rest = rest[1:1 + rest[0]], rest[1 + rest[0]:]
        key, _, value = entry.partition(b"=")
        if 1 <= len(key) <= 64 and all(0x20 <= one <= 0x7E for one in key):
            found.setdefault(key.lower(), (key, value))
    if found.get(b"mpc", (b"", b""))[1] != b"1":
        refuse("version")
    try:
        name = found[b"n"][1].decode()
    except (KeyError, UnicodeDecodeError):
        refuse("name")
    if not 1 <= len(name.encode()) <= LIMIT["displayName"] or any(ord(one) < 32 for one in name):
        refuse("name")
    info = {}
    for lower, (key, value) in found.items():
        try:
            if lower not in (b"mpc", b"n", b"c"):
                info[key.decode()] = value.decode()
        except UnicodeDecodeError:
            pass
    return dict(uid=uid.hex(), displayName=name, entries=info)


def labels(*texts):
    return b"".join(u8(len(one)) + one for one in (text if isinstance(text, bytes) else text.encode() for text in texts))


def name(*texts):
    return labels(*texts) + b"\0"


def pointer(place):
    return u16(0xC000 + place)


def question(who, kind=PTR, code=1):
    return who + u16(kind) + u16(code)


def record(who, kind, data, code=1, ttl=120):
    return who + u16(kind) + u16(code) + u32(ttl) + u16(len(data)) + data


def message(questions=(), answers=(), authorities=(), additionals=(), flags=0, number=0, counts=None):
    parts = (questions, answers, authorities, additionals)
    counts = counts or [len(part) for part in parts]
    return u16(number) + u16(flags) + b"".join(map(u16, counts)) + b"".join(map(b"".join, parts))


def strings(*texts):
    return labels(*texts)


def build():
    random = seeded("dns-messages")
    messages, instances = {"valid": [], "invalid": []}, {"valid": [], "invalid": []}

    def verdict(groups, id, comment, flags, read, expect, fields):
        try:
            told, refused = read(), None
        except Refused as found:
            told, refused = None, found
        assert (refused.check if refused else None) == expect, (id, refused)
        fields = dict(fields, **(dict(result="invalid", error="NONE", check=refused.check) if refused
                                 else dict(fields=told, result="valid")))
        groups[fields["result"]].append(test(id, comment, flags, **fields))

    def one(id, comment, flags, data, expect=None, padding=0):
        fields = dict(hex=data.hex(), **(dict(append=dict(fill=0, length=padding)) if padding else {}))
        verdict(messages, id, comment, flags, lambda: read_message(data + bytes(padding)), expect, fields)

    service = name("_chat", "_tcp", "local")
    host = labels("mpc-0123456789abcdef") + pointer(23)
    instance = "Ann-" + base64.b32encode(random.randbytes(16)).decode()[:26].lower()
    address = record(name("a"), A, bytes([192, 0, 2, 1]))
    srv = lambda target: u16(0) * 2 + u16(49152) + target
    one("query", "a query for instances", ["Form"], message([question(service)]))
    one("query-unicast", "answers by unicast are welcome", ["Form"], message([question(service, PTR, 0x8001)]))
    one("query-any-class", "class ANY", ["Form"], message([question(service, ANY, 255)]))
    one("known-answers", "a question with a known answer, with more to follow", ["Form"],
        message([question(service)], [record(pointer(12), PTR, labels(instance) + pointer(12), 1, 4000)], flags=0x0200))
    one("probe", "a question and the proposed record", ["Form"],
        message([question(labels(instance) + service, ANY)], authorities=[record(pointer(12), SRV, srv(name("h")))]))
    first = message(counts=[0, 4, 0, 0], flags=0x8400) + record(service, PTR, labels(instance) + pointer(12), 1, 4500)
    mine = pointer(12 + len(service) + 10)
    first += record(mine, SRV, srv(host), 0x8001)
    place = len(first) - len(host)
    announced = first + record(mine, TXT, strings("mpc=1", "n=Ann", "game=chess"), 0x8001, 4500)
    one("announcement", "PTR, SRV, TXT and A", ["Form"],
        announced + record(pointer(place), A, bytes([192, 0, 2, 1]), 0x8001))
    one("announcement-six", "PTR, SRV, TXT and AAAA", ["Form"],
        announced + record(pointer(place), AAAA, bytes.fromhex("20010db8") + bytes(11) + b"\1", 0x8001))
    one("goodbye", "a TTL of 0", ["Form"],
        message(answers=[record(service, PTR, labels(instance) + pointer(12), 1, 0)], flags=0x8400))
    one("nothing", "a header alone", ["Form"], message(number=0xFFFF))
    one("tail", "bytes after the last record", ["Ignored"], message([question(service)]) + b"tail")
    one("dots-and-spaces", "a label with dots, spaces and UTF-8", ["Name"],
        message([question(labels("Zoë v1.2 (x)") + service, SRV)]))
    one("binary-label", "a label that is not text", ["Name"], message([question(labels(bytes([0, 255, 46])) + b"\0")]))
    one("root", "a name without labels", ["Name"], message([question(b"\0")]))
    one("upper-case", "capital letters are kept", ["Name"], message([question(name("_CHAT", "_tcp", "LOCAL"))]))
    long = [bytes([97 + index]) * 63 for index in range(3)]
    one("name-255", "the longest name", ["Name"], message([question(name(*long, b"d" * 61))]))
    one("label-63", "the longest label", ["Name"], message([question(name(b"d" * 63))]))
    one("pointer-to-pointer", "a name that is a pointer to a pointer", ["Pointer"],
        message([question(service), question(pointer(12)), question(pointer(34))]))
    chain = lambda count: message([question(name("a"))] + [question(pointer(12 if index == 0 else 13 + 6 * index), PTR, 3)
                                                         for index in range(count)])
    one("pointers-127", "the most pointers in a name", ["Pointer"], chain(127))
    one("pointers-128", "one more than allowed", ["Pointer"], chain(128), "pointer")
    one("class-chaos", "another class", ["Ignored"],
        message([question(service, TXT, 3)], [record(service, TXT, b"\1x", 3), address]))
    one("edns", "OPT, whose class is a size", ["Ignored"],
        message([question(service)], additionals=[record(b"\0", OPT, b"\0\4\0\2ab", 1440, 0)]))
    one("unknown-type", "an unknown type", ["Ignored"],
        message(answers=[record(name("a"), 65280, b"\xc0\xff\xff")]))
    one("cname", "a known type that is not used here", ["Ignored"], message(answers=[record(name("a"), CNAME, name("b"))]))
    one("txt-empty", "a TXT without data is one empty string", ["Form"], message(answers=[record(name("a"), TXT, b"")]))
    for id, comment, data in (
            ("nsec", "the types of a name", name("a") + bytes([0, 5, 0x40, 0, 0, 0x80, 0x40])),
            ("nsec-block-1", "another block", name("a") + b"\1\1\x40"),
            ("nsec-two-blocks", "a second block", name("a") + b"\0\1\x40\1\1\x40"),
            ("nsec-no-bits", "a block of no bytes", name("a") + b"\0\0"),
            ("nsec-33", "a block of 33 bytes", name("a") + b"\0\x21" + bytes(33)),
            ("nsec-cut", "a block that is cut off", name("a") + b"\0\2\x40"),
            ("nsec-pointer", "its name points forwards", pointer(99) + b"\0\1\x40"),
            ("nsec-label", "its name has a label of another type", b"\x41a\0" + b"\0\1\x40")):
        flag = "Form" if id == "nsec" else "Ignored"
        one(id, comment, [flag], message(answers=[record(name("a"), NSEC, data), address]))
    one("records-512", "the most records", ["Limit"], message([question(b"\0", PTR, 3)] * 512))
    one("records-513", "one more than allowed", ["Limit"], message([question(b"\0", PTR, 3)] * 513), "limit")
    one("counts-all-ones", "the counts announce 262,140 records", ["Limit"], message(counts=[0xFFFF] * 4), "limit")
    one("bytes-9000", "the longest message", ["Limit"], message([question(service)]), padding=9000 - 34)
    one("bytes-9001", "one byte too many", ["Limit"], message([question(service)]), "limit", 9001 - 34)

    one("empty", "no bytes", ["Cut"], b"", "form")
    one("head-11", "a header of 11 bytes", ["Cut"], message()[:11], "form")
    whole = message([question(service)], [record(pointer(12), PTR, labels(instance) + pointer(12))])
    for id, comment, cut in (("cut-label", "within a label", 15), ("cut-before-the-end", "before a name's end", 29),
                             ("cut-type", "within a type", 31), ("cut-before-the-record", "before a record", 34),
                             ("cut-pointer", "within a pointer", 35), ("cut-ttl", "within a TTL", 43),
                             ("cut-data", "within the data", len(whole) - 1)):
        one(id, comment, ["Cut"], whole[:cut], "form")
    one("count-too-high", "a second question is announced", ["Cut"], message([question(service)], counts=[2, 0, 0, 0]),
        "form")
    one("length-all-ones", "a record of 65,535 bytes", ["Cut"],
        message(counts=[0, 1, 0, 0]) + name("a") + u16(TXT) + u16(1) + u32(1) + u16(0xFFFF) + b"\1x", "form")
    one("pointer-to-itself", "a name points to itself", ["Pointer"], message([question(pointer(12))]), "pointer")
    one("pointer-into-its-labels", "a name points to its own start", ["Pointer"],
        message([question(labels("a") + pointer(12))]), "pointer")
    one("pointer-to-its-last-label", "a name points into itself", ["Pointer"],
        message([question(labels("a", "b") + pointer(14))]), "pointer")
    one("pointer-forwards", "a name points to the next", ["Pointer"],
        message([question(pointer(18)), question(service)]), "pointer")
    one("pointers-in-a-ring", "two names point to each other", ["Pointer"],
        message([question(labels("a") + pointer(20)), question(pointer(12))]), "pointer")
    one("pointer-into-the-head", "a name points into the message's header", ["Pointer"],
        message([question(pointer(4))]), "pointer")
    one("pointer-past-the-end", "a name points past the end", ["Pointer"],
        message([question(pointer(0x3FFF))]), "pointer")
    one("label-type-40", "an extended label", ["Form"], message([question(b"\x41" + bytes(70))]), "form")
    one("label-type-80", "an unassigned label type", ["Form"], message([question(b"\x80" + bytes(70))]), "form")
    one("name-256", "a name of 256 bytes", ["Name"], message([question(name(*long, b"d" * 62))]), "name")
    one("name-256-by-pointer", "a pointer makes a name too long", ["Name"],
        message([question(name(*long, b"d" * 60)), question(labels("x") + pointer(12))]), "name")
    one("a-3", "an address of 3 bytes", ["Form"], message(answers=[record(name("a"), A, bytes(3))]), "form")
    one("a-16", "an IPv6 address as A", ["Form"], message(answers=[record(name("a"), A, bytes(16))]), "form")
    one("aaaa-4", "an IPv4 address as AAAA", ["Form"], message(answers=[record(name("a"), AAAA, bytes(4))]), "form")
    one("ptr-empty", "a PTR without data", ["Form"], message(answers=[record(name("a"), PTR, b"")]), "form")
    one("ptr-tail", "a byte after a PTR's name", ["Form"], message(answers=[record(name("a"), PTR, name("b") + b"\0")]),
        "form")
    one("ptr-overrun", "a name that extends past its record", ["Form"],
        message(answers=[record(name("a"), PTR, b"\3b"), b"cd\0" + bytes(10)]), "form")
    one("srv-6", "an SRV without a target", ["Form"], message(answers=[record(name("a"), SRV, srv(b""))]), "form")
    one("srv-tail", "a byte after an SRV's target", ["Form"],
        message(answers=[record(name("a"), SRV, srv(name("b")) + b"\0")]), "form")
    one("srv-pointer-forwards", "a target points forwards", ["Pointer"],
        message(answers=[record(name("a"), SRV, srv(pointer(60))), record(name("c"), TXT, b"\1x" * 20)]), "pointer")

    uid = random.randbytes(16)
    tail = "-" + base64.b32encode(uid).decode()[:26].lower()
    good = strings("mpc=1", "n=Ann")

    def peer(id, comment, flags, label, txt, expect=None):
        label = label if isinstance(label, bytes) else label.encode()
        verdict(instances, id, comment, flags, lambda: read_instance(label, txt), expect,
                dict(instance=label.hex(), txt=txt.hex()))

    peer("instance", "name, version and entries", ["Form"], "Ann" + tail, good + strings("game=chess", "level=3"))
    peer("instance-cut-name", "a label with the beginning of a long name", ["Form"], "a" * 36 + tail,
         strings("mpc=1", "n=" + "a" * 63))
    peer("instance-other-prefix", "the part before the uid is for display only", ["Form"], "Bob (2)" + tail, good)
    peer("instance-no-prefix", "a label of the uid alone", ["Form"], tail, good)
    peer("instance-upper-case", "base32 in capitals", ["Form"], "Ann" + tail.upper(), good)
    peer("instance-utf8", "names and values are UTF-8", ["Form"], "Zoë" + tail, strings("mpc=1", "n=Zoë", "k=naïve 🐟"))
    peer("instance-empty-value", "a key without value, one without =", ["Form"], "Ann" + tail, good + strings("a=", "b"))
    peer("instance-equals", "= in a value", ["Form"], "Ann" + tail, good + strings("a=b=c"))
    peer("instance-first-counts", "the first of equal keys counts", ["Ignored"], "Ann" + tail,
         good + strings("Key=1", "key=2", "N=Bob", "mpc=2"))
    peer("instance-odd-strings", "strings without a valid key, and a value that is not text", ["Ignored"], "Ann" + tail,
         good + strings("", "=x", "\u0001=x", "k" * 65 + "=x", b"v=\xff\xfe"))
    peer("instance-order", "the version need not come first", ["Form"], "Ann" + tail, strings("n=Ann", "mpc=1"))
    peer("instance-1300", "the longest TXT", ["Limit"], "Ann" + tail, good + bytes(1300 - len(good)))
    peer("instance-1301", "one byte too many", ["Limit"], "Ann" + tail, good + bytes(1301 - len(good)), "txt")
    peer("txt-cut", "a string that is longer than the data", ["Cut"], "Ann" + tail, good + b"\x05ab=c", "txt")
    peer("label-without-uid", "a label that consists of a name only", ["Label"], "Ann's computer", good, "label")
    peer("label-25", "25 characters of base32", ["Label"], "Ann" + tail[:-1], good, "label")
    peer("label-27", "27 characters of base32", ["Label"], "Ann" + tail + "a", good, "label")
    peer("label-no-hyphen", "no hyphen before the uid", ["Label"], "Ann_" + tail[1:], good, "label")
    peer("label-alphabet", "a character that base32 does not have", ["Label"], "Ann" + tail[:-2] + "1a", good, "label")
    peer("label-last-bits", "bits after the uid", ["Label"], "Ann" + tail[:-1] + "b", good, "label")
    peer("version-missing", "no version", ["Version"], "Ann" + tail, strings("n=Ann"), "version")
    peer("version-2", "another version", ["Version"], "Ann" + tail, strings("mpc=2", "n=Ann"), "version")
    peer("version-empty", "a version without value", ["Version"], "Ann" + tail, strings("mpc", "n=Ann"), "version")
    peer("name-missing", "no display name", ["Name"], "Ann" + tail, strings("mpc=1"), "name")
    peer("name-empty", "a display name of no bytes", ["Name"], "Ann" + tail, strings("mpc=1", "n="), "name")
    peer("name-64", "a display name of 64 bytes", ["Name"], "Ann" + tail, strings("mpc=1", "n=" + "a" * 64), "name")
    peer("name-control", "a display name with a control character", ["Name"], "Ann" + tail,
         strings("mpc=1", "n=A\u0007"), "name")
    peer("name-not-utf8", "a display name that is not text", ["Name"], "Ann" + tail, strings("mpc=1", b"n=\xff"), "name")
    notes = {"Form": "the form of messages, records and instances",
             "Ignored": "parts that are ignored while the rest is used",
             "Cut": "something ends too early", "Limit": "at a limit, or one beyond", "Name": "labels and names",
             "Pointer": "compression", "Label": "the label of an instance", "Version": "the entry mpc"}
    return document("DNS messages", notes, [
        dict(type="dns-message", spec="12", labels=["dns.form", "dns.limit", "dns.name", "dns.pointer", "dns.ignored"],
             tests=messages["valid"] + messages["invalid"]),
        dict(type="dns-instance", spec="12", labels=["service.instance", "service.txt"],
             tests=instances["valid"] + instances["invalid"])])
