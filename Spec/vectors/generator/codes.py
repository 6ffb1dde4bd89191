"""codes.json: codes of invitations, SPAKE2 and the exchange that proves a code, chapter 13.8."""

import hashlib
import re

from . import spake2
from .invitation_traces import ID, INVITER, RECIPIENT, TIMEOUT
from .wire import CODE, KIND_BY_VALUE, SPEC, Refused, document, frame, seeded, test, tlv, u16, u32

WORDS = (SPEC / "words.txt").read_text().split()
LABEL = b"MPC/1 code"
NAME = {value: name for name, value in CODE.items()}


def password(number, words):
    derived = hashlib.scrypt("-".join(words).encode(), salt=LABEL + str(number).encode(), n=4096, r=8, p=1, dklen=40)
    return int.from_bytes(derived, "big") % spake2.ORDER


def read(text):
    """Returns the number and the words of a code as a user types it."""
    parts = re.split(r"[-\s]+", text.strip("- \t\n").lower())
    if not re.fullmatch(r"[0-9]{1,3}", parts[0]) or not 1 <= int(parts[0]) <= 999:
        raise Refused("NONE", "number")
    if not 2 <= len(parts) - 1 <= 8:
        raise Refused("NONE", "count")
    words = []
    for part in parts[1:]:
        found = [part] if part in WORDS else [word for word in WORDS if word.startswith(part)]
        if len(found) != 1:
            raise Refused("NONE", "word")
        words.append(found[0])
    return int(parts[0]), words


def number_of(scalar):
    return int.from_bytes(scalar, "big") % spake2.ORDER


class Exchange:
    """One end's part of the exchange on one connection."""

    def __init__(self, is_inviter, code, scalar, binding):
        self.code, self.is_inviter, self.scalar, self.binding = code, is_inviter, number_of(scalar), binding
        self.password = password(*code)
        self.own_mask, self.their_mask = (spake2.M, spake2.N) if is_inviter else (spake2.N, spake2.M)
        self.share = spake2.share(self.own_mask, self.password, self.scalar)

    def share_frame(self):
        return frame("SHARE", u16(self.code[0]) + self.share)

    def take(self, theirs):
        """Returns this end's confirmation; keeps that of the other."""
        if spake2.decoded(theirs) is None:
            raise Refused("PROTOCOL", "point")
        shared = spake2.shared_point(theirs, self.their_mask, self.password, self.scalar)
        shares = (self.share, theirs) if self.is_inviter else (theirs, self.share)
        _, of_a, of_b = spake2.keys(b"inviter", b"invitee", self.password, *shares, shared, LABEL + self.binding)
        own, self.expected = (of_a, of_b) if self.is_inviter else (of_b, of_a)
        return own


class End:
    def __init__(self, code):
        self.code, self.does, self.now = code, [], 0

    def say(self, connection, data):
        self.does.append(f"say {connection} {data.hex()}")

    def close(self, connection, code=None):
        self.does.append(f"close {connection} {code}" if code else f"end {connection}")


def parts(data):
    name, payload = KIND_BY_VALUE[data[3]]["name"], data[8:]
    if len(payload) != dict(SHARE=67, CONFIRMATION=32).get(name, len(payload)):
        raise Refused("PROTOCOL", "frame")
    return name, payload


