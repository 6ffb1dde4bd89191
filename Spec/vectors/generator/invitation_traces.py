"""invitation-traces.json: what each end of an invitation sends and reports, step by step, chapter 12."""

from . import connection_data
from .encryption import TABLE, effective
from .wire import (CODE, KIND_BY_VALUE, LIMIT, REGISTRIES, Refused, document, frame, is_keyed, is_text, keyed, random_uid, read_tlvs, seeded, test,
                   tlv, u16, u32)

ID, INVITER, RECIPIENT, TIMEOUT, CONTEXT = 1, 2, 3, 4, 5
ANSWER_CODE, DATA = 2, 3
NAME = {value: name for name, value in CODE.items()}
TIMER = {row["name"]: row["milliseconds"] for row in REGISTRIES["timers"]}
DEADLINES = dict(opening=5_000, completion=5_000, undisturbed=10_000)


def refuse(check, code="PROTOCOL"):
    raise Refused(code, check)


def read(data):
    """Reads one complete frame of an invitation."""
    length, kind, channel, payload = int.from_bytes(data[:3], "big"), data[3], data[4:8], data[8:]
    name = KIND_BY_VALUE.get(kind, {}).get("name")
    if name not in ("INVITE", "ANSWER", "COMPLETE", "CLOSE"):
        refuse("order")
    if channel != bytes(4) or length != len(payload) or length > (LIMIT["frame"] if name == "INVITE" else LIMIT["frameBeforeSelect"]):
        refuse("frame")
    if name == "CLOSE":
        return dict(kind=name, code=NAME[int.from_bytes(payload[:2], "big")])
    known = {"INVITE": [ID, INVITER, RECIPIENT, TIMEOUT, CONTEXT], "ANSWER": [ID, ANSWER_CODE, DATA],
             "COMPLETE": [ID, DATA]}[name]
    entries = dict(read_tlvs(payload, known)[0])

    def need(truth):
        if not truth:
            refuse("entries")

    need(len(entries.get(ID, b"")) == 16)
    fields = dict(kind=name, id=entries[ID].hex())
    if name == "INVITE":
        inviter = entries.get(INVITER, b"")
        need(17 <= len(inviter) <= 16 + LIMIT["displayName"] and is_text(inviter[16:], control_allowed=False))
        need(len(entries.get(RECIPIENT, b"")) == 16 and len(entries.get(TIMEOUT, b"")) == 4)
        need(len(entries.get(CONTEXT, b"")) <= LIMIT["invitationContext"])
        seconds = int.from_bytes(entries[TIMEOUT], "big")
        if not 1 <= seconds <= 600:
            refuse("timeout")
        context = entries.get(CONTEXT)
        return dict(fields, inviter=inviter[:16].hex(), displayName=inviter[16:].decode(), recipient=entries[RECIPIENT].hex(),
                    timeout=seconds, context=None if context is None else context.hex())
    if name == "ANSWER":
        need(len(entries.get(ANSWER_CODE, b"")) == 2)
        code = int.from_bytes(entries[ANSWER_CODE], "big")
        need(DATA not in entries or 1 <= len(entries[DATA]) <= LIMIT["connectionData"])
        if (code == 0) != (DATA in entries):
            refuse("data")
        return dict(fields, code=NAME.get(code, "INTERNAL"), data=entries[DATA].hex() if DATA in entries else None)
    need(1 <= len(entries.get(DATA, b"")) <= LIMIT["connectionData"])
    return dict(fields, data=entries[DATA].hex())


def judge(data, sender, receiver):
    """Makes check 5 of 12.9."""
    try:
        fields = connection_data.read(data)
    except Refused as verdict:
        raise Refused("PROTOCOL", "data") from verdict
    is_sender = fields["uid"] != receiver.hex() if sender is None else fields["uid"] == sender.hex()
    if not is_sender or fields["recipient"] not in (None, receiver.hex()):
        refuse("data")
    return fields


def fits(one, other):
    pair = (effective(one["preference"], one["identity"]), effective(other["preference"], other["identity"]))
    return TABLE[pair] != "refused"


class End:
    """What both ends have in common; `does` collects the actions, as the vectors name them."""

    def __init__(self):
        self.does = []

    def say(self, connection, kind, payload):
        self.does.append(f"say {connection} {frame(kind, payload).hex()}")

    def close(self, connection, code=None):
        self.does.append(f"close {connection} {code}" if code else f"end {connection}")


