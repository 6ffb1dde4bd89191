"""mesh-traces.json: what one member of a mesh does, chapter 11.

`Member` is written from the chapter alone. Where the chapter says "at random", the model knows a window and refuses a
trace with a step inside that window, so that every expectation holds for any random choice.
"""

from . import connection_data, members, signatures
from .wire import LIMIT, REGISTRIES, Refused, document, seeded, sha256, test, u32

TIMER = {row["name"]: row["milliseconds"] for row in REGISTRIES["timers"]}
NAMES = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ivy", "joe", *(f"p{n:02}" for n in range(10, 44)), "una", "vic", "wim",
         "xia", "zoe"]
# The only peers that have keys: all in one mesh.
KEYED = ("una", "vic", "wim", "xia")
LAST, ANSWERED = 2 ** 32 - 1, 2 ** 31 - 1


class Window:
    """An event that happens once, at an unknown time between two known ones."""

    is_watched = True

    def __init__(self, first, last):
        self.first, self.last = first, last

    def is_over(self, now):
        assert not Window.is_watched or now < self.first or now > self.last, f"{now} is between {self.first} and {self.last}"
        return now > self.last


class Bucket:
    """A token bucket, in thousandths of a frame."""

    def __init__(self, size, rate):
        self.size, self.rate, self.level, self.since = 1000 * size, rate, 1000 * size, 0

    def take(self, now):
        self.level = min(self.size, self.level + self.rate * (now - self.since))
        self.since = now
        if self.level < 1000:
            return False
        self.level -= 1000
        return True


class Link:
    def __init__(self, peer, is_mesh, now):
        self.peer, self.is_mesh, self.is_fresh, self.queue = peer, is_mesh, True, {}
        self.since, self.is_dismissed = now, False
        self.sent = Bucket(LIMIT["entryBucketSent"], LIMIT["entriesSentPerSecond"])
        self.received = Bucket(LIMIT["entryBucket"], LIMIT["entriesPerSecond"])
        self.sent.since = self.received.since = now


