"""Finding, inviting and leaving through Apple's API, between real processes: two, and eight in one session."""

import random
import tempfile
import time

from . import peer
from .device import TIMEOUT, Device, invite, now, quit_all, service_type
from .peer import expect, until
from .processors import Others, allowance


def facade_invitations():
    """Reference 3, 4: An invitation ends with `.connecting`, `.connected`, or with `.notConnected`: declined, late, never
    answered, accepted into nothing, accepted while the advertiser is stopped; starting twice is harmless"""
    with tempfile.TemporaryDirectory() as directory:
        one, other = Device(directory, "one"), Device(directory, "other")
        # As many clients write it.
        kind = service_type().upper()
        other.order("advertise", kind, "room=7", "empty=")
        other.order("start-advertising")
        one.order("browse", kind)
        one.order("start-browsing")
        found = one.await_found(other)
        expect(found["info"] == {"room": "7", "empty": ""}, f"its info is {found['info']}")

        def ask(answer, timeout=30, context=None):
            other.order("answer", answer)
            since = [device.mark() for device in (one, other)]
            one.order("invite", other.id, timeout, *([context] if context else []))
            invited = other.await_said("invited", since[1], id=one.id)
            expect(invited["context"] == (context or "nil"), f"the context is {invited['context']}")
            return since

        def fail(since, word):
            one.await_state(other, "notConnected", since[0])
            expect(one.states(other, since[0]) == ["notConnected"], f"{word}: {one.states(other, since[0])}")

        def succeed(since):
            for device, far, mark in ((one, other, since[0]), (other, one, since[1])):
                device.await_state(far, "connected", mark)
                states = device.states(far, mark)
                expect(states in (["connecting", "connected"], ["connected"]), f"{device.name}: {states}")
            expect(one.states(other, since[0])[0] == "connecting", "connected without connecting")
            since = [device.mark() for device in (one, other)]
            one.order("disconnect")
            for device, far, mark in ((one, other, since[0]), (other, one, since[1])):
                device.await_state(far, "notConnected", mark)

        fail(ask("no"), "declined")
        fail(ask("nowhere"), "without a session")
        begun = now()
        fail(ask("never", 1), "never answered")
        waited = now() - begun
        # Infinity, zero and negative numbers are all accepted as timeouts.
        for timeout in ("inf", "0", "-1", "nan"):
            succeed(ask("yes", timeout, "a context"))
        for answers in (["yes"], ["yes", "yes", "no"], ["no", "yes"]):
            since = ask("later")
            expect(one.states(other, since[0]) in ([], ["connecting"]), "a state changed before there was an answer")
            other.order("reply", one.id, *answers)
            (succeed if answers[0] == "yes" else lambda since: fail(since, "declined late"))(since)
        since = one.mark()
        succeed(ask("stop"))
        one.await_said("lost", since, id=other.id)
        since = one.mark()
        other.order("start-advertising")
        one.await_found(other, since)
        # A device that stops browsing finds all peers again.
        since = one.mark()
        one.order("stop-browsing")
        one.order("start-browsing")
        one.await_found(other, since)
        # A peer that stops advertising while it is connected is lost, and stays connected.
        other.order("answer", "yes")
        since = [device.mark() for device in (one, other)]
        one.order("invite", other.id)
        other.await_state(one, "connected", since[1])
        one.await_state(other, "connected", since[0])
        other.order("stop-advertising")
        one.await_said("lost", since[0], id=other.id)
        expect(one.order("connected")["peers"] == ["other"], "a lost peer was disconnected")
        quit_all(one, other)
        expect(0.9 < waited < 10, f"a timeout of 1 s took {waited:.1f} s")
        return f"as {kind}; a timeout of 1 s took {waited:.2f} s"