class Invitee(End):
    def __init__(self, uid, code=None):
        super().__init__()
        self.uid, self.lines, self.asked, self.now, self.code, self.is_stopped = uid, {}, 0, 0, code, False
        self.refusals, self.quiet, self.forgotten = {}, {}, {}

    def look(self):
        for number, line in sorted(self.lines.items()):
            if line["until"] <= self.now:
                self.over(number, "TIMEOUT", "timedOut")

    def over(self, number, code, told):
        line = self.lines.pop(number)
        self.close(number, code)
        if line.get("question"):
            self.does.append(f"tell {line['question']} {told}")

    def connect(self, number, origin, keyed_uid=b""):
        self.lines[number] = dict(origin=origin, state="greeting", until=self.now + DEADLINES["opening"], keyed_uid=keyed_uid)
        if self.is_stopped:
            self.over(number, "CANCELLED", "cancelled")

    def stop(self):
        self.is_stopped = True
        for number, line in sorted(self.lines.items()):
            if line["state"] != "agreed":
                self.over(number, "CANCELLED", "cancelled")

    def lost(self, number):
        line = self.lines.pop(number, {})
        if line.get("question"):
            self.does.append(f"tell {line['question']} withdrawn")

    def receive(self, number, data):
        line = self.lines.get(number)
        if line is None:
            return
        try:
            fields = read(data)
            if fields["kind"] == "CLOSE":
                self.over(number, None, {"TIMEOUT": "timedOut", "POLICY": "incompatible"}.get(fields["code"], "withdrawn"))
            elif fields["kind"] == "INVITE" and line["state"] == "greeting":
                self.invited(number, line, fields)
            elif fields["kind"] == "COMPLETE" and line["state"] == "agreed" and fields["id"] == line["id"]:
                theirs = judge(bytes.fromhex(fields["data"]), bytes.fromhex(line["inviter"]), self.uid)
                if not fits(theirs, line["ours"]):
                    self.over(number, "POLICY", "incompatible")
                else:
                    self.over(number, None, "completed")
            else:
                refuse("order")
        except Refused as verdict:
            self.over(number, verdict.code, "protocolError")

    def invited(self, number, line, fields):
        waiting = {at: one for at, one in self.lines.items() if one.get("question")}
        ours = [at for at, one in waiting.items() if one["inviter"] == fields["inviter"]]
        same = [at for at in ours if waiting[at]["origin"] == line["origin"]]
        held = {origin: [at for at, one in waiting.items() if one["origin"] == origin]
                for origin in {one["origin"] for one in waiting.values()}}
        own, question = len(held.get(line["origin"], ())), None
        if fields["inviter"] == self.uid.hex():
            return self.turn_away(number, fields, "SELF")
        if fields["recipient"] not in (self.uid.hex(), bytes(16).hex()):
            return self.turn_away(number, fields, "UNKNOWN_PEER")
        if is_keyed(bytes.fromhex(fields["inviter"])) and fields["inviter"] != line["keyed_uid"].hex():
            return self.turn_away(number, fields, "POLICY")
        if self.code:
            return self.turn_away(number, fields, "CODE_REQUIRED")
        if self.now < self.quiet.get(line["origin"], 0):
            return self.turn_away(number, fields, "BUSY")
        if same:
            former = waiting[same[0]]
            if former["state"] == "agreed":
                return self.turn_away(number, fields, "BUSY")
            self.lines.pop(same[0])
            self.close(same[0], "DUPLICATE")
            question, until, since = former["question"], former["until"], former["since"]
        elif (len(ours) >= LIMIT["invitationsPerPeer"] or own >= LIMIT["invitationsPerAddress"]
              or len(waiting) >= LIMIT["invitations"]):
            rivals, newest = set(waiting), False
            if len(ours) >= LIMIT["invitationsPerPeer"]:
                rivals &= set(ours)
            if own >= LIMIT["invitationsPerAddress"]:
                rivals &= set(held[line["origin"]])
            if rivals == set(waiting):
                most = max(len(crowd) for crowd in held.values())
                rivals = {at for crowd in held.values() if len(crowd) == most for at in crowd}
                if most <= own:
                    return self.turn_away(number, fields, "BUSY")
                newest = most > own + 1
            rivals = {at for at in rivals if waiting[at]["state"] == "asking"
                      and (newest or self.now - waiting[at]["since"] >= DEADLINES["undisturbed"])}
            if not rivals:
                return self.turn_away(number, fields, "BUSY")
            # Otherwise one is drawn, so the traces have only one to draw from.
            assert newest or len(rivals) == 1
            victim = max(rivals, key=lambda at: waiting[at]["question"])
            self.turn_away(victim, dict(id=waiting[victim]["id"]), "BUSY")
            self.does.append(f"tell {waiting[victim]['question']} withdrawn")
        if question is None:
            self.asked += 1
            question, until, since = self.asked, self.now + 1_000 * fields["timeout"], self.now
            self.does.append(f"ask {question}")
        line.update(state="asking", question=question, until=until, since=since, id=fields["id"],
                    inviter=fields["inviter"])

    def turn_away(self, number, fields, code):
        self.lines.pop(number)
        self.say(number, "ANSWER", tlv(ID, bytes.fromhex(fields["id"])) + tlv(ANSWER_CODE, u16(CODE[code])))
        self.close(number)

    def answer(self, question, code, data=None):
        """Returns whether the answer was in time and the first."""
        open_lines = {at: one for at, one in self.lines.items() if one.get("question") == question and one["state"] == "asking"}
        for number, line in open_lines.items():
            if code != "OK":
                self.turn_away(number, line, code)
                self.does.append(f"tell {question} refused")
                if code == "DECLINED":
                    self.declined(line["origin"])
            else:
                self.refusals.pop(line["origin"], None)
                self.say(number, "ANSWER", tlv(ID, bytes.fromhex(line["id"])) + tlv(ANSWER_CODE, u16(0)) + tlv(DATA, data))
                line.update(state="agreed", until=self.now + DEADLINES["completion"], ours=connection_data.read(data))
            return True
        return False


    def declined(self, origin):
        if self.now >= self.forgotten.get(origin, 0):
            self.refusals.pop(origin, None)
        count = self.refusals[origin] = self.refusals.get(origin, 0) + 1
        end = self.now
        if count >= LIMIT["refusals"]:
            end = self.quiet[origin] = self.now + min(60_000 << (count - LIMIT["refusals"]), 600_000)
        self.forgotten[origin] = end + TIMER["refusalMemory"]


