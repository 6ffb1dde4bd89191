"""What Apple's reference describes, between real processes that use only `import MultipeerConnectivity`: peers,
sessions, certificates, and links by hand."""

import os
import plistlib
import tempfile

from . import peer
from .device import Device, invite, quit_all, service_type
from .peer import expect, until


def read(path):
    with open(path, "rb") as file:
        return file.read()


def facade_peers():
    """Reference 1, 12, 13: Peer ids are the same after a restart and in every process, two with one name
    differ; the constants, descriptions and hashes are Apple's"""
    with tempfile.TemporaryDirectory() as directory:
        one, archive = Device(directory, "ann"), os.path.join(directory, "ann.archive")
        other = Device(directory, "bob")
        size = one.order("archive", archive)
        twins = one.order("twins", "a name")
        expect(twins["name"] == "a name", f"its name is {twins['name']}")
        expect(not twins["equal"] and not twins["isEqual"] and twins["count"] == 2, "two ids with one name are equal")
        expect(twins["copyEqual"] and twins["found"], "a copy is not equal")
        constants = one.order("constants")
        for name, value in CONSTANTS.items():
            expect(constants[name] == value, f"{name} is {constants[name]}")
        expect(constants["domain"] == constants["errorDomain"] == constants["nsDomain"], f"the domain: {constants}")
        described = one.order("describe")
        for name in ("MCPeerID", "MCSession", "MCNearbyServiceAdvertiser", "MCNearbyServiceBrowser",
                     "MCAdvertiserAssistant"):
            expect(described[name] and described[name + ".debug"], f"{name} has no description")
            expect(described[name + ".hashed"], f"{name} is not itself")
        expect("ann" in described["MCPeerID"], f"a peer is described as {described['MCPeerID']}")
        expect(described["distinct"] == 5, "different objects are equal")
        # The same hash in another process, and in a later one of its own.
        met = other.order("meet", archive)
        expect(met["id"] == one.id and met["peer"] == "ann", f"met as {met}")
        kind = service_type()
        one.order("advertise", kind)
        other.order("browse", kind)
        expect(other.await_found(one)["same"], "the peer that it found is not the one that it met")
        # A process that ends at once may not send its goodbye.
        one.order("stop-advertising")
        other.await_said("lost", id=one.id)
        quit_all(one)
        since = other.mark()
        again = Device(directory, "ann", archive=archive)
        expect(again.id == one.id, f"{one.id} has become {again.id}")
        same = again.order("archive", archive + ".2")
        # Foundation writes the keys of each dictionary in the order of hashes, which are new in every process.
        first, second = (plistlib.loads(read(path)) for path in (archive, archive + ".2"))
        expect(first == second and size["bytes"] == same["bytes"], "archiving it again gives another archive")
        again.order("advertise", kind)
        expect(other.await_found(again, since)["same"], "after its restart it is another peer")
        for rubbish in (b"", b"rubbish", read(archive)[:-20]):
            with open(archive + ".bad", "wb") as file:
                file.write(rubbish)
            again.refused("meet", archive + ".bad")
        quit_all(again, other)
        return f"an archive of {size['bytes']} bytes; MCErrorDomain is \"{constants['domain']}\""


CONSTANTS = {
    "minimum": 2, "maximum": 8, "modes": [0, 1], "states": [0, 1, 2], "preferences": [0, 1, 2],
    "codes": [0, 1, 2, 3, 4, 5, 6], "caught": True, "nsCode": 4, "userInfo": 1,
}
OPTIONAL, REQUIRED, NONE = "optional", "required", "none"


def facade_sessions():
    """Reference 2, 9: A session has the properties it was made with, `.required` and no identity by default; of nine
    pairs of preferences all link except `.none` with `.required`; a session that is released sends a goodbye"""
    with tempfile.TemporaryDirectory() as directory:
        one, other = Device(directory, "one", session=None), Device(directory, "other", session=None)
        made = one.order("session")
        expect((made["preference"], made["identity"], made["peers"]) == (1, -1, 0) and made["me"] and made["delegate"],
               f"a session by default is {made}")
        other.order("session")
        kind = invite(one, other)
        for pair in [(mine, theirs) for mine in (OPTIONAL, REQUIRED, NONE) for theirs in (OPTIONAL, REQUIRED, NONE)]:
            since = [device.mark() for device in (one, other)]
            one.order("release")
            other.await_state(one, "notConnected", since[1])
            until(lambda: one.order("released")["gone"], 10, "a session that was released is not gone")
            since = [device.mark() for device in (one, other)]
            other.order("release")
            for device, preference in zip((one, other), pair):
                made = device.order("session", preference)
                expect(made["preference"] == [OPTIONAL, REQUIRED, NONE].index(preference), f"{made}")
            one.order("invite", other.id)
            if set(pair) == {NONE, REQUIRED}:
                one.await_state(other, "notConnected", since[0])
                expect("connected" not in one.states(other, since[0]), f"{pair} are connected")
                # Each round has a peer that receives the goodbye.
                since = [device.mark() for device in (one, other)]
                one.order("session", OPTIONAL)
                other.order("session", OPTIONAL)
                one.order("invite", other.id)
            one.await_state(other, "connected", since[0])
            other.await_state(one, "connected", since[1])
        quit_all(one, other)
        return f"as {kind}: 9 pairs of preferences, each with its own sessions"


