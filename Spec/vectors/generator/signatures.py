"""Keys, certificates and signatures as an entry of the mesh carries them, chapter 11, written from the RFCs alone.

ECDSA draws its secret number from key and message (RFC 6979), Ed25519 has none, and the salt of RSA-PSS is a hash: the same
signature comes out each time. None of this is fit for secret keys: its time depends on them.
"""

import hashlib
import hmac

LABEL = b"MPC/1 members\0"


class Invalid(Exception):
    """The bytes are not what they should be."""


# DER

def der(kind, *parts):
    body = b"".join(parts)
    if len(body) < 128:
        return bytes([kind, len(body)]) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([kind, 128 + len(size)]) + size + body


def integer(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def sequence(*parts):
    return der(0x30, *parts)


def oid(text):
    first, second, *rest = map(int, text.split("."))
    body = bytes([40 * first + second])
    for number in rest:
        digits = [number & 127]
        while number := number >> 7:
            digits.append(number & 127 | 128)
        body += bytes(reversed(digits))
    return der(6, body)


def bits(data):
    return der(3, b"\0", data)


def take(data, kind):
    """Returns the content of the element at the start, and what comes after it."""
    if len(data) < 2 or data[0] != kind:
        raise Invalid
    size, at = data[1], 2
    if size >= 128:
        count = size - 128
        size, at = int.from_bytes(data[2:2 + count], "big"), 2 + count
    if len(data) < at + size:
        raise Invalid
    return data[at:at + size], data[at + size:]


def whole(data, kind):
    content, rest = take(data, kind)
    if rest:
        raise Invalid
    return content


# ECDSA: FIPS 186-5 and RFC 6979

class Curve:
    def __init__(self, name, p, a, b, x, y, n, digest, scheme):
        self.name, self.p, self.a, self.b, self.g, self.n = name, p, a, b, (x, y), n
        self.digest, self.scheme, self.size = digest, scheme, (p.bit_length() + 7) // 8

    def add(self, one, other):
        if one is None or other is None:
            return one or other
        if one[0] == other[0]:
            if (one[1] + other[1]) % self.p == 0:
                return None
            slope = (3 * one[0] * one[0] + self.a) * pow(2 * one[1], -1, self.p)
        else:
            slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, self.p)
        x = (slope * slope - one[0] - other[0]) % self.p
        return x, (slope * (one[0] - x) - one[1]) % self.p

    def times(self, number, point):
        result = None
        while number:
            if number & 1:
                result = self.add(result, point)
            point, number = self.add(point, point), number >> 1
        return result

    def hashed(self, message):
        value = hashlib.new(self.digest, message).digest()
        return int.from_bytes(value, "big") >> max(0, 8 * len(value) - self.n.bit_length())


def ec(name, p, a, b, x, y, n, digest, scheme):
    return Curve(name, *(int(text, 16) for text in (p, a, b, x, y, n)), digest, scheme)


CURVES = {curve.name: curve for curve in (
    ec("1.2.840.10045.3.1.7", "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
       "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
       "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
       "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
       "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
       "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", "sha256", "1.2.840.10045.4.3.2"),
    ec("1.3.132.0.34",
       "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
       "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000fffffffc",
       "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
       "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
       "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
       "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973", "sha384",
       "1.2.840.10045.4.3.3"),
    ec("1.3.132.0.35", "1ff" + 128 * "f", "1ff" + 127 * "f" + "c",
       "051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef4"
       "51fd46b503f00",
       "0c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97"
       "e7e31c2e5bd66",
       "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088b"
       "e94769fd16650",
       "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6"
       "fb71e91386409", "sha512", "1.2.840.10045.4.3.4"),
    ec("1.3.132.0.10", "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", "0", "7",
       "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
       "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
       "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", "sha256", "1.2.840.10045.4.3.2"))}
P256, P384, P521, SECP256K1 = CURVES.values()
EC = "1.2.840.10045.2.1"


