"""sas.json: the verification code and its run, chapter 13."""

import struct

from .wire import Refused, document, frame, header, hmac256, seeded, sha256, test

LABEL = b"MPC/1 sas"
CONTROLLING, CONTROLLED = "controlling", "controlled"
OK, DECLINED = struct.pack(">H", 0), struct.pack(">H", 20)
KINDS = ("SAS_REQUEST", "SAS_COMMIT", "SAS_NONCE", "SAS_REVEAL", "SAS_RESULT")


def commitment(nonce):
    return sha256(LABEL + nonce)


def code(key, controlling, controlled):
    numbers = struct.unpack(">II", hmac256(key, controlling + controlled)[:8])
    return "".join(f"{number % 1_000_000:06}" for number in numbers)


class End:
    """One end of a run, by the rules of 13.4: which frame is expected, and whether its application has asked."""

    def __init__(self, role, key, nonce):
        self.role, self.key, self.nonce, self.code, self.peer = role, key, nonce, None, None
        self.asked, self.told = False, False
        self.due = "nonce" if role == CONTROLLING else "commit"
        self.confirmed, self.declined, self.heard = False, False, set()

    def ask(self):
        if self.asked:
            return None
        self.asked = True
        if self.role == CONTROLLING:
            return frame("SAS_COMMIT", commitment(self.nonce))
        return frame("SAS_NONCE", self.nonce) if self.peer else frame("SAS_REQUEST")

    def confirm(self):
        if not self.code or self.confirmed:
            return None
        self.confirmed = True
        return frame("SAS_RESULT", OK)

    def decline(self):
        if not self.told or self.asked or self.declined:
            return None
        self.declined = True
        return frame("SAS_RESULT", DECLINED)

    def receive(self, kind, payload):
        self.tells = False
        if kind == "SAS_RESULT":
            waits = self.asked and self.due in ("nonce", "commit")
            if payload in self.heard or not (self.code if payload == OK else waits if payload == DECLINED else False):
                raise Refused("PROTOCOL", "order")
            self.heard.add(payload)
            return None
        if self.role == CONTROLLING and kind == "SAS_REQUEST":
            return self.tell()
        if self.role == CONTROLLING and self.asked and (kind, self.due) == ("SAS_NONCE", "nonce"):
            self.due, self.code = "nothing", code(self.key, self.nonce, payload)
            return frame("SAS_REVEAL", self.nonce)
        if self.role == CONTROLLED and (kind, self.due) == ("SAS_COMMIT", "commit"):
            self.due, self.peer = "reveal", payload
            return frame("SAS_NONCE", self.nonce) if self.asked else self.tell()
        if self.role == CONTROLLED and self.asked and (kind, self.due) == ("SAS_REVEAL", "reveal"):
            if commitment(payload) != self.peer:
                raise Refused("BAD_MAC", "reveal")
            self.due, self.code = "nothing", code(self.key, payload, self.nonce)
            return None
        raise Refused("PROTOCOL", "order")

    def tell(self):
        """The other side wants the code: the application is notified once, unless it has asked itself."""
        self.tells, self.told = not (self.asked or self.told), True


def example():
    """Returns the frames of a run with its code, for the chapter, with an obviously artificial key and nonces."""
    key, ours, theirs = b"\xe1" * 32, b"\xc1" * 32, b"\xd1" * 32
    return {
        "example sas-commit": [(header("SAS_COMMIT", 32), "SAS_COMMIT, 32 bytes, channel 0"),
                               (commitment(ours), "SHA-256(\"MPC/1 sas\" | n_c), n_c = c1 c1 ...")],
        "example sas-nonce": [(header("SAS_NONCE", 32), "SAS_NONCE, 32 bytes, channel 0"), (theirs, "n_r")],
        "example sas-code": [(hmac256(key, ours + theirs)[:8], f"of HMAC(key e1 e1 ..., n_c | n_r): {code(key, ours, theirs)[:6]}, {code(key, ours, theirs)[6:]}")],
        "example sas-result": [(frame("SAS_RESULT", struct.pack(">H", 0)), "SAS_RESULT, 2 bytes, channel 0, OK")],
    }


