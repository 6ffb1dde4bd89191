"""members.json: the entries of a mesh, chapter 11."""

from . import connection_data, signatures
from .signatures import P256, P384, P521, SECP256K1, ECDSA, Ed25519, RSAKey
from .wire import LIMIT, Refused, document, seeded, sha256, test, u8, u16, u32


def read(payload, receiver="optional"):
    """Returns the fields of an entry, or refuses it with the check that fails: `frame` (chapter 7), one of `mesh.entry`, or
    `signature`. `receiver`: the preference of the session that receives it."""
    if len(payload) < 29:
        raise Refused("PROTOCOL", "frame")
    count = payload[28]
    if count > LIMIT["memberEntries"]:
        raise Refused("FLOOD", "frame")
    end = 29 + 24 * count
    if len(payload) < end:
        raise Refused("PROTOCOL", "frame")
    origin, listed = payload[:24], [payload[at:at + 24] for at in range(29, end, 24)]
    blob, end = counted(payload, end)
    certificate, end = counted(payload, end)
    signature = payload[end:]
    if count > LIMIT["members"]:
        raise Refused("PROTOCOL", "list")
    if any(later <= earlier for earlier, later in zip(listed, listed[1:])) or origin in listed:
        raise Refused("PROTOCOL", "list")
    has_key = receiver != "none"
    if not (has_key <= len(certificate) <= has_key * LIMIT["entryCertificate"]
            and has_key <= len(signature) <= has_key * LIMIT["entrySignature"]):
        raise Refused("PROTOCOL", "certificate")
    try:
        data = connection_data.read(blob)
    except Refused as verdict:
        raise Refused("PROTOCOL", "data") from verdict
    if bytes.fromhex(data["uid"] + data["instance"]) != origin:
        raise Refused("PROTOCOL", "endpoint")
    if not data["flags"] & 1:
        raise Refused("PROTOCOL", "mesh")
    if data["recipient"] is not None:
        raise Refused("PROTOCOL", "open")
    if data["fingerprint"] != (sha256(certificate).hex() if has_key else None):
        raise Refused("PROTOCOL", "certificate")
    if has_key and not signatures.verify(certificate, signatures.LABEL + payload[:end], signature):
        raise Refused("BAD_MAC", "signature")
    return dict(endpoint=origin.hex(), sequence=int.from_bytes(payload[24:28], "big"),
                list=[one.hex() for one in listed], data=blob.hex(), certificate=certificate.hex(), signature=signature.hex())


def counted(payload, at):
    """Returns the bytes that a u16 counts, and where they end."""
    end = at + 2 + int.from_bytes(payload[at:at + 2], "big")
    if len(payload) < at + 2 or len(payload) < end:
        raise Refused("PROTOCOL", "frame")
    return payload[at + 2:end], end


def encode(endpoint, sequence, listed, data, certificate=b"", sign=lambda message: b""):
    payload = (endpoint + u32(sequence) + u8(len(listed)) + b"".join(listed) + u16(len(data)) + data
               + u16(len(certificate)) + certificate)
    return payload + sign(signatures.LABEL + payload)