class Inviter(End):
    """An inviter with one address, until it sends INVITE."""

    def __init__(self, code, uid, peer, number):
        super().__init__(code)
        self.uid, self.peer, self.number = uid, peer, number
        self.state, self.connection, self.until = "connecting", 1, None

    def over(self, told, code=None, silently=False):
        if not silently:
            self.close(self.connection, code)
        self.state = "over"
        self.does.append(f"tell {told}")

    def look(self):
        if self.state in ("sharing", "confirming") and self.until <= self.now:
            self.over("wrongCode" if self.state == "confirming" else "timedOut", "TIMEOUT")

    def tls(self, scalar, binding):
        self.exchange, self.state, self.until = Exchange(True, self.code, scalar, binding), "sharing", self.now + 5_000
        self.say(self.connection, self.exchange.share_frame())

    def lost(self):
        if self.state == "confirming":
            self.over("wrongCode", silently=True)

    def receive(self, data):
        if self.state == "over":
            return
        guessed = self.state == "confirming"
        try:
            name, payload = parts(data)
            if name == "CLOSE":
                code = NAME[int.from_bytes(payload[:2], "big")]
                told = "wrongCode" if guessed else {"WRONG_CODE": "unknownCode"}.get(code, "refused")
                self.over(told)
            elif name == "SHARE" and self.state == "sharing" and payload[:2] == u16(self.code[0]):
                mac = self.exchange.take(payload[2:])
                self.state, self.until = "confirming", self.now + 5_000
                self.say(self.connection, frame("CONFIRMATION", mac))
            elif name == "CONFIRMATION" and guessed:
                if payload != self.exchange.expected:
                    return self.over("wrongCode", "WRONG_CODE")
                self.state = "asking"
                left = (30_000 - self.now + 999) // 1_000
                self.say(self.connection, frame("INVITE", tlv(ID, self.number) + tlv(INVITER, self.uid + b"Ann")
                                                + tlv(RECIPIENT, self.peer) + tlv(TIMEOUT, u32(left))))
            else:
                raise Refused("PROTOCOL", "order")
        except Refused as verdict:
            self.over("wrongCode" if guessed else "protocolError", verdict.code)


class Invitee(End):
    """An invitee with a code, until INVITE comes."""

    def __init__(self, code, repeated=False):
        super().__init__(code)
        self.repeated, self.lines, self.is_over, self.guesses, self.resumes = repeated, {}, False, 0, 0

    def look(self):
        for number in sorted(at for at, line in self.lines.items() if line["until"] <= self.now):
            self.end(number, "TIMEOUT")

    def end(self, number, code):
        self.lines.pop(number)
        self.close(number, code)

    def connect(self, number, origin, scalar, binding):
        self.lines[number] = dict(until=self.now + 5_000, end=self.now + 15_000, state="greeting", secrets=(scalar, binding))

    def moved(self, line):
        line["until"] = min(self.now + 5_000, line["end"])

    def lost(self, number):
        self.lines.pop(number, None)

    def receive(self, number, data):
        line = self.lines.get(number)
        if line is None:
            return
        try:
            name, payload = parts(data)
            if name == "SHARE" and line["state"] == "greeting":
                if self.is_over or payload[:2] != u16(self.code[0]):
                    return self.end(number, "WRONG_CODE")
                if self.now < self.resumes:
                    return self.end(number, "BUSY")
                exchange = Exchange(False, self.code, *line["secrets"])
                line.update(mac=exchange.take(payload[2:]), expected=exchange.expected, state="confirming")
                self.moved(line)
                self.say(number, exchange.share_frame())
            elif name == "CONFIRMATION" and line["state"] == "confirming":
                if payload != line["expected"]:
                    return self.guessed(number)
                self.guesses = 0
                line["state"] = "proven"
                self.moved(line)
                self.say(number, frame("CONFIRMATION", line["mac"]))
            elif name == "INVITE" and line["state"] == "proven":
                line.update(state="asking", until=self.now + 30_000)
                self.does.append("ask 1")
            elif name == "INVITE" and line["state"] == "greeting":
                self.lines.pop(number)
                self.say(number, frame("ANSWER", payload[:20] + tlv(2, u16(CODE["CODE_REQUIRED"]))))
                self.close(number)
            else:
                raise Refused("PROTOCOL", "order")
        except Refused as verdict:
            self.end(number, verdict.code)

    def guessed(self, number):
        self.guesses += 1
        if self.repeated:
            self.resumes = self.now + 1_000 * min(2 ** self.guesses, 60)
        else:
            self.is_over = True
        self.end(number, "WRONG_CODE")
        for other in sorted(at for at, line in self.lines.items() if line["state"] == "confirming"):
            self.end(other, "BUSY" if self.repeated else "WRONG_CODE")
        self.does.append("code paused" if self.repeated else "code over")