class Inviter(End):
    """An inviter with addresses at each of which there is a peer, of which it has dialled the first."""

    def __init__(self, uid, name, peer, number, seconds, addresses=1, only_address=False):
        super().__init__()
        self.only_address, self.reached, self.keyed_uid = only_address, False, b""
        self.addresses, self.length, self.losses = addresses, 250, 0
        self.uid, self.name, self.peer, self.id = uid, name, peer, number
        self.until, self.now, self.state, self.connection, self.theirs = 1_000 * seconds, 0, "connecting", 1, None
        self.busy, self.again = False, None

    def over(self, code, told, silently=False):
        self.state = "over"
        if not silently:
            self.close(self.connection, code)
        self.does.append(f"tell {told}")

    def look(self):
        if self.state == "over":
            return
        if self.until <= self.now:
            resting = self.state == "connecting" and self.again is not None
            self.over("TIMEOUT", "busy" if resting and self.busy else "timedOut", silently=resting)
        elif self.state == "connecting" and self.again is not None and self.again <= self.now:
            self.again, self.reached = None, False
            self.connection += 1
            self.does.append(f"dial {self.connection}")

    def tcp(self):
        self.reached = True

    def tls(self, keyed_uid=b""):
        self.keyed_uid = keyed_uid
        left = (self.until - self.now + 999) // 1_000
        self.state = "asking"
        self.say(self.connection, "INVITE", tlv(ID, self.id) + tlv(INVITER, self.uid + self.name) + tlv(RECIPIENT, bytes(16) if self.only_address else self.peer)
                 + tlv(TIMEOUT, u32(left)))

    def pause(self, busy):
        # The vectors only use times before half of a pause and after one and a half times that pause.
        self.state, self.busy, self.again = "connecting", busy, self.now + self.length * 3 // 2
        self.length = min(2 * self.length, 4_000)

    def lost(self):
        if self.state == "asking":
            self.losses += 1
            if self.losses > LIMIT["invitationLosses"]:
                self.over(None, "unreachable", silently=True)
            else:
                self.pause(False)
        elif self.state == "connecting" and self.reached:
            self.pause(self.busy)
        elif self.state != "over":
            self.over(None, "unreachable", silently=True)

    def refused(self, code):
        told = {"DECLINED": "declined", "BUSY": "busy", "FULL": "full", "POLICY": "incompatible", "TIMEOUT": "timedOut", "CANCELLED": "cancelled",
                "DUPLICATE": "replaced", "UNKNOWN_PEER": "unreachable"}
        if code == "BUSY" and self.state == "asking":
            self.close(self.connection)
            self.pause(True)
        elif code == "UNKNOWN_PEER" and self.state == "asking" and self.addresses > 1:
            self.close(self.connection)
            self.state, self.addresses, self.connection = "connecting", self.addresses - 1, self.connection + 1
            self.does.append(f"dial {self.connection}")
        else:
            self.over(None, told.get(code, "refused"))

    def receive(self, data):
        if self.state == "over":
            return
        try:
            fields = read(data)
            if fields["kind"] == "CLOSE":
                self.refused(fields["code"])
            elif fields["kind"] == "ANSWER" and self.state == "asking" and fields["id"] == self.id.hex():
                if fields["code"] != "OK":
                    self.refused(fields["code"])
                else:
                    self.theirs = judge(bytes.fromhex(fields["data"]), None if self.only_address else self.peer, self.uid)
                    sender = bytes.fromhex(self.theirs["uid"])
                    if is_keyed(sender) and sender != self.keyed_uid:
                        return self.over("POLICY", "unreachable")
                    self.state, self.until = "agreeing", self.now + DEADLINES["completion"]
                    self.does.append("make")
            else:
                refuse("order")
        except Refused as verdict:
            self.over(verdict.code, "protocolError")

    def supply(self, data):
        if self.state != "agreeing":
            return
        if not data:
            self.over("INTERNAL", "system")
        elif not fits(connection_data.read(data), self.theirs):
            self.over("POLICY", "incompatible")
        else:
            self.say(self.connection, "COMPLETE", tlv(ID, self.id) + tlv(DATA, data))
            self.over(None, "agreed")

    def cancel(self):
        if self.state != "over":
            self.over("CANCELLED", "cancelled", silently=self.again is not None)


def brief(word):
    """Returns the actions in a short form, which tests can write by hand."""
    parts = word.split()
    if parts[0] != "say":
        return word
    fields = read(bytes.fromhex(parts[2]))
    return f"say {parts[1]} {fields['kind']}" + (f" {fields['code']}" if fields["kind"] == "ANSWER" else "")