def facade_certificates():
    """Reference 2: Identities reach the other side's certificate handler, nil for a peer without: once for each link,
    and the answer counts, at once, late or twice; no is `.notConnected`"""
    with tempfile.TemporaryDirectory() as directory:
        one, other = Device(directory, "one"), Device(directory, "other")
        own = os.path.join(directory, "one.pem")
        one.order("identity", "one", own)
        kind = invite(one, other)
        asked = 0
        for identity, answer in [(None, "yes"), (own, "yes"), (own, "no"), (None, "no"), (own, "twice"),
                                 (own, "later")] + ([(own, "never")] if peer.FULL else []):
            for device in (one, other):
                device.order("release")
            one.order("session", OPTIONAL, *([identity] if identity else []))
            other.order("session", OPTIONAL)
            other.order("certificates", answer)
            since = [device.mark() for device in (one, other)]
            # A device that never answers keeps the other side waiting until the invitation's timeout, for at least 30 s.
            one.order("invite", other.id, 30 if answer == "never" else 60)
            certificate = other.await_said("certificate", since[1], id=one.id)
            expect(certificate["count"] == (1 if identity else -1) and certificate["typed"], f"{certificate}")
            if answer == "later":
                expect("connected" not in other.states(one, since[1]), "connected without an answer")
                other.order("trust", one.id)
            for device, far, mark in ((one, other, since[0]), (other, one, since[1])):
                device.await_state(far, "notConnected" if answer in ("no", "never") else "connected", mark, seconds=45)
            for device, mark in zip((one, other), since):
                shown = device.heard("certificate", mark)
                # A refusal may arrive before the other side is asked.
                if device is one and answer == "no" and not shown:
                    continue
                asked += 1
                expect(len(shown) == 1, f"{device.name} was asked {len(shown)} times")
                expect(device is other or shown[0]["count"] == -1, "a certificate of an unknown peer")
            if answer in ("no", "never"):
                expect("connected" not in one.states(other, since[0]) + other.states(one, since[1]),
                       f"connected in spite of {answer}")
        quit_all(one, other)
        return f"as {kind}: asked {asked} times"


def facade_by_hand():
    """Reference 3, 10: Four devices exchange archived ids and connection data by hand, and link all six
    pairs; another peer's data, and garbage, lead to `.notConnected`; an attempt can be cancelled"""
    with tempfile.TemporaryDirectory() as directory:
        four = [Device(directory, name) for name in ("ann", "bob", "cleo", "dan")]
        def place(*names):
            return os.path.join(directory, ".".join(names) + ".handed")

        for device in four:
            device.order("archive", place(device.name))
        for device in four:
            for far in four:
                if far is not device:
                    expect(device.order("meet", place(far.name))["id"] == far.id, "it met another peer")
        pairs = [(device, far) for device in four for far in four if far is not device]
        for number, (device, far) in enumerate(pairs):
            device.order("data-async" if number % 3 == 2 else "data", far.id, place(device.name, far.name))
        for device, far in pairs:
            told = device.await_said("data", peer=far.id)
            expect("error" not in told and told["bytes"] > 0, f"{told}")
        blobs = [read(place(device.name, far.name)) for device, far in pairs]
        expect(len(set(blobs)) == 12, "two peers got the same data")

        # Data that belongs to no peer: garbage, and data from another peer. Then an unanswered attempt is cancelled.
        ann, bob, cleo, dan = four
        with open(place("rubbish"), "wb") as file:
            file.write(b"rubbish")
        for path in (place("rubbish"), place("cleo", "ann")):
            since = ann.mark()
            ann.order("connect", bob.id, path)
            ann.await_state(bob, "notConnected", since)
            expect(ann.states(bob, since) == ["notConnected"], f"{ann.states(bob, since)}")
        since = ann.mark()
        ann.order("connect", bob.id, place("bob", "ann"))
        ann.await_state(bob, "connecting", since)
        ann.order("cancel-connect", bob.id)
        ann.await_state(bob, "notConnected", since)

        marks = [device.mark() for device in four]
        for device, far in pairs:
            device.order("connect", far.id, place(far.name, device.name))
        for device, mark in zip(four, marks):
            for far in four:
                if far is not device:
                    device.await_state(far, "connected", mark)
        for device, far in pairs:
            device.order("say", f"{device.name}-{far.name}", far.id)
        for device, far in pairs:
            far.await_said("message", id=device.id, text=f"{device.name}-{far.name}")
        for device, mark in zip(four, marks):
            for far in four:
                states = device.states(far, mark)
                expect(states in ([], ["connecting", "connected"]),
                       f"{device.name} received these states of {far.name}: {states}")
        # The links are independent: a link by hand makes no introductions.
        since = [device.mark() for device in four]
        dan.order("disconnect")
        for device, mark in zip((ann, bob, cleo), since):
            device.await_state(dan, "notConnected", mark)
            expect(len(device.order("connected")["peers"]) == 2, "another peer is gone, too")
        quit_all(*four)
        return f"12 times {len(blobs[0])} bytes, 6 links"