def brief(word):
    words = word.split()
    if words[0] != "say":
        return word
    data = bytes.fromhex(words[2])
    name = KIND_BY_VALUE[data[3]]["name"]
    return f"say {words[1]} {name}" + (" CODE_REQUIRED" if name == "ANSWER" else "")


def example():
    """Returns the first frames of an exchange, for the chapter, with an obviously artificial number."""
    exchange = Exchange(True, read("7-guitar-island"), b"\xa1" * 48, b"\xe1" * 32)
    other = Exchange(False, read("7-guitar-island"), b"\xb1" * 48, b"\xe1" * 32)
    mac = exchange.take(other.share)
    from .wire import header
    return {
        "example share": [(header("SHARE", 67), "SHARE, 67 bytes, channel 0"), (u16(7), "code number 7"),
                          (exchange.share, "pA of 7-guitar-island, random number a1 a1 ...")],
        "example confirmation": [(header("CONFIRMATION", 32), "CONFIRMATION, 32 bytes, channel 0"),
                                 (mac, "cA, pB with b1 b1 ..., exporter e1 e1 ...")],
    }


RFC = [
    ("server", "client", "2ee57912099d31560b3a44b1184b9b4866e904c49d12ac5042c97dca461b1a5f",
     "43dd0fd7215bdcb482879fca3220c6a968e66d70b1356cac18bb26c84a78d729",
     "dcb60106f276b02606d8ef0a328c02e4b629f84f89786af5befb0bc75b6e66be",
     "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0",
     "d3e2e547f1ae04f2dbdbf0fc4b79f8ecff2dff314b5d32fe9fcef2fb26dc459b"),
    ("", "client", "0548d8729f730589e579b0475a582c1608138ddf7054b73b5381c7e883e2efae",
     "403abbe3b1b4b9ba17e3032849759d723939a27a27b9d921c500edde18ed654b",
     "903023b6598908936ea7c929bd761af6039577a9c3f9581064187c3049d87065",
     "47d29e6666af1b7dd450d571233085d7a9866e4d49d2645e2df975489521232b",
     "3313c5cefc361d27fb16847a91c2a73b766ffa90a4839122a9b70a2f6bd1d6df"),
    ("server", "", "626e0cdc7b14c9db3e52a0b1b3a768c98e37852d5db30febe0497b14eae8c254",
     "07adb3db6bc623d3399726bfdbfd3d15a58ea776ab8a308b00392621291f9633",
     "b6a4fc8dbb629d4ba51d6f91ed1532cf87adec98f25dd153a75accafafedec16",
     "bc9f9bbe99f26d0b2260e6456e05a86196a3307ec6663a18bf6ac825736533b2",
     "c2370e1bf813b086dff0d834e74425a06e6390f48f5411900276dcccc5a297ec"),
    ("", "", "7bf46c454b4c1b25799527d896508afd5fc62ef4ec59db1efb49113063d70cca",
     "8cef65df64bb2d0f83540c53632de911b5b24b3eab6cc74a97609fd659e95473",
     "d7a66f64074a84652d8d623a92e20c9675c61cb5b4f6a0063e4648a2fdc02d53",
     "dfb4db8d48ae5a675963ea5e6c19d98d4ea028d8e898dad96ea19a80ade95dca",
     "d0f0609d1613138d354f7e95f19fb556bf52d751947241e8c7118df5ef0ae175"),
]