class ECDSA:
    def __init__(self, curve, secret):
        self.curve, self.secret = curve, int.from_bytes(secret, "big") % (curve.n - 1) + 1
        point = curve.times(self.secret, curve.g)
        self.public = b"\4" + b"".join(value.to_bytes(curve.size, "big") for value in point)
        self.info = sequence(sequence(oid(EC), oid(curve.name)), bits(self.public))
        self.algorithm = sequence(oid(curve.scheme))

    def private(self):
        """The private key as RFC 5915 and PKCS#8 write it."""
        key = sequence(integer(1), der(4, self.secret.to_bytes(self.curve.size, "big")), der(0xA1, bits(self.public)))
        return sequence(integer(0), sequence(oid(EC), oid(self.curve.name)), der(4, key))

    def numbers(self, message, digest=None):
        curve = self.curve
        name = digest or curve.digest
        value = int.from_bytes(hashlib.new(name, message).digest(), "big")
        value >>= max(0, 8 * hashlib.new(name).digest_size - curve.n.bit_length())
        for secret in nonces(curve, self.secret, value, name):
            r = curve.times(secret, curve.g)[0] % curve.n
            s = pow(secret, -1, curve.n) * (value + r * self.secret) % curve.n
            if r and s:
                return r, s

    def sign(self, message, digest=None):
        return sequence(*map(integer, self.numbers(message, digest)))

    def sign_raw(self, message):
        """Both numbers in a fixed size, as other protocols write them."""
        size = (self.curve.n.bit_length() + 7) // 8
        return b"".join(number.to_bytes(size, "big") for number in self.numbers(message))


def nonces(curve, secret, value, digest):
    """RFC 6979, section 3.2."""
    size, length = (curve.n.bit_length() + 7) // 8, hashlib.new(digest).digest_size
    seed = secret.to_bytes(size, "big") + (value % curve.n).to_bytes(size, "big")
    v, k = b"\1" * length, bytes(length)
    for mark in (b"\0", b"\1"):
        k = hmac.new(k, v + mark + seed, digest).digest()
        v = hmac.new(k, v, digest).digest()
    while True:
        text = b""
        while len(text) < size:
            v = hmac.new(k, v, digest).digest()
            text += v
        number = int.from_bytes(text[:size], "big") >> 8 * size - curve.n.bit_length()
        if 0 < number < curve.n:
            yield number
        k = hmac.new(k, v + b"\0", digest).digest()
        v = hmac.new(k, v, digest).digest()


def verify_ecdsa(curve, public, message, signature):
    if len(public) != 1 + 2 * curve.size or public[0] != 4:
        raise Invalid
    point = tuple(int.from_bytes(public[at:at + curve.size], "big") for at in (1, 1 + curve.size))
    if (point[1] ** 2 - point[0] ** 3 - curve.a * point[0] - curve.b) % curve.p:
        raise Invalid
    content = whole(signature, 0x30)
    r, rest = take(content, 2)
    r, s = int.from_bytes(r, "big"), int.from_bytes(whole(rest, 2), "big")
    if sequence(integer(r), integer(s)) != signature or not (0 < r < curve.n and 0 < s < curve.n):
        raise Invalid
    inverse = pow(s, -1, curve.n)
    sum = curve.add(curve.times(curve.hashed(message) * inverse % curve.n, curve.g),
                    curve.times(r * inverse % curve.n, point))
    return sum is not None and sum[0] % curve.n == r


# Ed25519: RFC 8032, section 5.1

FIELD, ORDER = 2 ** 255 - 19, 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, FIELD) % FIELD
BASE_Y = 4 * pow(5, -1, FIELD) % FIELD
ED25519 = "1.3.101.112"


def edwards_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if (x * x - square) % FIELD:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    if (x * x - square) % FIELD or y >= FIELD or (x == 0 and sign):
        raise Invalid
    return FIELD - x if x & 1 != sign else x


def edwards_add(one, other):
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2
    return ((x1 * y2 + x2 * y1) * pow(1 + product, -1, FIELD) % FIELD,
            (y1 * y2 + x1 * x2) * pow(1 - product, -1, FIELD) % FIELD)


