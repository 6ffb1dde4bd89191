"""fingerprint.json: DER certificates, their fingerprints and keys, and which chains a pin accepts, chapters 3 and 5."""

import json
import pathlib

from .wire import LIMIT, document, is_keyed, keyed, sha256, test

CERTIFICATES = json.loads((pathlib.Path(__file__).resolve().parents[1] / "certificates.json").read_text())


def der(name):
    return bytes.fromhex(CERTIFICATES[name])


def elements(data):
    """Returns the DER elements that follow each other, each as a pair: all of it, and its contents."""
    found = []
    while data:
        size, head = data[1], 2
        if size & 0x80:
            head = 2 + (size & 0x7F)
            size = int.from_bytes(data[2:head], "big")
        found.append((data[:head + size], data[head:head + size]))
        data = data[head + size:]
    return found


def key_uid(name, **form):
    """Returns the keyed uid of a certificate's key: its sixth field, after the version."""
    signed = elements(elements(der(name))[0][1])[0][1]
    fields = [whole for whole, _ in elements(signed) if whole[0] != 0xA0]
    return keyed(sha256(b"MPC/1 uid" + fields[5]), **form)


def judge(chain, pinned, uid=bytes(16)):
    if not chain or len(chain) > LIMIT["chainCertificates"] or sum(len(der(n)) for n in chain) > LIMIT["chainBytes"]:
        return "chain"
    if sha256(der(chain[0])).hex() != pinned:
        return "pin"
    return "key" if is_keyed(uid) and key_uid(chain[0]) != uid else None


def build():
    prints, pins = [], []
    for name in CERTIFICATES:
        prints.append(test(f"fingerprint-{name}", "SHA-256 of the DER form", ["Fingerprint"], certificate=name,
                           fingerprint=sha256(der(name)).hex(), keyedUid=key_uid(name).hex(), result="valid"))

    def pin(id, comment, flags, chain, pinned, expect=None, uid=None):
        pinned = sha256(der(pinned)).hex() if isinstance(pinned, str) else pinned.hex()
        assert judge(chain, pinned, uid or bytes(16)) == expect, id
        fields = dict(chain=chain, pinned=pinned, **(dict(uid=uid.hex()) if uid else {}))
        fields.update(dict(result="invalid", error="TLS", check=expect) if expect else dict(result="valid"))
        pins.append(test(id, comment, flags, **fields))

    pin("pinned", "the pinned certificate", ["Pin"], ["ephemeral"], "ephemeral")
    pin("pinned-expired", "its dates are in the past", ["Dates"], ["expired"], "expired")
    pin("pinned-not-yet-valid", "its dates are in the future", ["Dates"], ["not-yet-valid"], "not-yet-valid")
    pin("pinned-leaf-of-chain", "a chain after the pinned leaf", ["Pin"], ["leaf", "intermediate", "root"], "leaf")
    pin("chain-8", "the longest chain", ["Chain"], ["leaf"] + ["intermediate"] * 7, "leaf")
    pin("other-certificate", "another certificate", ["Pin"], ["other"], "ephemeral", "pin")
    pin("same-key-other-certificate", "the pinned key in another certificate with the same subject", ["Pin"],
        ["same-key"], "ephemeral", "pin")
    pin("pinned-intermediate", "the pinned certificate is not the leaf", ["Pin"], ["leaf", "intermediate"],
        "intermediate", "pin")
    pin("pinned-after-another", "the pinned certificate after an unknown leaf", ["Pin"], ["other", "ephemeral"],
        "ephemeral", "pin")
    pin("pin-bit", "one bit of the pin differs", ["Pin"], ["ephemeral"],
        bytes([sha256(der("ephemeral"))[0] ^ 1]) + sha256(der("ephemeral"))[1:], "pin")
    pin("no-certificate", "no certificate at all", ["Chain"], [], "ephemeral", "chain")
    pin("chain-9", "one certificate too many", ["Chain"], ["leaf"] + ["intermediate"] * 8, "leaf", "chain")
    pin("chain-over-16-KiB", "two certificates of more than 8 KiB each", ["Chain"], ["big", "big"], "big", "chain")
    for name in ("ephemeral", "p384", "ed25519", "rsa2048", "big"):
        pin(f"keyed-{name}", "the peer's uid is the hash of the certificate's key", ["Keyed"], [name], name,
            uid=key_uid(name))
    own = key_uid("ephemeral")
    pin("keyed-renewed", "another certificate of the key", ["Keyed"], ["same-key"], "same-key", uid=own)
    pin("keyed-chain", "only the leaf's key counts", ["Keyed"], ["leaf", "intermediate", "root"], "leaf", uid=key_uid("leaf"))
    pin("keyed-other-key", "the pinned certificate is of another key", ["Keyed"], ["other"], "other", "key", own)
    pin("keyed-issuer", "the key of the issuer", ["Keyed"], ["leaf", "intermediate"], "leaf", "key",
        key_uid("intermediate"))
    pin("keyed-after-another", "the key is that of a certificate after the leaf", ["Keyed"], ["other", "ephemeral"], "other",
        "key", own)
    for place, name in ((0, "first"), (6, "version"), (15, "last")):
        changed = own[:place] + bytes([own[place] ^ 1]) + own[place + 1:]
        pin(f"keyed-bit-{name}", f"one bit of byte {place} differs", ["Keyed"], ["ephemeral"], "ephemeral", "key", changed)
    pin("keyed-other-certificate", "a keyed uid does not replace the pin", ["Keyed"], ["same-key"], "ephemeral", "pin", own)
    for version, variant in ((4, 2), (8, 3), (8, 0), (9, 2)):
        pin(f"keyed-not-{version}-{variant}", f"version {version}, variant {variant:02b}: not keyed", ["Keyed"], ["other"],
            "other", uid=key_uid("ephemeral", version=version, variant=variant))
    notes = {"Fingerprint": "SHA-256 of the whole certificate in DER",
             "Pin": "the leaf, and only the leaf, has the pinned fingerprint",
             "Keyed": "the leaf's key hashes to the uid, if that is keyed",
             "Dates": "dates of a pinned certificate are ignored", "Chain": "at most 8 certificates and 16 KiB of DER"}
    return document("fingerprints", notes, [
        dict(type="fingerprint", spec="3", labels=["data.fingerprint", "uid.keyed"], certificates=CERTIFICATES, tests=prints),
        dict(type="pin", spec="5", labels=["tls.pin", "tls.dates", "tls.client-certificate", "chain.limit", "uid.proof"],
             certificates="as in the group before", tests=pins)])