class Member:
    """Endpoints are names; the part before `'` is the uid, and names sort like the uids."""

    def __init__(self, name, cap):
        self.name, self.cap, self.now = name, cap, 0
        self.links, self.entries, self.sequence, self.has_data = {}, {}, 0, False
        self.outside, self.departed, self.meetings, self.attempts = {}, {}, {}, {}
        self.set_aside, self.parted, self.missed = {}, {}, {}
        self.data = {}
        self.hold = self.crowded = self.crowded_hold = None
        self.forget()

    def forget(self):
        self.told, self.connects, self.withdrawn, self.hidden, self.dismissed, self.leaves = [], [], [], [], [], False

    # What follows from the entries.

    def mesh_links(self):
        return {link.peer for link in self.links.values() if link.is_mesh}

    def lists(self, name):
        return self.mesh_links() if name == self.name else set(self.entries.get(name, (0, ()))[1])

    def component(self):
        front = list(self.mesh_links())
        reached = {self.name, *front}
        while front:
            one = front.pop()
            for other in self.lists(one) - reached:
                if one in self.lists(other):
                    reached.add(other)
                    front.append(other)
        return reached

    def are_linked(self, one, other):
        if self.name in (one, other):
            return bool({one, other} & self.mesh_links())
        return other in self.lists(one) and one in self.lists(other)

    def pairs(self, peer, counted, component):
        """Returns the number of other counted uids to which it has a link."""
        return len({uid(other) for one in component if uid(one) == peer for other in component
                    if uid(other) in counted - {peer} and self.are_linked(one, other)})

    def is_vouched_for(self, name):
        witnesses = {uid(one) for one in self.mesh_links()
                     if one in self.entries and not self.is_hearsay(one) and name in self.lists(one)
                     and (name not in self.entries or one in self.lists(name))}
        return len(witnesses - {uid(name)}) >= 2

    def is_hearsay(self, name):
        """Returns whether the entry of the other end of a link was received before the link was made."""
        return any(link.peer == name and link.is_fresh for link in self.links.values())

    def is_real(self, name):
        at = self.meetings.get(name)
        return (name in self.mesh_links() or at is not None and self.now - at < TIMER["met"] or self.is_vouched_for(name))

    def counted(self):
        return {uid(self.name)} | {uid(one) for one in self.component() if one != self.name and self.is_real(one)}

    # Inputs.

    def publish(self):
        self.has_data = True
        self.own()

    def own(self, at_least=0):
        if self.has_data:
            self.sequence = max(self.sequence, at_least) + 1
            self.pass_on(self.name)

    def pass_on(self, name, but=None):
        for number, link in self.links.items():
            if link.is_mesh and number != but:
                link.queue.setdefault(name)

    def linked(self, number, peer, is_mesh):
        for held in (self.entries, self.set_aside) if is_mesh else ():
            if peer in held and held[peer][-1] != "own":
                del held[peer]
        if is_mesh and peer not in self.entries:
            self.has_room(peer, True)
        self.links[number] = Link(peer, is_mesh, self.now)
        self.attempts.pop(peer, None)
        for other, attempt in self.attempts.items():
            if uid(other) == uid(peer) and attempt["state"] == "connecting":
                self.pause(attempt)
        self.departed.pop(peer, None)
        self.parted.pop(peer, None)
        self.stop_missing(peer)
        if is_mesh:
            self.own()
            for name in sorted(self.entries):
                self.links[number].queue.setdefault(name)

    def forget_missed(self):
        self.missed = {name: until for name, until in self.missed.items() if self.now < until and name in self.entries}

    def stop_missing(self, name):
        """Forgets an endpoint, and the instances of its peer that did not become known after it."""
        for one in [one for one in self.missed if one == name or uid(one) == uid(name) and not self.is_later(one, name)]:
            del self.missed[one]

    def ended(self, number, departed, candidate_waits=False, lost=False):
        link = self.links.pop(number)
        dismissed = link.is_dismissed and not departed
        if dismissed:
            self.entries.pop(link.peer, None)
            self.meetings.pop(link.peer, None)
            self.parted[link.peer] = self.now + TIMER["setAside"]
            self.hold = self.crowded = self.crowded_hold = None
        elif departed:
            self.stop_missing(link.peer)
            self.entries.pop(link.peer, None)
            self.meetings.pop(link.peer, None)
            self.departed[link.peer] = self.now + TIMER["departed"]
        elif self.now - link.since < TIMER["meshSteady"]:
            self.attempts[link.peer] = dict(state="resting", failures=0, until=None, shown=False)
            self.pause(self.attempts[link.peer])
        if candidate_waits:
            self.attempts.setdefault(link.peer, dict(failures=0)).update(
                state="connecting", until=None, shown=True, visible=True, began=self.now, data=self.data.get(link.peer),
                kept=self.now + TIMER["meshCallback"])
        if lost and link.is_mesh and not departed and not dismissed:
            self.missed[link.peer] = self.now + TIMER["meshMissed"]
        hearsay = None if dismissed else self.set_aside.pop(link.peer, None)
        if hearsay and not departed:
            self.take(*hearsay)
        if link.is_mesh:
            self.own()

    def receive(self, number, name, sequence, listed, key="own", is_forged=False, data="data"):
        link = self.links[number]
        if not link.is_mesh:
            raise Refused("PROTOCOL", "link")
        if not link.received.take(self.now):
            raise Refused("FLOOD", "bucket")
        if key != self.key(name, key):
            if link.peer == name:
                raise Refused("PROTOCOL", "key")
            return
        if is_forged and self.is_news(link, name, sequence, listed):
            raise Refused("BAD_MAC", "signature")
        if name == self.name:
            mine = (self.sequence, sorted(self.mesh_links()))
            if self.sequence <= sequence <= ANSWERED and (sequence, listed) != mine:
                self.own(sequence)
            return
        if self.departed.get(name, 0) > self.now:
            return
        if name in self.parted or link.peer != name and name in self.mesh_links():
            if sequence > max(self.entries.get(name, (-1,))[0], self.set_aside.get(name, (0, 0, -1))[2]):
                self.set_aside[name] = (number, name, sequence, listed, data, key)
            return
        self.take(number, name, sequence, listed, data, key)

    def key(self, name, offered):
        """Returns the key that an endpoint has, as far as this member knows."""
        if name == self.name or any(link.peer == name for link in self.links.values()):
            return "own"
        held = self.entries.get(name) or self.set_aside.get(name)
        return held[-1] if held else offered

    def is_news(self, link, name, sequence, listed):
        """Returns whether an entry would be stored, set aside or answered."""
        if name == self.name:
            return sequence >= self.sequence and (sequence, listed) != (self.sequence, sorted(self.mesh_links()))
        if self.departed.get(name, 0) > self.now:
            return False
        if link.peer == name and link.is_fresh:
            return True
        known = [self.entries[name][0]] if name in self.entries else []
        if link.peer != name and name in self.set_aside:
            known.append(self.set_aside[name][2])
        return all(sequence > one for one in known)

    def take(self, number, name, sequence, listed, data, key):
        link = self.links.get(number)
        is_first_hand = link is not None and link.peer == name
        if name in self.entries and sequence <= self.entries[name][0] and not (is_first_hand and link.is_fresh):
            return
        if name not in self.entries and not self.has_room(name, is_first_hand):
            return
        if is_first_hand:
            link.is_fresh = False
        stored, former = (sequence, tuple(listed), key), (self.entries.get(name), self.data.get(name))
        self.entries[name] = stored
        self.data[name] = data
        if (stored, data) != former:
            self.pass_on(name, but=number)

    def has_room(self, name, is_linked):
        """Returns whether there is room for an entry, and makes room if possible.

        The own entry and each mesh link have a reserved place. """
        if name in self.mesh_links() or len(set(self.entries) | self.mesh_links()) < LIMIT["meshEntries"] - 1:
            return True
        others = [one for one in self.entries if one not in self.mesh_links()]
        outside = sorted(set(others) - self.component(), key=lambda one: (one in self.missed, self.outside[one]))
        doubtful = [one for one in others if not self.is_real(one)] if is_linked or self.is_real(name) else []
        assert outside or doubtful or not is_linked, "this model does not cover that case"
        for one in outside[:1] or doubtful[-1:]:
            del self.entries[one]
            return True
        return False

    def met(self, name):
        self.meetings[name] = self.now

    def failed(self, name, hopeless, code=None):
        attempt = self.attempts.get(name)
        if attempt and attempt["state"] == "connecting":
            self.pause(attempt)
            if hopeless:
                attempt.update(state="barred", data=self.data[name])
            if code in ("TIMEOUT", "UNKNOWN_PEER"):
                attempt.update(state="waiting", since=self.now, until=None)
            elif code == "FULL":
                if name in self.missed and name not in self.component():
                    end = self.now + TIMER["meshCrowded"]
                    attempt["until"] = Window(end, end)
            elif code not in (None, "CANCELLED"):
                self.missed.pop(name, None)
            if code == "UNKNOWN_PEER":
                attempt["refusals"] = attempt.get("refusals", 0) + 1
                if attempt["refusals"] == 3:
                    self.missed.pop(name, None)

    def pause(self, attempt):
        length = min(TIMER["meshRetryFirst"] << attempt["failures"], TIMER["meshRetryLast"])
        attempt.update(state="resting", until=Window(self.now + length // 2, self.now + length * 3 // 2),
                       failures=attempt["failures"] + 1, visible=False)

    def admits(self, peer, listed):
        if peer in self.component() and uid(self.name) in map(uid, listed):
            return True
        return len(self.counted() | {uid(one) for one in {peer} | set(listed)}) <= self.cap

    # Actions.

    def settle(self):
        """Does everything that is due now."""
        for name in sorted(name for name, until in self.parted.items() if until <= self.now):
            del self.parted[name]
            if name in self.set_aside:
                self.take(*self.set_aside.pop(name))
        component = self.component()
        self.forget_missed()
        for name in list(self.entries):
            if name in component:
                self.outside.pop(name, None)
            elif self.now - self.outside.setdefault(name, self.now) >= TIMER["entryOutside"] and name not in self.missed:
                del self.entries[name], self.outside[name]
        self.outside = {name: at for name, at in self.outside.items() if name in self.entries}
        self.dial_members(component)
        for number, link in self.links.items():
            link.queue = {name: None for name in link.queue if name == self.name or name in self.entries}
            while link.queue and link.sent.take(self.now):
                name = next(iter(link.queue))
                del link.queue[name]
                sequence, listed = ((self.sequence, sorted(self.mesh_links())) if name == self.name
                                    else self.entries[name][:2])
                self.told.append([number, name, sequence, list(listed)])
        self.evict(component)

    def is_later(self, one, other):
        """Returns whether the entry of one endpoint became known after that of another."""
        known = list(self.entries)
        return one in known and other in known and known.index(one) > known.index(other)

    def dial_members(self, component):
        peers = {link.peer for link in self.links.values()}
        wanted = {one for one in component | set(self.missed) if uid(one) != uid(self.name)
                  and all(uid(peer) != uid(one) or self.is_later(one, peer) for peer in peers)}
        for name in sorted(set(self.attempts) - wanted):
            attempt = self.attempts[name]
            if attempt["state"] == "connecting":
                if attempt.get("kept", 0) > self.now:
                    continue
                self.withdrawn.append(name)
                self.pause(attempt)
            attempt["shown"] = False
            if attempt["state"] != "resting" or attempt["until"].is_over(self.now):
                del self.attempts[name]
        for name in sorted(wanted - set(self.attempts)):
            self.attempts[name] = dict(state="waiting", since=self.now, failures=0, until=None, shown=False)
        for name, attempt in self.attempts.items():
            if name in wanted - component and attempt.get("kept", 0) <= self.now:
                if attempt.get("visible"):
                    self.hidden.append(name)
                attempt.update(shown=True, visible=False)
            if name in wanted and attempt["state"] == "resting" and attempt["until"].is_over(self.now):
                attempt.update(state="waiting", since=self.now)
            if name in wanted and attempt["state"] == "barred" and attempt["data"] != self.data[name]:
                attempt.update(state="waiting", since=self.now)
            if (name in wanted and attempt["state"] == "connecting" and attempt["data"] != self.data.get(name)
                    and self.now - attempt["began"] >= TIMER["meshFresh"]):
                self.connects.append([name, False])
                attempt.update(began=self.now, data=self.data.get(name))
        waiting = sorted((name not in component, one["since"], name) for name, one in self.attempts.items()
                         if one["state"] == "waiting")
        for is_outside, _, name in waiting:
            under_way = sum(one["state"] == "connecting" for one in self.attempts.values())
            has_slot = len(self.links) < self.cap - 1 or not is_outside and all(link.is_mesh for link in self.links.values())
            strangers = sum(self.attempts[one]["state"] == "connecting" for one in set(self.attempts) - component)
            attempt = self.attempts[name]
            others = [one for one in self.attempts if one != name and uid(one) == uid(name)]
            if any(self.attempts[one]["state"] == "waiting" and not self.attempts[one]["shown"] and self.is_later(one, name)
                   for one in others):
                continue
            if is_outside and strangers >= self.cap:
                continue
            former = [one for one in others if self.attempts[one]["state"] == "connecting"]
            if former and not self.is_later(name, former[0]):
                continue
            if former and attempt["shown"] and (is_outside or former[0] in component):
                continue
            if former:
                self.pause(self.attempts[former[0]])
                under_way -= 1
            if under_way < 2 * self.cap and not has_slot:
                # It is not dialled, and sent FULL if it dials.
                self.pause(attempt)
            elif under_way < 2 * self.cap:
                self.connects.append([name, not attempt["shown"]])
                attempt.update(state="connecting", visible=not attempt["shown"], shown=True, began=self.now, data=self.data[name], kept=0)

    def evict(self, component):
        counted = sorted(self.counted())
        too_many = len(counted) > self.cap
        self.hold = self.held(self.hold, too_many and uid(self.name) in counted[self.cap:])
        if not too_many:
            self.crowded = None
        elif self.crowded is None:
            self.crowded = self.now
        by_pairs = sorted(counted, key=lambda one: (-self.pairs(one, set(counted), component), one))
        self.crowded_hold = self.held(
            self.crowded_hold, too_many and self.now - self.crowded >= TIMER["backstop"]
            and uid(self.name) in by_pairs[self.cap:])
        if too_many and self.now - self.crowded >= TIMER["dismissal"]:
            for number, link in self.links.items():
                if link.is_mesh and not link.is_dismissed and uid(link.peer) in by_pairs[self.cap:]:
                    link.is_dismissed = True
                    self.dismissed.append(number)

    def held(self, hold, is_beyond):
        if not is_beyond:
            return None
        if hold is None:
            return Window(self.now + TIMER["evictionHold"], self.now + TIMER["evictionHoldLast"])
        if hold.is_over(self.now):
            self.leaves = True
        return hold

    def slept(self, to):
        if to - self.now > TIMER["slept"]:
            self.hold = self.crowded = self.crowded_hold = None
        self.now = to

    def advance(self, to):
        """Advances by a millisecond at a time while something waits, otherwise to the next event whose time is certain."""
        while self.now < to:
            moments = [to]
            moments += [at + TIMER["entryOutside"] for at in self.outside.values()]
            moments += [at + TIMER["met"] for at in self.meetings.values()]
            moments += [one["until"].last + 1 for one in self.attempts.values() if one["state"] == "resting"]
            moments += [hold.last + 1 for hold in (self.hold, self.crowded_hold) if hold]
            moments += list(self.parted.values()) + list(self.missed.values())
            moments += [one["kept"] for one in self.attempts.values() if one.get("kept")]
            moments += [one["began"] + TIMER["meshFresh"] for one in self.attempts.values() if one["state"] == "connecting"]
            moments += [self.crowded + TIMER[name] for name in ("backstop", "dismissal")] if self.crowded is not None else []
            moments += [self.now + 1 for link in self.links.values() if link.queue]
            self.now = min(moment for moment in moments if moment > self.now)
            Window.is_watched = self.now == to
            self.settle()


def uid(name):
    return name.split("'")[0]


class Trace:
    """The steps of one member; each states the expectations that it is about, and the model computes all of them."""

    def __init__(self, id, comment, flags, name="dan", cap=8, cast=None):
        self.head, self.member, self.steps = (id, comment, flags), Member(name, cap), []
        self.cast = cast
        self.verdict = None
        self.step(0, "publish", Member.publish)

    def step(self, at, do, action, fields=None, **expected):
        assert self.verdict is None, (self.head, "continues after a fault")
        member = self.member
        member.forget()
        member.advance(at)
        step = dict(at=at, do=do, **(fields or {}))
        answer = None
        try:
            answer = action(member)
        except Refused as refused:
            self.verdict = refused
            step["error"] = refused.code
        member.settle()
        seen = dict(component=sorted(member.component() - {member.name}), told=sorted(member.told), connects=sorted(member.connects),
                    withdrawn=sorted(member.withdrawn), hidden=sorted(member.hidden), leaves=member.leaves, dismissed=member.dismissed,
                    held=[[one, entry[0]] for one, entry in sorted(member.entries.items())], own=member.sequence,
                    error=step.get("error"), admitted=answer)
        for key, value in expected.items():
            assert seen[key] == value, (self.head[0], at, do, key, seen[key], value)
        step["component"] = seen["component"]
        for key in ("told", "connects", "withdrawn", "hidden", "dismissed", "leaves"):
            if seen[key]:
                step[key] = seen[key]
        if do == "admit":
            step["admitted"] = answer
        self.steps.append(step)
        return self

    def link(self, at, number, peer, mesh=True, **expected):
        return self.step(at, "link", lambda one: one.linked(number, peer, mesh), dict(link=number, to=peer, mesh=mesh),
                         **expected)

    def end(self, at, number, departed=False, candidate=False, lost=False, **expected):
        more = dict(**(dict(candidate=True) if candidate else {}), **(dict(lost=True) if lost else {}))
        return self.step(at, "end", lambda one: one.ended(number, departed, candidate, lost),
                         dict(link=number, departed=departed, **more), **expected)

    def entry(self, at, number, name, sequence, listed, count=1, key="own", signs=None, data="data", **expected):
        """`key`: the key that the entry names, of its endpoint or of another peer; `signs`: the one that signs it, or that
        signed it when its list was empty; `data`: which mesh data of its endpoint it carries."""
        listed = sorted(listed.split() if isinstance(listed, str) else listed)

        def receive(member):
            for _ in range(count):
                member.receive(number, name, sequence, listed, key, is_forged=signs is not None, data=data)

        fields = dict(link=number, entry=[name, sequence, listed], count=count, **(dict(data=data) if data != "data" else {}))
        if self.cast:
            fields["hex"] = self.cast.payload(name, sequence, listed, key, signs).hex()
        return self.step(at, "receive", receive, fields, **expected)

    def met(self, at, name, **expected):
        return self.step(at, "met", lambda one: one.met(name), dict(peer=name), **expected)

    def failed(self, at, name, hopeless=False, code=None, **expected):
        return self.step(at, "failed", lambda one: one.failed(name, hopeless, code),
                         dict(peer=name, hopeless=hopeless, **(dict(code=code) if code else {})), **expected)

    def admit(self, at, name, listed, admitted):
        listed = sorted(listed.split())
        return self.step(at, "admit", lambda one: one.admits(name, listed), dict(peer=name, list=listed), admitted=admitted)

    def renew(self, at, **expected):
        return self.step(at, "publish", Member.publish, dict(data="second"), **expected)

    def look(self, at, **expected):
        return self.step(at, "look", lambda one: None, **expected)

    def sleep(self, at, **expected):
        """Does not run until this time, of which it notices nothing before."""
        self.member.slept(at)
        return self.step(at, "sleep", lambda one: None, **expected)

    def made(self, error=None):
        assert (self.verdict.code if self.verdict else None) == error, (self.head, self.verdict)
        member = self.member
        fields = dict(local=member.name, cap=member.cap, steps=self.steps,
                      held=[[one, entry[0]] for one, entry in sorted(member.entries.items())] + [[member.name, member.sequence]])
        fields["held"].sort()
        fields.update(dict(result="invalid", error=self.verdict.code, check=self.verdict.check) if self.verdict
                      else dict(result="valid"))
        return test(*self.head, **fields)


class Cast:
    """The peers that have keys, and what they send, byte for byte."""

    def __init__(self, random, peers):
        self.peers = peers
        self.keys = {name: signatures.ECDSA(signatures.P256, random.randbytes(32)) for name in KEYED}
        self.certificates = {name: signatures.certificate(key, number) for number, (name, key)
                             in enumerate(self.keys.items(), 1)}

    def data(self, name, key="own", part="data"):
        """Returns the mesh data of a peer, with the key of another one if `key` names one."""
        fingerprint = sha256(self.certificates[name if key == "own" else key])
        return blob(self.peers[name][part], fingerprint)

    def payload(self, name, sequence, listed, key, signs):
        def encode(listed, signer):
            return members.encode(self.endpoint(name), sequence, [self.endpoint(one) for one in listed], self.data(name, key),
                                  self.certificates[name if key == "own" else key], signer.sign)

        own = self.keys[name if key == "own" else key]
        if signs == "former":
            former, wrong = encode([], own), encode(listed, own)
            length = len(members.read(former)["signature"]) // 2
            cut = len(wrong) - len(members.read(wrong)["signature"]) // 2
            return wrong[:cut] + former[-length:]
        return encode(listed, self.keys[signs] if signs else own)

    def endpoint(self, name):
        return self.peers[name]["uid"] + self.peers[name]["instance"]


def blob(peer, fingerprint=None):
    """Returns the mesh data of a peer: one that never encrypts, or one with a key."""
    pairs = {connection_data.PEER: peer["uid"] + peer["name"].encode(), connection_data.INSTANCE: peer["instance"],
             connection_data.PREFERENCE: b"\0" if fingerprint else b"\2"}
    if fingerprint:
        pairs[connection_data.FINGERPRINT] = b"\1" + fingerprint
    pairs |= {connection_data.TOKEN: peer["token"], connection_data.LIFETIME: u32(86400)}
    entries = b"".join(connection_data.tlv(kind, value) for kind, value in pairs.items())
    address = connection_data.candidate(bytes([192, 0, 2, peer["number"]]), 49152)
    return connection_data.seal(entries + connection_data.tlv(16, address), flags=1)


def full(trace, names, at=10):
    """Returns a trace with mesh links to all of these peers, one after the other, which have links to each other."""
    for number, name in enumerate(names, 1):
        trace.link(at, number, name)
        trace.entry(at, number, name, 5, [trace.member.name] + [other for other in names if other != name])
        at += 5
    return trace


def hub(trace, names, at=10):
    """Returns a trace with a mesh link to the first peer, which then gets links to all others, one after the other."""
    first, rest = names[0], names[1:]
    trace.link(at, 1, first)
    trace.entry(at, 1, first, 5, [trace.member.name] + rest)
    for number, name in enumerate(rest, 1):
        trace.entry(at + 10 * number, 1, name, 5, [first])
    return trace


def spreading():
    yield Trace("alone", "no other member", ["Component"]).look(100000, component=[], own=1).made()
    yield (Trace("first-link", "two peers link: each makes an entry that lists the other", ["Component"])
           .link(10, 1, "bob", told=[[1, "dan", 2, ["bob"]]], component=["bob"])
           .entry(12, 1, "bob", 2, "dan", component=["bob"], told=[], connects=[]).made())
    yield (Trace("not-listed-back", "the member's own link needs no entry from the other end", ["Component"])
           .link(10, 1, "bob", component=["bob"]).entry(12, 1, "bob", 1, "", component=["bob"])
           .entry(14, 1, "bob", 2, "dan", component=["bob"]).made())
    yield (Trace("second-link", "the second peer gets everything, the first only what changed", ["Flood"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan")
           .link(20, 2, "cat", told=[[1, "dan", 3, ["bob", "cat"]], [2, "bob", 2, ["dan"]], [2, "dan", 3, ["bob", "cat"]]])
           .entry(22, 2, "cat", 2, "dan", told=[[1, "cat", 2, ["dan"]]], component=["bob", "cat"]).made())
    yield (Trace("not-back", "an entry is not sent back to where it came from", ["Flood"])
           .link(10, 1, "bob").link(11, 2, "cat").link(12, 3, "eve")
           .entry(20, 2, "hal", 4, "cat", told=[[1, "hal", 4, ["cat"]], [3, "hal", 4, ["cat"]]]).made())
    yield (Trace("held-for-later", "an entry outside the component is also held and forwarded", ["Flood"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan").entry(14, 1, "gus", 3, "hal", component=["bob"], connects=[])
           .link(20, 2, "cat", told=[[1, "dan", 3, ["bob", "cat"]], [2, "bob", 2, ["dan"]], [2, "dan", 3, ["bob", "cat"]],
                                     [2, "gus", 3, ["hal"]]]).made())
    for id, comment, sequence, told in (("newer", "a higher sequence replaces the entry", 8, True),
                                        ("newer-by-far", "sequences may be skipped", LAST, True),
                                        ("equal", "the same sequence is ignored, whatever the entry contains", 7, False),
                                        ("older", "a lower sequence is ignored", 6, False),
                                        ("oldest", "the lowest sequence is ignored, too", 1, False)):
        yield (Trace(id, comment, ["Newer"]).link(10, 1, "bob").link(11, 2, "cat").entry(20, 1, "hal", 7, "bob")
               .entry(30, 1, "hal", sequence, "bob cat", told=[[2, "hal", sequence, ["bob", "cat"]]] if told else [],
                      held=[["hal", sequence if told else 7]]).made())
    yield (Trace("newer-elsewhere", "the newer entry comes on another link", ["Newer"]).link(10, 1, "bob")
           .link(11, 2, "cat")
           .entry(20, 1, "hal", 7, "bob").entry(30, 2, "hal", 8, "cat", told=[[1, "hal", 8, ["cat"]]])
           .entry(40, 1, "hal", 8, "cat", told=[]).made())
    yield (Trace("two-instances", "entries of an earlier and a restarted instance are both held", ["Newer"])
           .link(10, 1, "bob").entry(20, 1, "hal", 7, "bob").entry(30, 1, "hal'", 1, "bob", held=[["hal", 7], ["hal'", 1]])
           .made())
    yield (Trace("first-hand", "a linked peer's entry is taken only from that peer", ["FirstHand"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan").link(20, 2, "cat")
           .entry(30, 2, "bob", 9, "", told=[], held=[["bob", 2]])
           .entry(40, 1, "bob", 3, "dan hal", told=[[2, "bob", 3, ["dan", "hal"]]]).made())
    yield (Trace("first-hand-replaces", "the first entry on its own link replaces a higher one", ["FirstHand"])
           .link(10, 2, "cat").entry(12, 2, "cat", 2, "dan").entry(14, 2, "bob", LAST, "")
           .link(20, 1, "bob").entry(22, 1, "bob", 2, "dan", held=[["bob", 2], ["cat", 2]], component=["bob", "cat"],
                                     told=[[2, "bob", 2, ["dan"]]])
           .entry(30, 1, "bob", 2, "", held=[["bob", 2], ["cat", 2]], component=["bob", "cat"]).made())
    yield (Trace("first-hand-over", "when the link is gone, entries from others count again", ["FirstHand"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan").link(20, 2, "cat").entry(22, 2, "cat", 2, "dan").end(30, 1)
           .entry(40, 2, "bob", 2, "dan", told=[]).entry(41, 2, "bob", 3, "", held=[["bob", 3], ["cat", 2]]).made())
    yield (Trace("set-aside", "entries from others, set aside meanwhile, count when the link is gone", ["FirstHand"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan eve").entry(13, 1, "eve", 2, "bob").link(20, 2, "cat")
           .entry(22, 2, "cat", 2, "dan bob").entry(30, 2, "bob", 8, "cat eve", held=[["bob", 2], ["cat", 2], ["eve", 2]])
           .entry(31, 2, "bob", 9, "cat", told=[], held=[["bob", 2], ["cat", 2], ["eve", 2]])
           .end(40000, 1, held=[["bob", 9], ["cat", 2], ["eve", 2]], component=["bob", "cat"], withdrawn=["eve"],
                connects=[["bob", True]]).made())
    yield (Trace("set-aside-overtaken", "unless the peer itself had sent a newer one", ["FirstHand"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan").link(20, 2, "cat").entry(30, 2, "bob", 8, "cat eve")
           .entry(31, 1, "bob", 9, "cat dan").end(40000, 1, held=[["bob", 9]]).made())
    yield (Trace("set-aside-unheard", "also if the peer itself never sent an entry", ["FirstHand"])
           .link(10, 1, "bob").link(20, 2, "cat").entry(22, 2, "cat", 2, "dan bob").entry(30, 2, "bob", 8, "cat", held=[["cat", 2]])
           .end(31, 1, held=[["bob", 8], ["cat", 2]], component=["bob", "cat"]).made())
    yield (Trace("set-aside-departed", "unless the peer departed", ["FirstHand", "Departed"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan").link(20, 2, "cat").entry(30, 2, "bob", 8, "cat eve")
           .end(40000, 1, True, held=[]).made())
    yield (Trace("own-older", "the member's own entry comes back", ["Own"]).link(10, 1, "bob").link(11, 2, "cat")
           .entry(20, 1, "dan", 2, "bob", own=3, told=[]).made())
    for id, sequence in (("own-equal", 3), ("own-newer", 900), ("own-highest", ANSWERED)):
        own = sequence + 1
        yield (Trace(id, "another entry of this session: the next sequence is above it", ["Own"]).link(10, 1, "bob")
               .link(11, 2, "cat")
               .entry(20, 1, "dan", sequence, "", own=own,
                      told=[[1, "dan", own, ["bob", "cat"]], [2, "dan", own, ["bob", "cat"]]]).made())
    for id, sequence in (("own-too-high", ANSWERED + 1), ("own-last", LAST)):
        yield (Trace(id, "a peer cannot use up the sequences of another", ["Own"]).link(10, 1, "bob").link(11, 2, "cat")
               .entry(20, 1, "dan", sequence, "", own=3, told=[]).made())
    yield (Trace("own-same", "the same entry that the member has itself", ["Own"]).link(10, 1, "bob").link(11, 2, "cat")
           .entry(20, 1, "dan", 3, "bob cat", own=3, told=[]).made())
    yield (Trace("own-uid", "another instance of this uid is held and forwarded, but never dialled", ["Own"])
           .link(10, 1, "bob").entry(12, 1, "bob", 2, "dan dan'").link(14, 2, "cat")
           .entry(20, 1, "dan'", 4, "bob", told=[[2, "dan'", 4, ["bob"]]], connects=[], component=["bob", "cat", "dan'"]).made())
    yield (Trace("renewed", "new mesh data is a new entry", ["Own"]).link(10, 1, "bob")
           .renew(43200000, told=[[1, "dan", 3, ["bob"]]]).made())
    yield (Trace("link-ended", "the others are notified", ["Own"]).link(10, 1, "bob").link(11, 2, "cat")
           .end(20, 1, told=[[2, "dan", 4, ["cat"]]]).end(30, 2, told=[], own=5).made())
    yield (Trace("direct", "a direct link does not take part", ["Direct"]).link(10, 1, "bob").entry(12, 1, "bob", 2, "dan")
           .link(20, 2, "cat", mesh=False, told=[], own=2, component=["bob"]).entry(30, 1, "bob", 3, "dan hal", told=[])
           .end(40, 2, told=[], own=2).made())
    yield (Trace("direct-members", "MEMBERS on a direct link", ["Direct"]).link(10, 1, "bob", mesh=False)
           .entry(12, 1, "bob", 2, "dan").made("PROTOCOL"))
    yield pace()
    most = LIMIT["entryBucket"]
    yield (Trace("patient", "as many entries as the bucket holds are accepted at once", ["Pace"]).link(10, 1, "bob")
           .entry(20, 1, "bob", 2, "dan", count=most).made())
    yield (Trace("flood", "one more is not, although all but one were ignored", ["Pace"]).link(10, 1, "bob")
           .entry(20, 1, "bob", 2, "dan", count=most).entry(20, 1, "bob", 3, "dan").made("FLOOD"))
    yield (Trace("flood-soon-after", "nor a moment later", ["Pace"]).link(10, 1, "bob")
           .entry(20, 1, "bob", 2, "dan", count=most)
           .entry(55, 1, "bob", 3, "dan").made("FLOOD"))
    flood = Trace("steady", "20 per second can continue indefinitely", ["Pace"]).link(10, 1, "bob")
    flood.entry(20, 1, "bob", 2, "dan", count=most)
    for number in range(1, 9):
        flood.entry(20 + 200 * number, 1, "bob", 70 + number, "dan", count=4)
    yield flood.made()
    yield (Trace("silent-for-long", "a network that stalled for 10 s delivers many at once", ["Pace"]).link(10, 1, "bob")
           .entry(10020, 1, "bob", 2, "dan", count=LIMIT["entryBucketSent"] + 10 * LIMIT["entriesSentPerSecond"]).made())


def pace():
    trace = Trace("pace", "32 at once, then 15 per second; only the newest entry waits", ["Pace"]).link(10, 1, "bob")
    trace.entry(12, 1, "bob", 2, "dan")
    for number in range(10, 35):
        trace.entry(number, 1, f"p{number}", 1, "")
    trace.link(5000, 2, "cat")
    burst = [one for one in trace.steps[-1]["told"] if one[0] == 2]
    assert len(burst) == 27
    for sequence in range(10, 15):
        trace.entry(5000, 1, "bob", sequence, "dan", told=[[2, "bob", sequence, ["dan"]]])
    trace.entry(5000, 1, "bob", 100, "dan", told=[]).entry(5010, 1, "bob", 101, "dan hal", told=[])
    trace.look(5060, told=[]).look(5075, told=[[2, "bob", 101, ["dan", "hal"]]])
    return trace.look(8000, told=[]).made()


def dialling():
    def introduced(*head, **options):
        """Returns a trace in which bob introduces cat at 20 ms."""
        return (Trace(*head, **options).link(10, 1, "bob").entry(12, 1, "bob", 2, "cat dan")
                .entry(20, 1, "cat", 2, "bob", component=["bob", "cat"], connects=[["cat", True]]))

    yield introduced("introduction", "two lists agree: an unlinked member is dialled", ["Dial"]).made()
    yield (Trace("introduction-reversed", "the entries arrive in the other order", ["Dial"]).link(10, 1, "bob")
           .entry(12, 1, "cat", 2, "bob", connects=[]).entry(20, 1, "bob", 2, "cat dan", connects=[["cat", True]]).made())
    yield (Trace("one-sided", "one list alone is not enough", ["Dial", "Component"]).link(10, 1, "bob").entry(12, 1, "bob", 2, "cat dan")
           .entry(20, 1, "cat", 2, "", component=["bob"], connects=[])
           .entry(30, 1, "cat", 3, "bob", component=["bob", "cat"], connects=[["cat", True]]).made())
    yield (Trace("one-sided-other", "neither is the other list alone", ["Dial", "Component"]).link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "dan")
           .entry(20, 1, "cat", 2, "bob", component=["bob"], connects=[])
           .entry(30, 1, "bob", 3, "cat dan", component=["bob", "cat"], connects=[["cat", True]]).made())
    yield (Trace("chain", "the component extends as far as lists agree", ["Dial", "Component"]).link(10, 1, "bob")
           .entry(12, 1, "eve", 2, "cat fay").entry(14, 1, "fay", 2, "eve gus").entry(16, 1, "cat", 2, "bob eve")
           .entry(20, 1, "bob", 2, "cat dan", component=["bob", "cat", "eve", "fay"],
                  connects=[["cat", True], ["eve", True], ["fay", True]]).made())
    yield (Trace("not-ours", "a peer claims to be linked to this session, and is not", ["Dial", "Component"])
           .link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "dan").entry(20, 1, "cat", 2, "dan", component=["bob"], connects=[]).made())
    yield (Trace("both-instances", "only the listed instance is a member", ["Dial", "Component"]).link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "cat' dan").entry(20, 1, "cat", 2, "bob", component=["bob"], connects=[])
           .entry(30, 1, "cat'", 1, "bob", component=["bob", "cat'"], connects=[["cat'", True]]).made())
    yield (introduced("found", "once there is a link, the member is not dialled", ["Dial"])
           .link(100, 2, "cat", withdrawn=[], connects=[]).look(60000, connects=[]).made())
    yield (introduced("found-directly", "a direct link is sufficient", ["Dial", "Direct"])
           .link(100, 2, "cat", mesh=False, withdrawn=[])
           .look(60000, connects=[]).end(60001, 2, connects=[["cat", True]]).made())
    yield (introduced("pause", "after a failure the member is dialled again, unreported", ["Retry"])
           .failed(30020, "cat", connects=[])
           .look(30519, connects=[]).look(31522, connects=[["cat", False]]).made())
    trace = introduced("pauses", "the pause doubles up to 2 s", ["Retry"])
    at = 30000
    for pause in (1000, 2000, 2000, 2000, 2000):
        trace.failed(at, "cat", connects=[]).look(at + pause // 2 - 1, connects=[])
        trace.look(at + pause * 3 // 2 + 2, connects=[["cat", False]])
        at += pause * 3 // 2 + 30000
    yield trace.made()
    yield (introduced("link-ends-the-pauses", "a link resets the back-off", ["Retry"]).failed(30000, "cat")
           .look(31502, connects=[["cat", False]]).failed(61000, "cat").look(64002, connects=[["cat", False]]).link(65000, 2, "cat")
           .end(95000, 2, connects=[["cat", True]]).failed(100000, "cat").look(100499, connects=[]).look(101502, connects=[["cat", False]])
           .made())
    yield (introduced("short-link", "a link of less than 30 s counts as a failure, but was reported", ["Retry"])
           .link(100, 2, "cat")
           .end(30099, 2, connects=[]).look(30598, connects=[]).look(31601, connects=[["cat", True]]).failed(40000, "cat")
           .look(40999, connects=[]).look(43002, connects=[["cat", False]]).made())
    yield (introduced("short-link-again", "the next pause is as long: the failures before a link do not count", ["Retry"]).failed(1000, "cat").look(2502, connects=[["cat", False]])
           .link(2600, 2, "cat").end(5000, 2, connects=[]).look(5499, connects=[]).look(6502, connects=[["cat", True]]).made())
    yield introduced("hopeless", "an attempt that can never succeed is not repeated", ["Retry"]).failed(30, "cat",
                                                                                                        True).look(
        3600000, connects=[]).made()
    yield (introduced("hopeless-again", "unless the member enters the component again", ["Retry"]).failed(30, "cat", True)
           .entry(1000, 1, "cat", 3, "", component=["bob"]).entry(2000, 1, "cat", 4, "bob", connects=[["cat", True]]).made())
    yield (introduced("withdrawn", "a peer that leaves the component is no longer dialled", ["Withdraw"])
           .entry(100, 1, "cat", 3, "", component=["bob"], withdrawn=["cat"]).made())
    yield (introduced("withdrawn-with-the-link", "the link ends through which the member was known", ["Withdraw"])
           .end(100, 1, component=[], withdrawn=["cat"]).made())
    yield (introduced("nothing-to-withdraw", "during a pause there is no attempt", ["Withdraw", "Retry"])
           .failed(30000, "cat")
           .entry(30100, 1, "cat", 3, "", withdrawn=[]).look(70000, connects=[]).made())
    yield (introduced("back", "a member that comes back counts as new", ["Withdraw", "Retry"]).failed(30000, "cat")
           .entry(30100, 1, "cat", 3, "")
           .look(33000).entry(40000, 1, "cat", 4, "bob", connects=[["cat", True]]).failed(60200, "cat").look(60699, connects=[])
           .look(61702, connects=[["cat", False]]).made())
    yield (introduced("back-soon", "but not before the end of its pause", ["Withdraw", "Retry"]).failed(30000, "cat")
           .entry(30100, 1, "cat", 3, "").entry(30200, 1, "cat", 4, "bob", connects=[]).look(30499, connects=[])
           .look(31502, connects=[["cat", True]]).made())
    yield (introduced("back-after-withdrawal", "a withdrawn attempt counts as a failure, too", ["Withdraw", "Retry"])
           .entry(1000, 1, "cat", 3, "", withdrawn=["cat"]).entry(1200, 1, "cat", 4, "bob", connects=[]).look(1499, connects=[])
           .look(2502, connects=[["cat", True]]).made())
    yield (introduced("broken", "a link ends, and others still have links to the peer", ["Dial"]).link(100, 2, "cat")
           .entry(102, 2, "cat", 3, "bob dan").end(30101, 2, connects=[["cat", True]], component=["bob", "cat"]).made())
    yield (introduced("dead", "then the links of the others end, too", ["Dial", "Withdraw"]).link(100, 2, "cat")
           .entry(102, 2, "cat", 3, "bob dan")
           .end(40000, 2, connects=[["cat", True]]).entry(40400, 1, "bob", 3, "dan", component=["bob"], withdrawn=["cat"]).made())
    yield (introduced("failed-twice", "the end of an attempt that is no longer under way changes nothing", ["Retry"]).failed(30000, "cat")
           .failed(30400, "cat", True, connects=[]).look(31502, connects=[["cat", False]])
           .entry(40000, 1, "cat", 3, "", withdrawn=["cat"]).failed(40001, "cat", True).look(50000).failed(50001, "cat")
           .entry(50002, 1, "cat", 4, "bob", connects=[["cat", True]]).made())
    yield (introduced("direct-short", "a direct link of less than 30 s counts as a failure, too", ["Retry", "Direct"])
           .link(100, 2, "cat", mesh=False).end(30099, 2, connects=[]).look(30598, connects=[]).look(31601, connects=[["cat", True]]).made())
    crowd = ["eve", "fay", "gus", "hal", "ivy", "joe", "p10", "p11"]
    trace = hub(Trace("crowd", "twice the cap are dialled at once; the one that waited longest is next", ["Dial"], cap=3),
                ["bob"] + crowd)
    trace.look(100, component=["bob"] + crowd, connects=[])
    trace.failed(30000, "fay", connects=[["p10", True]])
    yield trace.look(33000, connects=[]).failed(33010, "gus", connects=[["p11", True]]).made()
    trace = hub(Trace("crowd-withdrawn", "a withdrawn attempt frees a place, too", ["Dial", "Withdraw"], cap=3),
                ["bob"] + crowd)
    yield trace.entry(100, 1, "eve", 6, "", withdrawn=["eve"], connects=[["p10", True]]).made()
    yield (introduced("fresh", "newer data of a member replaces that of an attempt that is 5 s old", ["Dial"])
           .entry(3000, 1, "cat", 3, "bob", data="second", connects=[]).look(5018, connects=[]).look(5022, connects=[["cat", False]])
           .look(20000, connects=[]).made())
    yield (introduced("fresh-late", "at once, if the attempt is older", ["Dial"])
           .entry(9000, 1, "cat", 3, "bob", data="second", connects=[["cat", False]]).failed(39000, "cat", connects=[])
           .look(39499, connects=[]).look(40502, connects=[["cat", False]]).made())
    yield (introduced("hopeless-fresh", "newer data ends the wait of a hopeless one", ["Retry"]).failed(30, "cat", True)
           .entry(1000, 1, "cat", 3, "bob", connects=[])
           .entry(2000, 1, "cat", 4, "bob", data="second", connects=[["cat", False]]).made())
    yield (introduced("restarted", "of two instances, the one that became known later is dialled instead", ["Dial"])
           .entry(100, 1, "bob", 3, "cat cat' dan").entry(200, 1, "cat'", 1, "bob", connects=[["cat'", True]], withdrawn=[])
           .failed(2000, "cat'", connects=[["cat", False]]).look(4000, connects=[])
           .entry(4100, 1, "bob", 4, "cat' dan", component=["bob", "cat'"], withdrawn=["cat"]).made())
    yield (introduced("restarted-linked", "a linked peer's later instance is dialled, an earlier one is not", ["Dial"])
           .link(100, 2, "cat").entry(110, 2, "cat", 3, "bob dan").entry(120, 1, "bob", 3, "cat cat' dan")
           .entry(200, 1, "cat'", 1, "bob", component=["bob", "cat", "cat'"], connects=[["cat'", True]])
           .link(300, 3, "cat'").end(301, 2, departed=True).look(40000, connects=[]).made())

    def left(*head):
        """Returns a trace in which the link to cat ends after 40 s, while a candidate of cat waits; cat is a member no longer."""
        return (introduced(*head).link(100, 2, "cat").entry(102, 2, "cat", 3, "bob dan").entry(30000, 1, "bob", 3, "dan")
                .end(40100, 2, candidate=True, component=["bob"], connects=[], withdrawn=[]))

    yield (left("candidate-waits", "the attempt goes on for 4 s if a candidate waited for the link's place", ["Withdraw"])
           .look(44098, withdrawn=[]).look(44102, withdrawn=["cat"], connects=[]).look(60000, connects=[]).made())
    yield (left("candidate-waits-links", "and may lead to a link", ["Withdraw"]).link(41000, 3, "cat", withdrawn=[])
           .look(60000, withdrawn=[], connects=[]).made())
    yield (left("candidate-waits-member", "or go on, for a member", ["Withdraw"])
           .entry(41000, 1, "bob", 4, "cat dan", component=["bob", "cat"], connects=[]).look(60000, withdrawn=[], connects=[])
           .entry(61000, 1, "bob", 5, "dan", withdrawn=["cat"]).made())
    yield (introduced("candidate-waits-short", "also after a short link, which counts as a failure", ["Withdraw", "Retry"])
           .link(100, 2, "cat").entry(102, 2, "cat", 3, "bob dan").end(5000, 2, candidate=True, connects=[])
           .failed(6000, "cat", connects=[]).look(6999, connects=[]).look(9002, connects=[["cat", False]]).made())
    yield (hub(Trace("no-slot", "a session without a free slot does not dial", ["Dial", "Direct"], cap=3), ["bob"])
           .link(20, 2, "cat", mesh=False).entry(24, 1, "bob", 6, "dan eve").entry(26, 1, "eve", 5, "bob", component=["bob", "eve"], connects=[])
           .end(300, 2, connects=[]).look(1810, connects=[["eve", True]]).made())
    yield (hub(Trace("slot", "one that has a free slot does, whoever has the others", ["Dial", "Direct"], cap=4), ["bob"])
           .link(20, 2, "cat", mesh=False).entry(24, 1, "bob", 6, "dan eve")
           .entry(26, 1, "eve", 5, "bob", component=["bob", "eve"], connects=[["eve", True]]).made())
    yield (hub(Trace("one-too-many", "unless all slots are taken by members: then the newcomer has to be met", ["Dial"],
                     cap=3), ["bob"])
           .link(20, 2, "cat").entry(22, 2, "cat", 5, "dan eve").entry(24, 2, "eve", 5, "cat", component=["bob", "cat", "eve"],
                                                                       connects=[["eve", True]]).made())


def missing():
    def alone(*head, **options):
        """Returns a trace in which the link to bob, the only member, is lost after 40 s."""
        return (Trace(*head, **options).link(10, 1, "bob").entry(12, 1, "bob", 2, "dan")
                .end(40000, 1, lost=True, component=[], connects=[["bob", False]], withdrawn=[], hidden=[]))

    def three(*head):
        """Returns a trace in which the link to cat is lost after 40 s, and bob still has one."""
        return (Trace(*head).link(10, 1, "bob").entry(12, 1, "bob", 2, "cat dan").link(20, 2, "cat")
                .entry(22, 2, "cat", 2, "bob dan").end(40000, 2, lost=True, component=["bob", "cat"], connects=[["cat", True]]))

    flags = ["Missed"]
    yield (alone("missed", "a member whose link was lost is dialled silently for 600 s, and its entry kept", flags)
           .look(100001, held=[["bob", 2]], connects=[]).look(639999, withdrawn=[], held=[["bob", 2]])
           .look(640001, withdrawn=["bob"], hidden=[], held=[]).look(700000, connects=[]).made())
    yield (alone("missed-timeout", "an attempt that times out is followed by another at once", flags)
           .failed(70000, "bob", code="TIMEOUT", connects=[["bob", False]])
           .failed(100000, "bob", code="TIMEOUT", connects=[["bob", False]]).made())
    yield (Trace("missed-member-timeout", "so is one to any member", ["Retry"]).link(10, 1, "bob").entry(12, 1, "bob", 2, "cat dan")
           .entry(20, 1, "cat", 2, "bob", connects=[["cat", True]]).failed(30020, "cat", code="TIMEOUT", connects=[["cat", False]])
           .failed(60020, "cat", code="UNKNOWN_PEER", connects=[["cat", False]])
           .failed(90020, "cat", code="FULL", connects=[]).look(91019, connects=[]).look(93022, connects=[["cat", False]])
           .failed(94000, "cat", code="REJECTED", connects=[]).look(97002, connects=[["cat", False]]).made())
    yield (Trace("missed-short", "after a short link it pauses", flags).link(10, 1, "bob").entry(12, 1, "bob", 2, "dan")
           .end(20000, 1, lost=True, connects=[]).look(20499, connects=[]).look(21502, connects=[["bob", False]]).made())
    yield (Trace("missed-unheard", "without an entry there is nothing to dial", flags).link(10, 1, "bob")
           .end(40000, 1, lost=True, connects=[]).look(50000, connects=[]).made())
    for code in ("POLICY", "REJECTED", "SELF", "VERSION", "GOODBYE"):
        yield (alone("missed-" + code.lower(), "a member that is refused, or refuses, is missed no longer", flags)
               .failed(50000, "bob", code=code, connects=[], withdrawn=[]).look(99999, connects=[], held=[["bob", 2]])
               .look(100001, held=[], connects=[]).made())
    yield (alone("missed-cancelled", "not one whose application cancels, or that was not dialled", flags)
           .failed(50000, "bob", code="CANCELLED", connects=[]).look(50499, connects=[]).look(51502, connects=[["bob", False]])
           .failed(60000, "bob", connects=[]).look(60999, connects=[]).look(63002, connects=[["bob", False]]).made())
    yield (alone("missed-unknown", "the third attempt in which it does not know this session is the last", flags)
           .failed(70000, "bob", code="UNKNOWN_PEER", connects=[["bob", False]])
           .failed(100000, "bob", code="UNKNOWN_PEER", connects=[["bob", False]])
           .failed(130000, "bob", code="TIMEOUT", connects=[["bob", False]])
           .failed(160000, "bob", code="UNKNOWN_PEER", connects=[], held=[]).look(700000, connects=[]).made())
    yield (alone("missed-full", "where there is no room the next attempt begins after 10 s", flags)
           .failed(50000, "bob", code="FULL", connects=[]).look(59998, connects=[]).look(60002, connects=[["bob", False]]).made())
    yield (three("missed-member", "a member in the component is dialled as before", flags)
           .failed(41000, "cat", code="FULL", connects=[]).look(41499, connects=[]).look(42502, connects=[["cat", False]]).made())
    yield (three("missed-hidden", "when it leaves the component, its attempt goes on, and no longer shows", flags)
           .entry(41000, 1, "bob", 3, "dan", component=["bob"], hidden=["cat"], withdrawn=[], connects=[])
           .look(50000, hidden=[], connects=[]).failed(60000, "cat", code="TIMEOUT", connects=[["cat", False]], hidden=[])
           .entry(61000, 1, "bob", 4, "cat dan", component=["bob", "cat"], connects=[])
           .entry(62000, 1, "bob", 5, "dan", hidden=[], withdrawn=[]).made())
    yield (three("missed-hidden-once", "an attempt that was not reported has nothing to hide", flags)
           .failed(41000, "cat", connects=[]).look(42502, connects=[["cat", False]])
           .entry(43000, 1, "bob", 3, "dan", hidden=[], withdrawn=[]).made())
    yield (three("missed-hidden-pause", "nor has a pause", flags).failed(41000, "cat", connects=[])
           .entry(41100, 1, "bob", 3, "dan", hidden=[], withdrawn=[], connects=[]).look(42502, connects=[["cat", False]]).made())
    yield (Trace("missed-candidate", "an attempt of the member itself shows for 4 s", flags).link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "dan").end(40000, 1, lost=True, candidate=True, connects=[], hidden=[])
           .look(43998, hidden=[]).look(44002, hidden=["bob"], withdrawn=[], connects=[]).made())
    yield (alone("missed-linked", "a link ends that", flags).link(50000, 2, "bob").end(90000, 2, connects=[]).look(
        91000, connects=[]).made())
    yield (alone("missed-departed", "so does a departure, from a direct link, too", flags).link(50000, 2, "bob", mesh=False)
           .end(60000, 2, departed=True, connects=[], held=[]).look(120000, connects=[]).made())
    yield (alone("missed-direct", "a direct link that is lost misses no member", flags).link(50000, 2, "cat", mesh=False)
           .entry(50001, 2, "cat", 1, "").made("PROTOCOL"))
    yield (Trace("missed-direct-lost", "the end of a direct link is no loss of the mesh", flags).link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "dan").entry(13, 1, "cat", 2, "").link(20, 2, "cat", mesh=False)
           .end(40000, 2, lost=True, connects=[]).look(50000, connects=[]).made())
    yield (alone("missed-restarted", "a link to a later instance ends it, too", flags).link(50000, 2, "bob'")
           .entry(50001, 2, "bob'", 1, "dan").end(90000, 2, connects=[]).look(91000, connects=[]).made())
    yield (Trace("missed-later", "one to an earlier instance does not; then they take turns", flags).link(10, 1, "bob").entry(12, 1, "bob", 2, "dan")
           .link(14, 2, "bob'").entry(16, 2, "bob'", 2, "dan").end(40000, 2, lost=True, connects=[["bob'", False]])
           .end(41000, 1, lost=True, connects=[]).failed(70000, "bob'", code="TIMEOUT", connects=[["bob", False]]).made())
    yield (Trace("missed-restarted-member", "a member comes before a missed earlier instance of its peer", flags).link(10, 1, "cat")
           .entry(12, 1, "cat", 2, "bob dan").link(20, 2, "bob").entry(22, 2, "bob", 2, "cat dan")
           .end(40000, 2, lost=True, connects=[["bob", True]]).entry(41000, 1, "cat", 3, "dan", component=["cat"], hidden=["bob"])
           .entry(41100, 1, "cat", 4, "bob' dan").entry(41200, 1, "bob'", 1, "cat", connects=[["bob'", True]])
           .failed(50000, "bob'", connects=[["bob", False]]).look(50498, connects=[]).look(51502, connects=[["bob'", False]])
           .failed(60000, "bob'", connects=[["bob", False]]).made())
    crowd = ["bob", "cat", "eve", "fay", "gus"]
    trace = Trace("missed-crowd", "those outside the component have half of the places, and come last", flags, cap=3)
    for number, name in enumerate(crowd):
        trace.link(40000 * number + 10, number, name).entry(40000 * number + 12, number, name, 2, "dan")
        trace.end(40000 * number + 39000, number, lost=True, connects=[[name, False]] if number < 3 else [])
    trace.failed(200000, "cat", code="TIMEOUT", connects=[["fay", False]])
    trace.link(200010, 9, "hal").entry(200011, 9, "hal", 2, "dan ivy joe p10 p11")
    for number, name in enumerate(("ivy", "joe", "p10", "p11")):
        trace.entry(200012 + number, 9, name, 2, "hal", connects=[[name, True]] if number < 3 else [])
    yield trace.failed(201000, "eve", code="TIMEOUT", connects=[["p11", True]]).failed(
        202000, "ivy", connects=[["gus", False]]).made()
    yield (alone("missed-no-slot", "nor are they dialled without a free slot", flags, cap=2).failed(40100, "bob", code="FULL", connects=[])
           .link(40200, 2, "cat").look(50500, connects=[]).end(50600, 2, connects=[]).look(53200, connects=[["bob", False]]).made())
    trace = alone("missed-entries", "the entry of a missed member is dropped last", ["Missed", "Entries"], cap=16).link(40010, 2, "cat")
    trace.entry(40012, 2, "cat", 2, "dan")
    for number in range(10, 39):
        trace.entry(40000 + 10 * number, 2, f"p{number}", 1, "")
    assert len(trace.member.entries) == 31
    yield trace.entry(41000, 2, "p39", 1, "").made()


def leaving():
    def three(*head):
        return (Trace(*head).link(10, 1, "bob").entry(12, 1, "bob", 2, "cat dan").link(20, 2, "cat")
                .entry(22, 2, "cat", 2, "bob dan", component=["bob", "cat"]))

    yield (three("departed", "a departed member is gone, whatever others still list", ["Departed"])
           .end(100, 2, True, component=["bob"], connects=[], held=[["bob", 2]])
           .entry(110, 1, "cat", 3, "bob", component=["bob"], held=[["bob", 2]])
           .entry(120, 1, "bob", 3, "dan", component=["bob"]).made())
    yield (three("departed-long-ago", "a departed member stays gone for 60 s", ["Departed"]).end(100, 2, True)
           .entry(60098, 1, "cat", 3, "bob", held=[["bob", 2]])
           .entry(60102, 1, "cat", 4, "bob", held=[["bob", 2], ["cat", 4]], connects=[["cat", True]]).made())
    yield (three("departed-instance", "the next instance counts as another endpoint", ["Departed"]).end(100, 2, True)
           .entry(110, 1, "cat'", 1, "bob").entry(111, 1, "bob", 3, "cat' dan", component=["bob", "cat'"], connects=[["cat'", True]])
           .made())
    yield (three("departed-and-linked", "a new link to the same endpoint counts", ["Departed"]).end(100, 2, True).link(200, 3, "cat")
           .entry(202, 3, "cat", 6, "bob dan", component=["bob", "cat"]).made())
    yield (three("departed-and-linked-directly", "a direct link is enough", ["Departed", "Direct"]).end(100, 2, True)
           .link(200, 3, "cat", mesh=False)
           .entry(202, 1, "cat", 6, "bob", held=[["bob", 2], ["cat", 6]]).made())
    yield (three("departed-from-a-direct-link", "GOODBYE on a direct link is a departure", ["Departed", "Direct"])
           .link(50, 3, "eve", mesh=False).entry(60, 1, "eve", 2, "bob", held=[["bob", 2], ["cat", 2], ["eve", 2]])
           .end(100, 3, True, held=[["bob", 2], ["cat", 2]]).entry(110, 1, "eve", 3, "bob", held=[["bob", 2], ["cat", 2]]).made())
    yield (three("silent-end", "a member that did not depart is still listed by others", ["Departed"])
           .end(31000, 2, component=["bob", "cat"], connects=[["cat", True]], held=[["bob", 2], ["cat", 2]]).made())
    yield (three("partition", "all links end: no member is left, and none is dialled", ["Component"])
           .end(31000, 1, connects=[["bob", True]])
           .end(31001, 2, component=[], connects=[], withdrawn=["bob"], held=[["bob", 2], ["cat", 2]]).made())
    yield (three("healing", "after a partition, one link restores all of them", ["Component"]).end(100, 1).end(101, 2)
           .look(30000, component=[], held=[["bob", 2], ["cat", 2]]).look(30001, connects=[])
           .link(30002, 3, "bob", component=["bob", "cat"], connects=[["cat", True]]).made())
    yield (three("outside", "an entry outside the component is kept for 60 s", ["Entries"]).end(100, 1).end(200, 2)
           .look(60198, held=[["bob", 2], ["cat", 2]]).look(60202, held=[]).made())
    yield (three("outside-forgotten", "after that, a lower sequence is new", ["Entries"]).end(100, 1).end(200, 2)
           .look(60202, held=[])
           .link(60300, 3, "eve").entry(60302, 3, "cat", 1, "eve", held=[["cat", 1]]).made())
    yield (three("outside-and-back", "only 60 s without interruption count", ["Entries"]).end(100, 1).end(200, 2)
           .link(50000, 3, "bob")
           .entry(50010, 3, "bob", 3, "dan", component=["bob"]).look(60300, held=[["bob", 3], ["cat", 2]])
           .look(110008, held=[["bob", 3], ["cat", 2]]).look(110012, held=[["bob", 3]]).made())
    yield (Trace("outside-from-the-start", "an entry of an endpoint that never was a member", ["Entries"])
           .link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "dan").entry(20, 1, "cat", 2, "hal").look(60018, held=[["bob", 2], ["cat", 2]])
           .look(60022, held=[["bob", 2]]).made())
    many = ["bob"] + [f"p{number}" for number in range(10, 40)]
    trace = hub(Trace("full", "32 entries of members: there is no room for another", ["Entries"], cap=16), many)
    held = sorted([["bob", 5]] + [[name, 5] for name in many[1:]])
    trace.look(1000, held=held).entry(1001, 1, "cat", 9, "bob", held=held, told=[])
    yield trace.entry(1002, 1, "p20", 6, "bob", held=[[name, 6 if name == "p20" else 5] for name, _ in held]).made()
    trace = Trace("full-of-inventions", "an endpoint vouched for by two links replaces one vouched for by one",
                  ["Entries"], cap=16)
    trace.link(10, 1, "bob").link(11, 2, "cat").link(12, 3, "fay").entry(20, 2, "cat", 2, "dan eve").entry(21, 3, "fay", 2, "dan eve gus")
    trace.entry(22, 1, "bob", 2, ["dan"] + many[1:29])
    for number, name in enumerate(many[1:29]):
        trace.entry(30 + number, 1, name, 1, "bob")
    trace.entry(100, 3, "gus", 2, "fay", component=sorted(["bob", "cat", "fay", *many[1:29]]))
    yield trace.entry(200, 2, "eve", 2, "cat fay", withdrawn=["p37"], connects=[["eve", True]], component=sorted(
        ["bob", "cat", "eve", "fay", *many[1:28]])).made()
    trace = hub(Trace("full-linked", "a newly linked peer takes the place of the newest entry that does not count", ["Entries"],
                      cap=16), many)
    trace.link(1000, 2, "cat", held=sorted([["bob", 5]] + [[name, 5] for name in many[1:-1]]), withdrawn=["p39"])
    yield trace.entry(1001, 2, "cat", 2, "dan", held=sorted([["bob", 5], ["cat", 2]] + [[name, 5] for name in many[1:-1]])).made()
    trace = hub(Trace("full-met", "so does one that was met", ["Entries"], cap=16), many)
    trace.met(1000, "cat").entry(1001, 1, "p38", 6, "bob cat")
    yield trace.entry(1002, 1, "cat", 2, "p38", withdrawn=["p39"], connects=[["cat", True]],
                      held=sorted([["bob", 5], ["cat", 2], ["p38", 6]] + [[name, 5] for name in many[1:-2]])).made()
    trace = hub(Trace("full-of-outsiders", "the entry longest outside is dropped", ["Entries"], cap=16), many[:-2])
    trace.entry(1000, 1, "fay", 1, "").entry(2000, 1, "eve", 1, "").entry(3000, 1, "cat", 1, "")
    assert len(trace.member.entries) + 1 == 32 and "fay" not in trace.member.entries
    yield trace.entry(4000, 1, "gus", 1, "bob").made()


def capped():
    seven = ["ann", "bob", "cat", "eve", "fay", "gus"]
    eight = seven + ["hal"]

    trace = full(Trace("admit", "eight fit into a mesh, nine do not", ["Full"]), seven)
    trace.admit(1000, "hal", "", True).admit(1001, "hal", "dan gus", True).admit(1002, "hal", "ivy", False)
    trace.admit(1003, "gus", "ann bob dan", True).admit(1004, "hal", "joe", False)
    yield trace.admit(1005, "hal'", "hal dan' ann'", True).made()
    yield full(Trace("admit-full", "a full mesh has room only for its members", ["Full"]), eight).admit(
        1000, "ivy", "", False).admit(1001, "hal", "ann", True).admit(1002, "hal'", "", True).made()
    yield (Trace("admit-two", "the smallest mesh", ["Full"], cap=2).admit(10, "bob", "", True).admit(11, "bob", "cat", False)
           .link(20, 1, "bob").entry(22, 1, "bob", 2, "dan").admit(30, "cat", "", False).made())
    sixteen = [f"p{number}" for number in range(10, 24)]
    yield full(Trace("admit-sixteen", "the largest mesh", ["Full"], cap=16), ["bob"] + sixteen[:-1]).admit(
        1000, "hal", "", True).admit(1001, "hal", "ivy", False).made()
    trace = full(Trace("admit-direct", "direct links do not count", ["Full", "Direct"]), seven)
    yield trace.link(900, 9, "ivy", mesh=False).admit(1000, "hal", "", True).made()
    yield (Trace("admit-outside", "endpoints outside the component do not count", ["Full"], cap=3).link(10, 1, "bob")
           .entry(12, 1, "bob", 2, "dan")
           .entry(14, 1, "gus", 2, "hal").admit(20, "cat", "", True).admit(21, "cat", "gus", False).made())
    trace = Trace("admit-invented", "endpoints that one member alone lists take no place", ["Full", "Counted"])
    trace.link(10, 1, "bob").link(11, 2, "cat").entry(12, 1, "bob", 2, "dan eve fay gus hal ivy joe")
    for number, name in enumerate(("eve", "fay", "gus", "hal", "ivy", "joe")):
        trace.entry(20 + number, 1, name, 1, "bob")
    trace.entry(30, 2, "cat", 2, "dan eve").admit(40, "p10", "", True).admit(41, "p10", "p11 p12", True)
    trace.entry(50, 2, "cat", 3, "dan eve fay gus hal")
    for number, name in enumerate(("eve", "fay", "gus", "hal")):
        trace.entry(51 + number, 1, name, 2, "bob cat")
    trace.admit(60, "p10", "", True).admit(61, "p10", "p11", False)
    yield trace.step(70, "met", lambda one: one.met("ivy"), dict(peer="ivy")).admit(71, "p10", "", False).made()
    merging = "bob eve fay gus"
    yield (Trace("admit-meshes", "two meshes can merge if all members fit", ["Full"]).link(10, 1, "ann")
           .entry(12, 1, "ann", 2, "cat dan").link(13, 2, "cat")
           .entry(14, 2, "cat", 2, "ann dan").admit(20, "hal", merging, True).admit(21, "hal", merging + " ivy", False)
           .admit(22, "hal", merging + " cat", True).made())

    def ninth(id, comment, flags, name="zoe", met=True):
        """Returns a trace with a full mesh of eight; at 1,000 ms a ninth links to the first of them."""
        others = [one for one in eight + ["dan"] if one != name][:7]
        trace = full(Trace(id, comment, flags, name=name), sorted(others))
        trace.entry(1000, 1, "ann", 6, sorted(others[1:] + [name, "ivy"]), leaves=False)
        trace.entry(1001, 1, "ivy", 2, "ann", connects=[["ivy", True]], leaves=False)
        return trace.met(1010, "ivy", leaves=False) if met else trace

    yield ninth("ninth", "the ninth by uid leaves after 1 to 2 s", ["Evict"]).look(2009, leaves=False).look(3012, leaves=True).made()
    yield ninth("eighth", "the others stay", ["Evict"], name="dan").look(3012, leaves=False).look(10900,
                                                                                                  leaves=False).made()
    yield ninth("never-met", "an endpoint that others only list evicts no member", ["Counted"], met=False).look(
        59000, leaves=False).made()
    trace = full(Trace("vouched", "an endpoint that two peers list, each on its own link, counts without having been met",
                       ["Counted"], name="zoe"), ["ann", "bob", "cat", "eve", "fay", "gus", "hal"])
    trace.entry(1000, 1, "ann", 6, "bob cat eve fay gus hal ivy zoe").entry(1001, 1, "ivy", 2, "ann bob").look(5000, leaves=False)
    trace.entry(6000, 2, "bob", 6, "ann cat eve fay gus hal ivy zoe", leaves=False)
    yield trace.look(6999, leaves=False).look(8002, leaves=True).made()
    trace = full(Trace("inventions", "one member invents seven endpoints with low uids", ["Counted"], name="zoe"),
                 ["ann", "bob", "cat"])
    trace.entry(1000, 1, "ann", 6, "bob cat zoe dan eve fay gus hal ivy joe")
    for number, name in enumerate("dan eve fay gus hal ivy joe".split()):
        trace.entry(1001 + number, 1, name, 1, "ann")
    yield trace.look(50000, leaves=False).made()
    yield (full(Trace("met-elsewhere", "an endpoint that was met but is not a member does not count", ["Counted"],
                      name="zoe"), seven + ["dan"])
           .met(1000, "ivy").met(1001, "joe").look(20000, leaves=False).made())
    yield (ninth("met-again-and-again", "an endpoint counts once, however often it was met", ["Counted"], name="hal")
           .met(1020, "ivy").met(1030, "ivy")
           .look(5000, leaves=False).made())
    yield (ninth("admit-nine", "members that list each other are admitted, even if there are too many", ["Full"])
           .admit(1100, "ann", "bob zoe", True).admit(1101, "ann", "bob", False).admit(1102, "joe", "zoe", False).made())
    trace = Trace("passed-on", "the hold begins again when a member was not beyond the cap for a while", ["Evict"], name="hal", cap=3)
    for number, name in enumerate(("bob", "cat", "eve"), 1):
        trace.link(10 + number, number, name)
    trace.entry(20, 1, "bob", 2, "hal zoe").entry(21, 1, "zoe", 2, "bob").met(22, "zoe").look(500, leaves=False)
    trace.end(900, 3, True, leaves=False).link(950, 4, "eve", leaves=False)
    yield trace.look(1949, leaves=False).look(2952, leaves=True).made()
    yield (ninth("suspended", "a session that did not run for 3 s begins the hold again", ["Evict"]).look(1500, leaves=False)
           .sleep(6000, leaves=False).look(6999, leaves=False).look(8003, leaves=True).made())
    yield (ninth("suspended-shortly", "one that did not for 2 s leaves", ["Evict"]).look(1500, leaves=False)
           .sleep(3500, leaves=True).made())
    yield (ninth("gone-in-time", "the ninth leaves before the hold is over; then the hold starts again", ["Evict"])
           .entry(1900, 1, "ivy", 3, "", leaves=False).look(4000, leaves=False).entry(5000, 1, "ivy", 4, "ann")
           .met(5001, "ivy").look(5999, leaves=False).look(7003, leaves=True).made())
    trace = full(Trace("met-long-ago", "after 60 s an endpoint no longer counts as met", ["Counted"], name="zoe"),
                 ["ann", *seven[1:], "hal"])
    trace.met(1000, "ivy")
    trace.entry(60500, 1, "ann", 6, "bob cat eve fay gus hal zoe ivy").entry(60501, 1, "ivy", 2, "ann", leaves=False)
    yield trace.look(61001, leaves=False).look(64000, leaves=False).made()
    trace = Trace("linked-counts", "a linked endpoint counts without having been met", ["Counted"], name="zoe", cap=4)
    trace.link(10, 1, "ann").link(11, 2, "bob").link(12, 3, "cat")
    trace.entry(20, 1, "ann", 2, "dan zoe").entry(21, 1, "dan", 2, "ann").look(5000, leaves=False)
    yield trace.met(6000, "dan").look(6999, leaves=False).look(8002, leaves=True).made()
    trace = Trace("backstop", "after 10 s, the member with the fewest pairs leaves", ["Backstop"], name="bob", cap=3)
    trace.link(10, 1, "cat").entry(11, 1, "cat", 5, "bob dan eve").entry(12, 1, "dan", 5, "cat eve")
    trace.entry(13, 1, "eve", 5, "cat dan").met(20, "dan").met(21, "eve", leaves=False)
    yield trace.look(11020, leaves=False).look(12023, leaves=True).made()
    trace = Trace("backstop-stays", "a member with more pairs stays", ["Backstop"], name="bob", cap=3)
    trace.link(10, 1, "cat").link(11, 2, "dan").entry(12, 1, "cat", 5, "bob dan eve").entry(13, 2, "dan", 5, "bob cat")
    trace.entry(14, 1, "eve", 5, "cat").met(20, "eve", leaves=False)
    yield trace.look(55000, leaves=False).made()
    trace = Trace("backstop-one-sided", "a link that only one end lists is no pair", ["Backstop"], name="bob", cap=3)
    trace.link(10, 1, "cat").entry(11, 1, "cat", 5, "bob dan eve").entry(12, 1, "dan", 5, "cat eve").entry(13, 1, "eve", 5, "cat")
    yield trace.met(20, "dan").met(21, "eve", leaves=False).look(55000, leaves=False).made()
    trace = Trace("dismissed", "after 12 s, the links to the member with the fewest pairs are ended", ["Backstop"],
                  name="ann", cap=3)
    trace.link(10, 1, "bob").link(11, 2, "eve").entry(12, 1, "bob", 5, "ann cat").entry(13, 2, "eve", 5, "ann")
    trace.entry(14, 1, "cat", 5, "bob").met(20, "cat", leaves=False).look(12018, dismissed=[])
    trace.look(12022, dismissed=[2], leaves=False).end(12023, 2, component=["bob", "cat"], held=[["bob", 5], ["cat", 5]])
    yield trace.look(40000, leaves=False, dismissed=[]).made()
    trace = Trace("dismissed-wrongly", "entries about it from others count again after 5 s", ["Backstop"], name="ann",
                  cap=3)
    trace.link(10, 1, "bob").link(11, 2, "eve").entry(12, 1, "bob", 5, "ann cat").entry(13, 2, "eve", 5, "ann")
    trace.entry(14, 1, "cat", 5, "bob").met(20, "cat", leaves=False).look(12022, dismissed=[2], leaves=False)
    trace.end(12023, 2, held=[["bob", 5], ["cat", 5]]).entry(12030, 1, "eve", 6, "bob", held=[["bob", 5], ["cat", 5]])
    trace.entry(12031, 1, "bob", 6, "ann eve", component=["bob"]).look(17022, held=[["bob", 6], ["cat", 5]])
    yield trace.look(17024, held=[["bob", 6], ["cat", 5], ["eve", 6]], component=["bob", "eve"], connects=[["eve", True]]).made()
    trace = Trace("dismissed-anew", "after a dismissal the time begins anew", ["Backstop"], name="ann", cap=2)
    trace.link(10, 1, "bob").link(11, 2, "eve").entry(12, 1, "bob", 5, "ann cat").entry(13, 2, "eve", 5, "ann")
    trace.entry(14, 1, "cat", 5, "bob").met(20, "cat").look(12010, dismissed=[]).look(12012, dismissed=[2])
    trace.end(12030, 2).met(12031, "cat").link(13000, 3, "dan", dismissed=[]).entry(13001, 3, "dan", 5, "ann", dismissed=[])
    yield trace.look(24029, dismissed=[]).look(24031, dismissed=[3], leaves=False).made()
    trace = Trace("backstop-tie", "of members with equally many pairs, the highest uid leaves", ["Backstop"], name="cat",
                  cap=3)
    trace.link(10, 1, "bob").entry(12, 1, "bob", 5, "ann cat dan").entry(13, 1, "ann", 5, "bob").entry(14, 1, "dan", 5, "bob")
    yield trace.met(20, "ann").met(21, "dan").look(55000, leaves=False).made()


def signed(cast):
    """Members with keys. Una, Vic, Wim and Xia are the peers; Vic is this one."""
    def trace(*head):
        return Trace(*head, name="vic", cast=cast)

    def linked(*head):
        return trace(*head).link(10, 1, "una").entry(12, 1, "una", 2, "vic").link(14, 2, "wim").entry(16, 2, "wim", 2, "vic")

    yield (linked("signed", "an entry that its endpoint signed is stored and forwarded", ["Signature"])
           .entry(20, 1, "xia", 3, "una", held=[["una", 2], ["wim", 2], ["xia", 3]], told=[[2, "xia", 3, ["una"]]]).made())
    for id, comment, signs in (("forged", "a member signs in the name of another", "una"),
                               ("forged-by-us", "even with our own key", "vic"),
                               ("changed", "the list of an entry is changed under its signature", "former")):
        yield (linked(id, comment, ["Signature"])
               .entry(20, 1, "xia", 3, "una", signs=signs, told=[], held=[["una", 2], ["wim", 2]]).made("BAD_MAC"))
        yield (linked(id + "-newer", comment + ", and the true one is held", ["Signature"])
               .entry(18, 1, "xia", 3, "una").entry(20, 1, "xia", 4, "una wim", signs=signs, told=[],
                                                    held=[["una", 2], ["wim", 2], ["xia", 3]]).made("BAD_MAC"))
    yield (linked("forged-first-hand", "also the entry of the peer itself", ["Signature"])
           .entry(20, 1, "una", 3, "vic", signs="wim", held=[["una", 2], ["wim", 2]]).made("BAD_MAC"))
    yield (linked("forged-aside", "also an entry that would only be set aside", ["Signature"])
           .entry(20, 1, "wim", 3, "una", signs="una", held=[["una", 2], ["wim", 2]]).made("BAD_MAC"))
    yield (linked("forged-own", "also an entry of this session", ["Signature"])
           .entry(20, 1, "vic", 9, "", signs="una", own=3).made("BAD_MAC"))
    for id, comment, sequence in (("forged-old", "the signature of an old entry is not verified", 2),
                                  ("forged-equal", "nor that of one that is held", 3)):
        yield (linked(id, comment, ["Signature"]).entry(18, 1, "xia", 3, "una")
               .entry(20, 1, "xia", sequence, "", signs="una", held=[["una", 2], ["wim", 2], ["xia", 3]])
               .entry(22, 1, "xia", 4, "una wim", told=[[2, "xia", 4, ["una", "wim"]]]).made())
    yield (linked("second-key", "an entry of another key is ignored while one is held", ["OneKey"]).entry(18, 1, "xia", 3, "una")
           .entry(20, 2, "xia", 9, "wim", key="wim", told=[], held=[["una", 2], ["wim", 2], ["xia", 3]])
           .entry(22, 1, "xia", 4, "una wim", told=[[2, "xia", 4, ["una", "wim"]]]).made())
    yield (linked("second-key-forged", "whether or not its signature is valid", ["OneKey"]).entry(18, 1, "xia", 3, "una")
           .entry(20, 2, "xia", 9, "wim", key="wim", signs="una", told=[], held=[["una", 2], ["wim", 2], ["xia", 3]]).made())
    yield (linked("first-key", "the first key that comes counts", ["OneKey"]).entry(18, 1, "xia", 3, "una", key="una")
           .entry(20, 2, "xia", 9, "wim", told=[], held=[["una", 2], ["wim", 2], ["xia", 3]]).made())
    yield (linked("key-of-the-link", "until a link proves another: then what was held of the first is dropped", ["OneKey"])
           .entry(18, 1, "xia", 3, "una", key="una").link(20, 3, "xia", held=[["una", 2], ["wim", 2]])
           .entry(22, 1, "xia", 5, "una", key="una", told=[])
           .entry(24, 3, "xia", 1, "vic", held=[["una", 2], ["wim", 2], ["xia", 1]]).made())
    yield (linked("key-after-the-link", "what comes of another key during a link is not set aside", ["OneKey"])
           .entry(20, 2, "una", 7, "wim", key="wim").end(40000, 1, held=[["una", 2], ["wim", 2]]).made())
    yield (linked("key-first-hand", "the peer itself cannot have another key", ["OneKey"])
           .entry(20, 1, "una", 3, "vic", key="wim").made("PROTOCOL"))
    yield (linked("key-of-ours", "an entry of this session with another key is ignored", ["OneKey"])
           .entry(20, 1, "vic", 9, "", key="una", own=3, told=[]).made())


def cast_of(random):
    """Returns the parts of each peer's data, and the peers as a file shows them."""
    parts, peers = {}, {}
    for number, name in enumerate(NAMES, 1):
        uid_bytes = bytes([number]) + random.randbytes(15)
        for instance, more in (("", b"\1"), ("'", b"\2")):
            one = dict(number=number, name=name, uid=uid_bytes, instance=more + random.randbytes(7))
            token = random.randbytes(64)
            data, second = dict(one, token=token[:32]), dict(one, token=token[32:])
            parts[name + instance] = dict(one, data=data)
            peers[name + instance] = dict(endpoint=(uid_bytes + one["instance"]).hex(), data=blob(data).hex())
            members.read(members.encode(uid_bytes + one["instance"], 1, [], blob(data)), "none")
            if name + instance in ("cat", "dan"):
                peers[name]["second"] = blob(second).hex()
    return parts, peers


def build():
    parts, peers = cast_of(seeded("mesh-traces"))
    cast = Cast(seeded("mesh-traces-keys"), parts)
    for name in KEYED:
        peers[name].update(data=cast.data(name).hex(), certificate=cast.certificates[name].hex(),
                           key=cast.keys[name].private().hex())
    notes = {"Component": "which endpoints are members", "Flood": "which entries are sent to which peer",
             "Newer": "which entry is kept",
             "FirstHand": "from which link an entry is taken", "Own": "the member's own entry",
             "Direct": "links that do not take part",
             "Pace": "how many entries, and how fast", "Dial": "which members are dialled", "Retry": "failed attempts",
             "Withdraw": "attempts that end when the member leaves", "Missed": "members whose link was lost", "Departed": "members that depart",
             "Entries": "how many entries are held",
             "Full": "which peers are admitted", "Counted": "which endpoints count for eviction",
             "Evict": "the rank by uid",
             "Backstop": "the rank by pairs", "Signature": "who signed an entry", "OneKey": "which key an endpoint has"}
    groups = []
    for labels, made in (
            (["mesh.component", "mesh.flood", "mesh.newer", "mesh.first-hand", "mesh.own", "mesh.same-uid", "mesh.link",
              "mesh.rate-limit"], spreading()),
            (["mesh.component", "mesh.dial", "mesh.retry", "mesh.unreported", "mesh.withdraw", "mesh.same-uid"], dialling()),
            (["mesh.missed", "mesh.retry", "mesh.unreported", "mesh.entries"], missing()),
            (["mesh.departed", "mesh.entries", "mesh.component"], leaving()),
            (["mesh.full", "mesh.counted", "mesh.evict", "mesh.backstop", "mesh.dismiss", "mesh.suspended"], capped()),
            (["mesh.signature", "mesh.one-key"], signed(cast))):
        groups.append(dict(type="mesh-trace", spec="11", labels=labels, tests=list(made)))
    used = {name for group in groups for one in group["tests"] for name in names_in(one)}
    groups[0] = dict(type="mesh-trace", spec="11", labels=groups[0]["labels"],
                     peers={name: peer for name, peer in peers.items() if name in used}, tests=groups[0]["tests"])
    return document("traces of one member", notes, groups)


def names_in(trace):
    yield trace["local"]
    for step in trace["steps"]:
        yield from step["component"]
        yield from (step[key] for key in ("to", "peer") if key in step)
        yield from step.get("list", ())
        if "entry" in step:
            yield from (step["entry"][0], *step["entry"][2])
