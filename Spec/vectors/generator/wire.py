"""The wire forms of MPC/1, written from the chapters alone: encoders, and strict readers that name the failing check.

The readers check every generated test a second time, so that a wrong expectation stops the generator.
"""

import hashlib
import hmac
import json
import pathlib
import random
import struct

SPEC = pathlib.Path(__file__).resolve().parents[2]
REGISTRIES = json.loads((SPEC / "registries.json").read_text())
LIMIT = {row["name"]: row["value"] for row in REGISTRIES["limits"]}
CODE = {row["name"]: row["value"] for row in REGISTRIES["codes"]}
KIND = {row["name"]: row for row in REGISTRIES["frames"]}
KIND_BY_VALUE = {row["value"]: row for row in REGISTRIES["frames"]}


class Refused(Exception):
    """The verdict of a reader: the code to send, and the check that failed."""

    def __init__(self, code, check):
        super().__init__(f"{code} by check {check}")
        self.code, self.check = code, check


def seeded(name):
    """Returns a random source for one file, so that adding a test to it does not change the others."""
    return random.Random("MPC/1 vectors " + name)


def u8(value):
    return struct.pack(">B", value)


def u16(value):
    return struct.pack(">H", value)


def u32(value):
    return struct.pack(">I", value)


def u64(value):
    return struct.pack(">Q", value)


def sha256(data):
    return hashlib.sha256(data).digest()


def hmac256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def is_keyed(uid):
    """Returns whether a uid is a hash of a key, 3.1."""
    return uid[6] >> 4 == 8 and uid[8] >> 6 == 2


def keyed(hash, version=8, variant=2):
    """Returns the uid made of the first bytes of a hash, or a form that only resembles one."""
    uid = bytearray(hash[:16])
    uid[6], uid[8] = version << 4 | uid[6] & 15, variant << 6 | uid[8] & 63
    return bytes(uid)


def random_uid(random):
    """Returns 16 random bytes that are no keyed uid."""
    uid = random.randbytes(16)
    return keyed(uid, version=4) if is_keyed(uid) else uid


def tlv(kind, value):
    return u16(kind) + u16(len(value)) + value


def header(kind, length, channel=0):
    value = KIND[kind]["value"] if isinstance(kind, str) else kind
    return length.to_bytes(3, "big") + u8(value) + u32(channel)


def frame(kind, payload=b"", channel=0):
    return header(kind, len(payload), channel) + payload


def is_text(data, control_allowed):
    """Returns whether the bytes are UTF-8, and free of control and direction characters if those are not allowed."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    refused = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
    return control_allowed or not any(ord(character) in refused for character in text)


def read_tlvs(data, known, repeatable=()):
    """Returns the known entries and the types that were ignored."""
    entries, ignored, at, last = [], [], 0, -1
    while at < len(data):
        if len(data) - at < 4:
            raise Refused("PROTOCOL", "length")
        kind, length = struct.unpack_from(">HH", data, at)
        if length > len(data) - at - 4:
            raise Refused("PROTOCOL", "length")
        if kind < last:
            raise Refused("PROTOCOL", "order")
        if kind == last and kind not in repeatable:
            raise Refused("PROTOCOL", "duplicate")
        if kind not in known and kind & 0x8000:
            raise Refused("PROTOCOL", "critical")
        if kind in known:
            entries.append((kind, data[at + 4:at + 4 + length]))
        elif kind not in ignored:
            ignored.append(kind)
        at, last = at + 4 + length, kind
    return entries, ignored


def test(id, comment, flags, **fields):
    return dict(id=id, comment=comment, flags=flags, **fields)


def document(title, notes, groups):
    """Numbers the tests and returns them in the common form."""
    seen, number = set(), 0
    for group in groups:
        for one in group["tests"]:
            number += 1
            assert one["id"] not in seen, f"{title}: {one['id']} occurs twice"
            seen.add(one["id"])
            rest = dict(one)
            one.clear()
            one.update(tcId=number, **rest)
            for flag in one["flags"]:
                assert flag in notes, f"{title}: flag {flag} has no note"
    return dict(schema="schema.json", title=title, protocol="MPC/1", revision=1, notes=notes, groups=groups)
