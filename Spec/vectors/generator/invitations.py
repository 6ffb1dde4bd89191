"""invitations.json: what the two ends of an invitation receive, chapter 12."""

from . import connection_data
from .connection_data import PEER, PREFERENCE, RECIPIENT, Recipe
from .encryption import TABLE, effective
from .wire import CODE, LIMIT, Refused, document, is_keyed, is_text, keyed, read_tlvs, seeded, test, tlv, u16, u32

ID, INVITER, INVITED, TIMEOUT, CONTEXT = 1, 2, 3, 4, 5
DATA = 3
LONGEST = 600


def need(truth, check, code="PROTOCOL"):
    if not truth:
        raise Refused(code, check)


def entries(payload, known):
    try:
        found, _ = read_tlvs(payload, known)
    except Refused as verdict:
        raise Refused(verdict.code, "entries") from verdict
    return dict(found)


def read_invite(payload, receiver, key=None):
    one = entries(payload, [ID, INVITER, INVITED, TIMEOUT, CONTEXT])
    peer, context = one.get(INVITER, b""), one.get(CONTEXT)
    need(len(one.get(ID, b"")) == 16 and len(one.get(INVITED, b"")) == 16 and len(one.get(TIMEOUT, b"")) == 4, "entries")
    need(17 <= len(peer) <= 16 + LIMIT["displayName"] and is_text(peer[16:], control_allowed=False), "entries")
    need(context is None or len(context) <= LIMIT["invitationContext"], "entries")
    timeout = int.from_bytes(one[TIMEOUT], "big")
    need(1 <= timeout <= LONGEST, "timeout")
    need(peer[:16] != receiver, "self", "SELF")
    need(one[INVITED] in (receiver, bytes(16)), "recipient", "UNKNOWN_PEER")
    need(not is_keyed(peer) or peer[:16] == key, "key", "POLICY")
    shown = None if context is None else dict(length=len(context), hex=context.hex() if len(context) <= 64 else None)
    return dict(id=one[ID].hex(), uid=peer[:16].hex(), name=peer[16:].decode(), timeout=timeout, context=shown)


def read_data(data, sender, receiver, own):
    """Checks the connection data in ANSWER or COMPLETE, and whether it fits the receiver's own."""
    try:
        fields = connection_data.read(data)
    except Refused as verdict:
        raise Refused("PROTOCOL", "data") from verdict
    need(fields["uid"] == sender.hex() and fields["recipient"] in (None, receiver.hex()), "data")
    mine = connection_data.read(own)
    pair = tuple(effective(one["preference"], one["identity"]) for one in (mine, fields))
    need(TABLE[pair] != "refused", "outcome", "POLICY")


def read_answer(payload, id, sender, receiver, own):
    one = entries(payload, [ID, 2, DATA])
    need(len(one.get(ID, b"")) == 16 and len(one.get(2, b"")) == 2, "entries")
    need(DATA not in one or 1 <= len(one[DATA]) <= LIMIT["connectionData"], "entries")
    need(one[ID] == id, "id")
    code = int.from_bytes(one[2], "big")
    need((code == CODE["OK"]) == (DATA in one), "data")
    if DATA in one:
        read_data(one[DATA], sender, receiver, own)
    return code


def read_complete(payload, id, sender, receiver, own):
    one = entries(payload, [ID, DATA])
    need(len(one.get(ID, b"")) == 16 and 1 <= len(one.get(DATA, b"")) <= LIMIT["connectionData"], "entries")
    need(one[ID] == id, "id")
    read_data(one[DATA], sender, receiver, own)


def join(*pairs):
    return b"".join(tlv(kind, value) for kind, value in pairs if value is not None)


class Scene:
    """Ann invites Bob; Cat is another peer. All make connection data from the same recipe."""

    def __init__(self):
        random = seeded("invitations")
        self.ann, self.bob, self.cat = (random.randbytes(16) for _ in range(3))
        self.id, self.other = random.randbytes(16), random.randbytes(16)
        self.recipe = Recipe(random)
        self.anns, self.bobs = self.data(self.ann, "Ann", self.bob), self.data(self.bob, "Bob", self.ann)

    def data(self, sender, name, receiver, preference="optional"):
        changes = {PEER: sender + name.encode(), RECIPIENT: receiver}
        if preference == "none":
            changes |= self.recipe.plain()
        elif preference == "required":
            changes[PREFERENCE] = b"\1"
        return self.recipe.build(changes)


def build():
    scene = Scene()
    groups = [("invite", ["invite.recipient", "invite.address", "invite.context", "invite.timeout", "uid.proof"], invites(scene)),
              ("answer", ["invite.data", "invite.order"], answers(scene)),
              ("complete", ["invite.data", "invite.order"], completes(scene))]
    notes = {"Form": "entries and their sizes", "Limit": "at a limit, or one beyond", "Who": "recipient and sender",
             "Data": "the connection data inside"}
    return document("Invitations", notes, [dict(type=kind, spec="12", labels=labels, tests=tests)
                                           for kind, labels, tests in groups])