def build():
    random = seeded("members")
    recipe = connection_data.Recipe(random)
    keys = seeded("members-keys")
    key, other_key = ECDSA(P256, keys.randbytes(32)), ECDSA(P256, keys.randbytes(32))
    certificate = signatures.certificate(key, 1)
    other_certificate = signatures.certificate(other_key, 2)

    def pin(der):
        return {connection_data.FINGERPRINT: b"\1" + sha256(der)}

    mine = {connection_data.RECIPIENT: None, connection_data.LIFETIME: u32(86400), **pin(certificate)}
    data = recipe.build(mine, flags=1)
    endpoint = recipe.uid + recipe.entries[connection_data.INSTANCE]
    others = sorted(random.randbytes(24) for _ in range(33))
    accepted, refused = [], []

    def good(id, comment, flags, payload, receiver="optional"):
        accepted.append(test(id, comment, flags, hex=payload.hex(), receiver=receiver, fields=read(payload, receiver),
                             result="valid"))

    def bad(id, comment, check, payload, flags, code="PROTOCOL", receiver="optional"):
        try:
            read(payload, receiver)
        except Refused as verdict:
            assert (verdict.code, verdict.check) == (code, check), (id, verdict)
        else:
            raise AssertionError(f"{id} passes")
        refused.append(test(id, comment, flags, hex=payload.hex(), receiver=receiver, result="invalid", error=code,
                            check=check))

    def entry(listed=tuple(others[:2]), sequence=7, data=data, endpoint=endpoint, der=certificate, sign=key.sign):
        return encode(endpoint, sequence, list(listed), data, der, sign)

    def unsigned(data, der=b"", signature=b""):
        return encode(endpoint, 7, others[:2], data, der, lambda message: signature)

    def varied(changes=(), flags=1, **header):
        return recipe.build({**mine, **dict(changes)}, flags=flags, **header)

    def made_with(maker, serial, **changes):
        """Returns an entry with the key and the certificate of this key."""
        der = changes.pop("der", None) or signatures.certificate(maker, serial)
        return entry(data=varied(pin(der)), der=der, **{"sign": maker.sign, **changes})

    def padded(length):
        room = length - len(varied()) - 4
        return varied(extra=[(0x2A2A, random.randbytes(room))])

    twins = sorted(others[0][:16] + bytes(7) + u8(last) for last in (1, 2))
    good("alone", "no mesh link", ["List"], entry(()))
    good("one", "one mesh link", ["List"], entry(others[:1]))
    good("seven", "a full mesh", ["List"], entry(others[:7]))
    good("most", "the longest list", ["List"], entry(others[:31]))
    good("two-instances", "one uid twice, with two instances", ["List"], entry(twins))
    good("own-uid", "another instance of its uid in the list", ["List"],
         entry(sorted([endpoint[:16] + others[0][16:], others[0]])))
    good("first", "the first entry", ["Sequence"], entry(sequence=1))
    good("last", "the highest sequence", ["Sequence"], entry(sequence=2 ** 32 - 1))
    good("plain", "from a session without encryption, for such a session", ["Data"], unsigned(varied(recipe.plain())), "none")
    good("identity", "from a session with an identity", ["Data"], entry(data=varied(flags=3)))
    good("all-flags", "unknown flags", ["Data"], entry(data=varied(flags=255)))
    good("grease", "an unknown entry in the data", ["Data"],
         entry(data=varied(extra=[(0x7A7A, b"")])))
    good("short-life", "a lifetime that mesh data never has; only its issuer checks it", ["Data"],
         entry(data=varied({connection_data.LIFETIME: u32(1)})))
    good("longest-data", "data of 1,024 bytes", ["Data"], entry(data=padded(1024)))
    good("longest", "the longest list with the longest data", ["List", "Data"], entry(others[:31], data=padded(1024)))

    largest = signatures.padded_certificate(key, 3, LIMIT["entryCertificate"])
    rsa, edwards = RSAKey(), Ed25519(keys.randbytes(32))
    good("p-384", "ECDSA with P-384 and SHA-384", ["Signature"], made_with(ECDSA(P384, keys.randbytes(48)), 4))
    good("p-521", "ECDSA with P-521 and SHA-512", ["Signature"], made_with(ECDSA(P521, keys.randbytes(66)), 5))
    good("ed25519", "Ed25519", ["Signature"], made_with(edwards, 6))
    good("rsa", "RSA-PSS with SHA-256", ["Signature"], made_with(rsa, 7))
    good("largest-certificate", "a certificate of 4,096 bytes", ["Certificate"],
         made_with(key, 3, der=largest))
    good("largest", "the longest list, the longest data, the largest certificate", ["List", "Data", "Certificate"],
         entry(others[:31], data=recipe.build({**mine, **pin(largest)}, flags=1,
                                              extra=[(0x2A2A, bytes(1024 - len(varied()) - 4))]), der=largest))

    bad("empty", "no bytes", "frame", b"", ["Frame"])
    bad("no-count", "the payload ends before the count", "frame", entry()[:28], ["Frame"])
    bad("list-cut", "the payload ends inside the list", "frame", entry()[:29 + 24 + 23], ["Frame"])
    bad("list-missing", "a count and no list", "frame", encode(endpoint, 7, [], b"")[:28] + u8(1), ["Frame"])
    bad("no-data-length", "the payload ends after the list", "frame", entry(())[:29], ["Frame"])
    bad("data-cut-off", "the payload ends inside the data", "frame", entry(())[:31 + len(data) - 1], ["Frame"])
    bad("no-certificate-length", "the payload ends after the data", "frame", entry(())[:31 + len(data)], ["Frame"])
    bad("certificate-cut-off", "the payload ends inside the certificate", "frame",
        entry(())[:33 + len(data) + len(certificate) - 1], ["Frame"])
    bad("count-33", "a count larger than any mesh", "frame", entry(others[:33]), ["Frame"], "FLOOD")
    bad("count-255", "the highest count, and nothing after it", "frame", entry(())[:28] + u8(255), ["Frame"], "FLOOD")
    bad("count-32", "one more than the longest list", "list", entry(others[:32]), ["List"])
    bad("falling", "the list is not ascending", "list", entry([others[1], others[0]]), ["List"])
    bad("falling-instance", "the list is not ascending by instance", "list", entry(reversed(twins)), ["List"])
    bad("falling-at-the-end", "the last of many is out of order", "list", entry(others[:6] + [others[0]]), ["List"])
    bad("twice", "one endpoint twice", "list", entry([others[0], others[0]]), ["List"])
    bad("itself", "the list has the endpoint of the entry", "list", entry([endpoint]), ["List"])
    bad("itself-among-others", "the list has the endpoint of the entry, and others", "list",
        entry(sorted([endpoint, others[0], others[32]])), ["List"])
    bad("no-data", "data of no bytes", "data", entry(data=b""), ["Data"])
    bad("data-cut", "the data lacks its last byte", "data", entry(data=data[:-1]), ["Data"])
    bad("data-followed", "one byte after the data", "data", entry(data=data + b"\0"), ["Data"])
    bad("data-changed", "one bit of the data has changed", "data",
        entry(data=data[:-9] + u8(data[-9] ^ 1) + data[-8:]), ["Data"])
    bad("data-version", "data of an unsupported version", "data", entry(data=varied(version=2)), ["Data"])
    bad("data-too-long", "data of 1,025 bytes", "data", entry(data=padded(1025)), ["Data"])
    bad("data-no-token", "data without a token", "data", entry(data=varied({connection_data.TOKEN: None})), ["Data"])
    bad("count-low", "a count of 1 and two endpoints", "frame",
        entry()[:28] + u8(1) + entry()[29:], ["Data"])
    bad("no-certificate", "no certificate, and no signature", "certificate", unsigned(data), ["Certificate"])
    bad("no-signature", "a certificate without a signature", "certificate", unsigned(data, certificate), ["Certificate"])
    bad("signature-alone", "a signature without a certificate", "certificate",
        unsigned(data, signature=entry()[-64:]), ["Certificate"])
    bad("other-certificate", "a certificate that the data do not pin, and its signature", "certificate",
        entry(der=other_certificate, sign=other_key.sign), ["Certificate"])
    bad("same-key", "another certificate of the same key", "certificate",
        entry(der=signatures.certificate(key, 9)), ["Certificate"])
    bad("certificate-too-large", "a certificate of 4,097 bytes", "certificate",
        made_with(key, 3, der=signatures.padded_certificate(key, 3, LIMIT["entryCertificate"] + 1)), ["Certificate"])
    bad("signature-too-long", "a signature of 1,025 bytes", "certificate",
        unsigned(data, certificate, bytes(LIMIT["entrySignature"] + 1)), ["Certificate"])
    bad("plain-for-a-key", "data of a session without encryption, for one that has a key", "certificate",
        unsigned(varied(recipe.plain())), ["Certificate"])
    bad("plain-with-a-key", "the same, signed", "certificate", entry(data=varied(recipe.plain())), ["Certificate"])
    bad("key-for-none", "a signed entry, for a session without encryption", "certificate", entry(), ["Certificate"],
        receiver="none")
    bad("unsigned-for-none", "data with a fingerprint, and no certificate, for such a session", "certificate",
        unsigned(data), ["Certificate"], receiver="none")
    bad("bytes-for-none", "one byte after the entry, for such a session", "certificate",
        unsigned(varied(recipe.plain()), signature=b"\0"), ["Certificate"], receiver="none")
    signed = entry()
    behind = 33 + 48 + len(data) + len(certificate)
    for id, comment, payload in (
            ("list-changed", "another list under the signature", entry(others[:3])[:behind + 24] + signed[behind:]),
            ("list-emptied", "no list under the signature", entry(())[:behind - 48] + signed[behind:]),
            ("sequence-changed", "a higher sequence under the signature", entry(sequence=8)[:behind] + signed[behind:]),
            ("data-replaced", "other data of the same session under the signature",
             entry(data=varied({connection_data.TOKEN: others[0] + others[1][:8]}))[:behind] + signed[behind:]),
            ("signature-bit", "one bit of the signature has changed", signed[:-1] + u8(signed[-1] ^ 1)),
            ("signature-cut", "the signature lacks its last byte", signed[:-1]),
            ("signature-followed", "one byte after the signature", signed + b"\0"),
            ("other-key", "a signature of another key under the certificate", entry(sign=other_key.sign)),
            ("no-label", "a signature of the payload alone",
             entry(sign=lambda message: key.sign(message[len(signatures.LABEL):]))),
            ("other-label", "a signature with another label",
             entry(sign=lambda message: key.sign(message.replace(b"members", b"friends")))),
            ("raw-numbers", "a signature that is not DER", entry(sign=key.sign_raw)),
            ("other-digest", "a signature of P-256 with SHA-384", entry(sign=lambda message: key.sign(message, "sha384"))),
            ("rsa-pkcs1", "RSA with the padding of PKCS #1 v1.5", made_with(rsa, 7, sign=rsa.sign_with_pkcs1)),
            ("rsa-no-salt", "RSA-PSS without a salt", made_with(rsa, 7, sign=lambda message: rsa.sign(message, 0))),
            ("rsa-1024", "an RSA key of 1,024 bits", made_with(RSAKey(1024), 10)),
            ("rsa-exponent", "an RSA key with an exponent of 33 bits", made_with(RSAKey(exponent=2 ** 32 + 15), 11)),
            ("secp256k1", "a curve that TLS 1.3 does not have", made_with(ECDSA(SECP256K1, keys.randbytes(32)), 12)),
            ("no-der", "the certificate is not one", made_with(key, 13, der=b"certificate")),
            ("der-followed", "one byte after the certificate", made_with(key, 13, der=certificate + b"\0"))):
        bad(id, comment, "signature", payload, ["Signature"], "BAD_MAC")
    bad("other-uid", "data of another peer", "endpoint", entry(endpoint=others[3]), ["Endpoint"])
    bad("other-instance", "data of another instance", "endpoint", entry(endpoint=endpoint[:16] + others[3][16:]),
        ["Endpoint"])
    bad("no-mesh", "data without MESH", "mesh", entry(data=varied(flags=0)), ["Mesh"])
    bad("no-mesh-other-flags", "data with all flags but MESH", "mesh", entry(data=varied(flags=254)), ["Mesh"])
    bad("addressed", "data for one recipient", "open",
        entry(data=varied({connection_data.RECIPIENT: others[0][:16]})), ["Open"])
    notes = {"List": "the endpoint's mesh links", "Sequence": "which entry is newer", "Data": "the mesh data",
             "Frame": "the payload has the form of chapter 7", "Endpoint": "the data is of the same endpoint",
             "Mesh": "the data has MESH", "Open": "the data is open",
             "Certificate": "there is a certificate if the receiver has one, and it is the one that the data pin",
             "Signature": "the key of the certificate has signed the entry"}
    labels = ["mesh.entry", "mesh.signature"]
    return document("mesh entries", notes, [
        dict(type="members", spec="11", labels=labels, tests=accepted),
        dict(type="members", spec="11", labels=labels, tests=refused)])
