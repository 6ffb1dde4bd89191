"""hello.json: the first frame of each end and its ten checks, chapter 6."""

from .wire import LIMIT, Refused, document, is_keyed, is_text, keyed, read_tlvs, seeded, test, tlv, u16, u32, u64, u8

VERSIONS, SENDER, RECEIVER, MY_REF, YOUR_REF, NONCE, LIMITS, MEMBERS, AGENT = range(1, 10)
SIZES = {SENDER: 24, RECEIVER: 24, MY_REF: 32, YOUR_REF: 32, NONCE: 32, LIMITS: 20}


def read(payload, ours=(1,)):
    """Makes the checks that need only the frame: 1 to 4."""
    if len(payload) > LIMIT["frameBeforeSelect"]:
        raise Refused("PROTOCOL", 1)
    try:
        entries, ignored = read_tlvs(payload, range(1, 10))
    except Refused as verdict:
        raise Refused("PROTOCOL", 2) from verdict
    one = dict(entries)
    versions = one.get(VERSIONS, b"")
    if not versions or len(versions) % 2:
        raise Refused("PROTOCOL", 3)
    for kind, size in SIZES.items():
        if len(one.get(kind, b"")) != size:
            raise Refused("PROTOCOL", 3)
    limits = one[LIMITS]
    if int.from_bytes(limits[:8], "big") < LIMIT["smallestMaxMessage"]:
        raise Refused("PROTOCOL", 3)
    members = one.get(MEMBERS, b"")
    if members and members[0] > LIMIT["memberEntries"]:
        raise Refused("FLOOD", 3)
    if not members or len(members) != 1 + 24 * members[0]:
        raise Refused("PROTOCOL", 3)
    agent = one.get(AGENT)
    if agent is not None and not (len(agent) <= LIMIT["agent"] and is_text(agent, control_allowed=True)):
        raise Refused("PROTOCOL", 3)
    versions = [int.from_bytes(versions[i:i + 2], "big") for i in range(0, len(versions), 2)]
    if not set(versions) & set(ours):
        raise Refused("VERSION", 4)
    return dict(
        versions=versions, version=max(set(versions) & set(ours)), sender=one[SENDER].hex(),
        receiver=one[RECEIVER].hex(), myDataReference=one[MY_REF].hex(), yourDataReference=one[YOUR_REF].hex(),
        nonce=one[NONCE].hex(),
        limits=dict(maxMessage=int.from_bytes(limits[:8], "big"), maxChannels=int.from_bytes(limits[8:12], "big"),
                    channelCredit=int.from_bytes(limits[12:16], "big"),
                    messageCredit=int.from_bytes(limits[16:], "big")),
        members=[members[i:i + 24].hex() for i in range(1, len(members), 24)],
        agent=None if agent is None else agent.decode(), ignored=ignored)


def judge(payload, receiver):
    """Makes the checks that depend on the receiver's state: 5 to 11."""
    hello = read(payload)
    if hello["sender"][:32] == receiver["endpoint"][:32]:
        raise Refused("SELF", 5)
    if hello["receiver"] != receiver["endpoint"]:
        raise Refused("UNKNOWN_PEER", 6)
    awaited = next((one for one in receiver["awaited"] if one["endpoint"] == hello["sender"]), None)
    if awaited is None:
        raise Refused("UNKNOWN_PEER", 7)
    refs = hello["myDataReference"], hello["yourDataReference"]
    mine = [awaited["myDataReference"]] + ([awaited["myFormerReference"]] if "myFormerReference" in awaited else [])
    # On a connection that the receiver dialled, its own HELLO named the latest of its data.
    mine = mine[:1] if receiver.get("dialled") else mine
    if refs[0] != awaited["theirDataReference"] or refs[1] not in mine or awaited["expired"]:
        raise Refused("UNKNOWN_PEER", 8)
    if receiver["channel"] != awaited["outcome"]:
        raise Refused("POLICY", 9)
    if receiver["channel"] == "tls" and receiver["certificate"] != awaited["fingerprint"]:
        raise Refused("POLICY", 10)
    uid = hello["sender"][:32]
    if is_keyed(bytes.fromhex(uid)) and receiver.get("keyedUid") != uid:
        raise Refused("POLICY", 10)
    is_mesh = awaited.get("myMesh") and awaited.get("theirMesh") and (
        receiver["channel"] == "tls" or receiver.get("preference") == awaited.get("preference") == "none")
    together = {one[:32] for one in [hello["sender"], receiver["endpoint"], *hello["members"], *receiver.get("component", ())]}
    is_member = hello["sender"] in receiver.get("component", ()) and any(
        one[:32] == receiver["endpoint"][:32] for one in hello["members"])
    if is_mesh and not is_member and len(together) > receiver["cap"]:
        raise Refused("FULL", 11)