def texts():
    out = []

    def text(id, comment, typed, expect):
        """`expect` is the code, or the check that fails."""
        try:
            number, words = read(typed)
            assert f"{number}-{'-'.join(words)}" == expect, (id, number, words)
            out.append(test(id, comment, ["Text"], typed=typed, code=expect, result="valid"))
        except Refused as fault:
            assert fault.check == expect, (id, fault.check)
            out.append(test(id, comment, ["Text"], typed=typed, code=None, result="invalid", error="NONE", check=fault.check))

    text("typed", "as it is displayed", "7-guitar-island", "7-guitar-island")
    text("typed-spaces", "spaces and capitals", " 7  Guitar ISLAND\n", "7-guitar-island")
    text("typed-mixed", "a hyphen between spaces", "7 - guitar - island", "7-guitar-island")
    text("typed-beginnings", "four letters are enough", "7-guit-isla", "7-guitar-island")
    text("typed-zeros", "leading zeros", "007-guitar-island", "7-guitar-island")
    text("typed-three", "a code that stays valid", "999-guitar-island-candle", "999-guitar-island-candle")
    text("number-zero", "0 is not a number of codes", "0-guitar-island", "number")
    text("number-large", "1,000 is not either", "1000-guitar-island", "number")
    text("number-sign", "a sign", "+7-guitar-island", "number")
    text("number-missing", "no number", "guitar-island", "number")
    text("words-none", "no words", "7", "count")
    text("words-one", "one word", "7-guitar", "count")
    text("words-nine", "nine words", "7" + "-guitar" * 9, "count")
    text("word-mistyped", "a letter is missing", "7-gitar-island", "word")
    text("word-unknown", "no such word", "7-xyzzy-island", "word")
    text("word-ambiguous", "several words begin like this", "7-gu-island", "word")
    text("word-longer", "a word with more letters", "7-guitars-island", "word")
    return out


