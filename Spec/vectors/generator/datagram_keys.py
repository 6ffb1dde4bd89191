"""datagram-keys.json: from two DGRAMs to the key of DTLS and the header of a datagram, chapter 10.

The exporter of TLS 1.3 is that of RFC 8446, section 7.5, with SHA-256; its secret is given, as in a key log.
"""

from .wire import REGISTRIES, document, hmac256, seeded, sha256, test, u8, u16, u64

LABEL = REGISTRIES["exporters"]["datagram"].encode()


def expand(secret, info, length):
    """HKDF-Expand, RFC 5869."""
    made, block, count = b"", b"", 0
    while len(made) < length:
        count += 1
        block = hmac256(secret, block + info + u8(count))
        made += block
    return made[:length]


def expand_label(secret, label, context, length):
    label = b"tls13 " + label
    return expand(secret, u16(length) + u8(len(label)) + label + u8(len(context)) + context, length)


def exporter(secret, label, context, length):
    return expand_label(expand_label(secret, label, sha256(b""), 32), b"exporter", sha256(context), length)


def build():
    # RFC 5869, A.1: an independent check of the functions that everything below uses.
    assert expand(bytes.fromhex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"),
                  bytes.fromhex("f0f1f2f3f4f5f6f7f8f9"), 42).hex().startswith("3cb25f25faacd57a90434f64d0362f2a")
    random, tests = seeded("datagram keys"), []

    def add(id, comment, flags, lower, higher, secret, psk=None):
        context = u64(lower) + u64(higher)
        right = exporter(secret, LABEL, context, 32)
        psk = right if psk is None else psk(right, context, secret)
        fields = dict(exporterSecret=secret.hex(), lower=f"{lower:016x}", higher=f"{higher:016x}", context=context.hex(),
                      expectedPsk=right.hex(), psk=psk.hex(), headerToLower=(u8(1) + u64(lower)).hex(),
                      headerToHigher=(u8(1) + u64(higher)).hex())
        assert (psk == right) == ("Other" not in flags), id
        fields.update(dict(result="valid") if psk == right else dict(result="invalid", error="TLS", check="psk"))
        tests.append(test(id, comment, flags, **fields))

    number = lambda: int.from_bytes(random.randbytes(8), "big")
    secret, low, high = random.randbytes(32), number(), number()
    add("usual", "random numbers", ["Key"], low, high, secret)
    add("another-link", "the same associations on another link", ["Key"], low, high, random.randbytes(32))
    add("swapped", "the same two associations, exchanged", ["Key"], high, low, secret)
    add("lower-renewed", "one end starts again", ["Key"], number(), high, secret)
    add("higher-renewed", "the other end starts again", ["Key"], low, number(), secret)
    add("smallest", "the smallest associations", ["Key"], 1, 2, secret)
    add("largest", "the largest", ["Key"], 2 ** 64 - 1, 2 ** 64 - 2, bytes(32))
    add("equal", "both associations happen to be equal", ["Key"], low, low, b"\xff" * 32)
    add("context-swapped", "the associations in the wrong order", ["Other"], low, high, secret,
        lambda right, context, secret: exporter(secret, LABEL, context[8:] + context[:8], 32))
    add("context-missing", "an exporter without context", ["Other"], low, high, secret,
        lambda right, context, secret: exporter(secret, LABEL, b"", 32))
    add("context-little", "associations in the other byte order", ["Other"], low, high, secret,
        lambda right, context, secret: exporter(secret, LABEL, context[7::-1] + context[:7:-1], 32))
    add("label-binding", "the label of CONFIRM's binding", ["Other"], low, high, secret,
        lambda right, context, secret: exporter(secret, REGISTRIES["exporters"]["binding"].encode(), context, 32))
    add("length-48", "truncated from a longer key: the length is part of the derivation", ["Other"], low, high, secret,
        lambda right, context, secret: exporter(secret, LABEL, context, 48)[:32])
    notes = {"Key": "the key that both ends compute", "Other": "the key that a mistake would produce; the handshake fails"}
    return document("datagram keys", notes, [
        dict(type="datagram-key", spec="10", labels=["dgram.key", "dgram.header"], tests=tests)])
