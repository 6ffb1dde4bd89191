"""Strangers that occupy the places for invitations, and a peer that occupies those for connections."""

import base64
import os
import tempfile
import time

from . import network, peer
from .attacker import Attacker, found
from .impostors import Script, Typist
from .peer import Peer, expect, until

# Spec 15.3: invitations, refusals, confirmedPerPeer.
PLACES, REFUSALS, CONFIRMED = 16, 3, 4
CONNECTIONS = 300
# A question keeps its place for 10 s; then the inviter that waits gets one, with its next attempt at the latest 4 s later.
UNANSWERED = 15
# How long an address with three refusals is watched; its quiet time is 60 s.
QUIET = 10
QUESTION = r"'([^']*)' \(id [0-9a-f]{8}\), found on the network, wants to send ([^?]*)Accept\?"
CONTEST = "Another peer claims the same id"


def invitation_hoard():
    """While 16 addresses hold all places for invitations and use each again at once, an honest invitation becomes a question;
    an address that was refused three times is quiet"""
    return network.inside(_invitation_hoard, seconds=240)


def _invitation_hoard():
    with tempfile.TemporaryDirectory() as directory:
        path = _file(directory)
        ann = _receive(directory)
        uid, port = found(directory, "ann")
        attacker = Attacker("hoard", uid=uid, port=port, context="send 1 -", addresses=PLACES)
        expect(attacker.told()["invited"] == PLACES, "the places are not taken")
        bob = Script(directory, "send", path, "--to", "ann", "--name", "bob", "--unverified", "--timeout", "120")
        # The user does nothing, and yet the honest one gets a place: it comes before what follows the refusals.
        time.sleep(UNANSWERED)
        asked = _refuse(ann, until_name="bob")
        worst = max(asked.values(), default=0)
        expect(sum(asked.values()) <= 2 * PLACES, f"{sum(asked.values())} questions before the honest one")
        expect(worst <= REFUSALS, f"one address caused {worst} questions: {asked}")
        ann.types("y\n")
        code, said = bob.end()
        expect(code == 0 and os.path.exists(os.path.join(directory, "inbox", "secret.txt")), said)
        expect(ann.end() == 0, ann.screen)
        attacker.stop()
        # One address alone, which invites again and again.
        ann = _receive(directory)
        uid, port = found(directory, "ann")
        attacker = Attacker("hoard", uid=uid, port=port, context="send 1 -", addresses=1)
        attacker.told()
        for _ in range(REFUSALS):
            _question(ann)
            ann.types("n\n")
        try:
            _question(ann, QUIET)
        except peer.Failure:
            pass
        else:
            raise peer.Failure(f"a question after {REFUSALS} refusals: {ann.screen[-300:]}")
        facts = attacker.stop()
        expect(facts["declined"] == [REFUSALS] and facts["busy"] >= 3, f"the attacker has not tried again: {facts}")
        ann.process.terminate()
        ann.end()
    return (f"{sum(asked.values())} questions before the honest one, at most {worst} from one address; "
            f"then {facts['busy']:.0f} times BUSY in {QUIET} s")


def uid_reservation():
    """Nobody reserves another peer's id: the user is asked about both who claim it, and warned each time"""
    return network.inside(_uid_reservation, seconds=120)


