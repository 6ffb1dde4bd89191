"""DNS messages as discovery sends them (12.2, 12.3): an encoder, and a strict reader that names the failing check."""

import base64
import struct

from .wire import LIMIT, Refused, u16, u32

A, PTR, TXT, AAAA, SRV, NSEC, ANY = 1, 12, 16, 28, 33, 47, 255
IN, FLUSH = 1, 0x8000


def base32(uid):
    return base64.b32encode(uid).decode().rstrip("=").lower()


def instance(uid, display, attempt=1):
    """The instance label: what fits of the display name, the number of the attempt from the second on, the uid."""
    tail = (f" ({attempt})" if attempt > 1 else "").encode() + b"-" + base32(uid).encode()
    room, prefix = LIMIT["instanceLabel"] - len(tail), display.encode()
    while len(prefix) > room:
        prefix = prefix.decode()[:-1].encode()
    return prefix + tail


def text(display, entries=()):
    """TXT of an instance: ours first, then the application's entries in the order of their keys."""
    strings = [b"mpc=1", b"n=" + display.encode()]
    strings += [f"{key}={value}".encode() for key, value in sorted(entries)]
    return b"".join(bytes([len(one)]) + one for one in strings)


def dotted(*labels):
    return tuple(one.encode() if isinstance(one, str) else one for one in labels)


class Writer:
    """Joins pieces of a message and remembers where names stand, for compression."""

    def __init__(self):
        self.data, self.places = b"", {}

    def put(self, piece):
        self.data += piece
        return piece

    def name(self, labels, compressed=True):
        """Adds a name and answers its bytes."""
        start = len(self.data)
        while labels:
            known = self.places.get(tuple(one.lower() for one in labels))
            if known is not None and compressed:
                self.data += u16(0xC000 | known)
                return self.data[start:]
            self.places.setdefault(tuple(one.lower() for one in labels), len(self.data))
            self.data += bytes([len(labels[0])]) + labels[0]
            labels = labels[1:]
        self.data += b"\0"
        return self.data[start:]


def record(kind, ttl, data, flush=False):
    """All of a record behind its name."""
    return u16(kind) + u16(IN | (FLUSH if flush else 0)) + u32(ttl) + u16(len(data)) + data


# Reading


def read_name(message, at):
    """Labels of the name at `at`, and where reading goes on."""
    labels, size, end, bound = [], 1, None, at
    while True:
        if at >= len(message):
            raise Refused("NONE", "form")
        length = message[at]
        if length == 0:
            return labels, at + 1 if end is None else end
        if length < 64:
            size += 1 + length
            if size > 255:
                raise Refused("NONE", "name")
            if at + 1 + length > len(message):
                raise Refused("NONE", "form")
            labels.append(message[at + 1:at + 1 + length])
            at += 1 + length
        elif length >= 192:
            if at + 2 > len(message):
                raise Refused("NONE", "form")
            target = struct.unpack_from(">H", message, at)[0] & 0x3FFF
            if target >= bound:
                raise Refused("NONE", "pointer")
            end = at + 2 if end is None else end
            at = bound = target
        else:
            raise Refused("NONE", "name")


def read(message):
    """A message as a dictionary, or the check of 12.5 that it fails."""
    if len(message) > LIMIT["dnsMessage"]:
        raise Refused("NONE", "limit")
    if len(message) < 12:
        raise Refused("NONE", "form")
    id, flags, *counts = struct.unpack_from(">6H", message)
    if sum(counts) > LIMIT["dnsRecords"]:
        raise Refused("NONE", "limit")
    if flags & 0x780F:
        raise Refused("NONE", "form")
    at, questions, sections = 12, [], []
    for _ in range(counts[0]):
        labels, at = read_name(message, at)
        if at + 4 > len(message):
            raise Refused("NONE", "form")
        kind, group = struct.unpack_from(">HH", message, at)
        at += 4
        questions.append(dict(name=shown(labels), type=kind, unicast=bool(group & 0x8000), group=group & 0x7FFF))
    for count in counts[1:]:
        records = []
        for _ in range(count):
            one, at = read_record(message, at)
            records.append(one)
        sections.append(records)
    if at != len(message):
        raise Refused("NONE", "form")
    return dict(id=id, response=bool(flags & 0x8000), authoritative=bool(flags & 0x0400),
                truncated=bool(flags & 0x0200), questions=questions, answers=sections[0], authorities=sections[1],
                additionals=sections[2])


def read_record(message, at):
    labels, at = read_name(message, at)
    if at + 10 > len(message):
        raise Refused("NONE", "form")
    kind, group, ttl, length = struct.unpack_from(">HHIH", message, at)
    at += 10
    end = at + length
    if end > len(message):
        raise Refused("NONE", "form")
    one = dict(name=shown(labels), type=kind, flush=bool(group & FLUSH), ttl=ttl)
    if group & 0x7FFF != IN:
        one["group"] = group & 0x7FFF
        one["data"] = message[at:end].hex()
    elif kind == PTR:
        target, at = read_name(message, at)
        one["target"] = shown(target)
        if at != end:
            raise Refused("NONE", "form")
    elif kind == SRV:
        if length < 7:
            raise Refused("NONE", "form")
        one["priority"], one["weight"], one["port"] = struct.unpack_from(">HHH", message, at)
        target, at = read_name(message, at + 6)
        one["target"] = shown(target)
        if at != end:
            raise Refused("NONE", "form")
    elif kind in (A, AAAA) and length != (4 if kind == A else 16):
        raise Refused("NONE", "form")
    else:
        one["data"] = message[at:end].hex()
    return one, end


def shown(labels):
    """A name as labels of hexadecimal digits: they may hold any byte, dots too."""
    return [one.hex() for one in labels]