def limits(message=16 << 20, channels=64, channel=256 << 10, credit=4 << 20):
    return u64(message) + u32(channels) + u32(channel) + u32(credit)


def encode(entries):
    return b"".join(tlv(kind, value) for kind, value in sorted(entries.items()) if value is not None)


def build():
    random = seeded("hello")
    base = {VERSIONS: u16(1), SENDER: random.randbytes(24), RECEIVER: random.randbytes(24),
            MY_REF: random.randbytes(32), YOUR_REF: random.randbytes(32), NONCE: random.randbytes(32),
            LIMITS: limits(), MEMBERS: u8(0)}
    make = lambda changes=(): encode({**base, **dict(changes)})
    accepted, refused, against = [], [], []

    def good(id, comment, flags, payload):
        accepted.append(test(id, comment, flags, hex=payload.hex(), fields=read(payload), result="valid"))

    def bad(id, comment, check, payload, flags, code="PROTOCOL"):
        try:
            read(payload)
        except Refused as verdict:
            assert (verdict.code, verdict.check) == (code, check), (id, verdict)
        else:
            raise AssertionError(id)
        refused.append(test(id, comment, flags, hex=payload.hex(), result="invalid", error=code, check=check))

    good("smallest", "only the mandatory entries", ["Form"], make())
    good("agent", "with AGENT", ["Form"], make({AGENT: b"swift-multipeer 1.0"}))
    good("agent-empty", "an AGENT of no bytes", ["Form"], make({AGENT: b""}))
    good("agent-64", "the longest AGENT", ["Form"], make({AGENT: b"a" * 64}))
    good("versions-grease", "GREASE versions around version 1", ["Version"],
         make({VERSIONS: u16(0x2A2A) + u16(1) + u16(0x7A7A)}))
    good("versions-newer-too", "version 2 offered as well", ["Version"], make({VERSIONS: u16(2) + u16(1)}))
    good("members-1", "one member", ["Members"], make({MEMBERS: u8(1) + random.randbytes(24)}))
    good("members-7", "seven members", ["Members"], make({MEMBERS: u8(7) + random.randbytes(7 * 24)}))
    good("members-32", "the most members", ["Members"], make({MEMBERS: u8(32) + random.randbytes(32 * 24)}))
    good("grease", "a GREASE entry", ["Grease"], make({0x4A4A: b"\1\2\3"}))
    good("unknown", "an unknown entry", ["Grease"], make({0x0020: b"later"}))
    good("limits-smallest-message", "max_message 65,536", ["Limits"], make({LIMITS: limits(message=65536)}))
    good("limits-largest", "every limit at its largest", ["Limits"], make({LIMITS: b"\x7f" * 8 + b"\xff" * 12}))
    fill = 2048 - len(make()) - 4
    good("size-2048", "the longest HELLO", ["Form"], make({0x7A7A: bytes(fill)}))

    bad("size-2049", "one byte too many", 1, make({0x7A7A: bytes(fill + 1)}), ["Form"])
    bad("order", "SENDER before VERSIONS", 2,
        tlv(SENDER, base[SENDER]) + tlv(VERSIONS, u16(1)) + make({VERSIONS: None, SENDER: None}), ["List"])
    bad("duplicate", "NONCE twice", 2, make({LIMITS: None, MEMBERS: None}) + tlv(NONCE, bytes(32))
        + tlv(LIMITS, base[LIMITS]) + tlv(MEMBERS, u8(0)), ["List"])
    bad("critical", "an unknown critical entry", 2, make({0x8001: b""}), ["List"])
    bad("cut", "the last byte is missing", 2, make()[:-1], ["List"])
    bad("empty", "no entries", 3, b"", ["Missing"])
    bad("versions-missing", "no VERSIONS", 3, make({VERSIONS: None}), ["Missing"])
    bad("versions-empty", "VERSIONS of no bytes", 3, make({VERSIONS: b""}), ["Version"])
    bad("versions-odd", "VERSIONS of three bytes", 3, make({VERSIONS: u16(1) + b"\0"}), ["Version"])
    bad("versions-2", "version 2 alone", 4, make({VERSIONS: u16(2)}), ["Version"], "VERSION")
    bad("versions-0", "version 0 alone", 4, make({VERSIONS: u16(0)}), ["Version"], "VERSION")
    bad("versions-grease-only", "GREASE versions alone", 4, make({VERSIONS: u16(0x2A2A) + u16(0x7A7A)}), ["Version"],
        "VERSION")
    names = {SENDER: "sender", RECEIVER: "receiver", MY_REF: "my-reference", YOUR_REF: "your-reference", NONCE: "nonce",
             LIMITS: "limits", MEMBERS: "members"}
    for kind, name in names.items():
        bad(f"{name}-missing", f"no {name}", 3, make({kind: None}), ["Missing"])
    for kind, size in SIZES.items():
        bad(f"{names[kind]}-short", f"{size - 1} bytes", 3, make({kind: base[kind][:-1]}), ["Size"])
        bad(f"{names[kind]}-long", f"{size + 1} bytes", 3, make({kind: base[kind] + b"\0"}), ["Size"])
    bad("limits-message-65535", "max_message one below the smallest", 3, make({LIMITS: limits(message=65535)}),
        ["Limits"])
    bad("members-empty", "MEMBERS of no bytes", 3, make({MEMBERS: b""}), ["Members"])
    bad("members-count-high", "a count of 2 and one endpoint", 3, make({MEMBERS: u8(2) + bytes(24)}), ["Members"])
    bad("members-count-low", "a count of 0 and one endpoint", 3, make({MEMBERS: u8(0) + bytes(24)}), ["Members"])
    bad("members-33", "one member too many", 3, make({MEMBERS: u8(33) + bytes(33 * 24)}), ["Members"], "FLOOD")
    bad("members-half", "half an endpoint", 3, make({MEMBERS: u8(1) + bytes(12)}), ["Members"])
    bad("agent-65", "an AGENT of 65 bytes", 3, make({AGENT: b"a" * 65}), ["Size"])
    bad("agent-bad-utf8", "an AGENT that is not UTF-8", 3, make({AGENT: b"a\xff"}), ["Size"])

    fingerprint = random.randbytes(32).hex()
    other = dict(endpoint=random.randbytes(24).hex(), myDataReference=random.randbytes(32).hex(),
                 theirDataReference=random.randbytes(32).hex(), fingerprint=random.randbytes(32).hex(), outcome="tls",
                 expired=False)

    def meet(id, comment, expect=None, changes=(), channel="tls", certificate=fingerprint, flag="Expected", company=None,
             **awaited):
        record = dict(endpoint=base[SENDER].hex(), myDataReference=base[YOUR_REF].hex(),
                      theirDataReference=base[MY_REF].hex(), fingerprint=fingerprint, outcome="tls", expired=False)
        record.update(awaited)
        if record["outcome"] == "plain":
            record["fingerprint"] = None
        receiver = dict(endpoint=base[RECEIVER].hex(), channel=channel,
                        certificate=certificate if channel == "tls" else None, awaited=[record, other], **(company or {}))
        payload, got = make(changes), None
        fields = dict(hex=payload.hex(), receiver=receiver)
        try:
            judge(payload, receiver)
            fields.update(result="valid")
        except Refused as verdict:
            got = verdict.code, verdict.check
            fields.update(result="invalid", error=verdict.code, check=verdict.check)
        assert got == expect, (id, got)
        against.append(test(id, comment, [flag], **fields))

    changed = lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
    meet("awaited-tls", "everything matches, with TLS")
    meet("awaited-plain", "everything matches, on a plain connection", channel="plain", outcome="plain")
    meet("own-uid", "SENDER has the receiver's uid", ("SELF", 5), {SENDER: base[RECEIVER][:16] + bytes(8)})
    meet("stranger", "SENDER is not an expected peer", ("UNKNOWN_PEER", 7), {SENDER: bytes(24)})
    meet("other-instance", "an expected uid with another instance", ("UNKNOWN_PEER", 7),
         {SENDER: changed(base[SENDER], 23)})
    meet("for-somebody-else", "RECEIVER has another uid", ("UNKNOWN_PEER", 6), {RECEIVER: changed(base[RECEIVER], 0)})
    meet("for-earlier-instance", "RECEIVER has another instance", ("UNKNOWN_PEER", 6),
         {RECEIVER: changed(base[RECEIVER], 20)})
    meet("their-data-changed", "the data that the receiver holds is not what the sender issued", ("UNKNOWN_PEER", 8),
         {MY_REF: changed(base[MY_REF], 31)})
    meet("my-data-changed", "the data that the sender holds is not what the receiver issued", ("UNKNOWN_PEER", 8),
         {YOUR_REF: changed(base[YOUR_REF], 0)})
    meet("references-swapped", "the two references exchanged", ("UNKNOWN_PEER", 8),
         {MY_REF: base[YOUR_REF], YOUR_REF: base[MY_REF]})
    meet("expired", "the data that the sender holds has expired", ("UNKNOWN_PEER", 8), expired=True)
    former = bytes(range(32))
    for id, comment, dialled, reference, expect in (
            ("accepted-latest", "the latest of two versions of the receiver's data", False, base[YOUR_REF], None),
            ("accepted-former", "a former version, which has not expired", False, former, None),
            ("dialled-same", "the receiver dialled, and HELLO names the same data as its own HELLO", True, base[YOUR_REF], None),
            ("dialled-former", "the receiver dialled, and HELLO names a former version", True, former, ("UNKNOWN_PEER", 8))):
        meet(id, comment, expect, {YOUR_REF: reference}, flag="Versions", company=dict(dialled=dialled), myFormerReference=former.hex())
    meet("other-certificate", "the certificate of another expected peer", ("POLICY", 10),
         certificate=other["fingerprint"])
    meet("plain-instead-of-tls", "a plain connection although the outcome is TLS", ("POLICY", 9), channel="plain")
    meet("tls-instead-of-plain", "a TLS connection although the outcome is plain", ("POLICY", 9), outcome="plain")
    owns, others = (keyed(uid) for uid in (base[SENDER], bytes(16)))
    sent = {SENDER: owns + base[SENDER][16:]}
    for id, comment, key, expect in (
            ("keyed", "a keyed uid, and a certificate with its key", owns, None),
            ("keyed-other-key", "a keyed uid, and the pinned certificate with another key", others, ("POLICY", 10))):
        meet(id, comment, expect, sent, flag="Keyed", company=dict(keyedUid=key.hex()), endpoint=sent[SENDER].hex())

    def join(id, comment, members, component, expect=None, cap=8, mine=True, theirs=True, receives="optional", **rest):
        own = dict(preference=receives) if "preference" in rest else {}
        meet(id, comment, expect and (expect, 11 if expect == "FULL" else 10), {MEMBERS: u8(len(members)) + b"".join(members)},
             flag="Mesh", company=dict(component=[one.hex() for one in component], cap=cap, **own),
             myMesh=mine, theirMesh=theirs, **rest)

    peers = sorted(random.randbytes(24) for _ in range(16))
    again = [one[:16] + bytes(8) for one in peers]
    join("mesh-alone", "two peers without other members", [], [])
    join("mesh-eighth", "the sender is the eighth", [], peers[:6])
    join("mesh-ninth", "the sender is the ninth", [], peers[:7], "FULL")
    join("mesh-of-seven", "the receiver is the eighth", peers[:6], [])
    join("mesh-of-eight", "the receiver is the ninth", peers[:7], [], "FULL")
    join("mesh-merge", "two meshes of four", peers[:3], peers[3:6])
    join("mesh-merge-too-large", "two meshes, nine together", peers[:3], peers[3:7], "FULL")
    join("mesh-common", "both have the same six", peers[:6], peers[:6])
    join("mesh-instances", "both have the same six, in other instances", peers[:6], again[:6])
    join("mesh-lists-receiver", "the sender's mesh already has the receiver", sorted(peers[:6] + [base[RECEIVER]]),
         peers[:6])
    crowd = sorted(peers[:7] + [base[SENDER]])
    join("mesh-members", "nine that already are one mesh, including these two", sorted(peers[:7] + [base[RECEIVER]]), crowd)
    join("mesh-member-here", "a mesh of nine that includes the sender only for the receiver", peers[:7], crowd, "FULL")
    join("mesh-member-there", "a mesh of nine that includes the receiver only for the sender",
         sorted(peers[:7] + [base[RECEIVER]]), peers[:7], "FULL")
    join("mesh-two", "the smallest cap", [], [], cap=2)
    join("mesh-two-full", "the smallest cap, and a third peer", [], peers[:1], "FULL", cap=2)
    join("mesh-sixteen", "the largest cap", peers[:7], peers[7:14], cap=16)
    join("mesh-sixteen-full", "the largest cap, and a seventeenth peer", peers[:7], peers[7:15], "FULL", cap=16)
    join("direct-mine", "the receiver's data has no MESH", peers[:7], [], mine=False)
    join("direct-theirs", "the sender's data has no MESH", peers[:7], [], theirs=False)
    join("direct-plain", "a plain link between optional and none is direct", peers[:7], [], channel="plain", outcome="plain",
         preference="none")
    for id, comment, count, expect in (("mesh-plain", "a plain link between none and none is a mesh link: the sender is the eighth", 6, None),
                                       ("mesh-plain-ninth", "the sender is the ninth", 7, "FULL")):
        join(id, comment, [], peers[:count], expect, channel="plain", outcome="plain", preference="none", receives="none")
    join("mesh-full-other-certificate", "too many members, but the certificate is checked first", peers[:7], [], "POLICY",
         certificate=other["fingerprint"])
    notes = {
        "Form": "a valid HELLO", "List": "check 2: the list of entries", "Missing": "a mandatory entry is missing",
        "Size": "an entry of the wrong size", "Version": "the versions, and check 4", "Members": "count and endpoints agree",
        "Limits": "what the sender accepts", "Grease": "unknown entries are ignored", "Keyed": "the key in the certificate hashes to a keyed uid",
        "Versions": "check 8, with two versions of the receiver's data",
        "Expected": "checks 5 to 10, against the peers that the receiver expects", "Mesh": "check 11",
    }
    return document("HELLO", notes, [
        dict(type="hello", spec="6", labels=["hello.version", "tlv.grease"], tests=accepted),
        dict(type="hello", spec="6", labels=["hello.first", "hello.complete", "hello.version"], tests=refused),
        dict(type="hello-receiver", spec="6", tests=against,
             labels=["hello.sender", "hello.receiver", "hello.refs", "hello.same-data", "data.expiry", "mesh.plain", "hello.key", "hello.mode", "mesh.full"])])