def build():
    random = seeded("codes")
    passwords, runs, shares, traces = [], [], [], []
    for id, comment, code, expect in [
        ("password", "two words", "7-guitar-island", "5ed0"), ("password-number", "another number", "70-guitar-island", "3df2"),
        ("password-order", "the words in another order", "7-island-guitar", "cac9"),
        ("password-eight", "eight words", "999" + "-zone" * 8, "883d"),
    ]:
        w = password(*read(code)).to_bytes(32, "big")
        assert w.hex().startswith(expect), (id, w.hex()[:4])
        passwords.append(test(id, comment, ["Password"], code=code, password=w.hex(), result="valid"))

    def run(id, comment, flags, a, b, w, x, y, additional, expect=None):
        share_a, share_b, shared, key, of_a, of_b = spake2.run(
            a.encode(), b.encode(), int(w, 16), number_of(bytes.fromhex(x)), number_of(bytes.fromhex(y)), additional)
        assert expect is None or (of_a.hex(), of_b.hex()) == expect, id
        runs.append(test(id, comment, flags, a=a, b=b, password=w, scalarA=x, scalarB=y, additional=additional.hex(),
                         shareA=share_a.hex(), shareB=share_b.hex(), shared=shared.hex(), key=key.hex(),
                         confirmationA=of_a.hex(), confirmationB=of_b.hex(), result="valid"))

    for index, (a, b, w, x, y, of_a, of_b) in enumerate(RFC):
        run(f"rfc-9382-{index + 1}", f"RFC 9382, appendix B: A is '{a}', B is '{b}'", ["RFC"], a, b, w, x, y, b"", (of_a, of_b))
    w = password(7, ["guitar", "island"]).to_bytes(32, "big").hex()
    for index in range(3):
        x, y, binding = random.randbytes(48).hex(), random.randbytes(48).hex(), random.randbytes(32)
        run(f"exchange-{index + 1}", "7-guitar-island on a connection", ["Exchange"], "inviter", "invitee", w, x, y, LABEL + binding)

    def bad(id, comment, share, scalar=b"\5"):
        shares.append(test(id, comment, ["Point"], password=w, scalar=scalar.hex(), share=share.hex(), result="invalid",
                           error="PROTOCOL", check="point"))

    good = spake2.share(spake2.N, int(w, 16), 3)
    bad("point-off-curve", "the last bit differs", good[:64] + bytes([good[64] ^ 1]))
    bad("point-compressed", "a compressed point, filled up", bytes([2 + (good[64] & 1)]) + good[1:33] + bytes(32))
    bad("point-hybrid", "both coordinates and the parity", bytes([6 + (good[64] & 1)]) + good[1:])
    bad("point-zeros", "both coordinates are 0", b"\4" + bytes(64))
    bad("point-infinity", "the point at infinity, filled up", bytes(65))
    bad("point-large", "coordinates beyond the field", b"\4" + b"\xff" * 64)

    code, other = read("7-guitar-island"), read("7-guitar-castle")
    uid, peer, number = (random.randbytes(16) for _ in range(3))
    bindings = [random.randbytes(32) for _ in range(2)]

    def scalar():
        return random.randbytes(48)

    def trace(id, comment, flags, end, steps, more=()):
        told = []
        for at, do, arguments, expect in steps:
            end.now, end.does = at, []
            end.look()
            if do != "look":
                getattr(end, do)(*arguments)
            assert [brief(word) for word in end.does] == expect, (id, at, do, [brief(word) for word in end.does])
            words = [one.hex() if isinstance(one, bytes) else str(one) for one in arguments]
            told.append(dict(at=at, do=do, **{"with": words}, does=end.does))
        fields = dict(role=type(end).__name__.lower(), code=f"{end.code[0]}-{'-'.join(end.code[1])}",
                      repeated=getattr(end, "repeated", False), uid=uid.hex(), peer=peer.hex(), invitation=number.hex())
        traces.append(test(id, comment, flags, **fields, steps=told, result="valid"))

    def inviter_frames(code, scalar, binding, theirs, theirs_scalar):
        """Returns SHARE and CONFIRMATION of an inviter in front of an invitee with that scalar."""
        own, invitee = Exchange(True, code, scalar, binding), Exchange(False, theirs, theirs_scalar, binding)
        return own.share_frame(), frame("CONFIRMATION", own.take(invitee.share))

    def invitee_frames(code, scalar, binding, theirs, theirs_scalar):
        own, inviter = Exchange(False, code, scalar, binding), Exchange(True, theirs, theirs_scalar, binding)
        return own.share_frame(), frame("CONFIRMATION", own.take(inviter.share))

    def invite(seconds=30):
        return frame("INVITE", tlv(ID, number) + tlv(INVITER, uid + b"Ann") + tlv(RECIPIENT, peer) + tlv(TIMEOUT, u32(seconds)))

    def close(code):
        return frame("CLOSE", u16(CODE[code]))

    x, y, binding = scalar(), scalar(), bindings[0]
    share, confirm = inviter_frames(code, x, binding, code, y)
    connect = (0, "connect", (1, "192.0.2.1", y, binding), [])
    shared = (1, "receive", (1, share), ["say 1 SHARE"])
    trace("invitee-proven", "the exchange, then INVITE", ["Run"], Invitee(code),
          [connect, shared, (2, "receive", (1, confirm), ["say 1 CONFIRMATION"]), (3, "receive", (1, invite()), ["ask 1"])])
    wrong = inviter_frames(other, x, binding, code, y)
    trace("invitee-guess", "a wrong word ends the code", ["Guess"], Invitee(code),
          [connect, (1, "receive", (1, wrong[0]), ["say 1 SHARE"]),
           (2, "receive", (1, wrong[1]), ["close 1 WRONG_CODE", "code over"]),
           (3, "connect", (2, "192.0.2.1", y, binding), []), (4, "receive", (2, share), ["close 2 WRONG_CODE"])])
    trace("invitee-other-connection", "the exporter of another connection", ["Binding"], Invitee(code),
          [(0, "connect", (1, "192.0.2.1", y, bindings[1]), []), shared,
           (2, "receive", (1, confirm), ["close 1 WRONG_CODE", "code over"])])
    trace("invitee-many", "the first wrong guess ends all exchanges", ["Guess"], Invitee(code),
          [connect, (1, "receive", (1, wrong[0]), ["say 1 SHARE"]), (2, "connect", (2, "192.0.2.2", y, binding), []),
           (3, "receive", (2, share), ["say 2 SHARE"]),
           (4, "receive", (1, wrong[1]), ["close 1 WRONG_CODE", "close 2 WRONG_CODE", "code over"]),
           (5, "receive", (2, confirm), [])])
    trace("invitee-paused", "a code that stays valid pauses", ["Pause"], Invitee(code, repeated=True),
          [connect, (1, "receive", (1, wrong[0]), ["say 1 SHARE"]), (2, "receive", (1, wrong[1]), ["close 1 WRONG_CODE", "code paused"]),
           (2_001, "connect", (2, "192.0.2.1", y, binding), []), (2_001, "receive", (2, share), ["close 2 BUSY"]),
           (2_002, "connect", (3, "192.0.2.1", y, binding), []), (2_002, "receive", (3, wrong[0]), ["say 3 SHARE"]),
           (2_003, "receive", (3, wrong[1]), ["close 3 WRONG_CODE", "code paused"]),
           (6_002, "connect", (4, "192.0.2.1", y, binding), []), (6_002, "receive", (4, share), ["close 4 BUSY"]),
           (6_003, "connect", (5, "192.0.2.1", y, binding), []), (6_003, "receive", (5, share), ["say 5 SHARE"]),
           (6_004, "receive", (5, confirm), ["say 5 CONFIRMATION"])])
    trace("invitee-abandoned", "a connection that ends before its confirmation is not a guess", ["Guess"], Invitee(code),
          [connect, (1, "receive", (1, wrong[0]), ["say 1 SHARE"]), (2, "lost", (1,), []),
           (3, "connect", (2, "192.0.2.1", y, binding), []), (4, "receive", (2, share), ["say 2 SHARE"])])
    trace("invitee-silent", "no INVITE 5 s after the last step", ["Time"], Invitee(code),
          [connect, shared, (5_000, "look", (), []), (5_001, "look", (), ["close 1 TIMEOUT"])])
    trace("invitee-required", "INVITE without the exchange", ["Required"], Invitee(code),
          [connect, (1, "receive", (1, invite()), ["say 1 ANSWER CODE_REQUIRED", "end 1"])])
    trace("invitee-too-early", "INVITE before the confirmation", ["Order"], Invitee(code),
          [connect, shared, (2, "receive", (1, invite()), ["close 1 PROTOCOL"])])
    trace("invitee-confirmation-first", "CONFIRMATION before SHARE", ["Order"], Invitee(code),
          [connect, (1, "receive", (1, confirm), ["close 1 PROTOCOL"])])
    trace("invitee-share-twice", "SHARE again", ["Order"], Invitee(code),
          [connect, shared, (2, "receive", (1, share), ["close 1 PROTOCOL"])])
    trace("invitee-other-number", "another number is not a guess", ["Unknown"], Invitee(code),
          [connect, (1, "receive", (1, frame("SHARE", u16(8) + share[10:])), ["close 1 WRONG_CODE"])])
    mask = frame("SHARE", u16(7) + spake2.encoded(spake2.multiply(int(w, 16), spake2.M)))
    trace("invitee-mask", "a share that leads to infinity is answered like others", ["Mask"], Invitee(code),
          [connect, (1, "receive", (1, mask), ["say 1 SHARE"]),
           (2, "receive", (1, confirm), ["close 1 WRONG_CODE", "code over"])])
    trace("invitee-no-point", "a share off the curve", ["Point"], Invitee(code),
          [connect, (1, "receive", (1, frame("SHARE", u16(7) + b"\4" + b"\1" * 64)), ["close 1 PROTOCOL"])])

    share, confirm = invitee_frames(code, y, binding, code, x)
    tls = (0, "tls", (x, binding), ["say 1 SHARE"])
    shared = (1, "receive", (share,), ["say 1 CONFIRMATION"])

    def inviter():
        return Inviter(code, uid, peer, number)

    trace("inviter-proven", "the exchange, then INVITE", ["Run"], inviter(),
          [tls, shared, (2, "receive", (confirm,), ["say 1 INVITE"])])
    wrong = invitee_frames(other, y, binding, code, x)
    trace("inviter-guess", "the peer has another word", ["Guess"], inviter(),
          [tls, (1, "receive", (wrong[0],), ["say 1 CONFIRMATION"]),
           (2, "receive", (wrong[1],), ["close 1 WRONG_CODE", "tell wrongCode"])])
    mine = inviter_frames(code, x, binding, code, y)[1]
    trace("inviter-reflected", "its own confirmation comes back", ["Guess"], inviter(),
          [tls, shared, (2, "receive", (mine,), ["close 1 WRONG_CODE", "tell wrongCode"])])
    for name, code_name in (("refused", "WRONG_CODE"), ("busy", "BUSY"), ("cancelled", "CANCELLED")):
        trace(f"inviter-{name}-late", f"CLOSE with {code_name} after the confirmation is a guess", ["Guess"], inviter(),
              [tls, shared, (2, "receive", (close(code_name),), ["end 1", "tell wrongCode"])])
    trace("inviter-lost-late", "the connection ends after the confirmation", ["Guess"], inviter(),
          [tls, shared, (2, "lost", (), ["tell wrongCode"])])
    trace("inviter-silent-late", "no confirmation 5 s after the last step", ["Guess", "Time"], inviter(),
          [tls, shared, (5_000, "look", (), []), (5_001, "look", (), ["close 1 TIMEOUT", "tell wrongCode"])])
    trace("inviter-silent", "no share in 5 s", ["Time"], inviter(), [tls, (5_000, "look", (), ["close 1 TIMEOUT", "tell timedOut"])])
    trace("inviter-unknown", "the peer does not have the code", ["Unknown"], inviter(),
          [tls, (1, "receive", (close("WRONG_CODE"),), ["end 1", "tell unknownCode"])])
    trace("inviter-other-number", "a share for another code", ["Order"], inviter(),
          [tls, (1, "receive", (frame("SHARE", u16(8) + share[10:]),), ["close 1 PROTOCOL", "tell protocolError"])])
    trace("inviter-confirmation-first", "CONFIRMATION before SHARE", ["Order"], inviter(),
          [tls, (1, "receive", (confirm,), ["close 1 PROTOCOL", "tell protocolError"])])
    mask = frame("SHARE", u16(7) + spake2.encoded(spake2.multiply(int(w, 16), spake2.N)))
    trace("inviter-mask", "a share that leads to infinity is answered like others", ["Mask"], inviter(),
          [tls, (1, "receive", (mask,), ["say 1 CONFIRMATION"]),
           (2, "receive", (confirm,), ["close 1 WRONG_CODE", "tell wrongCode"])])
    trace("inviter-no-point", "a share off the curve", ["Point"], inviter(),
          [tls, (1, "receive", (frame("SHARE", u16(7) + b"\4" + b"\1" * 64),), ["close 1 PROTOCOL", "tell protocolError"])])

    notes = {
        "Text": "what users type", "Password": "the number that the words make", "RFC": "a run of RFC 9382",
        "Exchange": "a run of this protocol", "Point": "a share that is no usable point", "Mask": "the mask alone as a share", "Run": "which end sends what",
        "Guess": "what is a wrong guess, and what it ends", "Binding": "the exchange belongs to one connection",
        "Pause": "how long a code that stays valid pauses", "Time": "what happens too late",
        "Required": "an invitee with a code", "Order": "an unexpected frame", "Unknown": "a code that the invitee does not have",
    }
    return document("codes of invitations", notes, [
        dict(type="code-text", spec="13", labels=["code.words"], tests=texts()),
        dict(type="code-password", spec="13", labels=["code.password"], tests=passwords),
        dict(type="spake2", spec="13", labels=["code.password", "code.binding"], tests=runs),
        dict(type="spake2-share", spec="13", labels=["code.point"], tests=shares),
        dict(type="code-trace", spec="13",
             labels=["code.order", "code.required", "code.mismatch", "code.point", "code.guess", "code.once", "code.repeated",
                     "code.binding"], tests=traces)])
