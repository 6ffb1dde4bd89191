"""channels.json: streams and resources on one link, chapter 9."""

from .wire import CODE, KIND, LIMIT, Refused, document, frame, is_text, read_tlvs, seeded, test, tlv, u8, u16, u64

NAME = {value: name for name, value in CODE.items()}
STREAM, RESOURCE = 1, 2


def read_opening(payload):
    """Returns the fields of OPEN, or refuses it with the check that fails."""
    fields = dict(read_tlvs(payload, known=(1, 2, 3, 4, 5, 6))[0])
    sizes = {1: (1, 1), 2: (1, LIMIT["channelName"]), 3: (8, 8), 4: (0, LIMIT["channelMetadata"]), 5: (0, 0), 6: (0, 0)}
    for kind, value in fields.items():
        if not sizes[kind][0] <= len(value) <= sizes[kind][1]:
            raise Refused("PROTOCOL", "entries")
    if 1 not in fields or 2 not in fields or not is_text(fields[2], control_allowed=True):
        raise Refused("PROTOCOL", "entries")
    if 5 in fields and (fields[1][0] == STREAM or 3 not in fields):
        raise Refused("PROTOCOL", "entries")
    return fields


def read_fin(payload):
    fields = dict(read_tlvs(payload, known=(1,))[0])
    if 1 in fields and len(fields[1]) != 32:
        raise Refused("PROTOCOL", "entries")
    return fields.get(1)


class Bucket:
    """A token bucket: it starts full, and gains one token each `interval` milliseconds."""

    def __init__(self, capacity, interval):
        self.capacity, self.interval, self.left, self.at = capacity, interval, capacity, 0

    def take(self, now):
        gained = (now - self.at) // self.interval
        self.at += gained * self.interval
        self.left = min(self.capacity, self.left + gained)
        self.left -= 1
        return self.left >= 0


