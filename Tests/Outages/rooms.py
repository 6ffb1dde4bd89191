"""The documented programs in a room whose network fails: how soon does every member receive the lines of every other again?

Each member types a line every quarter of a second, for the whole run. The room is linked again from the first line on that was
typed after the network had come back and arrived, between each two members in both directions, if no later line is lost. """

import random
import time

from network import Switch
from stage import Failure, Stage, product

# A program, and the name of its product. The code of the first two is shown in the README and in Getting started.
# Each with its first words.
PROGRAMS = {"chat": ["Chat"], "start": ["StartChat"], "apple": ["port-chat"], "star": ["MultipeerWitness", "--star"]}
SORTS = ("switch", "port", "address")
NAMES = ("ann", "bob", "cid", "dan")
PAUSE = 0.25
# A line that takes longer was not received in time; a machine with many rooms is slow.
LATE = 1.5
# How long no line may be lost until a room counts as linked.
STEADY = 2.5
LIMIT = 5.0
# How long is waited to see whether a room is linked too late, or never.
WATCHED = 20.0
START = 30.0


class Member:
    """One program, the lines that it was given, and those of others that it printed."""

    def __init__(self, room, host, name):
        self.room, self.host, self.name = room, host, name
        self.typed = []
        self.received = {other: {} for other in room.names if other != name}
        self.program = room.stage.start(host, name, [*room.words, name], self._take)

    def _take(self, _, line):
        if line.endswith("[y/n]") or line.endswith("[y/N]"):
            self.program.type("y")
            return
        author, mark, text = line.partition(": line ")
        if mark and author in self.received and text.isdigit():
            self.received[author].setdefault(int(text), time.monotonic())

    def speak(self):
        self.program.type(f"line {len(self.typed)}")
        self.typed.append(time.monotonic())


class Room:
    def __init__(self, switch, program, size):
        self.switch, self.names = switch, NAMES[:size]
        name, *words = PROGRAMS[program]
        self.words = [product(name), *words]
        self.hosts = [switch.host(name) for name in self.names]
        self.stage, self.members = None, []

    def start(self, chance):
        """Starts all members, one after the other, and returns after how many seconds the room was linked."""
        self.stage, self.members = Stage(), []
        for host in self.hosts:
            self.stage.run(chance.uniform(0, 1))
            self.members.append(Member(self, host, host.name))
        begin = time.monotonic()
        self._speak()
        return self.await_linked(begin, START)

    def _speak(self):
        for member in self.members:
            member.speak()
        self.stage.after(PAUSE, self._speak)

    def close(self):
        if self.stage:
            self.stage.close()

    def await_linked(self, since, seconds):
        """Returns after how many seconds the room was linked, from a moment on; None if that takes too long."""
        # A room that is linked at the last moment has to stay linked.
        linked = self.stage.run(since + seconds + STEADY - time.monotonic(), lambda: self._is_linked(since))
        self._fail_if_ended()
        return self._linked_at(since) - since if linked else None

    def _fail_if_ended(self):
        for member in self.members:
            if member.program.has_ended():
                raise Failure(f"{member.name} has ended with {member.program.process.returncode}: {member.program.last_words()}")

    def _is_linked(self, since):
        at = self._linked_at(since)
        return at is not None and time.monotonic() - at > STEADY

    def _linked_at(self, since):
        """Returns from when on all lines arrive; None while they do not."""
        moments = [self._flows_from(speaker, receiver, since) for receiver in self.members for speaker in self.members
                   if speaker is not receiver]
        return None if None in moments else max(moments)

    @staticmethod
    def _flows_from(speaker, receiver, since):
        now, received, begin = time.monotonic(), receiver.received[speaker.name], None
        for number in range(len(speaker.typed) - 1, -1, -1):
            typed = speaker.typed[number]
            if typed < since:
                break
            arrived = received.get(number)
            if arrived is None and now - typed < LATE:
                continue  # it is under way
            if arrived is None or arrived - typed > LATE:
                # The first line after an outage may have waited.
                return begin if arrived is None or begin is None else arrived
            begin = arrived
        return begin

    def missing(self, since):
        """Returns between whom no line flows."""
        return [f"{speaker.name} to {receiver.name}" for receiver in self.members for speaker in self.members
                if speaker is not receiver and self._flows_from(speaker, receiver, since) is None]


def outages(report, program, size, sort, seconds, seed, capture=None):
    """Outages of one sort, one after the other; returns after how many seconds each was over for the room."""
    chance = random.Random(seed)
    switch = Switch(seed, capture)
    room = Room(switch, program, size)
    found, linked = [], False
    try:
        for length in seconds:
            if not linked:
                room.close()
                if room.start(chance) is None:
                    raise Failure(f"not linked within {START:.0f} s of the start: {', '.join(room.missing(0))}")
            room.stage.run(chance.uniform(1, 4))
            # In every second room of more than two, a whole part of the network fails.
            whole = sort == "switch" and (size == 2 or chance.random() < 0.5)
            victims = room.hosts if whole else [chance.choice(room.hosts)]
            room.stage.latest = 0.0
            disturb(sort, victims, True)
            room.stage.run(length)
            disturb(sort, victims, False)
            back = time.monotonic()
            after = room.await_linked(back, WATCHED)
            linked = after is not None
            who = "all" if whole else victims[0].name
            found.append({"sort": sort, "outage": length, "who": who, "after": after, "late": room.stage.latest})
            if not linked:
                found[-1]["missing"] = room.missing(back)
            report(f"{sort} {length} s, {who}: " + (f"{after:.1f} s" if linked else "not linked"))
        return found
    finally:
        room.close()
        switch.close()


def disturb(sort, hosts, begins):
    for host in hosts:
        if sort == "switch":
            host.cable.passes = not begins
        elif sort == "port":
            host.set_carrier(not begins)
        elif begins:
            host.lose_address()
        else:
            host.renumber()