def judged(tests, id, comment, flags, read, payload, expect, **fields):
    """Adds a test, whose verdict the reader must find, too."""
    try:
        told, got = read(payload), None
    except Refused as verdict:
        told, got = None, (verdict.code, verdict.check)
    assert got == expect, (id, got)
    verdict = dict(fields=told, result="valid") if got is None else dict(result="invalid", error=got[0], check=got[1])
    zeros = len(payload) - len(payload.rstrip(b"\0"))
    shown = dict(hex=payload.hex())
    if zeros > 4_096:  # Too long to list.
        shown = dict(hex=payload[:-zeros].hex(), append=dict(fill=0, length=zeros))
    tests.append(test(id, comment, flags, **shown, **fields, **verdict))


WRONG = ("PROTOCOL", "entries")


def invites(scene):
    tests = []
    good = dict(id=scene.id, inviter=scene.ann + b"Ann", invited=scene.bob, timeout=u32(30), context=None)

    def one(title, comment, flags, expect=None, extra=b"", payload=None, key=None, **changes):
        parts = {**good, **changes}
        whole = join((ID, parts["id"]), (INVITER, parts["inviter"]), (INVITED, parts["invited"]),
                     (TIMEOUT, parts["timeout"]), (CONTEXT, parts["context"])) + extra
        judged(tests, "invite-" + title, comment, flags, lambda got: read_invite(got, scene.bob, key),
               whole if payload is None else payload, expect, receiver=scene.bob.hex(),
               **(dict(keyedUid=key.hex()) if key else {}))

    one("plain", "without a context", ["Form"])
    one("context", "with a context", ["Form"], context=b"chess?")
    one("context-empty", "a context of no bytes is not the same as none", ["Form"], context=b"")
    one("context-longest", "the longest context", ["Limit"], context=bytes(32_768))
    one("context-too-long", "one byte too many", ["Limit"], WRONG, context=bytes(32_769))
    one("timeout-1", "the shortest timeout", ["Limit"], timeout=u32(1))
    one("timeout-600", "the longest timeout", ["Limit"], timeout=u32(600))
    one("timeout-0", "a timeout of zero", ["Limit"], ("PROTOCOL", "timeout"), timeout=u32(0))
    one("timeout-601", "one second too long", ["Limit"], ("PROTOCOL", "timeout"), timeout=u32(601))
    one("timeout-all-ones", "136 years", ["Limit"], ("PROTOCOL", "timeout"), timeout=b"\xff" * 4)
    one("timeout-2-bytes", "a timeout of 2 bytes", ["Form"], WRONG, timeout=u16(30))
    one("name-63", "the longest name", ["Limit"], inviter=scene.ann + b"a" * 63)
    one("name-64", "a name of 64 bytes", ["Limit"], WRONG, inviter=scene.ann + b"a" * 64)
    one("name-missing", "a uid without a name", ["Form"], WRONG, inviter=scene.ann)
    one("name-not-utf8", "a name that is not text", ["Form"], WRONG, inviter=scene.ann + b"\xff")
    one("name-escape", "a name with a terminal escape", ["Form"], WRONG, inviter=scene.ann + b"A\x1b[2J")
    one("id-15", "an ID of 15 bytes", ["Form"], WRONG, id=scene.id[:15])
    one("recipient-15", "a RECIPIENT of 15 bytes", ["Form"], WRONG, invited=scene.bob[:15])
    for part in ("id", "inviter", "invited", "timeout"):
        one(f"without-{part}", f"no {part}", ["Form"], WRONG, **{part: None})
    one("grease", "an entry of a GREASE type", ["Form"], extra=tlv(0x1A1A, b"\x5a"))
    one("critical", "an unknown critical entry", ["Form"], WRONG, extra=tlv(0x8006, b""))
    one("order", "RECIPIENT before INVITER", ["Form"], WRONG, payload=join(
        (ID, scene.id), (INVITED, scene.bob), (INVITER, scene.ann + b"Ann"), (TIMEOUT, u32(30))))
    one("empty", "no entries", ["Form"], WRONG, payload=b"")
    one("self", "from the receiver's own uid", ["Who"], ("SELF", "self"), inviter=scene.bob + b"Bob")
    one("elsewhere", "for another peer", ["Who"], ("UNKNOWN_PEER", "recipient"), invited=scene.cat)
    one("self-elsewhere", "from the receiver's own uid, for another peer", ["Who"], ("SELF", "self"),
        inviter=scene.bob + b"Bob", invited=scene.cat)
    one("anyone", "for the peer at the address", ["Who"], invited=bytes(16))
    one("self-anyone", "from the receiver's own uid, for the peer at the address", ["Who"], ("SELF", "self"),
        inviter=scene.bob + b"Bob", invited=bytes(16))
    anns, cats = keyed(scene.ann), keyed(scene.cat)
    one("keyed", "a keyed uid, and a certificate with its key", ["Who"], inviter=anns + b"Ann", key=anns)
    one("keyed-other-key", "a keyed uid, and a certificate with another key", ["Who"], ("POLICY", "key"),
        inviter=anns + b"Ann", key=cats)
    one("keyed-elsewhere", "the same, for another peer", ["Who"], ("UNKNOWN_PEER", "recipient"), inviter=anns + b"Ann",
        invited=scene.cat, key=cats)
    return tests