def facade_assistants():
    """Reference 3: The assistant asks its presenter, and an accepted peer is connected; without a terminal it declines.
    The browser controller shows the peers that its delegate accepts, invites and finishes"""
    with tempfile.TemporaryDirectory() as directory:
        host, guest = Device(directory, "host"), Device(directory, "guest", "--run-loop")
        hidden = Device(directory, "hidden")
        kind = service_type()
        hidden.order("advertise", kind)
        host.order("assist", kind, "yes")
        controller = guest.order("control", kind, "hidden")
        expect((controller["least"], controller["most"]) == (2, 8), f"{controller}")
        expect(guest.await_said("present", peer="host", shown=True)["info"] == {"by": "assistant"}, "without its info")
        guest.await_said("present", peer="hidden", shown=False)
        until(lambda: guest.order("nearby")["peers"] == ["host"], TIMEOUT, "the host is not shown, or who is hidden is")
        expect(not guest.order("finish")["finished"], "it finished by itself")
        expect(guest.order("choose", "host")["invited"], "it does not invite")
        expect(host.await_said("asked")["peer"] == "guest", "another peer asks")
        host.await_state(guest, "connected")
        guest.await_state(host, "connected")
        until(lambda: guest.order("nearby")["states"] == ["connected"], TIMEOUT, "it is not shown as connected")
        expect(not guest.order("choose", "host")["invited"], "it invites a connected peer")
        order = [entry["event"] for entry in host.said if entry["event"] in ("presenting", "asked", "dismissed")]
        expect(order == ["presenting", "asked", "dismissed"], f"{order}")
        expect(guest.order("nearby")["finishes"] and guest.order("finish")["finished"], "it cannot finish")
        guest.await_said("finished")
        host.order("stop-assisting")
        guest.order("disconnect")
        host.await_state(guest, "notConnected")
        for answer in ("no", "terminal"):
            kind = service_type()
            host.order("assist", kind, answer)
            guest.order("browse", kind)
            since = guest.mark()
            guest.await_found(host)
            until(lambda: guest.heard("found", id=host.id, info={"by": "assistant"}), TIMEOUT, "not found")
            guest.order("invite", host.id)
            guest.await_state(host, "notConnected", since)
            expect("connected" not in guest.states(host, since), f"connected, and the answer was {answer}")
        guest.order("control", kind)
        guest.order("abandon")
        guest.await_said("abandoned")
        words = host.last_words()
        quit_all(host, guest, hidden)
        return f"without a terminal: {' '.join(words.split())}"


def facade_mutual_invitations():
    """Reference 4: Two peers that advertise, browse and invite each other with random skew: one `.connected` each in every
    round, never a `.notConnected` before"""
    rounds = 200 if peer.FULL else 20
    with tempfile.TemporaryDirectory() as directory:
        pair = Device(directory, "one"), Device(directory, "other")
        # First as clients do it: invite every peer that is found.
        kind = service_type()
        for device in pair:
            device.order("invite-all")
            device.order("answer", "yes")
            device.order("advertise", kind)
        for device in pair:
            device.tell("browse", kind)
        for device in pair:
            device.answer()
        since = [0, 0]
        longest = 0
        for number in range(rounds + 1):
            begun = now()
            if number:
                since = [device.mark() for device in pair]
                first = random.randrange(2)
                pair[first].tell("invite", pair[1 - first].id)
                time.sleep(random.choice([0, 0, random.uniform(0, 0.005), random.uniform(0, 0.05)]))
                pair[1 - first].tell("invite", pair[first].id)
                for device in pair:
                    device.answer()
            for device, far, mark in zip(pair, reversed(pair), since):
                device.await_state(far, "connected", mark)
            longest = max(longest, now() - begun)
            # A connected peer is asked, too. An invitation that is still in flight when they disconnect would connect
            # them once more, before the check.
            for device, far, mark in zip(pair, reversed(pair), since):
                device.await_said("invited", mark, id=far.id)
            # Any later state would arrive after the message that is sent now.
            for device, far in zip(pair, reversed(pair)):
                device.order("say", f"round-{number}", far.id)
            for device, mark in zip(pair, since):
                device.await_said("message", mark, text=f"round-{number}")
            for device, far, mark in zip(pair, reversed(pair), since):
                states = device.states(far, mark)
                expect(states in (["connecting", "connected"], ["connected"]),
                       f"round {number}: {device.name} received {states}")
            parted = [device.mark() for device in pair]
            pair[number % 2].order("disconnect")
            for device, far, mark in zip(pair, reversed(pair), parted):
                device.await_state(far, "notConnected", mark)
        quit_all(*pair)
        return f"{rounds + 1} rounds, the longest took {longest:.2f} s"


