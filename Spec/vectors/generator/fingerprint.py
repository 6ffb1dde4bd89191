"""fingerprint.json: DER certificates, their fingerprints, and which chains a pin accepts, chapters 3 and 5."""

import json
import pathlib

from .wire import LIMIT, document, sha256, test

CERTIFICATES = json.loads((pathlib.Path(__file__).resolve().parents[1] / "certificates.json").read_text())


def der(name):
    return bytes.fromhex(CERTIFICATES[name])


def judge(chain, pinned):
    if not chain or len(chain) > LIMIT["chainCertificates"] or sum(len(der(n)) for n in chain) > LIMIT["chainBytes"]:
        return "chain"
    return None if sha256(der(chain[0])).hex() == pinned else "pin"


def build():
    prints, pins = [], []
    for name in CERTIFICATES:
        prints.append(test(f"fingerprint-{name}", "SHA-256 of the DER form", ["Fingerprint"], certificate=name,
                           fingerprint=sha256(der(name)).hex(), result="valid"))

    def pin(id, comment, flags, chain, pinned, expect=None):
        pinned = sha256(der(pinned)).hex() if isinstance(pinned, str) else pinned.hex()
        assert judge(chain, pinned) == expect, id
        fields = dict(chain=chain, pinned=pinned)
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
    notes = {"Fingerprint": "SHA-256 of the whole certificate in DER",
             "Pin": "the leaf, and only the leaf, has the pinned fingerprint",
             "Dates": "dates of a pinned certificate are ignored", "Chain": "at most 8 certificates and 16 KiB of DER"}
    return document("fingerprints", notes, [
        dict(type="fingerprint", spec="3", labels=["data.fingerprint"], certificates=CERTIFICATES, tests=prints),
        dict(type="pin", spec="5", labels=["tls.pin", "tls.dates", "tls.client-certificate", "chain.limit"],
             certificates="as in the group before", tests=pins)])
