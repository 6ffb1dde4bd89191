"""connection-data.json: the blob, its fourteen checks, and how a session judges it, chapter 4."""

from .encryption import TABLE, effective
from .wire import LIMIT, Refused, document, is_keyed, is_text, keyed, read_tlvs, seeded, sha256, test, tlv, u8, u16, u32

PREFERENCES = {0: "optional", 1: "required", 2: "none"}
PEER, INSTANCE, PREFERENCE, FINGERPRINT, TOKEN, LIFETIME, RECIPIENT, CANDIDATE = 1, 2, 3, 4, 5, 6, 8, 16
KNOWN = [PEER, INSTANCE, PREFERENCE, FINGERPRINT, TOKEN, LIFETIME, RECIPIENT, CANDIDATE]


def seal(entries, magic=b"MPCD", version=1, flags=0, length=None, checksum=None):
    """Adds a header and a checksum to entries, or wrong ones if a test asks for it."""
    size = 8 + len(entries) + 8
    head = magic + u8(version) + u8(flags) + u16(size if length is None else length)
    return head + entries + (sha256(head + entries)[:8] if checksum is None else checksum)


def candidate(address, port):
    return u8(4 if len(address) == 4 else 6) + u16(port) + address


def read(data):
    """Makes the checks in order; the verdict names the number of the first that fails."""
    if not LIMIT["smallestConnectionData"] <= len(data) <= LIMIT["connectionData"]:
        raise Refused("PROTOCOL", 1)
    if data[:4] != b"MPCD":
        raise Refused("PROTOCOL", 2)
    if data[4] != 1:
        raise Refused("VERSION", 3)
    if int.from_bytes(data[6:8], "big") != len(data):
        raise Refused("PROTOCOL", 4)
    if sha256(data[:-8])[:8] != data[-8:]:
        raise Refused("PROTOCOL", 5)
    try:
        entries, ignored = read_tlvs(data[8:-8], KNOWN, [CANDIDATE])
    except Refused as verdict:
        raise Refused(verdict.code, 6) from verdict
    one = {kind: value for kind, value in entries if kind != CANDIDATE}

    def need(check, truth):
        if not truth:
            raise Refused("PROTOCOL", check)

    peer = one.get(PEER, b"")
    need(7, 17 <= len(peer) <= 16 + LIMIT["displayName"] and is_text(peer[16:], control_allowed=False))
    need(8, len(one.get(INSTANCE, b"")) == 8)
    need(9, len(one.get(PREFERENCE, b"")) == 1 and one[PREFERENCE][0] in PREFERENCES)
    preference = PREFERENCES[one[PREFERENCE][0]]
    if preference == "none":
        need(10, FINGERPRINT not in one)
    else:
        need(10, len(one.get(FINGERPRINT, b"")) == 33 and one[FINGERPRINT][0] == 1)
    need(10, not is_keyed(peer) or (FINGERPRINT in one and data[5] & 2))
    need(11, len(one.get(TOKEN, b"")) == 32)
    need(12, len(one.get(LIFETIME, b"")) == 4)
    need(13, RECIPIENT not in one or len(one[RECIPIENT]) == 16)
    candidates = [value for kind, value in entries if kind == CANDIDATE]
    need(14, 1 <= len(candidates) <= LIMIT["candidates"])
    for value in candidates:
        need(14, value[:1] in (b"\x04", b"\x06") and len(value) == (7 if value[0] == 4 else 19))
    return dict(
        flags=data[5], mesh=bool(data[5] & 1), identity=bool(data[5] & 2), datagrams=bool(data[5] & 4),
        uid=peer[:16].hex(), name=peer[16:].decode(), instance=one[INSTANCE].hex(), preference=preference,
        fingerprint=one[FINGERPRINT][1:].hex() if FINGERPRINT in one else None, token=one[TOKEN].hex(),
        lifetime=int.from_bytes(one[LIFETIME], "big"),
        recipient=one[RECIPIENT].hex() if RECIPIENT in one else None,
        candidates=[dict(family=v[0], port=int.from_bytes(v[1:3], "big"), address=v[3:].hex()) for v in candidates],
        ignored=ignored, reference=sha256(data).hex())