def answers(scene):
    tests = []

    def one(title, comment, flags, expect=None, own=scene.anns, extra=b"", **changes):
        parts = {**dict(id=scene.id, code=u16(CODE["OK"]), data=scene.bobs), **changes}
        payload = join((ID, parts["id"]), (2, parts["code"]), (DATA, parts["data"])) + extra
        judged(tests, "answer-" + title, comment, flags,
               lambda got: dict(code=read_answer(got, scene.id, scene.bob, scene.ann, own)), payload, expect,
               invitation=scene.id.hex(), inviter=scene.ann.hex(), invitee=scene.bob.hex(), own=own.hex())

    one("ok", "accepted", ["Form"])
    for word in ("DECLINED", "FULL", "BUSY", "POLICY", "UNKNOWN_PEER", "SELF"):
        one(word.lower().replace("_", "-"), f"refused with {word}", ["Form"], data=None, code=u16(CODE[word]))
    one("code-1234", "an unregistered code", ["Form"], data=None, code=u16(0x1234))
    one("other-id", "an answer to another invitation", ["Form"], ("PROTOCOL", "id"), id=scene.other)
    one("without-id", "no ID", ["Form"], WRONG, id=None)
    one("without-code", "no CODE", ["Form"], WRONG, code=None)
    one("code-4-bytes", "a CODE of 4 bytes", ["Form"], WRONG, code=u32(0))
    one("critical", "an unknown critical entry", ["Form"], WRONG, extra=tlv(0x8006, b""))
    contents(one, scene, scene.bob, "Bob", scene.ann)
    one("ok-without-data", "accepted, without data", ["Data"], ("PROTOCOL", "data"), data=None)
    one("declined-with-data", "declined, with data", ["Data"], ("PROTOCOL", "data"), code=u16(CODE["DECLINED"]))
    return tests


def completes(scene):
    tests = []

    def one(title, comment, flags, expect=None, own=scene.bobs, extra=b"", **changes):
        parts = {**dict(id=scene.id, data=scene.anns), **changes}
        payload = join((ID, parts["id"]), (DATA, parts["data"])) + extra

        def read(got):
            read_complete(got, scene.id, scene.ann, scene.bob, own)
            return dict(code=CODE["OK"])

        judged(tests, "complete-" + title, comment, flags, read, payload, expect, invitation=scene.id.hex(),
               inviter=scene.ann.hex(), invitee=scene.bob.hex(), own=own.hex())

    one("data", "the inviter's data", ["Form"])
    one("other-id", "an answer to another invitation", ["Form"], ("PROTOCOL", "id"), id=scene.other)
    one("without-id", "no ID", ["Form"], WRONG, id=None)
    one("without-data", "no data", ["Form"], WRONG, data=None)
    one("critical", "an unknown critical entry", ["Form"], WRONG, extra=tlv(0x8006, b""))
    contents(one, scene, scene.ann, "Ann", scene.bob)
    return tests


def contents(one, scene, sender, name, receiver):
    """Adds the tests of connection data that ANSWER and COMPLETE have in common."""
    wrong, whole = ("PROTOCOL", "data"), scene.data(sender, name, receiver)
    one("open", "open data", ["Data"], data=scene.data(sender, name, None))
    one("damaged", "data whose checksum is wrong", ["Data"], wrong, data=whole[:-1] + bytes([whole[-1] ^ 1]))
    one("version-2", "data of an unknown version", ["Data"], wrong, data=scene.recipe.build(version=2))
    one("stranger", "data of another peer", ["Who"], wrong, data=scene.data(scene.cat, "Cat", receiver))
    one("own", "the receiver's own data", ["Who"], wrong, data=scene.data(receiver, "me", sender))
    one("for-another", "data for another peer", ["Who"], wrong, data=scene.data(sender, name, scene.cat))
    one("data-1025", "data of 1,025 bytes", ["Limit"], WRONG, data=bytes(1025))
    one("data-empty", "data of no bytes", ["Limit"], WRONG, data=b"")
    mine = "Ann" if name == "Bob" else "Bob"
    for ours, theirs in (("none", "none"), ("none", "optional"), ("required", "optional")):
        one(f"{ours}-{theirs}", f"preferences {ours} here and {theirs} there", ["Data"],
            own=scene.data(receiver, mine, sender, ours), data=scene.data(sender, name, receiver, theirs))
    for ours, theirs in (("none", "required"), ("required", "none")):
        one(f"{ours}-{theirs}", f"preferences {ours} here and {theirs} there", ["Data"], ("POLICY", "outcome"),
            own=scene.data(receiver, mine, sender, ours), data=scene.data(sender, name, receiver, theirs))
