"""link-confirm.json: the MAC which proves that both ends have the same data, chapter 6."""

from . import hello
from .wire import document, frame, hmac256, seeded, sha256, test, tlv, u8, u16

ROLE = {"initiator": b"I", "responder": b"R"}


def key(token_i, token_r):
    return hmac256(b"MPC/1 link", token_i + token_r)


def mac(role, token_i, token_r, hello_i, hello_r, binding):
    return hmac256(key(token_i, token_r), ROLE[role] + sha256(hello_i + hello_r) + binding)


def changed(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def build():
    random = seeded("link-confirm")
    accepted, refused = [], []

    def scene(tls, agent=None, grease=False):
        ends = random.randbytes(24), random.randbytes(24)
        refs = random.randbytes(32), random.randbytes(32)

        def one(me, you):
            entries = {hello.VERSIONS: u16(1), hello.SENDER: ends[me], hello.RECEIVER: ends[you],
                       hello.MY_REF: refs[me], hello.YOUR_REF: refs[you], hello.NONCE: random.randbytes(32),
                       hello.LIMITS: hello.limits(), hello.MEMBERS: u8(0), hello.AGENT: agent}
            if grease:
                entries[0x5A5A] = random.randbytes(5)
            payload = hello.encode(entries)
            hello.read(payload)
            return frame("HELLO", payload)

        return dict(token_i=random.randbytes(32), token_r=random.randbytes(32), hello_i=one(0, 1), hello_r=one(1, 0),
                    binding=random.randbytes(32) if tls else bytes(32))

    def fields(role, truth, arrived):
        return dict(
            role=role, tokenInitiator=truth["token_i"].hex(), tokenResponder=truth["token_r"].hex(),
            helloInitiator=truth["hello_i"].hex(), helloResponder=truth["hello_r"].hex(),
            binding=truth["binding"].hex(), transcript=sha256(truth["hello_i"] + truth["hello_r"]).hex(),
            key=key(truth["token_i"], truth["token_r"]).hex(), expectedMac=mac(role, **truth).hex(), mac=arrived.hex())

    def good(id, comment, flags, role, truth):
        accepted.append(test(id, comment, flags, **fields(role, truth, mac(role, **truth)), result="valid"))

    def bad(id, comment, flags, role, truth, arrived):
        assert arrived != mac(role, **truth), id
        refused.append(test(id, comment, flags, **fields(role, truth, arrived), result="invalid", error="BAD_MAC",
                            check="mac"))

    tls, plain = scene(True), scene(False)
    for role in ROLE:
        good(f"tls-{role}", f"CONFIRM of the {role} over TLS", ["Tls"], role, tls)
        good(f"plain-{role}", f"CONFIRM of the {role} without encryption", ["Plain"], role, plain)
    rich = scene(True, agent=b"other", grease=True)
    for role in ROLE:
        good(f"grease-{role}", "entries that a receiver ignores are covered, too", ["Tls", "Transcript"], role, rich)
    zero = {**plain, "token_i": bytes(32), "token_r": bytes(32)}
    good("tokens-zero", "tokens of zeros are valid", ["Plain"], "initiator", zero)
    same = {**plain, "token_r": plain["token_i"]}
    good("tokens-equal", "equal tokens are valid", ["Plain"], "responder", same)

    for role in ROLE:
        other = "responder" if role == "initiator" else "initiator"
        bad(f"reflected-to-{other}", f"the {other}'s own CONFIRM comes back as the {role}'s", ["Role"], role, tls,
            mac(other, **tls))
        bad(f"tokens-swapped-{role}", "the key made of the tokens in the wrong order", ["Key"], role, tls,
            mac(role, **{**tls, "token_i": tls["token_r"], "token_r": tls["token_i"]}))
    bad("role-lower-case", "i instead of I", ["Role"], "initiator", tls,
        hmac256(key(tls["token_i"], tls["token_r"]), b"i" + sha256(tls["hello_i"] + tls["hello_r"]) + tls["binding"]))
    bad("token-bit", "one bit of the responder's token differs", ["Key"], "initiator", tls,
        mac("initiator", **{**tls, "token_r": changed(tls["token_r"], 31)}))
    bad("token-of-another-peer", "another token", ["Key"], "responder", tls,
        mac("responder", **{**tls, "token_i": random.randbytes(32)}))
    bad("hello-bit", "one bit of the initiator's nonce differs", ["Transcript"], "initiator", tls,
        mac("initiator", **{**tls, "hello_i": changed(tls["hello_i"], 170)}))
    bad("hello-version-bit", "the versions of the responder's HELLO differ", ["Transcript"], "responder", tls,
        mac("responder", **{**tls, "hello_r": changed(tls["hello_r"], 13)}))
    bad("hello-grease-bit", "one bit of a GREASE entry differs", ["Transcript"], "responder", rich,
        mac("responder", **{**rich, "hello_r": changed(rich["hello_r"], len(rich["hello_r"]) - 1)}))
    bad("hello-order", "the two HELLOs in the wrong order", ["Transcript"], "initiator", tls,
        mac("initiator", **{**tls, "hello_i": tls["hello_r"], "hello_r": tls["hello_i"]}))
    bad("hello-without-headers", "the transcript without the frame headers", ["Transcript"], "initiator", tls,
        mac("initiator", **{**tls, "hello_i": tls["hello_i"][8:], "hello_r": tls["hello_r"][8:]}))
    bad("binding-missing", "zeros, although the connection uses TLS", ["Binding"], "initiator", tls,
        mac("initiator", **{**tls, "binding": bytes(32)}))
    bad("binding-of-another-connection", "the exporter of another TLS connection", ["Binding"], "responder", tls,
        mac("responder", **{**tls, "binding": random.randbytes(32)}))
    bad("binding-on-plain", "an exporter value although the connection is plain", ["Binding"], "initiator", plain,
        mac("initiator", **{**plain, "binding": random.randbytes(32)}))
    bad("mac-first-bit", "the first bit differs", ["Mac"], "initiator", tls, changed(mac("initiator", **tls), 0))
    bad("mac-last-bit", "the last bit differs", ["Mac"], "responder", tls, changed(mac("responder", **tls), 31))
    bad("mac-zero", "zeros", ["Mac"], "initiator", tls, bytes(32))
    bad("mac-of-another-link", "a CONFIRM of another connection", ["Mac"], "initiator", tls, mac("initiator", **plain))
    notes = {
        "Tls": "the binding is the TLS exporter", "Plain": "the binding is 32 zero bytes",
        "Role": "the role prevents reflection", "Key": "the key needs both tokens, the initiator's first",
        "Transcript": "both HELLO frames, headers included, the initiator's first",
        "Binding": "the binding prevents splicing two connections", "Mac": "the value itself is wrong",
    }
    return document("CONFIRM", notes, [
        dict(type="link-confirm", spec="6", labels=["confirm.mac", "confirm.binding"], tests=accepted),
        dict(type="link-confirm", spec="6", labels=["confirm.mac", "confirm.role", "confirm.binding"], tests=refused)])