class Recipe:
    """The entries of one blob, which tests vary one at a time."""

    def __init__(self, random):
        self.uid, self.token = random.randbytes(16), random.randbytes(32)
        self.entries = {PEER: self.uid + "Ann".encode(), INSTANCE: random.randbytes(8), PREFERENCE: b"\0",
                        FINGERPRINT: b"\1" + random.randbytes(32), TOKEN: self.token, LIFETIME: u32(600),
                        RECIPIENT: random.randbytes(16)}
        self.candidates = [candidate(bytes([192, 168, 1, 23]), 49152),
                           candidate(bytes.fromhex("fe80000000000000021122fffe334455"), 49152)]

    def plain(self):
        return {PREFERENCE: b"\2", FINGERPRINT: None}

    def build(self, changes=(), candidates=None, extra=(), **header):
        entries = {**self.entries, **dict(changes)}
        pairs = [(kind, value) for kind, value in entries.items() if value is not None]
        pairs += [(CANDIDATE, value) for value in (self.candidates if candidates is None else candidates)]
        pairs = sorted(pairs + list(extra), key=lambda pair: pair[0])
        return seal(b"".join(tlv(kind, value) for kind, value in pairs), **header)


def judge(data, session):
    """How a session judges connection data that has passed the fourteen checks."""
    fields = read(data)
    if fields["uid"] == session["uid"]:
        raise Refused("SELF", "self")
    if fields["recipient"] not in (None, session["uid"]):
        raise Refused("UNKNOWN_PEER", "recipient")
    pair = (effective(session["preference"], session["identity"]), effective(fields["preference"], fields["identity"]))
    if TABLE[pair] == "refused":
        raise Refused("POLICY", "outcome")
    if session.get("issued") is False:
        raise Refused("UNKNOWN_PEER", "issued")
    return TABLE[pair]


