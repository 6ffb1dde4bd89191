"""Meshes of real processes: how they form, and which peers are admitted."""

import os
import subprocess
import tempfile
import time

from . import peer
from .endurance import run
from .member import Member, Mesh, judge
from .network import Skipped
from .peer import expect, until
from .processors import Others, allowance


def states(member, event="state"):
    return [entry for entry in member.entries() if entry["event"] == event]


def outcome(member, other):
    """Returns the outcome of the only attempt at the other; None as long as it goes on."""
    found = [entry["outcome"] for entry in states(member, "outcome") if entry["peer"] == other.uid]
    return found[0] if found else None


def expect_no_flapping(members):
    """Checks that no member receives the same state of the same peer twice."""
    for member in members:
        heard = [(entry["peer"], entry["state"]) for entry in states(member)]
        expect(len(heard) == len(set(heard)), f"{member.name} received a state twice")


FULL_WORDS = "the session is full"


def mesh_chain():
    """8 processes joined in a chain are a full mesh in less than 3 s; a 9th is refused without effect on the others"""
    with tempfile.TemporaryDirectory() as directory:
        others = Others()
        mesh = Mesh(directory, 8, "--rate", "10")
        mesh.chain()
        begun = min(entry["t"] for member in mesh.members for entry in states(member, "attempt"))
        linked = max(entry["t"] for member in mesh.members for entry in states(member))
        passed = (linked - begun) / 1e9
        before = [len(states(member)) for member in mesh.members]
        ninth = Member(directory, "ninth", "--rate", "10")
        ninth.await_ready()
        sponsor = mesh.members[3]
        mesh.join(ninth, sponsor)
        for one, other in ((ninth, sponsor), (sponsor, ninth)):
            said = until(lambda: outcome(one, other), 10, f"{one.name} received no reason")
            expect(said == FULL_WORDS, f"{one.name} received: {said}")
        time.sleep(0.5)
        for member, count in zip(mesh.members, before):
            new = [entry for entry in states(member)[count:] if entry["peer"] != ninth.uid]
            expect(not new, f"{member.name} noticed something: {new[:1]}")
        mesh.members.append(ninth)
        mesh.rest()
        mesh.quit()
        expect_no_flapping(mesh.members)
        wider, remark = allowance(others.share())
        expect(passed < 3 * wider, f"full after {passed:.2f} s{remark}")
        return f"a full mesh after {passed:.2f} s, the 9th: {FULL_WORDS}; {judge(mesh.files())}{remark}"


def mesh_crowd():
    """20 processes join one member at once: the result is one mesh of 8, the others are notified, no state flaps"""
    with tempfile.TemporaryDirectory() as directory:
        others = Others()
        mesh = Mesh(directory, 21, "--rate", "5")
        sponsor, joiners = mesh.members[0], mesh.members[1:]
        start = time.monotonic()
        sponsor.tell("join", *(joiner.data for joiner in joiners))
        for joiner in joiners:
            joiner.tell("join", sponsor.data)
        for member in mesh.members:
            member.reply()

        def views():
            for member in mesh.members:
                member.tell("who")
            return [len(member.reply().split()) - 1 for member in mesh.members]

        def is_settled():
            return (sorted(views()) == [0] * 13 + [7] * 8
                    and all(outcome(joiner, sponsor) and outcome(sponsor, joiner) for joiner in joiners))
        try:
            until(is_settled, 40, "not one mesh of 8")
        except peer.Failure as failure:
            raise peer.Failure(f"{failure}: the members have {sorted(views())} links") from None
        passed = time.monotonic() - start
        # An eviction would come within 2 s.
        time.sleep(2.5 if not peer.FULL else 12)
        expect(is_settled(), f"it did not stay stable: the members have {sorted(views())} links")
        mesh.rest()
        inside = {member.uid for member in mesh.members if member.who()}
        told = [outcome(joiner, sponsor) for joiner in joiners if joiner.uid not in inside]
        expect(set(told) == {FULL_WORDS}, f"the others received {sorted(set(told))}")
        evicted = [member for member in mesh.members if member.uid not in inside
                   and any(entry["state"] == "connected" for entry in states(member))]
        mesh.quit()
        expect_no_flapping(mesh.members)
        wider, remark = allowance(others.share())
        slack = 3 if wider > 1 else 0
        return (f"one mesh of 8 after {passed:.1f} s; {len(told)} received: {FULL_WORDS}, {len(evicted)} of them "
                f"after they had been linked; {judge(mesh.files(), slack)}{remark}")


def mesh_star():
    """A star of 8 has 7 links, all of its centre; a 9th is refused"""
    with tempfile.TemporaryDirectory() as directory:
        mesh = Mesh(directory, 8, "--rate", "10", prefix="point")
        centre = Member(directory, "centre", "--rate", "10", "--star")
        centre.await_ready()
        points = mesh.members[:7]
        mesh.members.append(centre)
        for point in points:
            mesh.join(centre, point)
        until(lambda: len(centre.who()) == 7, 10, "the centre does not have 7 links")
        late = mesh.members[7]
        mesh.join(centre, late)
        for one, other in ((late, centre), (centre, late)):
            said = until(lambda: outcome(one, other), 10, f"{one.name} received no reason")
            expect(said == FULL_WORDS, f"{one.name} received: {said}")
        time.sleep(0.5)
        for point in points:
            expect(point.who() == {centre.uid}, f"{point.name} is linked with others than the centre")
        mesh.rest()
        mesh.quit()
        expect_no_flapping(mesh.members)
        return judge(mesh.files())


def mesh_cycles():
    """The same 8 sessions form a mesh again and again; no descriptor, thread or memory leaks"""
    return run("mesh-cycles", "200" if peer.FULL else "10", seconds=600)


def mesh_churn():
    """10 members that join, leave, are dropped and send at random, under ThreadSanitizer: no report"""
    return churn(peer.MINUTES * 60 if peer.FULL else 4)


def churn(seconds):
    scratch = os.path.join(peer.ROOT, ".build", "tsan")
    program = os.path.join(scratch, "debug", "MultipeerMember")
    if peer.FULL:
        built = subprocess.run(["swift", "build", "--sanitize=thread", "--scratch-path", scratch, "--product",
                                "MultipeerMember"], cwd=peer.ROOT, capture_output=True, timeout=1800)
        expect(built.returncode == 0, f"it cannot be built: {built.stdout.decode()[-300:]}")
    if not os.access(program, os.X_OK):
        raise Skipped("there is no build with ThreadSanitizer: run 'make sanitize', or use --full")
    with tempfile.TemporaryDirectory() as directory:
        history = os.path.join(directory, "churn.jsonl")
        log = os.path.join(directory, "log")
        environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=0 exitcode=66", "SWIFT_BACKTRACE": "enable=no"}
        with open(log, "wb") as errors:
            done = subprocess.run([program, "churn", str(seconds), "10", directory, history], stdout=subprocess.PIPE,
                                  stderr=errors, env=environment, timeout=seconds + 120)
        with open(log, encoding="utf-8", errors="replace") as file:
            said = file.read()
        reports = said.count("WARNING: ThreadSanitizer")
        expect(reports == 0 and done.returncode == 0,
               f"{reports} reports, exit code {done.returncode}: {said[:600]} {done.stdout.decode()[-200:]}")
        # A program that is ten times as slow gets ten times as long.
        return f"{seconds} s, {done.stdout.decode().strip()}; no report; {judge([history], 9)}"
