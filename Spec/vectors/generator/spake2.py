"""SPAKE2 of RFC 9382 with P-256, SHA-256, HKDF and HMAC, from the RFC alone."""

import struct

from .wire import hmac256, sha256

FIELD = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def is_on_curve(point):
    x, y = point
    return (y * y - (x * x * x - 3 * x + B)) % FIELD == 0


def add(one, other):
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % FIELD == 0:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, FIELD)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, FIELD)
    x = (slope * slope - one[0] - other[0]) % FIELD
    return x, (slope * (one[0] - x) - one[1]) % FIELD


def multiply(number, point):
    result = None
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result


def negative(point):
    return point[0], -point[1] % FIELD


def decompressed(text):
    data = bytes.fromhex(text)
    x = int.from_bytes(data[1:], "big")
    y = pow(x * x * x - 3 * x + B, (FIELD + 1) // 4, FIELD)
    return x, y if y & 1 == data[0] & 1 else FIELD - y


M = decompressed("02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f")
N = decompressed("03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49")


def encoded(point):
    return b"\4" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def decoded(data):
    """Returns the point; None unless it is uncompressed and on the curve."""
    if len(data) != 65 or data[0] != 4:
        return None
    point = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    return point if max(point) < FIELD and is_on_curve(point) else None


def counted(data):
    return struct.pack("<Q", len(data)) + data


def hkdf(key, info):
    return hmac256(hmac256(bytes(32), key), info + b"\1")


def share(mask, password, scalar):
    return encoded(add(multiply(password, mask), multiply(scalar, G)))


def keys(a, b, password, share_a, share_b, shared, additional=b""):
    """Returns the key and the two confirmations."""
    transcript = b"".join(map(counted, (a, b, share_a, share_b, shared, password.to_bytes(32, "big"))))
    digest = sha256(transcript)
    confirming = hkdf(digest[16:], b"ConfirmationKeys" + additional)
    return digest[:16], hmac256(confirming[:16], transcript), hmac256(confirming[16:], transcript)


def run(a, b, password, x, y, additional=b""):
    """Returns both shares, the shared point, the key and the two confirmations."""
    share_a, share_b = share(M, password, x), share(N, password, y)
    shared = shared_point(share_b, N, password, x)
    assert shared == shared_point(share_a, M, password, y)
    return (share_a, share_b, shared, *keys(a, b, password, share_a, share_b, shared, additional))


def shared_point(theirs, mask, password, scalar):
    """A share that leads to infinity must not be refused: that would tell its sender that it has the password."""
    unmasked = add(decoded(theirs), negative(multiply(password, mask)))
    return encoded(multiply(scalar, unmasked or multiply(scalar, G)))