def build():
    random = seeded("invitation-traces")
    ann, bob = connection_data.Recipe(random), connection_data.Recipe(random)
    number, other_number = random.randbytes(16), random.randbytes(16)
    anns = ann.build({connection_data.RECIPIENT: bob.uid})
    bobs = bob.build({connection_data.RECIPIENT: ann.uid})
    strict = bob.build({connection_data.RECIPIENT: ann.uid, connection_data.PREFERENCE: b"\1"})
    plain = ann.build({connection_data.RECIPIENT: bob.uid, **ann.plain()})

    def invite(seconds=30, inviter=ann.uid, name=b"Ann", recipient=bob.uid, context=None, id=number, extra=b""):
        entries = tlv(ID, id) + tlv(INVITER, inviter + name) + tlv(RECIPIENT, recipient) + tlv(TIMEOUT, u32(seconds))
        return frame("INVITE", entries + (b"" if context is None else tlv(CONTEXT, context)) + extra)

    def answer(code="OK", data=bobs, id=number):
        return frame("ANSWER", tlv(ID, id) + tlv(ANSWER_CODE, u16(CODE[code])) + (tlv(DATA, data) if data else b""))

    def complete(data=anns, id=number):
        return frame("COMPLETE", tlv(ID, id) + tlv(DATA, data))

    def close(code):
        return frame("CLOSE", u16(CODE[code]))

    runs = []

    def run(id, comment, flags, end, steps):
        """A step is (milliseconds, input, its arguments, the expected actions in the short form)."""
        told = []
        addresses = dict(addresses=end.addresses) if getattr(end, "addresses", 1) > 1 else {}
        for at, do, arguments, expect in steps:
            end.now, end.does, isTaken = at, [], None
            end.look()
            if do != "look":
                isTaken = getattr(end, "answer" if do in ("accept", "refuse") else do)(*arguments)
            assert [brief(word) for word in end.does] == expect, (id, at, do, [brief(word) for word in end.does])
            words = [one.hex() if isinstance(one, bytes) else one for one in arguments]
            told.append(dict(at=at, do=do, with_=words, does=end.does, **({} if isTaken is None else dict(taken=isTaken))))
        for step in told:
            step["with"] = [str(word) for word in step.pop("with_")]
        role = type(end).__name__.lower()
        fields = dict(role=role, steps=told)
        if role == "inviter":
            fields.update(timeout=30, invitation=number.hex(), **addresses, **(dict(onlyAddress=True) if end.only_address else {}))
        elif end.code:
            fields.update(code=end.code)
        runs.append(test(id, comment, flags, **fields, uid=end.uid.hex(), peer=(ann if end.uid == bob.uid else bob).uid.hex(),
                              result="valid"))

    def asked(*more):
        return [(0, "connect", (1, "192.0.2.1"), []), (1, "receive", (1, invite()), ["ask 1"]), *more]

    yes = (1_000, "accept", (1, "OK", bobs), ["say 1 ANSWER OK"])
    run("invitee-yes", "asked, accepted, complete", ["Run"], Invitee(bob.uid),
        asked(yes, (2_000, "receive", (1, complete()), ["end 1", "tell 1 completed"])))
    run("invitee-no", "asked, declined; a second answer is ignored", ["Run", "Once"], Invitee(bob.uid),
        asked((1_000, "refuse", (1, "DECLINED"), ["say 1 ANSWER DECLINED", "end 1", "tell 1 refused"]),
              (1_001, "accept", (1, "OK", bobs), [])))
    run("invitee-too-late", "no answer in time, and one after the timeout", ["Time"], Invitee(bob.uid),
        asked((30_000, "look", (), []), (30_001, "look", (), ["close 1 TIMEOUT", "tell 1 timedOut"]),
              (30_002, "accept", (1, "OK", bobs), [])))
    run("invitee-silent", "no INVITE in 5 s", ["Time"], Invitee(bob.uid),
        [(0, "connect", (1, "192.0.2.1"), []), (4_999, "look", (), []), (5_000, "look", (), ["close 1 TIMEOUT"])])
    run("invitee-incomplete", "no COMPLETE in 5 s", ["Time"], Invitee(bob.uid),
        asked(yes, (5_999, "look", (), []), (6_000, "look", (), ["close 1 TIMEOUT", "tell 1 timedOut"])))
    run("invitee-given-up", "the inviter sends CANCELLED", ["Run"], Invitee(bob.uid),
        asked((500, "receive", (1, close("CANCELLED")), ["end 1", "tell 1 withdrawn"]), (600, "accept", (1, "OK", bobs), [])))
    run("invitee-lost", "the inviter's connection ends", ["Run"], Invitee(bob.uid),
        asked((500, "lost", (1,), ["tell 1 withdrawn"])))
    run("invitee-twice", "INVITE again on the same connection", ["Order"], Invitee(bob.uid),
        asked((500, "receive", (1, invite()), ["close 1 PROTOCOL", "tell 1 protocolError"])))
    run("invitee-complete-early", "COMPLETE before the answer", ["Order", "Consent"], Invitee(bob.uid),
        asked((500, "receive", (1, complete()), ["close 1 PROTOCOL", "tell 1 protocolError"])))
    run("invitee-complete-other-id", "COMPLETE with another ID", ["Order"], Invitee(bob.uid),
        asked(yes, (2_000, "receive", (1, complete(id=other_number)), ["close 1 PROTOCOL", "tell 1 protocolError"])))
    run("invitee-complete-other-peer", "COMPLETE with the invitee's own data", ["Data"], Invitee(bob.uid),
        asked(yes, (2_000, "receive", (1, complete(bobs)), ["close 1 PROTOCOL", "tell 1 protocolError"])))
    run("invitee-complete-unfit", "preferences that do not fit", ["Data"], Invitee(bob.uid),
        asked((1_000, "accept", (1, "OK", strict), ["say 1 ANSWER OK"]),
              (2_000, "receive", (1, complete(plain)), ["close 1 POLICY", "tell 1 incompatible"])))
    run("invitee-elsewhere", "for another peer, and from the peer itself", ["Order"], Invitee(bob.uid),
        [(0, "connect", (1, "192.0.2.1"), []),
         (1, "receive", (1, invite(recipient=other_number)), ["say 1 ANSWER UNKNOWN_PEER", "end 1"]),
         (2, "connect", (2, "192.0.2.1"), []),
         (3, "receive", (2, invite(inviter=bob.uid)), ["say 2 ANSWER SELF", "end 2"])])
    run("invitee-again", "the same inviter, from its address and from another", ["Limit"], Invitee(bob.uid),
        asked((10, "connect", (2, "192.0.2.9"), []), (11, "receive", (2, invite()), ["ask 2"]),
              (12, "connect", (3, "192.0.2.1"), []), (13, "receive", (3, invite(id=other_number)), ["close 1 DUPLICATE"]),
              (1_000, "accept", (1, "OK", bobs), ["say 3 ANSWER OK"])))
    crowd = []
    for place in range(1, 6):
        crowd += [(0, "connect", (place, "192.0.2.1"), []),
                  (0, "receive", (place, invite(inviter=random_uid(random))),
                   [f"ask {place}"] if place < 5 else ["say 5 ANSWER BUSY", "end 5"])]
    run("invitee-four", "a fifth from one address", ["Limit"], Invitee(bob.uid), crowd)
    crowd = []
    for place in range(1, 17):
        crowd += [(0, "connect", (place, f"192.0.2.{min(place, 14)}"), []),
                  (0, "receive", (place, invite(inviter=random_uid(random))), [f"ask {place}"])]
    crowd += [(1, "connect", (17, "192.0.2.77"), []),
              (1, "receive", (17, invite(inviter=random_uid(random))),
               ["say 16 ANSWER BUSY", "end 16", "tell 16 withdrawn", "ask 17"]),
              (2, "connect", (18, "192.0.2.77"), []),
              (2, "receive", (18, invite(inviter=random_uid(random))), ["say 18 ANSWER BUSY", "end 18"])]
    crowd.append((3, "lost", (17,), ["tell 17 withdrawn"]))
    run("invitee-sixteen", "a seventeenth takes a place from the address that holds most", ["Limit"], Invitee(bob.uid),
        crowd)

    crowd = []
    for place in range(1, 17):
        now = 0 if place == 1 else 5_000
        crowd += [(now, "connect", (place, f"192.0.2.{place}"), []),
                  (now, "receive", (place, invite(inviter=random.randbytes(16))), [f"ask {place}"])]
    crowd += [(9_998, "connect", (17, "192.0.2.77"), []),
              (9_999, "receive", (17, invite(inviter=random.randbytes(16))), ["say 17 ANSWER BUSY", "end 17"]),
              (10_000, "connect", (18, "192.0.2.78"), []),
              (10_000, "receive", (18, invite(inviter=random.randbytes(16))),
               ["say 1 ANSWER BUSY", "end 1", "tell 1 withdrawn", "ask 17"])]
    run("invitee-sixteen-old", "a seventeenth takes the place of the one question that is 10 s old", ["Limit"],
        Invitee(bob.uid), crowd)
    crowd = []
    for place in range(1, 6):
        crowd += [(0, "connect", (place, f"192.0.2.{place}"), []),
                  (0, "receive", (place, invite()), [f"ask {place}"] if place < 5 else ["say 5 ANSWER BUSY", "end 5"])]
    run("invitee-four-claims", "one uid claimed from five addresses", ["Limit"], Invitee(bob.uid), crowd)
    declined = []
    for place in range(1, 4):
        now = 1_000 * place
        declined += [(now, "connect", (place, "192.0.2.1"), []),
                     (now, "receive", (place, invite(inviter=random.randbytes(16))), [f"ask {place}"]),
                     (now, "refuse", (place, "DECLINED"), [f"say {place} ANSWER DECLINED", f"end {place}", f"tell {place} refused"])]
    declined += [(62_999, "connect", (4, "192.0.2.1"), []),
                 (62_999, "receive", (4, invite()), ["say 4 ANSWER BUSY", "end 4"]),
                 (63_000, "connect", (5, "192.0.2.1"), []), (63_000, "receive", (5, invite()), ["ask 4"]),
                 (63_000, "refuse", (4, "DECLINED"), ["say 5 ANSWER DECLINED", "end 5", "tell 4 refused"]),
                 (182_999, "connect", (6, "192.0.2.1"), []),
                 (182_999, "receive", (6, invite()), ["say 6 ANSWER BUSY", "end 6"]),
                 (183_000, "connect", (7, "192.0.2.1"), []), (183_000, "receive", (7, invite()), ["ask 5"]),
                 (183_001, "accept", (5, "OK", bobs), ["say 7 ANSWER OK"])]
    run("invitee-quiet", "three refusals make an address quiet for 60 s, the fourth for 120 s", ["Quiet"], Invitee(bob.uid),
        declined)

    def refused(place, now, question, code="DECLINED"):
        """Another peer of one address is asked about, and refused."""
        return [(now, "connect", (place, "192.0.2.1"), []),
                (now, "receive", (place, invite(inviter=random_uid(random))), [f"ask {question}"]),
                (now, "refuse", (question, code), [f"say {place} ANSWER {code}", f"end {place}", f"tell {question} refused"])]

    def asked_again(place, now, question):
        return [(now, "connect", (place, "192.0.2.1"), []), (now, "receive", (place, invite()), [f"ask {question}"])]

    run("invitee-quiet-forgotten", "refusals more than 10 min apart are not in a row", ["Quiet"], Invitee(bob.uid),
        refused(1, 0, 1) + refused(2, 1_000, 2) + refused(3, 601_000, 3) + refused(4, 602_000, 4) + asked_again(5, 603_000, 5))
    run("invitee-quiet-remembered", "those less than 10 min apart are", ["Quiet"], Invitee(bob.uid),
        refused(1, 0, 1) + refused(2, 1_000, 2) + refused(3, 600_999, 3)
        + [(601_500, "connect", (4, "192.0.2.1"), []), (601_500, "receive", (4, invite()), ["say 4 ANSWER BUSY", "end 4"])])
    run("invitee-quiet-accepted", "an acceptance ends a row", ["Quiet"], Invitee(bob.uid),
        refused(1, 0, 1) + refused(2, 1_000, 2) + asked_again(3, 2_000, 3)
        + [(2_000, "accept", (3, "OK", bobs), ["say 3 ANSWER OK"]), (2_001, "lost", (3,), ["tell 3 withdrawn"])]
        + refused(4, 3_000, 4) + asked_again(5, 4_000, 5))
    run("invitee-quiet-full", "only DECLINED counts", ["Quiet"], Invitee(bob.uid),
        refused(1, 0, 1) + refused(2, 1_000, 2) + refused(3, 2_000, 3, "FULL") + asked_again(4, 3_000, 4))
    run("invitee-quiet-longest", "the quiet time is 600 s at most", ["Quiet"], Invitee(bob.uid),
        refused(1, 0, 1) + refused(2, 0, 2) + refused(3, 0, 3) + refused(4, 60_000, 4) + refused(5, 180_000, 5)
        + refused(6, 420_000, 6) + refused(7, 900_000, 7)
        + [(1_499_999, "connect", (8, "192.0.2.1"), []), (1_499_999, "receive", (8, invite()), ["say 8 ANSWER BUSY", "end 8"])]
        + asked_again(9, 1_500_000, 8))
    run("invitee-timed-out", "the inviter's time is over", ["Run"], Invitee(bob.uid),
        asked((500, "receive", (1, close("TIMEOUT")), ["end 1", "tell 1 timedOut"])))
    run("invitee-unfit-there", "the inviter finds that preferences do not fit", ["Run"], Invitee(bob.uid),
        asked(yes, (1_500, "receive", (1, close("POLICY")), ["end 1", "tell 1 incompatible"])))
    run("invitee-unasked", "the connection ends before INVITE", ["Run"], Invitee(bob.uid),
        [(0, "connect", (1, "192.0.2.1"), []), (1, "lost", (1,), []), (2, "connect", (2, "192.0.2.1"), []),
         (3, "receive", (2, close("CANCELLED")), ["end 2"])])
    run("invitee-again-agreed", "the same inviter again, after OK", ["Limit"], Invitee(bob.uid),
        asked(yes, (1_100, "connect", (2, "192.0.2.1"), []), (1_101, "receive", (2, invite(id=other_number)), ["say 2 ANSWER BUSY", "end 2"]),
              (2_000, "receive", (1, complete()), ["end 1", "tell 1 completed"])))
    run("invitee-again-late", "a question that continues keeps its timeout", ["Limit", "Time"], Invitee(bob.uid),
        asked((20_000, "connect", (2, "192.0.2.1"), []), (20_000, "receive", (2, invite(id=other_number)), ["close 1 DUPLICATE"]),
              (30_000, "look", (), []), (30_001, "look", (), ["close 2 TIMEOUT", "tell 1 timedOut"])))
    run("invitee-address-only", "for whoever has the address", ["Run"], Invitee(bob.uid),
        [(0, "connect", (1, "192.0.2.1"), []), (1, "receive", (1, invite(recipient=bytes(16))), ["ask 1"])])

    unaddressed = bob.build({connection_data.RECIPIENT: None})

    def places(origins, now=0, agree=()):
        steps = []
        for place, origin in enumerate(origins, 1):
            steps += [(now, "connect", (place, f"192.0.2.{origin}"), []),
                      (now, "receive", (place, invite(inviter=random_uid(random))), [f"ask {place}"])]
            if place in agree:
                steps.append((now, "accept", (place, "OK", unaddressed), [f"say {place} ANSWER OK"]))
        return steps

    def newcomer(place, origin, now, expect):
        return [(now, "connect", (place, f"192.0.2.{origin}"), []),
                (now, "receive", (place, invite(inviter=random_uid(random))), expect)]

    run("invitee-sixteen-agreed", "an accepted invitation keeps its place: the newest question goes", ["Limit"], Invitee(bob.uid),
        places([1, 1, 1, *range(2, 15)], agree=[3]) + newcomer(17, 77, 1, ["say 2 ANSWER BUSY", "end 2", "tell 2 withdrawn", "ask 17"]))
    run("invitee-sixteen-equal", "an address with as many as the newcomer's would have keeps questions younger than 10 s", ["Limit"],
        Invitee(bob.uid), places([1, 1, *range(2, 16)]) + newcomer(17, 2, 9_999, ["say 17 ANSWER BUSY", "end 17"])
        + [(9_999, "accept", (1, "OK", unaddressed), ["say 1 ANSWER OK"])]
        + newcomer(18, 2, 10_000, ["say 2 ANSWER BUSY", "end 2", "tell 2 withdrawn", "ask 17"]))
    run("invitee-sixteen-more", "an address with fewer gives no place to one with more", ["Limit"],
        Invitee(bob.uid), places([1, 1, *range(2, 16)]) + newcomer(17, 1, 10_001, ["say 17 ANSWER BUSY", "end 17"]))
    run("invitee-four-old", "a fifth from one address takes the place of its one question that is 10 s old", ["Limit"],
        Invitee(bob.uid), places([1])
        + [one for place in (2, 3, 4) for one in newcomer(place, 1, 5_000, [f"ask {place}"])]
        + newcomer(5, 2, 5_000, ["ask 5"])
        + newcomer(6, 1, 9_999, ["say 6 ANSWER BUSY", "end 6"])
        + newcomer(7, 1, 10_000, ["say 1 ANSWER BUSY", "end 1", "tell 1 withdrawn", "ask 6"]))
    four = [(0, "connect", (1, "192.0.2.1"), []), (0, "receive", (1, invite()), ["ask 1"])]
    for place in range(2, 5):
        four += [(5_000, "connect", (place, f"192.0.2.{place}"), []), (5_000, "receive", (place, invite()), [f"ask {place}"])]
    run("invitee-four-claims-old", "a fifth address that claims a uid takes the place of the one question that is 10 s old", ["Limit"],
        Invitee(bob.uid), four
        + [(10_000, "connect", (5, "192.0.2.5"), []), (10_000, "receive", (5, invite()),
                                                      ["say 1 ANSWER BUSY", "end 1", "tell 1 withdrawn", "ask 5"])])

    def inviter(addresses=1):
        return Inviter(ann.uid, b"Ann", bob.uid, number, 30, addresses)

    def asking(*more):
        return [(0, "tls", (), ["say 1 INVITE"]), *more]

    run("inviter-yes", "asks, receives OK, completes", ["Run", "Consent"], inviter(),
        asking((1_000, "receive", (answer(),), ["make"]), (1_001, "supply", (anns,), ["say 1 COMPLETE", "end 1", "tell agreed"])))
    for code, told in (("DECLINED", "declined"), ("FULL", "full"), ("POLICY", "incompatible"), ("UNKNOWN_PEER", "unreachable")):
        run(f"inviter-{code.lower().replace('_', '-')}", f"receives {code}", ["Run"], inviter(),
            asking((1_000, "receive", (answer(code, None),), ["end 1", f"tell {told}"])))
    run("inviter-close", "receives CLOSE with CANCELLED", ["Run"], inviter(),
        asking((1_000, "receive", (close("CANCELLED"),), ["end 1", "tell cancelled"])))
    run("inviter-busy", "receives BUSY and tries again", ["Busy"], inviter(),
        asking((1_000, "receive", (answer("BUSY", None),), ["end 1"]), (1_100, "look", (), []), (1_400, "look", (), ["dial 2"]),
               (1_500, "tls", (), ["say 2 INVITE"]), (2_000, "receive", (answer(),), ["make"])))
    busy, at = [(0, "tls", (), ["say 1 INVITE"])], 0
    for place, length in enumerate((250, 500, 1_000, 2_000, 4_000, 4_000), 1):
        busy += [(at + 1, "receive", (answer("BUSY", None),), [f"end {place}"]), (at + length * 3 // 2 + 2, "look", (), [f"dial {place + 1}"]),
                 (at + length * 3 // 2 + 3, "tls", (), [f"say {place + 1} INVITE"])]
        at += length * 3 // 2 + 3
    run("inviter-busy-six", "the pause doubles up to 4 s", ["Busy"], inviter(), busy)
    run("inviter-busy-to-the-end", "receives BUSY shortly before the timeout", ["Busy", "Time"], inviter(),
        asking((29_950, "receive", (answer("BUSY", None),), ["end 1"]), (30_000, "look", (), ["tell busy"])))
    run("inviter-elsewhere", "another peer listens at the first address: the second is tried", ["Run"], inviter(2),
        asking((1_000, "receive", (answer("UNKNOWN_PEER", None),), ["end 1", "dial 2"]), (1_500, "tls", (), ["say 2 INVITE"]),
               (2_000, "receive", (answer("UNKNOWN_PEER", None),), ["end 2", "tell unreachable"])))
    run("inviter-no-elsewhere", "after the answer OK there is no second address", ["Run"], inviter(2),
        asking((1_000, "receive", (answer(),), ["make"]), (1_500, "receive", (close("UNKNOWN_PEER"),), ["end 1", "tell unreachable"])))
    run("inviter-lost", "the connection is lost: INVITE again, with the seconds that are left, rounded up", ["Run", "Time"], inviter(),
        asking((1_000, "lost", (), []), (1_124, "look", (), []), (1_400, "look", (), ["dial 2"]), (2_001, "tls", (), ["say 2 INVITE"]),
               (3_000, "lost", (), []), (3_249, "look", (), []), (3_751, "look", (), ["dial 3"]), (4_000, "tls", (), ["say 3 INVITE"]),
               (30_000, "look", (), ["close 3 TIMEOUT", "tell timedOut"])))
    losses = [(0, "tls", (), ["say 1 INVITE"])]
    for place, length in enumerate((250, 500, 1_000, 2_000, 4_000), 1):
        at = losses[-1][0] + 1
        losses += [(at, "lost", (), []), (at + length * 3 // 2 + 1, "look", (), [f"dial {place + 1}"]),
                   (at + length * 3 // 2 + 2, "tls", (), [f"say {place + 1} INVITE"])]
    run("inviter-lost-six", "the sixth loss ends the invitation", ["Run"], inviter(),
        losses + [(losses[-1][0] + 1, "lost", (), ["tell unreachable"])])
    run("inviter-lost-late", "lost after OK", ["Run"], inviter(),
        asking((1_000, "receive", (answer(),), ["make"]), (1_001, "lost", (), ["tell unreachable"]), (1_002, "supply", (anns,), [])))
    run("inviter-busy-late", "BUSY after OK ends the invitation", ["Busy"], inviter(),
        asking((1_000, "receive", (answer(),), ["make"]), (1_001, "receive", (close("BUSY"),), ["end 1", "tell busy"])))
    run("inviter-no-data", "the application supplies no data in 5 s", ["Time"], inviter(),
        asking((1_000, "receive", (answer(),), ["make"]), (5_999, "look", (), []), (6_000, "look", (), ["close 1 TIMEOUT", "tell timedOut"]),
               (6_001, "supply", (anns,), [])))
    run("inviter-data-fails", "the application fails to supply data", ["Data"], inviter(),
        asking((1_000, "receive", (answer(),), ["make"]), (1_001, "supply", (b"",), ["close 1 INTERNAL", "tell system"])))
    run("inviter-resting-cancelled", "the application cancels between two connections", ["Run", "Busy"], inviter(),
        asking((1_000, "receive", (answer("BUSY", None),), ["end 1"]), (1_001, "cancel", (), ["tell cancelled"]), (2_000, "look", (), [])))
    run("inviter-ok-without-data", "OK without data", ["Data"], inviter(),
        asking((1_000, "receive", (answer("OK", None),), ["close 1 PROTOCOL", "tell protocolError"])))
    run("inviter-no-with-data", "a refusal with data", ["Data"], inviter(),
        asking((1_000, "receive", (answer("DECLINED"),), ["close 1 PROTOCOL", "tell protocolError"])))
    run("inviter-too-late", "an answer after the timeout", ["Time"], inviter(),
        asking((29_999, "look", (), []), (30_000, "look", (), ["close 1 TIMEOUT", "tell timedOut"]),
               (30_001, "receive", (answer(),), [])))
    run("inviter-other-id", "an answer with another ID", ["Order"], inviter(),
        asking((1_000, "receive", (answer(id=other_number),), ["close 1 PROTOCOL", "tell protocolError"])))
    run("inviter-other-peer", "an answer with the inviter's own data", ["Data"], inviter(),
        asking((1_000, "receive", (answer(data=anns),), ["close 1 PROTOCOL", "tell protocolError"])))
    run("inviter-unfit", "preferences that do not fit: no data is sent", ["Data", "Consent"], inviter(),
        asking((1_000, "receive", (answer(data=strict),), ["make"]), (1_001, "supply", (plain,), ["close 1 POLICY", "tell incompatible"])))
    run("inviter-gives-up", "the application cancels, and an answer comes", ["Run"], inviter(),
        asking((1_000, "cancel", (), ["close 1 CANCELLED", "tell cancelled"]), (1_001, "receive", (answer(),), [])))
    run("inviter-answered-twice", "ANSWER again", ["Order"], inviter(),
        asking((1_000, "receive", (answer(),), ["make"]), (1_001, "receive", (answer(),), ["close 1 PROTOCOL", "tell protocolError"])))

    holder = connection_data.Recipe(random)
    holder.uid = keyed(random.randbytes(16))
    held = holder.build({connection_data.PEER: holder.uid + b"Bob", connection_data.RECIPIENT: ann.uid}, flags=2)
    stranger = keyed(random.randbytes(16))
    run("invitee-keyed", "the uid of a key must be proven by the certificate", ["Key"], Invitee(bob.uid),
        [(0, "connect", (1, "192.0.2.1"), []), (0, "receive", (1, invite(inviter=holder.uid)), ["say 1 ANSWER POLICY", "end 1"]),
         (1, "connect", (2, "192.0.2.1", stranger), []), (1, "receive", (2, invite(inviter=holder.uid)), ["say 2 ANSWER POLICY", "end 2"]),
         (2, "connect", (3, "192.0.2.1", stranger), []), (2, "receive", (3, invite()), ["ask 1"]),
         (3, "connect", (4, "192.0.2.1", holder.uid), []), (3, "receive", (4, invite(inviter=holder.uid)), ["ask 2"])])
    run("invitee-keyed-quiet", "a quiet address does not hide that the key is wrong, nor an unproven uid another's question", ["Key", "Quiet"],
        Invitee(bob.uid),
        [(0, "connect", (1, "192.0.2.1", holder.uid), []), (0, "receive", (1, invite(inviter=holder.uid)), ["ask 1"]),
         (1, "connect", (2, "192.0.2.1"), []), (1, "receive", (2, invite(inviter=holder.uid)), ["say 2 ANSWER POLICY", "end 2"])]
        + refused(3, 2, 2) + refused(4, 3, 3) + refused(5, 4, 4)
        + [(5, "connect", (6, "192.0.2.1"), []), (5, "receive", (6, invite(inviter=holder.uid)), ["say 6 ANSWER POLICY", "end 6"]),
           (6, "connect", (7, "192.0.2.1", holder.uid), []),
           (6, "receive", (7, invite(inviter=holder.uid)), ["say 7 ANSWER BUSY", "end 7"])])
    run("invitee-code", "an invitee with a code asks nobody without it", ["Key"], Invitee(bob.uid, "7-guitar-island"),
        [(0, "connect", (1, "192.0.2.1"), []), (0, "receive", (1, invite()), ["say 1 ANSWER CODE_REQUIRED", "end 1"]),
         (1, "connect", (2, "192.0.2.1"), []), (1, "receive", (2, invite(recipient=other_number)), ["say 2 ANSWER UNKNOWN_PEER", "end 2"]),
         (2, "connect", (3, "192.0.2.1"), []), (2, "receive", (3, invite(inviter=holder.uid)), ["say 3 ANSWER POLICY", "end 3"])])
    run("invitee-stops", "an invitee that stops keeps what it accepted", ["Run"], Invitee(bob.uid),
        asked(yes, (1_001, "connect", (2, "192.0.2.2"), []), (1_001, "receive", (2, invite()), ["ask 2"]),
              (1_002, "connect", (3, "192.0.2.3"), []),
              (1_003, "stop", (), ["close 2 CANCELLED", "tell 2 cancelled", "close 3 CANCELLED"]),
              (1_004, "connect", (4, "192.0.2.4"), ["close 4 CANCELLED"]), (1_005, "accept", (2, "OK", bobs), []),
              (2_000, "receive", (1, complete()), ["end 1", "tell 1 completed"])))
    run("inviter-before-tls", "after BUSY, a connection that is lost before TLS is no loss: INVITE goes on the next", ["Busy"], inviter(),
        asking((1_000, "receive", (answer("BUSY", None),), ["end 1"]), (1_400, "look", (), ["dial 2"]), (1_401, "tcp", (), []),
               (1_402, "lost", (), []), (1_651, "look", (), []), (2_153, "look", (), ["dial 3"]), (2_154, "tls", (), ["say 3 INVITE"]),
               (29_990, "receive", (answer("BUSY", None),), ["end 3"]), (30_000, "look", (), ["tell busy"])))
    run("inviter-before-tcp", "after BUSY, a dial that fails ends the invitation", ["Busy"], inviter(),
        asking((1_000, "receive", (answer("BUSY", None),), ["end 1"]), (1_400, "look", (), ["dial 2"]), (1_401, "lost", (), ["tell unreachable"])))
    losses = [(0, "tls", (), ["say 1 INVITE"])]
    for place, length in enumerate((250, 500, 1_000, 2_000, 4_000), 1):
        at = losses[-1][0] + 1
        losses += [(at, "lost", (), []), (at + length * 3 // 2 + 1, "look", (), [f"dial {place + 1}"]),
                   (at + length * 3 // 2 + 2, *(("tls", (), [f"say {place + 1} INVITE"]) if place < 5 else ("tcp", (), [])))]
    at = losses[-1][0] + 1
    run("inviter-losses", "only losses after INVITE count", ["Busy"], inviter(),
        losses + [(at, "lost", (), []), (at + 6_001, "look", (), ["dial 7"]), (at + 6_002, "tls", (), ["say 7 INVITE"]),
                  (at + 6_003, "lost", (), ["tell unreachable"])])
    run("inviter-protocol", "the code that came is the result, that of a fault too", ["Run"], inviter(),
        asking((1_000, "receive", (answer("PROTOCOL", None),), ["end 1", "tell refused"])))
    run("inviter-protocol-close", "the same in CLOSE", ["Run"], inviter(),
        asking((1_000, "receive", (close("PROTOCOL"),), ["end 1", "tell refused"])))
    run("inviter-only-address", "with an address alone, whoever answers is the peer", ["Run"], Inviter(ann.uid, b"Ann", bob.uid, number, 30, 1, True),
        asking((1_000, "receive", (answer(),), ["make"]), (1_001, "supply", (anns,), ["say 1 COMPLETE", "end 1", "tell agreed"])))
    run("inviter-only-address-self", "but not the inviter itself", ["Data"], Inviter(ann.uid, b"Ann", bob.uid, number, 30, 1, True),
        asking((1_000, "receive", (answer(data=ann.build({connection_data.RECIPIENT: None})),), ["close 1 PROTOCOL", "tell protocolError"])))
    run("inviter-only-address-keyed", "the uid of a key must be proven by the certificate", ["Key"], Inviter(ann.uid, b"Ann", bob.uid, number, 30, 1, True),
        [(0, "tls", (stranger,), ["say 1 INVITE"]), (1_000, "receive", (answer(data=held),), ["close 1 POLICY", "tell unreachable"])])
    run("inviter-only-address-proven", "and is", ["Key"], Inviter(ann.uid, b"Ann", bob.uid, number, 30, 1, True),
        [(0, "tls", (holder.uid,), ["say 1 INVITE"]), (1_000, "receive", (answer(data=held),), ["make"])])
    run("inviter-busy-before-tls", "BUSY stays the result when the next connection is lost before TLS", ["Busy", "Time"], inviter(),
        asking((29_000, "receive", (answer("BUSY", None),), ["end 1"]), (29_400, "look", (), ["dial 2"]), (29_401, "tcp", (), []),
               (29_800, "lost", (), []), (30_000, "look", (), ["tell busy"])))
    run("inviter-lost-to-the-end", "lost shortly before the timeout", ["Busy", "Time"], inviter(),
        asking((29_950, "lost", (), []), (30_000, "look", (), ["tell timedOut"])))

    notes = {
        "Key": "a keyed uid, or a code, is proven before anything else is answered",
        "Run": "which end sends what, and what the application receives", "Once": "a question has one answer",
        "Time": "what happens too late",
        "Order": "an unexpected frame", "Data": "whose connection data it is, and whether it fits",
        "Consent": "no data before the application accepts", "Busy": "BUSY does not end an invitation",
        "Limit": "how many invitations", "Quiet": "an address whose invitations were declined",
    }
    return document("invitations over time", notes, [
        dict(type="invitation-trace", spec="12",
             labels=["invite.order", "invite.consent", "invite.once", "invite.timeout", "invite.deadline", "invite.pending",
                     "invite.busy", "invite.cancel", "invite.data", "invite.recipient", "invite.quiet", "invite.address", "uid.proof",
                     "code.required"], tests=runs)])