def _uid_reservation():
    with tempfile.TemporaryDirectory() as directory:
        path, mine = _file(directory), peer.random_uid()
        # A random id, as one without a key is stored: the id of a key cannot be claimed without it.
        with open(os.path.join(directory, "bob.id"), "wb") as file:
            file.write(base64.b64encode(mine + b"bob") + b"\n")
        ann = _receive(directory)
        uid, port = found(directory, "ann")
        attacker = Attacker("reserve", uid=uid, port=port, context="send 1 -", name="bob", **{"as": mine.hex()})
        expect(attacker.told()["invited"], "the attacker is refused")
        name, warning = _question(ann)
        expect(name == "bob" and CONTEST not in warning, f"the first question is wrong: {ann.screen}")
        bob = Script(directory, "send", path, "--to", "ann", "--id", os.path.join(directory, "bob.id"), "--unverified",
                     "--name", "bob", "--timeout", "60")
        # A yes before the second invitation has arrived would be right; its INVITE follows the connection at once.
        until(lambda: _connections(port) == 2, 20, "bob does not invite")
        time.sleep(1)
        ann.types("y\n")
        name, warning = _question(ann)
        expect(name == "bob" and CONTEST in warning, f"no warning after the yes to the attacker: {ann.screen[-400:]}")
        ann.types("n\n")
        name, warning = _question(ann)
        expect(name == "bob" and CONTEST in warning, f"no warning about the real one: {ann.screen[-400:]}")
        ann.types("y\n")
        code, said = bob.end()
        expect(code == 0 and os.path.exists(os.path.join(directory, "inbox", "secret.txt")), said)
        expect(ann.end() == 0, ann.screen)
        answer = attacker.stop()["answer"]
        expect(answer == "DECLINED", f"the attacker got {answer}")
    return "both questions warn; the file of the real one arrived"


def candidate_hoard():
    """A peer that is expected confirms 300 connections and selects none: 4 of them stay, and the descriptors are bounded"""
    with tempfile.TemporaryDirectory() as directory:
        ann = Peer(directory, "ann", "mallory.data", timeout=60)
        until(lambda: os.path.exists(ann.data), 10, "no data was written")
        before, most = ann.descriptors(), 0
        attacker = Attacker("candidates", theirs=ann.data, ours=os.path.join(directory, "mallory.data"),
                            count=CONNECTIONS)
        while attacker.lines.empty():
            expect(not ann.has_ended(), f"ann ended: {ann.last_words()}")
            most = max(most, ann.descriptors())
            time.sleep(0.02)
        facts = attacker.told()
        expect(facts["confirmed"] == CONNECTIONS, f"only {facts['confirmed']} connections were confirmed")
        expect(facts["open"] <= CONFIRMED, f"{facts['open']} connections stay open")
        expect(facts["duplicate"] >= CONNECTIONS - CONFIRMED, f"{facts['duplicate']} were closed with DUPLICATE")
        # Its own dials, those that it closes, and the four.
        expect(most <= before + 80, f"{most} descriptors, {before} before")
        left = until(lambda: ann.descriptors() <= before + 12 and ann.descriptors(), 10, "descriptors remain")
        attacker.stop()
        ann.kill()
        ann.end(5)
    return f"{facts['open']:.0f} of {CONNECTIONS} stay; {before} descriptors before, at most {most}, {left} afterwards"


def _file(directory):
    path = os.path.join(directory, "secret.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("for ann only\n")
    os.makedirs(os.path.join(directory, "inbox"), exist_ok=True)
    return path


def _receive(directory):
    return Typist(directory, "receive", "--name", "ann", "--into", os.path.join(directory, "inbox"), "--force",
                  "--timeout", "120")


def _connections(port):
    """Returns how many connections to that port are established in this network namespace."""
    with open("/proc/self/net/tcp", encoding="ascii") as lines:
        words = [line.split() for line in lines][1:]
    return sum(line[1].endswith(f":{port:04X}") and line[3] == "01" for line in words)


def _question(typist, seconds=30):
    """Waits for the next question, and returns the name in it and what follows."""
    match = typist.sees(QUESTION, seconds)
    typist.screen = typist.screen[match.end():]
    return match.group(1), match.group(2)


def _refuse(typist, until_name):
    """Refuses all others; returns how many questions each name caused."""
    asked = {}
    while True:
        name, _ = _question(typist)
        if name == until_name:
            return asked
        asked[name] = asked.get(name, 0) + 1
        expect(sum(asked.values()) <= (REFUSALS + 1) * PLACES, f"only others are asked about: {asked}")
        typist.types("n\n")