def build():
    random = seeded("sas")
    values, accepted, refused = [], [], []

    def value(id, comment, flags, key, ours, theirs, digits):
        assert code(key, ours, theirs)[:6] == digits, (id, code(key, ours, theirs))
        values.append(test(id, comment, flags, key=key.hex(), controllingNonce=ours.hex(),
                           controlledNonce=theirs.hex(), commitment=commitment(ours).hex(),
                           mac=hmac256(key, ours + theirs).hex(), code=code(key, ours, theirs), result="valid"))

    def found(condition):
        """Returns the first key and nonces whose number meets the condition."""
        while True:
            key, ours, theirs = (random.randbytes(32) for _ in range(3))
            number = int.from_bytes(hmac256(key, ours + theirs)[:4], "big")
            if condition(number):
                return key, ours, theirs

    one, two = b"\x01" * 32, b"\x02" * 32
    value("zeros", "a key and nonces of zeros are valid", ["Value"], bytes(32), bytes(32), bytes(32),
          "976269")
    value("order", "n_c first", ["Value"], bytes(32), one, two, "297239")
    value("order-changed", "the same nonces, exchanged between the ends", ["Value"], bytes(32), two, one, "134056")
    value("nonces-equal", "equal nonces are valid", ["Value"], one, two, two, "117800")
    value("key", "another key, as it would be with a man in the middle", ["Value"], two, one, two, "269647")
    value("unsigned", "the number has its top bit set", ["Value"], *found(lambda number: number >= 1 << 31), "320936")
    value("one-zero", "one leading zero", ["Zeros"], *found(lambda number: number % 1_000_000 < 100_000), "048467")
    value("four-zeros", "four leading zeros", ["Zeros"], *found(lambda number: number % 1_000_000 < 100), "000087")
    value("small-number", "a number below 1,000,000", ["Value"], *found(lambda number: number < 1_000_000),
          "021390")

    key, n_c, n_r = (random.randbytes(32) for _ in range(3))
    request, commit = ("SAS_REQUEST", b""), ("SAS_COMMIT", commitment(n_c))
    nonce, reveal, ask = ("SAS_NONCE", n_r), ("SAS_REVEAL", n_c), ("ask", b"")
    confirmed, declined = ("SAS_RESULT", OK), ("SAS_RESULT", DECLINED)
    confirm, decline = ("confirm", b""), ("decline", b"")

    def run(id, comment, flags, role, steps, expect):
        """`expect` lists what is sent or reported at each step; a code or a fault may follow the last one."""
        end, told, verdict, said = End(role, key, n_c if role == CONTROLLING else n_r), [], None, []
        for kind, payload in steps:
            assert verdict is None, f"{id}: a step after the end"
            try:
                answer = end.receive(kind, payload) if kind in KINDS else getattr(end, kind)()
            except Refused as fault:
                answer, verdict = None, (fault.code, fault.check)
            tells = kind in KINDS and verdict is None and end.tells
            said.append({0x30: "REQUEST", 0x31: "COMMIT", 0x32: "NONCE", 0x33: "REVEAL", 0x34: "RESULT"}[answer[3]] if answer
                        else "told" if tells else None)
            do = dict(do="receive", name=kind, hex=frame(kind, payload).hex()) if kind in KINDS else dict(do=kind)
            told.append(dict(do, says=answer.hex() if answer else None, tells=tells))
        final = verdict or ("code" if end.code else None)
        assert [*said, final] == expect, (id, said, final)
        fields = dict(role=role, key=key.hex(), nonce=end.nonce.hex(), steps=told,
                      code=end.code if verdict is None else None,
                      confirmed=verdict is None and end.confirmed and OK in end.heard)
        if verdict:
            refused.append(test(id, comment, flags, **fields, result="invalid", error=verdict[0], check=verdict[1]))
        else:
            accepted.append(test(id, comment, flags, **fields, result="valid"))

    run("controlling-asks", "the controlling end begins when its application asks", ["Run"], CONTROLLING,
        [ask, nonce], ["COMMIT", "REVEAL", "code"])
    run("controlling-is-asked", "the other end asks, then the controlling end's application", ["Run", "Asked"], CONTROLLING,
        [request, ask, nonce], ["told", "COMMIT", "REVEAL", "code"])
    run("controlling-asks-not", "nothing is sent before the end's own application asks", ["Asked"], CONTROLLING,
        [request], ["told", None])
    run("controlling-told-once", "a second request is ignored, and the application is notified once", ["Asked", "Once"],
        CONTROLLING, [request, request, ask, request, nonce], ["told", None, "COMMIT", None, "REVEAL", "code"])
    run("controlling-both-ask", "a request that crosses the commitment is ignored", ["Run", "Once"], CONTROLLING,
        [ask, request, nonce], ["COMMIT", None, "REVEAL", "code"])
    run("controlling-request-late", "a request after the run is ignored", ["Once"], CONTROLLING,
        [ask, nonce, request], ["COMMIT", "REVEAL", None, "code"])
    run("controlling-asks-again", "the code of the run is kept", ["Once"], CONTROLLING,
        [ask, ask, nonce, ask], ["COMMIT", None, "REVEAL", None, "code"])
    run("controlling-unanswered", "no code without the other end's nonce", ["Run"], CONTROLLING, [ask], ["COMMIT", None])
    run("controlled-asks", "the controlled end asks", ["Run"], CONTROLLED,
        [ask, commit, reveal], ["REQUEST", "NONCE", None, "code"])
    run("controlled-is-asked", "the other end asks, then the controlling end's application", ["Run", "Asked"], CONTROLLED,
        [commit, ask, reveal], ["told", "NONCE", None, "code"])
    run("controlled-asks-not", "a commitment waits unanswered until the end's own application asks", ["Asked"], CONTROLLED,
        [commit], ["told", None])
    run("controlled-asks-again", "no further frame is sent for a run that has begun", ["Once"], CONTROLLED,
        [ask, ask, commit, ask, reveal, ask], ["REQUEST", None, "NONCE", None, None, None, "code"])
    run("controlled-unrevealed", "no code without the reveal", ["Run"], CONTROLLED, [commit, ask],
        ["told", "NONCE", None])

    run("both-confirm", "each end says that its user has confirmed", ["Result"], CONTROLLING,
        [ask, nonce, confirm, confirmed], ["COMMIT", "REVEAL", "RESULT", None, "code"])
    run("other-confirms-first", "the other user is faster", ["Result"], CONTROLLED,
        [ask, commit, reveal, confirmed, confirm], ["REQUEST", "NONCE", None, None, "RESULT", "code"])
    run("confirms-once", "a user confirms once", ["Result"], CONTROLLED,
        [ask, commit, reveal, confirm, confirm], ["REQUEST", "NONCE", None, "RESULT", None, "code"])
    run("confirms-no-code", "without a code there is nothing to confirm", ["Result"], CONTROLLING, [ask, confirm],
        ["COMMIT", None, None])
    run("controlling-declines", "the application declines once, and the run goes on when it asks after all", ["Result"],
        CONTROLLING, [request, decline, decline, ask, nonce], ["told", "RESULT", None, "COMMIT", "REVEAL", "code"])
    run("controlled-declines", "the application declines, and the run goes on when it asks after all", ["Result"],
        CONTROLLED, [commit, decline, ask, reveal], ["told", "RESULT", "NONCE", None, "code"])
    run("declines-unasked", "nothing is declined that the other end did not ask for", ["Result"], CONTROLLED,
        [decline, ask, decline], [None, "REQUEST", None, None])
    run("declined-then-run", "the other application declines, and asks later", ["Result"], CONTROLLED,
        [ask, declined, commit, reveal], ["REQUEST", None, "NONCE", None, "code"])

    wrong = ("PROTOCOL", "order")
    frames = dict(request=request, commit=commit, nonce=nonce, reveal=reveal, confirmed=confirmed, declined=declined,
                  different=("SAS_RESULT", struct.pack(">H", 21)))

    def all_wrong(role, place, before, said, allowed):
        for name, step in frames.items():
            if name not in allowed:
                run(f"{role}-{place}-{name}", f"{step[0]} at the {role} end, {place}", ["Order"], role,
                    [*before, step], [*said, None, wrong])

    all_wrong(CONTROLLING, "idle", [], [], ["request"])
    all_wrong(CONTROLLING, "wanted", [request], ["told"], ["request"])
    all_wrong(CONTROLLING, "committed", [ask], ["COMMIT"], ["request", "nonce", "declined"])
    all_wrong(CONTROLLING, "agreed", [ask, nonce], ["COMMIT", "REVEAL"], ["request", "confirmed"])
    all_wrong(CONTROLLED, "idle", [], [], ["commit"])
    all_wrong(CONTROLLED, "requested", [ask], ["REQUEST"], ["commit", "declined"])
    all_wrong(CONTROLLED, "offered", [commit], ["told"], [])
    all_wrong(CONTROLLED, "answered", [commit, ask], ["told", "NONCE"], ["reveal"])
    all_wrong(CONTROLLED, "agreed", [ask, commit, reveal], ["REQUEST", "NONCE", None], ["confirmed"])
    run("confirmed-twice", "a second confirmation", ["Order"], CONTROLLING, [ask, nonce, confirmed, confirmed],
        ["COMMIT", "REVEAL", None, None, wrong])
    run("declined-twice", "declined a second time", ["Order"], CONTROLLING, [ask, declined, declined],
        ["COMMIT", None, None, wrong])

    def mismatch(id, comment, told, revealed):
        run(id, comment, ["Commitment"], CONTROLLED, [ask, ("SAS_COMMIT", told), ("SAS_REVEAL", revealed)],
            ["REQUEST", "NONCE", None, ("BAD_MAC", "reveal")])

    mismatch("reveal-first-bit", "the first bit of the nonce differs", commit[1], bytes([n_c[0] ^ 0x80]) + n_c[1:])
    mismatch("reveal-last-bit", "the last bit of the nonce differs", commit[1], n_c[:31] + bytes([n_c[31] ^ 1]))
    mismatch("reveal-of-the-commitment", "the commitment is sent again", commit[1], commit[1])
    mismatch("reveal-of-our-nonce", "the controlled end's own nonce is sent back", commit[1], n_r)
    mismatch("commitment-without-label", "the hash of the nonce alone", sha256(n_c), n_c)
    mismatch("commitment-label-last", "the label after the nonce", sha256(n_c + LABEL), n_c)
    mismatch("commitment-zero-ended", "a label that ends with a zero byte", sha256(LABEL + b"\0" + n_c), n_c)
    mismatch("commitment-keyed", "a mac instead of the hash", hmac256(LABEL, n_c), n_c)

    notes = {
        "Value": "the number from which the code is made", "Zeros": "the code keeps its leading zeros",
        "Run": "which end sends what, and when",
        "Asked": "nothing is sent before the end's own application asks", "Once": "one run per link",
        "Result": "what the users say of the code", "Order": "a frame that is not expected, or not from this end",
        "Commitment": "the revealed nonce is not the committed one",
    }
    return document("verification code", notes, [
        dict(type="verification-code", spec="13", labels=["sas.value", "sas.commit"], tests=values),
        dict(type="verification-code-run", spec="13", labels=["sas.role", "sas.requested", "sas.reveal", "sas.once", "sas.result"],
             tests=accepted),
        dict(type="verification-code-run", spec="13", labels=["sas.order", "sas.once", "sas.commit"], tests=refused)])