class End:
    """The channels at one end of a link."""

    def __init__(self, local, remote):
        self.local, self.remote, self.now = local, remote, 0
        self.events, self.written = [], []
        self.control, self.earned = Bucket(LIMIT["controlBucket"], 1000 // LIMIT["controlPerSecond"]), 0
        self.resets = Bucket(LIMIT["channelResets"], 30000 // LIMIT["channelResets"])
        # The peer's channels.
        self.theirs, self.highest, self.empty = {}, 0, 0
        self.granted, self.spent, self.taken = local["messageCredit"], 0, 0
        # This end's own channels.
        self.ours, self.number, self.purse = {}, 0, remote["messageCredit"]

    # Received frames.

    def receive(self, kind, channel, payload):
        getattr(self, kind.lower())(channel, payload)
        self.grant()

    def charge(self):
        if not self.control.take(self.now):
            raise Refused("FLOOD", "budget")

    def earn(self, bytes):
        self.earned += bytes
        gained, self.earned = divmod(self.earned, LIMIT["controlPayload"])
        self.control.left = min(self.control.capacity, self.control.left + gained)

    def known(self, channel):
        """Returns the open channel with that number, or None if it is closed."""
        if channel > self.highest:
            raise Refused("PROTOCOL", "opened")
        return self.theirs.get(channel)

    def open(self, channel, payload):
        try:
            fields = read_opening(payload)
        except Refused as refused:
            raise Refused(refused.code, "entries")
        if channel <= self.highest:
            raise Refused("PROTOCOL", "number")
        if len(self.theirs) >= self.local["maxChannels"]:
            raise Refused("FLOW", "places")
        cost = len(payload) + LIMIT["channelOverhead"]
        if self.spent + cost > self.granted:
            raise Refused("FLOW", "cost")
        self.spent += cost
        self.earn(cost)
        self.highest = channel
        kind = fields[1][0]
        one = dict(kind=kind, state="offered" if 5 in fields else "open", cost=cost, limit=self.local["channelCredit"], came=0, taken=0)
        self.theirs[channel] = one
        if kind in (STREAM, RESOURCE):
            self.events.append(f"opened {channel}")
        else:
            self.taken += cost
            one["state"] = "stopped"
            self.say("STOP", channel, "DECLINED")

    def data(self, channel, payload):
        one = self.known(channel)
        if one is None or one["state"] not in ("open", "stopped"):
            raise Refused("PROTOCOL", "closed")
        self.empty = 0 if payload else self.empty + 1
        if self.empty > LIMIT["emptyInARow"]:
            raise Refused("FLOOD", "empty")
        if one["came"] + len(payload) > one["limit"]:
            raise Refused("FLOW", "credit")
        one["came"] += len(payload)
        self.earn(len(payload))
        if one["state"] == "open" and payload:
            self.events.append(f"data {channel} {len(payload)}")

    def fin(self, channel, payload):
        try:
            digest = read_fin(payload)
        except Refused as refused:
            raise Refused(refused.code, "entries")
        one = self.known(channel)
        if one is None or one["state"] not in ("open", "stopped"):
            raise Refused("PROTOCOL", "closed")
        if one["state"] == "open":
            self.events.append(f"finished {channel}" + (" " + digest.hex() if digest else ""))
        if one["state"] == "open" and one["kind"] == RESOURCE:
            one["state"] = "finished"
        else:
            del self.theirs[channel]

    def begin(self, channel, payload):
        one = self.known(channel)
        if one is None or one["state"] not in ("resuming", "stopped"):
            raise Refused("PROTOCOL", "closed")
        if one["state"] == "stopped":
            return
        offset = int.from_bytes(payload, "big")
        if offset not in (0, one["offset"]):
            raise Refused("PROTOCOL", "offset")
        one["state"] = "open"
        self.events.append(f"begins {channel} {offset}")

    def reset(self, channel, payload):
        one = self.known(channel)
        if one is None:
            return self.charge()
        del self.theirs[channel]
        if one["state"] == "stopped":
            return
        if not self.resets.take(self.now):
            raise Refused("FLOOD", "resets")
        self.events.append(f"aborted {channel} {NAME.get(int.from_bytes(payload, 'big'), 'INTERNAL')}")

    def own(self, channel):
        one = self.ours.get(channel)
        if channel > self.number or one and one["state"] == "waiting":
            raise Refused("PROTOCOL", "opened")
        return one

    def stop(self, channel, payload):
        one = self.own(channel)
        if one is None:
            return self.charge()
        code = NAME.get(int.from_bytes(payload, "big"), "INTERNAL")
        if one["state"] != "finished":
            self.written.append(f"RESET {channel} {code}")
        self.events.append(f"stopped {channel} {code}")
        del self.ours[channel]

    def done(self, channel, payload):
        one = self.own(channel)
        if one is None:
            return self.charge()
        if one["state"] != "finished":
            raise Refused("PROTOCOL", "done")
        self.events.append(f"completed {channel} {NAME.get(int.from_bytes(payload, 'big'), 'INTERNAL')}")
        del self.ours[channel]

    def resume(self, channel, payload):
        one = self.own(channel)
        if one is None:
            return self.charge()
        if one["state"] != "offered":
            raise Refused("PROTOCOL", "closed")
        one["offset"] = int.from_bytes(payload[:8], "big")
        if one["offset"] > one["size"]:
            raise Refused("PROTOCOL", "offset")
        one["state"] = "resuming"
        self.events.append(f"resumes {channel} {one['offset']} {payload[8:].hex()}")

    def credit(self, channel, payload):
        limit = int.from_bytes(payload, "big")
        if channel == 0:
            self.charge()
            self.purse = limit
            return
        one = self.own(channel)
        self.charge()
        if one is None:
            return
        if limit <= one["limit"]:
            raise Refused("PROTOCOL", "grow")
        one["limit"] = limit

    # Calls of the application.

    def say(self, kind, channel, code):
        self.written.append(f"{kind} {channel} {code}")

    def accept(self, channel, **_):
        self.taken += self.theirs[channel]["cost"]

    def take(self, channel, length):
        self.theirs[channel]["taken"] += length

    def resuming(self, channel, offset, sha256):
        self.theirs[channel].update(state="resuming", offset=offset)
        self.written.append(f"RESUME {channel} {offset} {sha256}")

    def stopping(self, channel, code):
        one = self.theirs[channel]
        if one["state"] == "finished":
            return self.finishing(channel, code)
        one["state"] = "stopped"
        self.say("STOP", channel, code)

    def finishing(self, channel, code):
        del self.theirs[channel]
        self.say("DONE", channel, code)

    def grant(self):
        limit = self.taken + self.local["messageCredit"]
        if limit - self.granted >= max(self.local["messageCredit"] // 4, 1):
            self.granted = limit
            self.written.append(f"CREDIT 0 {limit}")
        for channel, one in self.theirs.items():
            limit = one["taken"] + self.local["channelCredit"]
            if one["state"] == "open" and limit - one["limit"] >= max(self.local["channelCredit"] // 4, 1):
                one["limit"] = limit
                self.written.append(f"CREDIT {channel} {limit}")

    def opening(self, kind, name, size=None, resumable=False, **_):
        self.number += 1
        payload = (tlv(1, u8(kind)) + tlv(2, name.encode()) + (tlv(3, u64(size)) if size is not None else b"")
                   + (tlv(5, b"") if resumable else b""))
        self.ours[self.number] = dict(kind=kind, state="waiting", cost=len(payload) + LIMIT["channelOverhead"], queued=0,
                                      fin=False, limit=self.remote["channelCredit"], sent=0, size=size,
                                      first="offered" if resumable else "open", begin=None)

    def beginning(self, channel, offset):
        self.ours[channel]["begin"] = offset

    def writing(self, channel, length):
        self.ours[channel]["queued"] += length

    def ending(self, channel):
        self.ours[channel]["fin"] = True

    def resetting(self, channel, code):
        one = self.ours.pop(channel)
        if one["state"] != "waiting":
            self.say("RESET", channel, code)

    def pump(self):
        """Writes everything that limits and credit allow."""
        spent = 0
        for channel, one in list(self.ours.items()):
            if one["state"] == "waiting":
                places = sum(other["state"] != "waiting" for other in self.ours.values())
                if places >= self.remote["maxChannels"] or one["cost"] > self.purse:
                    break
                self.purse -= one["cost"]
                one["state"] = one["first"]
                self.earn(one["cost"])
                self.events.append(f"began {channel}")
                self.written.append(f"OPEN {channel}")
            if one["state"] == "resuming" and one["begin"] is not None:
                one["state"] = "open"
                self.written.append(f"BEGIN {channel} {one['begin']}")
            if one["state"] == "open":
                count = min(one["queued"], one["limit"] - one["sent"])
                one["queued"] -= count
                one["sent"] += count
                self.earn(count)
                if count:
                    self.written.append(f"DATA {channel} {count}")
                if one["fin"] and not one["queued"]:
                    self.written.append(f"FIN {channel}")
                    if one["kind"] == RESOURCE:
                        one["state"] = "finished"
                    else:
                        self.events.append(f"ended {channel}")
                        del self.ours[channel]


OWNER = {"open": "opening", "write": "writing", "finish": "ending", "reset": "resetting", "accept": "accept",
         "take": "take", "stop": "stopping", "done": "finishing", "resume": "resuming", "begin": "beginning"}


def build():
    usual = dict(maxChannels=LIMIT["channels"], channelCredit=LIMIT["channelCredit"], messageCredit=LIMIT["messageCredit"])
    random = seeded("channels")
    openings, sequences = {"valid": [], "invalid": []}, {"valid": [], "invalid": []}

    def form(id, comment, flags, payload, good=True):
        try:
            fields, verdict = read_opening(payload), None
        except Refused as refused:
            verdict = refused
        assert (verdict is None) == good, (id, verdict)
        more = dict(hex=payload.hex())
        if verdict:
            more.update(result="invalid", error=verdict.code, check="entries")
        else:
            more["fields"] = dict(kind=fields[1][0], name=fields[2].hex())
            if 3 in fields:
                more["fields"]["size"] = str(int.from_bytes(fields[3], "big"))
            if 4 in fields:
                more["fields"]["metadata"] = fields[4].hex()
            if 5 in fields:
                more["fields"]["resumable"] = True
            more.update(result="valid")
        openings[more["result"]].append(test(id, comment, flags, **more))

    def add(id, comment, flags, steps, expect=None, local={}, remote={}):
        local, remote = {**usual, **local}, {**usual, **remote}
        end, told, verdict = End(local, remote), [], None
        for step in steps:
            step = dict(step)
            told.append(step)
            end.now = step.get("at", end.now)
            end.events, end.written = [], []
            try:
                if step["do"] == "receive":
                    for round in range(step.get("count", 1)):
                        for one in step["frames"]:
                            payload = (bytes.fromhex(one["hex"]) if "hex" in one
                                       else bytes.fromhex(one["fill"]) * one["length"])
                            end.receive(one["kind"], one["channel"] + round * step.get("stride", 0), payload)
                elif step["do"] != "look":
                    getattr(end, OWNER[step["do"]])(**{k: v for k, v in step.items() if k not in ("do", "at")})
                    end.grant()
                end.pump()
            except Refused as refused:
                verdict = refused
                break
            finally:
                if "count" not in step:
                    step["events"] = end.events
            if "count" not in step:
                step["written"] = end.written
        assert (verdict.check if verdict else None) == expect and len(told) == len(steps), (id, verdict, told[-1])
        more = dict(local=local, remote=remote, steps=told)
        more.update(dict(result="invalid", error=verdict.code, check=verdict.check) if verdict else dict(result="valid"))
        sequences[more["result"]].append(test(id, comment, flags, **more))

    # The steps.
    def piece(kind, channel, payload=b""):
        return dict(kind=kind, channel=channel, hex=payload.hex())

    def announce(channel, kind=STREAM, name=b"s", more=b""):
        return piece("OPEN", channel, tlv(1, u8(kind)) + tlv(2, name) + more)

    def filled(channel, length):
        return dict(kind="DATA", channel=channel, fill="ab", length=length)

    def coded(kind, channel, code):
        return piece(kind, channel, u16(CODE[code]))

    def limit(channel, value):
        return piece("CREDIT", channel, u64(value))

    came = lambda *frames, **more: dict(do="receive", frames=list(frames), **more)
    fin = lambda channel, digest=None: piece("FIN", channel, tlv(1, digest) if digest else b"")
    start = lambda kind=STREAM, name="s", **more: dict(do="open", kind=kind, name=name, **more)
    write = lambda length, channel=1: dict(do="write", channel=channel, length=length)
    finish = lambda channel=1: dict(do="finish", channel=channel)
    give_up = lambda code="CANCELLED", channel=1: dict(do="reset", channel=channel, code=code)
    accept = lambda channel=1: dict(do="accept", channel=channel)
    take = lambda length, channel=1: dict(do="take", channel=channel, length=length)
    stop = lambda code="CANCELLED", channel=1: dict(do="stop", channel=channel, code=code)
    done = lambda code="OK", channel=1: dict(do="done", channel=channel, code=code)
    look = lambda at: dict(do="look", at=at)

    # The payload of OPEN.
    kind, name = tlv(1, u8(STREAM)), tlv(2, b"n")
    form("open-stream", "the shortest", ["Form"], kind + name)
    form("open-resource", "with all entries", ["Form"],
         tlv(1, u8(RESOURCE)) + tlv(2, "Löwe.txt".encode()) + tlv(3, u64(12)) + tlv(4, b"\0\1"))
    form("open-size-largest", "SIZE is a u64", ["Form"], kind + name + tlv(3, b"\xff" * 8))
    form("open-metadata-empty", "METADATA may be empty", ["Form"], kind + name + tlv(4, b""))
    form("open-metadata-1024", "the longest METADATA", ["Form"], kind + name + tlv(4, bytes(1024)))
    form("open-kind-unknown", "an unknown KIND is well formed", ["Form"], tlv(1, u8(99)) + name)
    form("open-grease", "an unknown entry is ignored", ["Form"], kind + name + tlv(0x0A0A, b"?"))
    resource, size, resumable = tlv(1, u8(RESOURCE)), tlv(3, u64(7)), tlv(5, b"")
    form("open-resumable", "RESUMABLE has no bytes", ["Form"], resource + name + size + resumable)
    form("open-resumable-1", "RESUMABLE of one byte", ["Form"], resource + name + size + tlv(5, b"\0"), good=False)
    form("open-resumable-no-size", "RESUMABLE without SIZE", ["Form"], resource + name + resumable, good=False)
    form("open-resumable-stream", "RESUMABLE of a stream", ["Form"], kind + name + size + resumable, good=False)
    form("open-resumable-unknown", "RESUMABLE of an unknown KIND", ["Form"], tlv(1, u8(99)) + name + size + resumable)
    form("open-no-digest", "NO_DIGEST has no bytes", ["Form"], kind + name + tlv(6, b""))
    form("open-no-digest-1", "NO_DIGEST of one byte", ["Form"], kind + name + tlv(6, b"\0"), good=False)
    form("open-empty", "no entries", ["Form"], b"", good=False)
    form("open-no-kind", "KIND is missing", ["Form"], name, good=False)
    form("open-no-name", "NAME is missing", ["Form"], kind, good=False)
    form("open-kind-2", "KIND of two bytes", ["Form"], tlv(1, b"\0\1") + name, good=False)
    form("open-size-7", "SIZE of seven bytes", ["Form"], kind + name + tlv(3, bytes(7)), good=False)
    form("open-metadata-1025", "METADATA one byte too long", ["Form"], kind + name + tlv(4, bytes(1025)), good=False)
    form("open-critical", "an unknown critical entry", ["Form"], kind + name + tlv(0x8006, b""), good=False)
    form("open-order", "entries out of order", ["Form"], name + kind, good=False)

    # Numbers, places, cost, kinds.
    add("two-streams", "each has its own number", ["Numbers"], [came(announce(1), announce(2))])
    add("numbers-left-out", "gaps are allowed", ["Numbers"], [came(announce(3), announce(9)), came(filled(9, 5))])
    add("number-highest", "the highest number possible", ["Numbers"], [came(announce(0xFFFFFFFF))])
    add("own-and-theirs", "each end has its own channel 1", ["Numbers"],
        [start(), came(announce(1)), write(3), came(filled(1, 4)), came(coded("STOP", 1, "BUSY")), came(fin(1))])
    add("number-twice", "a number that is open", ["Numbers"], [came(announce(1)), came(announce(1))], "number")
    add("number-again", "a number that was closed", ["Numbers"], [came(announce(1), fin(1)), came(announce(1))], "number")
    add("number-lower", "a number that was skipped", ["Numbers"], [came(announce(5)), came(announce(4))], "number")
    add("bad-opening", "the entries are checked first", ["Numbers"], [came(piece("OPEN", 1, name))], "entries")
    two = dict(maxChannels=2)
    add("places-again", "FIN frees a place", ["Places"],
        [came(announce(1), announce(2)), came(fin(1)), came(announce(3))], local=two)
    add("places-after-reset", "RESET frees a place", ["Places"],
        [came(announce(1), announce(2)), came(coded("RESET", 2, "CANCELLED")), came(announce(3))], local=two)
    add("places-full", "one more than max_channels", ["Places"], [came(announce(1), announce(2), announce(3))], "places",
        local=two)
    add("places-resource", "a resource keeps its place until DONE", ["Places"],
        [came(announce(1, RESOURCE), fin(1)), came(announce(2)), done(), came(announce(3))], local=two)
    add("places-resource-full", "after FIN it still counts", ["Places"],
        [came(announce(1, RESOURCE), fin(1), announce(2), announce(3))], "places", local=two)
    add("places-stopped-full", "a stopped channel counts until it is answered", ["Places"],
        [came(announce(1), announce(2)), stop(), came(announce(3))], "places", local=two)
    add("places-none", "max_channels 0", ["Places"], [came(announce(1))], "places", local=dict(maxChannels=0))
    cost = 10 + LIMIT["channelOverhead"]
    add("cost-exact", "two OPENs spend the credit of messages", ["Cost"], [came(announce(1), announce(2))],
        local=dict(messageCredit=2 * cost))
    add("cost-beyond", "one byte of credit is missing", ["Cost"], [came(announce(1), announce(2))], "cost",
        local=dict(messageCredit=2 * cost - 1))
    add("cost-payload", "metadata costs too", ["Cost"], [came(announce(1, more=tlv(4, bytes(100))))], "cost",
        local=dict(messageCredit=cost + 103))
    add("cost-ignored-entry", "an ignored entry costs, too", ["Cost"],
        [came(announce(1, more=tlv(0x0A0A, bytes(100))))], "cost", local=dict(messageCredit=cost + 103))
    add("cost-returned", "taken channels return it", ["Cost"],
        [came(announce(1), announce(2)), accept(1), accept(2), came(announce(3))], local=dict(messageCredit=2 * cost))
    add("cost-kept", "FIN does not return it", ["Cost"], [came(announce(1), fin(1), announce(2), fin(2), announce(3))],
        "cost", local=dict(messageCredit=2 * cost))
    add("kind-unknown", "declined, and the cost is returned at once", ["Kinds"],
        [came(announce(1, 77)), came(filled(1, 100), coded("RESET", 1, "DECLINED")), came(announce(2))],
        local=dict(messageCredit=4 * cost))
    add("kind-unknown-fin", "FIN may already be in flight", ["Kinds"], [came(announce(1, 0), filled(1, 9), fin(1))])

    # Data and its credit.
    window = dict(channelCredit=4096)
    add("data-to-the-limit", "the first limit is that of HELLO", ["Credit"], [came(announce(1), filled(1, 4096))],
        local=window)
    add("data-beyond", "one byte more", ["Credit"], [came(announce(1), filled(1, 4096), filled(1, 1))], "credit",
        local=window)
    add("each-its-own", "each channel has a limit of its own", ["Credit"],
        [came(announce(1), announce(2), filled(1, 4096), filled(2, 4096))], local=window)
    add("credit-at-a-quarter", "CREDIT is sent when a quarter was taken", ["Credit"],
        [came(announce(1), filled(1, 4096)), take(1023), take(1), take(1024), came(filled(1, 2048))], local=window)
    add("credit-beyond-granted", "credit below a quarter is not granted", ["Credit"],
        [came(announce(1), filled(1, 4096)), take(1023), came(filled(1, 1))], "credit", local=window)
    add("no-credit-after-fin", "no credit is granted after FIN", ["Credit"],
        [came(announce(1, RESOURCE), filled(1, 4096), fin(1)), take(4096)], local=window)
    add("data-empty-8", "eight empty DATA frames in a row", ["Credit"],
        [came(announce(1), *[filled(1, 0)] * 8, filled(1, 1), filled(1, 0))])
    add("data-empty-9", "nine in a row", ["Credit"], [came(announce(1), *[filled(1, 0)] * 9)], "empty")
    add("sender-waits", "a sender stops at the limit", ["Credit"],
        [start(), write(5000), came(limit(1, 4500)), came(limit(1, 6000)), finish()], remote=window)
    add("sender-fin-waits", "FIN waits until the bytes are sent", ["Credit"],
        [start(), write(4097), finish(), came(limit(1, 4097))],
        remote=window)
    add("sender-zero", "a receiver may begin without credit", ["Credit"], [start(), write(1), came(limit(1, 1))],
        remote=dict(channelCredit=0))
    add("grow-equal", "CREDIT with the same limit", ["Credit"], [start(), came(limit(1, 4096))], "grow", remote=window)
    add("grow-lower", "CREDIT with a lower limit", ["Credit"], [start(), came(limit(1, 8192)), came(limit(1, 8191))], "grow",
        remote=window)
    add("grow-after-fin", "also after FIN of a resource", ["Credit"],
        [start(RESOURCE), finish(), came(limit(1, 5000)), came(limit(1, 5000))], "grow", remote=window)
    add("sender-place-waits", "OPEN waits for a place", ["Places"],
        [start(), start(name="t"), write(2, 2), write(1), finish()], remote=dict(maxChannels=1))
    add("sender-cost-waits", "OPEN waits for credit of messages", ["Cost"],
        [start(), start(name="t"), came(limit(0, 2 * cost))], remote=dict(messageCredit=cost))

    # Ends.
    digest = random.randbytes(32)
    add("stream-whole", "OPEN, DATA, FIN", ["End"], [came(announce(1), filled(1, 10), filled(1, 20), fin(1))])
    add("stream-aborted", "RESET in the middle", ["End"], [came(announce(1), filled(1, 10)), came(coded("RESET", 1, "INTERNAL"))])
    add("reset-unknown-code", "an unregistered code", ["End"],
        [came(announce(1)), came(piece("RESET", 1, u16(999)))])
    add("resource-whole", "with digest and DONE", ["End"],
        [came(announce(1, RESOURCE, b"r", tlv(3, u64(10)))), came(filled(1, 10), fin(1, digest)), done()])
    add("fin-of-a-stream-with-digest", "a stream may carry a digest too", ["End"], [came(announce(1), fin(1, digest))])
    add("fin-digest-31", "a digest of 31 bytes", ["End"], [came(announce(1), piece("FIN", 1, tlv(1, bytes(31))))], "entries")
    add("data-after-fin", "DATA after FIN", ["End"], [came(announce(1), fin(1), filled(1, 1))], "closed")
    add("data-after-fin-of-resource", "also before DONE", ["End"],
        [came(announce(1, RESOURCE), fin(1), filled(1, 1))], "closed")
    add("fin-twice", "FIN after FIN", ["End"], [came(announce(1, RESOURCE), fin(1), fin(1))], "closed")
    add("data-after-reset", "DATA after RESET", ["End"],
        [came(announce(1), coded("RESET", 1, "CANCELLED"), filled(1, 1))], "closed")
    add("data-left-out", "DATA on a number that was skipped", ["End"], [came(announce(2), filled(1, 1))], "closed")
    add("reset-twice", "the second is ignored", ["End"],
        [came(announce(1), *[coded("RESET", 1, "CANCELLED")] * 2), came(announce(2))])
    add("reset-left-out", "RESET of a number that was skipped is ignored", ["End"],
        [came(announce(2), coded("RESET", 1, "CANCELLED"))])
    add("reset-after-fin", "an opener may give up while it waits for DONE", ["End"],
        [came(announce(1, RESOURCE), fin(1)), came(coded("RESET", 1, "CANCELLED")), came(announce(2))])
    for name_, one in (("data", filled(1, 1)), ("fin", fin(1)), ("reset", coded("RESET", 1, "OK"))):
        add(f"{name_}-unopened", f"{name_.upper()} before any OPEN", ["End"], [came(one)], "opened")
    add("stop-answered", "the opener answers with RESET and the code", ["Stop"],
        [start(), write(5), came(coded("STOP", 1, "NO_SPACE")), came(coded("STOP", 1, "NO_SPACE"))])
    add("stop-drops-queue", "queued data is not written", ["Stop"],
        [start(), write(5000), finish(), came(coded("STOP", 1, "BUSY"))], remote=window)
    add("stop-after-fin", "a finished stream does not answer STOP", ["Stop"],
        [start(), finish(), came(coded("STOP", 1, "CANCELLED"))])
    add("stop-after-fin-of-resource", "a finished resource fails, and does not answer STOP", ["Stop"],
        [start(RESOURCE), finish(), came(coded("STOP", 1, "CANCELLED")), came(coded("DONE", 1, "OK"))])
    add("stop-crosses-reset", "STOP for a channel that was reset", ["Stop"],
        [start(), give_up(), came(coded("STOP", 1, "CANCELLED"))])
    add("stopping", "late DATA is dropped until RESET", ["Stop"],
        [came(announce(1), filled(1, 10)), stop(), came(filled(1, 20)), came(coded("RESET", 1, "CANCELLED")),
         came(announce(2))])
    add("stopping-fin", "FIN is an answer, too; there is no DONE", ["Stop"],
        [came(announce(1, RESOURCE)), stop("NO_SPACE"), came(filled(1, 20), fin(1)), came(announce(2))])
    add("stopping-late-beyond", "dropped bytes count", ["Stop"],
        [came(announce(1), filled(1, 4000)), stop(), came(filled(1, 97))], "credit", local=window)
    add("stopping-late-after-reset", "DATA after the answer", ["Stop"],
        [came(announce(1)), stop(), came(coded("RESET", 1, "CANCELLED"), filled(1, 1))], "closed")
    for name_, one in (("stop", coded("STOP", 1, "CANCELLED")), ("done", coded("DONE", 1, "OK")), ("credit", limit(1, 1 << 20))):
        add(f"{name_}-unopened", f"{name_.upper()} before this end has opened a channel", ["Stop"],
            [came(announce(1)), came(one)], "opened")
    add("stop-waiting", "STOP while OPEN still waits", ["Stop"], [start(), start(name="t"), came(coded("STOP", 2, "BUSY"))],
        "opened", remote=dict(maxChannels=1))
    add("given-up-waiting", "a channel cancelled before OPEN leaves a gap", ["Numbers"],
        [start(), start(name="t"), give_up(channel=2), start(name="u"), finish()], remote=dict(maxChannels=1))
    add("done-ends", "DONE frees the place", ["Done"],
        [start(RESOURCE, "a"), finish(), start(name="b"), came(coded("DONE", 1, "DIGEST"))], remote=dict(maxChannels=1))
    add("done-twice", "the second is ignored", ["Done"], [start(RESOURCE), finish(), came(*[coded("DONE", 1, "OK")] * 2)])
    add("done-crosses-reset", "RESET after FIN, while DONE is in flight", ["Done"],
        [start(RESOURCE), finish(), give_up(), came(coded("DONE", 1, "OK"))])
    add("done-of-stream", "DONE for a stream", ["Done"], [start(), came(coded("DONE", 1, "OK"))], "done")
    add("done-before-fin", "DONE before FIN", ["Done"], [start(RESOURCE), write(1), came(coded("DONE", 1, "OK"))], "done")
    add("done-fin-waits", "FIN waits for credit: it is not written yet", ["Done"],
        [start(RESOURCE), write(4097), finish(), came(coded("DONE", 1, "OK"))], "done", remote=window)
    add("stop-means-done", "a receiver that stops after FIN sends DONE", ["Done"],
        [came(announce(1, RESOURCE), fin(1)), stop("NO_SPACE"), came(announce(2))])

    # Resuming.
    offered = announce(1, RESOURCE, b"r", tlv(3, u64(10)) + resumable)
    asked = start(RESOURCE, "r", size=10, resumable=True)
    resume = lambda offset, channel=1: piece("RESUME", channel, u64(offset) + bytes([offset]) * 32)
    begin = lambda offset, channel=1: piece("BEGIN", channel, u64(offset))
    has = lambda offset, channel=1: dict(do="resume", channel=channel, offset=offset, sha256=(bytes([offset]) * 32).hex())
    go_on = lambda offset, channel=1: dict(do="begin", channel=channel, offset=offset)
    add("resumes-at-4", "the rest of a resource", ["Resume"],
        [came(offered), has(4), came(begin(4), filled(1, 6), fin(1)), done()])
    add("resumes-at-0", "the opener has other first bytes", ["Resume"],
        [came(offered), has(4), came(begin(0), filled(1, 10), fin(1)), done()])
    add("resumes-all", "nothing is missing but FIN", ["Resume"], [came(offered), has(10), came(begin(10), fin(1)), done()])
    add("resumes-not", "a declined one is not answered", ["Resume"],
        [came(offered), stop("DECLINED"), came(coded("RESET", 1, "DECLINED"))])
    add("resume-crosses-reset", "RESET while RESUME is in flight", ["Resume"],
        [came(offered), has(4), came(coded("RESET", 1, "CANCELLED"))])
    add("resume-then-stop", "BEGIN that crosses STOP is dropped", ["Resume"],
        [came(offered), has(4), stop(), came(begin(4), filled(1, 6)), came(coded("RESET", 1, "CANCELLED"))])
    add("begin-other", "neither the offset nor 0", ["Resume"], [came(offered), has(4), came(begin(3))], "offset")
    add("begin-beyond", "more than the receiver has", ["Resume"], [came(offered), has(4), came(begin(10))], "offset")
    add("begin-early", "BEGIN before RESUME", ["Resume"], [came(offered, begin(0))], "closed")
    add("begin-twice", "BEGIN after BEGIN", ["Resume"], [came(offered), has(4), came(begin(4), begin(4))], "closed")
    add("begin-of-stream", "BEGIN on a stream", ["Resume"], [came(announce(1), begin(0))], "closed")
    add("begin-of-resource", "BEGIN without RESUMABLE", ["Resume"], [came(announce(1, RESOURCE), begin(0))], "closed")
    add("begin-unopened", "BEGIN before any OPEN", ["Resume"], [came(begin(0))], "opened")
    add("data-before-resume", "DATA before RESUME", ["Resume"], [came(offered, filled(1, 1))], "closed")
    add("data-before-begin", "DATA before BEGIN", ["Resume"], [came(offered), has(4), came(filled(1, 1))], "closed")
    add("fin-before-begin", "FIN before BEGIN", ["Resume"], [came(offered), has(4), came(fin(1))], "closed")
    add("opener-resumes", "nothing is sent before BEGIN", ["Resume"],
        [asked, write(6), finish(), came(resume(4)), go_on(4), came(coded("DONE", 1, "OK"))])
    add("opener-differs", "it begins at 0", ["Resume"], [asked, came(resume(4)), go_on(0), write(10), finish()])
    add("opener-resumes-all", "SIZE is an offset", ["Resume"], [asked, came(resume(10)), go_on(10), finish()])
    add("opener-gives-up", "while it compares", ["Resume"], [asked, came(resume(4)), give_up(), came(resume(4))])
    add("opener-is-stopped", "while it compares", ["Resume"], [asked, came(resume(4)), came(coded("STOP", 1, "NO_SPACE"))])
    add("opener-credit", "the limit counts what is sent", ["Resume"],
        [asked, write(6), came(resume(4)), go_on(4), came(limit(1, 6))], remote=dict(channelCredit=4))
    add("resume-beyond", "an offset above SIZE", ["Resume"], [asked, came(resume(11))], "offset")
    add("resume-twice", "RESUME after RESUME", ["Resume"], [asked, came(resume(4), resume(4))], "closed")
    add("resume-after-begin", "RESUME after BEGIN", ["Resume"], [asked, came(resume(4)), go_on(4), came(resume(4))], "closed")
    add("resume-of-stream", "RESUME of a stream", ["Resume"], [start(), came(resume(0))], "closed")
    add("resume-of-resource", "RESUME without RESUMABLE", ["Resume"], [start(RESOURCE, size=10), came(resume(0))], "closed")
    add("resume-unopened", "RESUME before this end has opened a channel", ["Resume"], [came(resume(0))], "opened")
    add("done-before-begin", "DONE before BEGIN", ["Resume"], [asked, came(coded("DONE", 1, "OK"))], "done")

    # Rate limits.
    cycle = lambda *tail: [announce(1), *tail]
    add("free-streams", "1,000 empty streams at once are not a flood", ["Budget"],
        [came(*cycle(fin(1)), count=1000, stride=1)])
    add("ignored-400", "400 frames about closed channels", ["Budget"],
        [came(announce(1), fin(1)), came(coded("RESET", 1, "OK"), count=400)])
    add("ignored-401", "one more than allowed", ["Budget"],
        [came(announce(1), fin(1)), came(coded("RESET", 1, "OK"), count=401)], "budget")
    add("ignored-later", "100 each second", ["Budget"],
        [came(announce(1), fin(1)), came(coded("RESET", 1, "OK"), count=400),
         came(coded("RESET", 1, "OK"), count=100, at=1000)])
    add("resets-200", "200 resets", ["Budget"], [came(*cycle(coded("RESET", 1, "CANCELLED")), count=200, stride=1)])
    add("resets-201", "one more than allowed", ["Budget"],
        [came(*cycle(coded("RESET", 1, "CANCELLED")), count=201, stride=1)], "resets")
    add("resets-later", "one more each 150 ms", ["Budget"],
        [came(*cycle(coded("RESET", 1, "CANCELLED")), count=200, stride=1),
         came(announce(201), coded("RESET", 201, "CANCELLED"), at=150)])
    add("resets-answering", "a RESET that answers STOP does not count", ["Budget"],
        [came(announce(1, 9), coded("RESET", 1, "DECLINED"), count=300, stride=1)])
    notes = {"Form": "the entries of OPEN", "Numbers": "each end counts upwards", "Places": "how many are open at a time",
             "Cost": "OPEN spends the credit of messages", "Kinds": "an unknown kind is declined",
             "Credit": "bytes, their limit, and when it grows", "End": "FIN and RESET, and frames after them",
             "Stop": "STOP, its answer, and what crosses it", "Done": "DONE, once, after FIN of a resource",
             "Resume": "RESUMABLE, RESUME and BEGIN", "Budget": "which frames count as control frames, and how many resets are too many"}
    return document("channels", notes, [
        dict(type="channel-opening", spec="9", labels=["channel.name"], tests=openings["valid"] + openings["invalid"]),
        dict(type="channels", spec="9", tests=sequences["valid"],
             labels=["channel.number", "channel.limit", "channel.cost", "channel.kind", "channel.credit-return",
                     "channel.stop", "channel.late", "channel.closed", "channel.exempt", "stream.end", "resource.done", "resource.resumable",
                     "resource.begin"]),
        dict(type="channels", spec="9", tests=sequences["invalid"],
             labels=["channel.number", "channel.limit", "channel.cost", "channel.credit-limit", "channel.credit-grow",
                     "channel.closed", "channel.fin", "channel.reset-rate", "resource.done", "resource.resumable",
                     "resource.begin", "limit.empty", "limit.control"])])
