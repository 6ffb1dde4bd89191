"""Writes DNS messages as discovery sends them (12.2), names compressed, piece by piece."""

import base64

from .wire import LIMIT, u16, u32

A, PTR, TXT, SRV = 1, 12, 16, 33
IN, FLUSH = 1, 0x8000


def base32(uid):
    return base64.b32encode(uid).decode().rstrip("=").lower()


def instance(uid, display, attempt=1):
    """Returns the instance label: what fits of the display name, the number of the attempt from the second on, the uid."""
    tail = (f" ({attempt})" if attempt > 1 else "").encode() + b"-" + base32(uid).encode()
    room, prefix = LIMIT["instanceLabel"] - len(tail), display.encode()
    while len(prefix) > room:
        prefix = prefix.decode()[:-1].encode()
    return prefix + tail


def text(display, entries=()):
    """Returns the TXT of an instance: the protocol's entries first, then the application's, sorted by key."""
    strings = [b"mpc=1", b"n=" + display.encode()]
    strings += [f"{key}={value}".encode() for key, value in sorted(entries)]
    return b"".join(bytes([len(one)]) + one for one in strings)


def dotted(*labels):
    return tuple(one.encode() if isinstance(one, str) else one for one in labels)


class Writer:
    """Joins pieces of a message and remembers the offsets of names, for compression."""

    def __init__(self):
        self.data, self.places = b"", {}

    def put(self, piece):
        self.data += piece
        return piece

    def name(self, labels, compressed=True):
        """Adds a name and returns its bytes."""
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
    """Returns a record without its name."""
    return u16(kind) + u16(IN | (FLUSH if flush else 0)) + u32(ttl) + u16(len(data)) + data