def build():
    random = seeded("connection-data")
    recipe = Recipe(random)
    make = recipe.build
    accepted, refused, sessions = [], [], []

    def good(id, comment, flags, data, canonical=True):
        accepted.append(test(id, comment, flags, hex=data.hex(), fields=read(data), canonical=canonical, result="valid"))

    def bad(id, comment, check, data, flags, code="PROTOCOL"):
        try:
            read(data)
        except Refused as verdict:
            assert (verdict.code, verdict.check) == (code, check), (id, verdict)
        else:
            raise AssertionError(id)
        refused.append(test(id, comment, flags, hex=data.hex(), result="invalid", error=code, check=check))

    uid, token = recipe.uid, recipe.token
    four = lambda port: candidate(bytes([10, 0, 0, 7]), port)
    good("addressed", "all entries", ["Form"], make())
    good("open", "no RECIPIENT: any peer may use it", ["Form"], make({RECIPIENT: None}))
    good("preference-required", "preference 1", ["Form"], make({PREFERENCE: b"\1"}))
    good("preference-none", "preference 2, no fingerprint", ["Form"], make(recipe.plain()))
    good("smallest", "open, none, one-letter name, one candidate", ["Limit"],
         make({**recipe.plain(), PEER: uid + b"A", RECIPIENT: None}, [four(1024)]))
    good("name-63", "the longest name", ["Limit"], make({PEER: uid + b"n" * 63}))
    good("name-utf8", "a name of several scripts, 63 bytes", ["Limit"], make({PEER: uid + ("Ж" * 15 + "本" * 11).encode()}))
    good("candidates-16", "the most candidates", ["Limit"], make({}, [four(5000 + i) for i in range(16)]))
    good("candidates-16-v6", "the most and longest candidates", ["Limit"],
         make({PEER: uid + b"n" * 63}, [candidate(random.randbytes(16), 6000 + i) for i in range(16)]))
    good("candidate-twice", "the same candidate twice is useless, but allowed", ["Form"], make({}, [four(5000)] * 2))
    good("candidate-port-0", "well formed; it is never dialled", ["Form"], make({}, [four(0)]))
    good("lifetime-0", "expires at once at its issuer", ["Form"], make({LIFETIME: u32(0)}))
    good("lifetime-largest", "the longest lifetime", ["Form"], make({LIFETIME: b"\xff" * 4}))
    good("uid-zero", "any 16 bytes are a valid uid", ["Form"], make({PEER: bytes(16) + b"Zero"}))
    own = keyed(uid)
    good("keyed", "a keyed uid, with IDENTITY", ["Keyed"], make({PEER: own + b"Ann"}, flags=2))
    good("keyed-required", "the same with preference 1", ["Keyed"], make({PEER: own + b"Ann", PREFERENCE: b"\1"}, flags=2))
    good("keyed-variant-11", "version 8 of another variant is not keyed", ["Keyed"],
         make({PEER: keyed(uid, variant=3) + b"Ann"}))
    for bit, name in ((1, "mesh"), (2, "identity"), (4, "datagrams")):
        good(f"flag-{name}", "one flag", ["Flags"], make(flags=bit))
    good("flags-unknown", "unknown flags are ignored", ["Flags"], make(flags=0xF8), canonical=False)
    good("grease", "a GREASE entry is ignored", ["Grease"], make(extra=[(0x1A1A, b"grease")]), canonical=False)
    good("unknown-low", "an unknown type between known ones is ignored", ["Grease"], make(extra=[(7, b"?")]),
         canonical=False)
    good("unknown-high", "an unknown type after the candidates is ignored", ["Grease"], make(extra=[(0x77, b"")]),
         canonical=False)
    base = len(make()) + 4
    good("length-1024", "the longest connection data", ["Limit"], make(extra=[(0x7A7A, bytes(1024 - base))]),
         canonical=False)

    whole = make()
    bad("empty", "no bytes", 1, b"", ["Limit"])
    bad("length-23", "one byte less than the smallest", 1, whole[:23], ["Limit"])
    bad("length-1025", "one byte more than the longest", 1, make(extra=[(0x7A7A, bytes(1025 - base))]), ["Limit"])
    bad("magic-lower-case", "mpcd", 2, make(magic=b"mpcd"), ["Header"])
    bad("magic-last-byte", "MPCE", 2, make(magic=b"MPCE"), ["Header"])
    bad("magic-plain-preface", "the preface of a plain connection", 2, make(magic=b"MPCP"), ["Header"])
    bad("version-0", "version 0", 3, make(version=0), ["Header"], "VERSION")
    bad("version-2", "version 2", 3, make(version=2), ["Header"], "VERSION")
    bad("length-one-short", "the length field is one less", 4, make(length=len(whole) - 1), ["Header"])
    bad("length-one-long", "the length field is one more", 4, make(length=len(whole) + 1), ["Header"])
    bad("length-zero", "the length field is 0", 4, make(length=0), ["Header"])
    bad("truncated-last-byte", "the last byte is missing", 4, whole[:-1], ["Header"])
    bad("truncated-half", "the second half is missing", 4, whole[:len(whole) // 2], ["Header"])
    bad("trailing-byte", "a byte after the checksum", 4, whole + b"\0", ["Header"])
    bad("checksum-last-bit", "the last bit of the checksum", 5, whole[:-1] + bytes([whole[-1] ^ 1]), ["Checksum"])
    bad("checksum-zero", "a checksum of zeros", 5, make(checksum=bytes(8)), ["Checksum"])
    for place, name in ((5, "flags"), (30, "name"), (len(whole) - 9, "candidate")):
        bad(f"checksum-bit-in-{name}", f"one bit of the {name} changed", 5,
            whole[:place] + bytes([whole[place] ^ 2]) + whole[place + 1:], ["Checksum"])
    bad("tlv-order", "INSTANCE before PEER", 6,
        seal(tlv(INSTANCE, bytes(8)) + tlv(PEER, uid + b"A") + whole[60:-8]), ["List"])
    bad("tlv-duplicate", "PEER twice", 6, make(extra=[(PEER, uid + b"A")]), ["List"])
    bad("tlv-duplicate-token", "TOKEN twice with the same value", 6, make(extra=[(TOKEN, token)]), ["List"])
    bad("tlv-duplicate-grease", "a GREASE type twice", 6, make(extra=[(0x1A1A, b""), (0x1A1A, b"")]), ["List"])
    bad("tlv-critical", "an unknown critical type", 6, make(extra=[(0x8001, b"")]), ["List"])
    bad("tlv-length", "the last value ends inside the checksum", 6,
        seal(whole[8:-8] + u16(0x77) + u16(1)), ["List"])
    bad("tlv-half-header", "two bytes where an entry should start", 6, seal(whole[8:-8] + b"\0\x77"), ["List"])
    bad("smallest-blob", "24 bytes whose entries are garbage", 6, seal(b"\xff" * 8), ["List"])
    bad("peer-missing", "no PEER", 7, make({PEER: None}), ["Missing"])
    bad("peer-no-name", "a name of no bytes", 7, make({PEER: uid}), ["Name"])
    bad("peer-short-uid", "15 bytes", 7, make({PEER: uid[:15]}), ["Size"])
    bad("name-64", "a name of 64 bytes", 7, make({PEER: uid + b"n" * 64}), ["Name"])
    bad("name-bad-utf8", "a lone continuation byte", 7, make({PEER: uid + b"A\x80"}), ["Name"])
    bad("name-cut-utf8", "a name that ends inside a character", 7, make({PEER: uid + b"\xe6\x9c"}), ["Name"])
    bad("name-overlong", "an overlong form of a slash", 7, make({PEER: uid + b"\xc0\xaf"}), ["Name"])
    bad("name-surrogate", "an encoded surrogate", 7, make({PEER: uid + b"\xed\xa0\x80"}), ["Name"])
    bad("name-nul", "a NUL in the name", 7, make({PEER: uid + b"A\0B"}), ["Name"])
    bad("name-newline", "a line feed in the name", 7, make({PEER: uid + b"A\nB"}), ["Name"])
    bad("name-escape", "a terminal escape in the name", 7, make({PEER: uid + b"\x1b[31mA"}), ["Name"])
    bad("name-delete", "U+007F in the name", 7, make({PEER: uid + b"A\x7f"}), ["Name"])
    bad("name-c1", "U+0085 in the name", 7, make({PEER: uid + b"A\xc2\x85"}), ["Name"])
    bad("name-right-to-left", "U+202E reverses the text", 7, make({PEER: uid + b"A\xe2\x80\xae"}), ["Name"])
    bad("name-isolate", "U+2066 does so, too", 7, make({PEER: uid + b"\xe2\x81\xa6A"}), ["Name"])
    bad("instance-missing", "no INSTANCE", 8, make({INSTANCE: None}), ["Missing"])
    bad("instance-7", "an INSTANCE of 7 bytes", 8, make({INSTANCE: bytes(7)}), ["Size"])
    bad("instance-9", "an INSTANCE of 9 bytes", 8, make({INSTANCE: bytes(9)}), ["Size"])
    bad("preference-missing", "no PREFERENCE", 9, make({PREFERENCE: None}), ["Missing"])
    bad("preference-3", "preference 3", 9, make({PREFERENCE: b"\3"}), ["Value"])
    bad("preference-empty", "a PREFERENCE of no bytes", 9, make({PREFERENCE: b""}), ["Size"])
    bad("preference-2-bytes", "a PREFERENCE of two bytes", 9, make({PREFERENCE: b"\0\1"}), ["Size"])
    bad("fingerprint-missing-optional", "optional without a fingerprint", 10, make({FINGERPRINT: None}), ["Missing"])
    bad("fingerprint-missing-required", "required without a fingerprint", 10,
        make({PREFERENCE: b"\1", FINGERPRINT: None}), ["Missing"])
    bad("fingerprint-with-none", "none with a fingerprint", 10, make({PREFERENCE: b"\2"}), ["Value"])
    bad("fingerprint-algorithm-2", "another algorithm", 10, make({FINGERPRINT: b"\2" + bytes(32)}), ["Value"])
    bad("fingerprint-32", "a hash of 31 bytes", 10, make({FINGERPRINT: b"\1" + bytes(31)}), ["Size"])
    bad("fingerprint-34", "a hash of 33 bytes", 10, make({FINGERPRINT: b"\1" + bytes(33)}), ["Size"])
    bad("keyed-without-identity", "a keyed uid without the flag IDENTITY", 10, make({PEER: own + b"Ann"}, flags=5), ["Keyed"])
    bad("keyed-none", "a keyed uid with preference none", 10, make({**recipe.plain(), PEER: own + b"Ann"}, flags=2), ["Keyed"])
    bad("token-missing", "no TOKEN", 11, make({TOKEN: None}), ["Missing"])
    bad("token-31", "a TOKEN of 31 bytes", 11, make({TOKEN: token[:31]}), ["Size"])
    bad("token-33", "a TOKEN of 33 bytes", 11, make({TOKEN: token + b"\0"}), ["Size"])
    bad("lifetime-missing", "no LIFETIME", 12, make({LIFETIME: None}), ["Missing"])
    bad("lifetime-3", "a LIFETIME of 3 bytes", 12, make({LIFETIME: bytes(3)}), ["Size"])
    bad("lifetime-8", "a LIFETIME of 8 bytes", 12, make({LIFETIME: bytes(8)}), ["Size"])
    bad("recipient-15", "a RECIPIENT of 15 bytes", 13, make({RECIPIENT: bytes(15)}), ["Size"])
    bad("recipient-17", "a RECIPIENT of 17 bytes", 13, make({RECIPIENT: bytes(17)}), ["Size"])
    bad("recipient-empty", "a RECIPIENT of no bytes", 13, make({RECIPIENT: b""}), ["Size"])
    bad("candidates-none", "no CANDIDATE", 14, make({}, []), ["Missing"])
    bad("candidates-17", "17 candidates", 14, make({}, [four(5000 + i) for i in range(17)]), ["Limit"])
    bad("candidate-family-5", "family 5", 14, make({}, [b"\5" + four(5000)[1:]]), ["Value"])
    bad("candidate-4-too-short", "an IPv4 address of 3 bytes", 14, make({}, [four(5000)[:-1]]), ["Size"])
    bad("candidate-4-with-16", "family 4 with 16 bytes", 14, make({}, [b"\4" + u16(5000) + bytes(16)]), ["Size"])
    bad("candidate-6-with-4", "family 6 with 4 bytes", 14, make({}, [b"\6" + u16(5000) + bytes(4)]), ["Size"])
    bad("candidate-empty", "a CANDIDATE of no bytes", 14, make({}, [b""]), ["Size"])
    bad("candidate-second-bad", "the second candidate is not well formed", 14, make({}, [four(5000), four(1)[:-1]]),
        ["Size"])

    other, mine = random.randbytes(16), recipe.entries[RECIPIENT]

    def against(id, comment, data, session_uid, preference="optional", identity=False, expect=None, **more):
        session = dict(uid=session_uid.hex(), preference=preference, identity=identity, **more)
        fields = dict(hex=data.hex(), session=session)
        try:
            outcome, got = judge(data, session), None
            fields.update(outcome=outcome, result="valid")
        except Refused as verdict:
            got = verdict.code
            fields.update(result="invalid", error=verdict.code, check=verdict.check)
        assert got == expect, (id, got)
        sessions.append(test(id, comment, ["Session"], **fields))

    against("session-addressee", "the addressee accepts it", make(), mine)
    against("session-open", "any peer accepts open connection data", make({RECIPIENT: None}), other)
    against("session-other", "another peer does not accept it", make(), other, expect="UNKNOWN_PEER")
    against("session-self", "the receiver's own uid", make(), uid, expect="SELF")
    against("session-self-open", "the receiver's own uid in open connection data", make({RECIPIENT: None}), uid,
            expect="SELF")
    against("session-plain", "none with optional", make(), mine, "none")
    against("session-policy", "none with required", make({PREFERENCE: b"\1"}), mine, "none", expect="POLICY")
    against("session-policy-reversed", "required with none", make(recipe.plain()), mine, "required", expect="POLICY")
    against("session-flag-identity", "none with optional and the flag IDENTITY", make(flags=2), mine, "none",
            expect="POLICY")
    against("session-own-identity", "the receiver's identity with none", make(recipe.plain()), mine, "optional", True,
            expect="POLICY")
    against("session-recipient-first", "the addressee is checked before the outcome", make({PREFERENCE: b"\1"}), other,
            "none", expect="UNKNOWN_PEER")
    against("session-not-issued", "the session has issued no data that the peer may hold", make(), mine, expect="UNKNOWN_PEER",
            issued=False)
    notes = {
        "Form": "valid connection data", "Limit": "at a limit, or one beyond", "Flags": "the flags byte",
        "Grease": "unknown entries are ignored", "Header": "checks 2 to 4", "Checksum": "check 5: damage in transit",
        "List": "check 6: the list of entries", "Missing": "a mandatory entry is missing",
        "Size": "an entry of the wrong size", "Value": "an entry with an undefined value",
        "Name": "the display name: 1 to 63 bytes of UTF-8 without control and direction characters",
        "Keyed": "the uid is the hash of a key, or seems to be",
        "Session": "how a session judges valid connection data",
    }
    labels = ["data.length", "data.magic", "data.version", "data.checksum", "data.peer", "data.instance",
              "data.preference", "data.fingerprint", "data.keyed", "data.token", "data.lifetime", "data.recipient", "data.candidates"]
    return document("connection data", notes, [
        dict(type="connection-data", spec="4", labels=["data.flags", "tlv.grease"], tests=accepted),
        dict(type="connection-data", spec="4", labels=labels, tests=refused),
        dict(type="connection-data-session", spec="4", labels=["data.self", "data.recipient", "enc.outcome", "data.issued"],
             tests=sessions)])