def facade_eight():
    """Reference 5, 6: Eight peers of one session are connected with each other and a message of each reaches all; the
    ninth is `.notConnected`, and the eight notice nothing"""
    with tempfile.TemporaryDirectory() as directory:
        others = Others()
        eight = [Device(directory, f"d{number}") for number in range(1, 9)]
        ninth = Device(directory, "ninth")
        begun = now()
        kind = invite(eight[0], *eight[1:])
        for device in eight:
            for far in eight:
                if far is not device:
                    device.await_state(far, "connected")
        passed = now() - begun
        names = sorted(device.name for device in eight)
        for device in eight:
            found = device.order("connected")["peers"]
            expect(found == [name for name in names if name != device.name], f"{device.name} has {found}")
        for number, device in enumerate(eight):
            sent = device.order("send", "reliable", 1, 1_000, number, *(far.id for far in eight if far is not device))
            for far in eight:
                if far is not device:
                    got = far.await_said("message", id=device.id, number=number)
                    expect(got["crc"] == sent["crc"] and got["bytes"] == 1_000, f"{far.name} got something else")

        # In both directions: the ninth invites, and is invited.
        marks = [device.mark() for device in eight]
        ninth.order("answer", "yes")
        ninth.order("browse", kind)
        for answering in (eight[3], eight[7]):
            ninth.await_found(answering)
            since = ninth.mark()
            ninth.order("invite", answering.id)
            ninth.await_state(answering, "notConnected", since)
        ninth.order("advertise", kind)
        eight[0].await_found(ninth)
        since = eight[0].mark()
        eight[0].order("invite", ninth.id)
        eight[0].await_state(ninth, "notConnected", since)
        for device in eight:
            device.order("say", "still-here", *(far.id for far in eight if far is not device))
        for device in eight:
            device.await_said("message", count=7, text="still-here")
        for device, mark in zip(eight, marks):
            noticed = [entry for entry in device.heard("state", mark) if entry["id"] != ninth.id]
            expect(not noticed, f"{device.name} noticed {noticed[:1]}")
        for device in [*eight, ninth]:
            heard = [entry for entry in device.heard("state") if entry["state"] == "connected"
                     and ninth.id in (entry["id"], device.id)]
            expect(not heard, f"{device.name}: the ninth was connected: {heard[:1]}")
        for device in eight:
            expect(len(device.heard("message")) == 14, f"{device.name} got {len(device.heard('message'))} messages")
        quit_all(*eight, ninth)
        wider, remark = allowance(others.share())
        expect(passed < 5 * wider, f"all were connected only after {passed:.1f} s{remark}")
        return f"28 links, {passed:.2f} s after the first looked for the others{remark}"


def facade_leaving():
    """Reference 11: `disconnect()` notifies all peers, leaves none connected, and the same session is used again, in
    eight processes; no resources remain; a process that dies is reported, too"""
    cycles = 200 if peer.FULL else 4
    with tempfile.TemporaryDirectory() as directory:
        eight = [Device(directory, f"d{number}") for number in range(1, 9)]
        hub, rest = eight[0], eight[1:]
        invite(hub, *rest)
        before, times = None, []
        for cycle in range(cycles):
            if cycle:
                begun = now()
                marks = [device.mark() for device in eight]
                for far in rest:
                    hub.tell("invite", far.id)
                for far in rest:
                    hub.answer()
            else:
                begun, marks = now(), [0] * 8
            for device, mark in zip(eight, marks):
                for far in eight:
                    if far is not device:
                        device.await_state(far, "connected", mark)
            times.append(now() - begun)
            for device in eight:
                device.tell("say", f"cycle-{cycle}", *(far.id for far in eight if far is not device))
            for device in eight:
                device.answer()
            for device, mark in zip(eight, marks):
                device.await_said("message", mark, count=7, text=f"cycle-{cycle}")
            marks = [device.mark() for device in eight]
            for device in eight:
                device.tell("disconnect")
            for device in eight:
                expect(device.answer()["left"] == 0, f"{device.name} has left, and is connected")
            for device, mark in zip(eight, marks):
                for far in eight:
                    if far is not device:
                        device.await_state(far, "notConnected", mark)
                        states = device.states(far, mark)
                        expect(states == ["notConnected"], f"cycle {cycle}: {device.name} received {states}")
            if cycle == (20 if peer.FULL else 1):
                before = [device.figures() for device in eight]
        grown = [0, 0, 0]
        if before:
            # Sockets of the last cycle may take a moment to close.
            def is_flat():
                for device, old in zip(eight, before):
                    new = device.figures()
                    for index in range(3):
                        grown[index] = max(grown[index], new[index] - old[index])
                return grown[0] <= 4 and grown[1] <= 4
            def look():
                grown[:] = [0, 0, 0]
                return is_flat()
            until(look, 10, f"descriptors, threads have grown by {grown[:2]}")
            if peer.FULL:
                expect(grown[2] < 16, f"memory has grown by {grown[2]:.0f} MiB")
        # A process that is killed sends no goodbye.
        marks = [device.mark() for device in eight]
        hub.order("invite", rest[0].id)
        hub.await_state(rest[0], "connected", marks[0])
        rest[0].await_state(hub, "connected", marks[1])
        rest[0].kill()
        killed = now()
        gone = hub.await_state(rest[0], "notConnected", marks[0])["t"] - killed
        rest[0].end()
        quit_all(hub, *rest[1:])
        return (f"{cycles} cycles, connected after {max(times):.2f} s at most; grown by {grown[0]} descriptors, "
                f"{grown[1]} threads, {grown[2]:.1f} MiB; a killed peer is reported after {gone * 1000:.0f} ms")