def edwards_times(number, point):
    result = (0, 1)
    while number:
        if number & 1:
            result = edwards_add(result, point)
        point, number = edwards_add(point, point), number >> 1
    return result


def edwards_write(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def edwards_read(data):
    value = int.from_bytes(data, "little")
    y = value & (1 << 255) - 1
    return edwards_x(y, value >> 255), y


def sha512(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


EDWARDS_BASE = (edwards_x(BASE_Y, 0), BASE_Y)


class Ed25519:
    def __init__(self, secret):
        digest = hashlib.sha512(secret).digest()
        self.secret = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
        self.prefix = digest[32:]
        self.public = edwards_write(edwards_times(self.secret, EDWARDS_BASE))
        self.algorithm = sequence(oid(ED25519))
        self.info = sequence(self.algorithm, bits(self.public))

    def sign(self, message):
        nonce = sha512(self.prefix, message) % ORDER
        point = edwards_write(edwards_times(nonce, EDWARDS_BASE))
        s = (nonce + sha512(point, self.public, message) * self.secret) % ORDER
        return point + s.to_bytes(32, "little")


def verify_ed25519(public, message, signature):
    if len(signature) != 64 or len(public) != 32:
        raise Invalid
    s = int.from_bytes(signature[32:], "little")
    if s >= ORDER:
        raise Invalid
    challenge = sha512(signature[:32], public, message) % ORDER
    right = edwards_add(edwards_read(signature[:32]), edwards_times(challenge, edwards_read(public)))
    return edwards_times(s, EDWARDS_BASE) == right


# RSA: RFC 8017

RSA = "1.2.840.113549.1.1.1"
PRIMES = {
    2048: (int("d21b2d9db60f3eb69e43a97bb5b0d0e8447817aaf837051daa47ee2d67b3ae3e6a4bf1e2d4c5e2c822bf512f04fcca1651a116a10ad421b8"
               "45a2d138fb8b3a5dd039c969c35fda92f27da7ced1fdfb56f324d7455c3aca3afd23c686dcb29c76c54bf42755b57fc3632ca51e93c1923d"
               "da82431cddfd9a026f9d1a96a5afd6d9", 16),
           int("b96724dd8807ca3ed5336fbf61f33aef024dac4a22d0eb17cfe6e2316863dd4fb115caf8dfd71cbe8e9e129738dc0ec344e69a0ef743a683"
               "9de0bc1d575d667d0c77b268d8996b9a2887fad89cd33c2be937f50f97c57e227b8b306e3fd042443bab051dd5c0ea83e4f4ee1e1819c021"
               "f1594eb53258b4920c67b09537915399", 16)),
    1024: (int("d3228d93456588e04ee664b9fdc196ff5107c19046feed8963c4508e65080ddbf70bf69ab6d5a50ee6bbbc09688f7549e0070381ee6b8de7"
               "4cbba89d6abf01af", 16),
           int("d0266461f25027408c5eaeeeddf94038d3f1369edefe844b23ab2600a780ab81e9d4169ca4a3e5e06ca33669b1630016b60d38bb0a715618"
               "5148612b85b99cb3", 16))}


class RSAKey:
    def __init__(self, size=2048, exponent=65537):
        p, q = PRIMES[size]
        self.modulus, self.exponent = p * q, exponent
        self.secret = pow(exponent, -1, (p - 1) * (q - 1))
        self.algorithm = sequence(oid("1.2.840.113549.1.1.11"), der(5))
        self.info = sequence(sequence(oid(RSA), der(5)), bits(sequence(integer(self.modulus), integer(exponent))))

    def power(self, padded):
        size = (self.modulus.bit_length() + 7) // 8
        return pow(int.from_bytes(padded, "big"), self.secret, self.modulus).to_bytes(size, "big")

    def sign(self, message, salt=32):
        size = (self.modulus.bit_length() + 7) // 8
        hashed = hashlib.sha256(message).digest()
        salt = hashlib.sha256(b"salt" + message).digest()[:salt]
        tail = hashlib.sha256(bytes(8) + hashed + salt).digest()
        block = bytes(size - len(salt) - 34) + b"\1" + salt
        masked = bytes(one ^ other for one, other in zip(block, mask(tail, len(block))))
        return self.power(bytes([masked[0] & 127]) + masked[1:] + tail + b"\xbc")

    def sign_with_pkcs1(self, message):
        info = sequence(sequence(oid("2.16.840.1.101.3.4.2.1"), der(5)), der(4, hashlib.sha256(message).digest()))
        size = (self.modulus.bit_length() + 7) // 8
        return self.power(b"\0\1" + b"\xff" * (size - len(info) - 3) + b"\0" + info)


def mask(seed, length):
    blocks = (hashlib.sha256(seed + number.to_bytes(4, "big")).digest() for number in range(length // 32 + 1))
    return b"".join(blocks)[:length]


def verify_rsa(modulus, exponent, message, signature):
    size = (modulus.bit_length() + 7) // 8
    if not 2048 <= modulus.bit_length() <= 8192 or exponent.bit_length() > 32 or len(signature) != size:
        raise Invalid
    padded = pow(int.from_bytes(signature, "big"), exponent, modulus).to_bytes(size, "big")
    masked, tail = padded[:size - 33], padded[size - 33:-1]
    block = bytes(one ^ other for one, other in zip(masked, mask(tail, len(masked))))
    block = bytes([block[0] & 127]) + block[1:]
    salt = block[-32:]
    return (padded[-1] == 0xBC and masked[0] < 128 and block[:-32] == bytes(len(block) - 33) + b"\1"
            and tail == hashlib.sha256(bytes(8) + hashlib.sha256(message).digest() + salt).digest())


# Certificates

def certificate(key, serial, comment=0):
    """A certificate that its own key signs; `comment` is the length of an extension that makes it larger."""
    name = sequence(der(0x31, sequence(oid("2.5.4.3"), der(0x0C, b"multipeer"))))
    dates = sequence(der(0x18, b"20000101000000Z"), der(0x18, b"99991231235959Z"))
    more = sequence(oid("2.16.840.1.113730.1.13"), der(4, der(0x16, b"x" * comment)))
    signed = sequence(der(0xA0, integer(2)), integer(serial), key.algorithm, name, dates, name, key.info,
                      *([der(0xA3, sequence(more))] if comment else []))
    signature = key.sign_with_pkcs1(signed) if isinstance(key, RSAKey) else key.sign(signed)
    return sequence(signed, key.algorithm, bits(signature))


def padded_certificate(key, serial, length):
    """The same with a comment so long that it has `length` bytes."""
    made = certificate(key, serial, length // 2)
    return certificate(key, serial, length // 2 + length - len(made))


def public_key(data):
    """Returns the SubjectPublicKeyInfo of a certificate."""
    signed, _ = take(whole(data, 0x30), 0x30)
    for kind in (0xA0, 2, 0x30, 0x30, 0x30, 0x30):
        _, signed = take(signed, kind)
    return take(signed, 0x30)[0]


def verify(data, message, signature):
    """Returns whether the key of a certificate made the signature, with the only scheme that its type has."""
    try:
        algorithm, rest = take(public_key(data), 0x30)
        public = whole(rest, 3)[1:]
        curve = next((one for one in (P256, P384, P521) if algorithm == oid(EC) + oid(one.name)), None)
        if curve:
            return verify_ecdsa(curve, public, message, signature)
        if algorithm == oid(ED25519):
            return verify_ed25519(public, message, signature)
        if algorithm.startswith(oid(RSA)):
            modulus, rest = take(whole(public, 0x30), 2)
            return verify_rsa(int.from_bytes(modulus, "big"), int.from_bytes(whole(rest, 2), "big"), message, signature)
        return False
    except Invalid:
        return False
