"""Connection data as a man in the middle would change it: parsed, changed, and rebuilt with a correct checksum."""

import base64
import hashlib

PEER, PREFERENCE, FINGERPRINT, TOKEN = 1, 3, 4, 5


def read(path):
    with open(path, "rb") as file:
        return base64.b64decode(file.read().split(b"\n")[0])


def write(path, data):
    with open(path, "wb") as file:
        file.write(base64.b64encode(data) + b"\n")


def fields(data):
    found, rest = [], data[8:-8]
    while rest:
        count = int.from_bytes(rest[2:4])
        found.append((int.from_bytes(rest[0:2]), rest[4:4 + count]))
        rest = rest[4 + count:]
    return found


def build(flags, parts):
    body = b"".join(kind.to_bytes(2) + len(value).to_bytes(2) + value for kind, value in parts)
    head = b"MPCD" + bytes([1, flags]) + (len(body) + 16).to_bytes(2)
    return head + body + hashlib.sha256(head + body).digest()[:8]


def flipped(data, kind):
    """Returns the data with the last bit of a field inverted."""
    return build(data[5], [(k, v[:-1] + bytes([v[-1] ^ 1]) if k == kind else v) for k, v in fields(data)])


def plain(data):
    """Returns the data as if its session had encryption disabled."""
    parts = [(k, b"\x02" if k == PREFERENCE else v) for k, v in fields(data) if k != FINGERPRINT]
    return build(data[5], parts)


def optional(data):
    return build(data[5], [(k, b"\x00" if k == PREFERENCE else v) for k, v in fields(data)])


def damaged(data):
    """Returns the data with one bit inverted, and the checksum unchanged."""
    return data[:40] + bytes([data[40] ^ 1]) + data[41:]
