"""tlv.json: type-length-value lists, chapter 2."""

from .wire import Refused, document, read_tlvs, test, tlv, u16

KNOWN, REPEATABLE = [1, 2, 3, 8, 16, 0x8003], [16]


def build():
    accepted, refused = [], []

    def good(id, comment, data, flags=("Form",), known=KNOWN, repeatable=REPEATABLE):
        entries, ignored = read_tlvs(data, known, repeatable)
        accepted.append(test(id, comment, list(flags), known=known, repeatable=repeatable, hex=data.hex(),
                             entries=[dict(type=kind, hex=value.hex()) for kind, value in entries],
                             ignored=ignored, result="valid"))

    def bad(id, comment, check, data, flags=("Form",), known=KNOWN, repeatable=REPEATABLE):
        try:
            read_tlvs(data, known, repeatable)
        except Refused as verdict:
            assert verdict.check == check, (id, verdict)
        else:
            raise AssertionError(id)
        refused.append(test(id, comment, list(flags), known=known, repeatable=repeatable, hex=data.hex(),
                            result="invalid", error="PROTOCOL", check=check))

    one, two, three = tlv(1, b"\xaa"), tlv(2, b"\xbb\xbb"), tlv(3, b"\xcc" * 3)
    good("empty-list", "no entries", b"")
    good("one-entry", "one known entry", one)
    good("empty-value", "a value of no bytes", tlv(1, b""))
    good("three-ascending", "types ascend", one + two + three)
    good("gap-in-types", "types need not be consecutive", one + tlv(8, b"\x08"))
    good("repeated-where-allowed", "a repeatable type three times in a row", tlv(16, b"a") + tlv(16, b"b") + tlv(16, b""),
         ("Duplicate",))
    good("repeated-equal-values", "a repeatable type with the same value twice", tlv(16, b"a") * 2, ("Duplicate",))
    good("unknown-between", "an unknown type is ignored", one + tlv(7, b"\x77") + tlv(8, b""), ("Unknown",))
    good("unknown-first", "an unknown type below every known one", tlv(0, b"\x00") + one, ("Unknown",))
    good("unknown-last", "an unknown type above every known one", one + tlv(0x7FFF, b"zz"), ("Unknown",))
    good("unknown-only", "only an unknown type", tlv(0x0077, b"\x01\x02"), ("Unknown",))
    for index in range(8):
        kind = 0x0A0A + 0x1010 * index
        good(f"grease-{kind:04x}", "a GREASE type is ignored", one + tlv(kind, bytes([index]) * index), ("Grease",))
    good("known-critical", "a known type with bit 15 set is read", one + tlv(0x8003, b"\x01"), ("Critical",))
    good("long-value", "a value of 1,000 bytes", tlv(1, b"\x5a" * 1000))

    bad("order-swapped", "2 before 1", "order", two + one, ("Order",))
    bad("order-unknown-after", "an unknown type out of order is refused, too", "order", two + tlv(0, b""),
        ("Order",))
    bad("order-grease-first", "GREASE must be in order, too", "order", tlv(0x0A0A, b"") + one, ("Order", "Grease"))
    bad("order-repeatable-split", "a repeatable type continues after another type", "order",
        tlv(16, b"a") + tlv(0x0077, b"") + tlv(16, b"b"), ("Order", "Duplicate"))
    bad("duplicate", "type 1 twice", "duplicate", one + one, ("Duplicate",))
    bad("duplicate-other-value", "type 1 twice with different values", "duplicate", one + tlv(1, b"\xab"),
        ("Duplicate",))
    bad("duplicate-unknown", "an unknown type twice", "duplicate", tlv(0x77, b"a") + tlv(0x77, b"b"),
        ("Duplicate", "Unknown"))
    bad("duplicate-not-repeatable-here", "type 16 twice where it is not repeatable", "duplicate",
        tlv(16, b"a") + tlv(16, b"b"), ("Duplicate",), repeatable=[])
    bad("critical-unknown", "an unknown type with bit 15 set", "critical", one + tlv(0x8001, b""), ("Critical",))
    bad("critical-highest", "type 0xFFFF", "critical", tlv(0xFFFF, b"\x00"), ("Critical",))
    bad("length-one-over", "the value is one byte shorter than its length", "length", u16(1) + u16(3) + b"ab",
        ("Length",))
    bad("length-largest", "length 65,535, followed by two bytes", "length", u16(1) + u16(0xFFFF) + b"ab",
        ("Length",))
    bad("length-last-entry-over", "only the last entry is too long", "length", one + u16(2) + u16(1), ("Length",))
    for count in (1, 2, 3):
        bad(f"header-{count}-of-4", "the list ends inside an entry's header", "length", one + (u16(2) + u16(0))[:count],
            ("Length",))
    bad("one-byte", "a list of one byte", "length", b"\x00", ("Length",))
    notes = {
        "Form": "the form of a list",
        "Order": "types ascend, known or not",
        "Duplicate": "a type occurs once, unless its message declares it repeatable",
        "Unknown": "unknown types are ignored",
        "Critical": "bit 15 of a type forbids ignoring it",
        "Grease": "reserved types, which show that receivers ignore unknown ones",
        "Length": "header and value must lie inside the list",
    }
    return document("type-length-value lists", notes, [
        dict(type="tlv", spec="2", labels=["tlv.unknown", "tlv.grease", "int.big-endian"], tests=accepted),
        dict(type="tlv", spec="2", labels=["tlv.order", "tlv.duplicate", "tlv.length", "tlv.critical"], tests=refused)])
