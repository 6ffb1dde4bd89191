"""sas.json: the verification code and its run, chapter 13."""

import struct

from .wire import Refused, document, frame, header, hmac256, seeded, sha256, test

LABEL = b"MPC/1 sas"
CONTROLLING, CONTROLLED = "controlling", "controlled"


def commitment(nonce):
    return sha256(LABEL + nonce)


def code(key, controlling, controlled):
    (number,) = struct.unpack(">I", hmac256(key, controlling + controlled)[:4])
    return f"{number % 1_000_000:06}"


class End:
    """One end of a run, by the rules of 13.4: which frame is expected, and whether its application has asked."""

    def __init__(self, role, key, nonce):
        self.role, self.key, self.nonce, self.code, self.peer = role, key, nonce, None, None
        self.asked, self.told = False, False
        self.due = "nonce" if role == CONTROLLING else "commit"

    def ask(self):
        if self.asked:
            return None
        self.asked = True
        if self.role == CONTROLLING:
            return frame("SAS_COMMIT", commitment(self.nonce))
        return frame("SAS_NONCE", self.nonce) if self.peer else frame("SAS_REQUEST")

    def receive(self, kind, payload):
        self.tells = False
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
        "example sas-code": [(hmac256(key, ours + theirs)[:4], f"of HMAC(key e1 e1 ..., n_c | n_r): {code(key, ours, theirs)}")],
    }


def build():
    random = seeded("sas")
    values, accepted, refused = [], [], []

    def value(id, comment, flags, key, ours, theirs, digits):
        assert code(key, ours, theirs) == digits, (id, code(key, ours, theirs))
        values.append(test(id, comment, flags, key=key.hex(), controllingNonce=ours.hex(),
                           controlledNonce=theirs.hex(), commitment=commitment(ours).hex(),
                           mac=hmac256(key, ours + theirs).hex(), code=digits, result="valid"))

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

    def run(id, comment, flags, role, steps, expect):
        """`expect` lists what is sent or reported at each step; a code or a fault may follow the last one."""
        end, told, verdict, said = End(role, key, n_c if role == CONTROLLING else n_r), [], None, []
        for kind, payload in steps:
            assert verdict is None, f"{id}: a step after the end"
            try:
                answer = end.ask() if kind == "ask" else end.receive(kind, payload)
            except Refused as fault:
                answer, verdict = None, (fault.code, fault.check)
            tells = kind != "ask" and verdict is None and end.tells
            said.append({0x30: "REQUEST", 0x31: "COMMIT", 0x32: "NONCE", 0x33: "REVEAL"}[answer[3]] if answer
                        else "told" if tells else None)
            do = dict(do="ask") if kind == "ask" else dict(do="receive", name=kind, hex=frame(kind, payload).hex())
            told.append(dict(do, says=answer.hex() if answer else None, tells=tells))
        final = verdict or ("code" if end.code else None)
        assert [*said, final] == expect, (id, said, final)
        fields = dict(role=role, key=key.hex(), nonce=end.nonce.hex(), steps=told,
                      code=end.code if verdict is None else None)
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

    wrong = ("PROTOCOL", "order")
    frames = dict(request=request, commit=commit, nonce=nonce, reveal=reveal)

    def all_wrong(role, place, before, said, allowed):
        for name, step in frames.items():
            if name not in allowed:
                run(f"{role}-{place}-{name}", f"{step[0]} at the {role} end, {place}", ["Order"], role,
                    [*before, step], [*said, None, wrong])

    all_wrong(CONTROLLING, "idle", [], [], ["request"])
    all_wrong(CONTROLLING, "wanted", [request], ["told"], ["request"])
    all_wrong(CONTROLLING, "committed", [ask], ["COMMIT"], ["request", "nonce"])
    all_wrong(CONTROLLING, "agreed", [ask, nonce], ["COMMIT", "REVEAL"], ["request"])
    all_wrong(CONTROLLED, "idle", [], [], ["commit"])
    all_wrong(CONTROLLED, "requested", [ask], ["REQUEST"], ["commit"])
    all_wrong(CONTROLLED, "offered", [commit], ["told"], [])
    all_wrong(CONTROLLED, "answered", [commit, ask], ["told", "NONCE"], ["reveal"])
    all_wrong(CONTROLLED, "agreed", [ask, commit, reveal], ["REQUEST", "NONCE", None], [])

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
        "Order": "a frame that is not expected, or not from this end",
        "Commitment": "the revealed nonce is not the committed one",
    }
    return document("verification code", notes, [
        dict(type="verification-code", spec="13", labels=["sas.value", "sas.commit"], tests=values),
        dict(type="verification-code-run", spec="13", labels=["sas.role", "sas.requested", "sas.reveal", "sas.once"],
             tests=accepted),
        dict(type="verification-code-run", spec="13", labels=["sas.order", "sas.once", "sas.commit"], tests=refused)])
