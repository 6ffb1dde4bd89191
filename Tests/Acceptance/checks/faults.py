"""Meshes with faults: members that are killed, stopped, cut off, under packet loss, on a busy machine."""

import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from . import network, peer
from .member import Member, Mesh, judge
from .network import Hub
from .peer import expect
from .processors import MUCH, Others

# The idle timeout of the members of the short forms, in seconds; those of the long ones have the default.
SHORT = ("--idle-timeout", "3", "--rate", "10", "--files", "1")
# The long forms run many meshes at once.
LONG = ("--rate", "2", "--files", "0.2")
MEMBERS = 4


class Chance(random.Random):
    """Random numbers with a known seed, which a failure prints: that of the variable SEED, if it is set."""

    def __init__(self):
        self.said = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        super().__init__(self.said)


def rounds(delay, directory, name, count, one_round, arguments, make=Member):
    """Injects that many rounds of faults into one mesh; returns its histories."""
    place = os.path.join(directory, name)
    os.mkdir(place)
    time.sleep(delay)
    chance = Chance()
    mesh = Mesh(place, MEMBERS, *arguments, prefix=name, make=make)
    try:
        mesh.chain()
        for number in range(count):
            one_round(mesh, chance)
            if number % 5 == 0 or number + 1 == count:
                mesh.await_full()
                mesh.rest()
        mesh.quit()
    except peer.Failure as failure:
        raise peer.Failure(f"{name}, seed {chance.said}: {failure}; histories: {_keep(mesh)}") from None
    return mesh.files()


def _keep(mesh):
    for member in mesh.members:
        member.kill()
    try:
        return judge(mesh.files(), 1_000)
    except peer.Failure as failure:
        return str(failure)


def side_by_side(plans):
    """Runs all meshes at once, each in its own thread; returns the checker's output for all of them."""
    others = Others()
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(len(plans)) as pool:
        # One after the other, so that their starts do not interfere.
        running = [pool.submit(rounds, delay / 2, directory, *plan) for delay, plan in enumerate(plans)]
        files = [file for future in running for file in future.result()]
        share = others.share()
        slack = 3 if share >= MUCH else 0
        busy = f"; others used {share * 100:.0f} % of the processors, so all may take {slack} s longer"
        remark = busy if slack else ""
        return judge(files, slack) + remark


def death(mesh, chance):
    """Kills a member, at times while it joins, and restarts it."""
    victim = chance.choice(mesh.members)
    time.sleep(chance.uniform(0, 0.5))
    mesh.nemesis.kill(victim)
    while chance.random() < 0.3:
        victim.start()
        victim.await_ready()
        other = chance.choice([member for member in mesh.members if member is not victim])
        mesh.join(victim, other)
        time.sleep(chance.uniform(0, 0.3))
        mesh.nemesis.kill(victim)
    victim.start()
    victim.await_ready()
    mesh.rejoin(victim)


def stop(longest):
    """Stops a member for a while, and continues it."""
    def one_round(mesh, chance):
        victim = chance.choice(mesh.members)
        mesh.nemesis.stop(victim, chance.uniform(1, longest))
        mesh.rejoin(victim)
    return one_round


def mesh_deaths():
    """Members that are killed -9 at random moments, or stopped for 1 to 30 s, and return: clean histories"""
    if peer.FULL:
        plans = [(f"killed{number}", 50, death, LONG) for number in range(4)]
        plans += [(f"stopped{number}", 20, stop(30), LONG) for number in range(10)]
        said = "200 kills, 200 stops of 1 to 30 s"
    else:
        plans = [("killed", 3, death, SHORT), ("stopped", 1, stop(5), SHORT)]
        said = "3 kills, a stop of 1 to 5 s"
    return f"{said}; {side_by_side(plans)}"


# MARK: networks


def mesh_cuts():
    """Members in network namespaces that are cut off without notice for 1 to 20 s: clean histories"""
    return network.inside(_cuts, seconds=2_400)


def _cuts():
    groups, count, longest, arguments = (10, 20, 20, LONG) if peer.FULL else (1, 1, 5, SHORT)
    hub = Hub(groups * MEMBERS)
    try:
        plans = [(f"cut{number}", count, cut(hub, longest), arguments, place(hub, number)) for number in range(groups)]
        return f"{groups * count} cuts of 1 to {longest} s; {side_by_side(plans)}"
    finally:
        peer.end_everything()
        hub.close()


def place(hub, group):
    """Creates the members of a group at their own places on the hub."""
    def make(directory, name, *arguments):
        number = group * MEMBERS + int(name[-1])
        member = Member(directory, name, *arguments, "--listen", f"{hub.address(number)}:0",
                        there=hub.there(number))
        member.place = number
        return member
    return make


def cut(hub, longest):
    def one_round(mesh, chance):
        victim = chance.choice(mesh.members)
        mesh.nemesis.cut([victim], chance.uniform(1, longest), lambda: hub.take_out(victim.place),
                         lambda: hub.put_in(victim.place))
        mesh.rejoin(victim)
    return one_round


def quiet(mesh, seconds):
    """Checks that no member's state changes for that long."""
    before = [len(member.entries()) for member in mesh.members]
    time.sleep(seconds)
    for member, count in zip(mesh.members, before):
        new = [entry for entry in member.entries()[count:] if entry["event"] == "state"]
        expect(not new, f"{member.name} noticed something: {new[:2]}")


def mesh_idle():
    """Idle members, in network namespaces, with 5 % of all packets lost: no idle timeout"""
    return network.inside(_idle, seconds=900)


def _idle():
    hub = Hub(MEMBERS)
    try:
        with tempfile.TemporaryDirectory() as directory:
            for number in range(1, MEMBERS + 1):
                hub.lose(number, 5)
            seconds, arguments = (600, ()) if peer.FULL else (4, SHORT[:2])
            mesh = Mesh(directory, MEMBERS, *arguments, make=place(hub, 0))
            mesh.chain()
            quiet(mesh, seconds)
            lost, passed = hub.lost()
            mesh.rest()
            mesh.quit()
            expect(lost > 0, "no packet was lost")
            return f"{seconds} s, {lost} packets lost of {lost + passed}; {judge(mesh.files())}"
    finally:
        peer.end_everything()
        hub.close()


def mesh_load():
    """Members on a machine with 16 busy processes: no idle timeout"""
    seconds = 300 if peer.FULL else 4
    busy = []
    try:
        with tempfile.TemporaryDirectory() as directory:
            mesh = Mesh(directory, 8, "--rate", "5", *(() if peer.FULL else SHORT[:2]))
            mesh.chain()
            words = [sys.executable, "-c", f"import time\nend = time.time() + {seconds + 60}\n"
                     "while time.time() < end: pass"]
            busy = [subprocess.Popen(words) for _ in range(16)]
            quiet(mesh, seconds)
            end(busy)
            mesh.rest()
            mesh.quit()
            return f"{seconds} s; {judge(mesh.files(), 5)}"
    finally:
        end(busy)


def end(processes):
    for process in processes:
        process.kill()
        process.wait()
