"""Links on a network that carries nothing for a while: those that must survive, those that must end, and what an idle one costs."""

import random
import time

import kernel
from network import Switch
from stage import Failure, Stage
from witnesses import Witness, link, processor_time

# The time after the beginning of an outage by which a link that ends has ended: interval, idle timeout, and a busy machine.
ENDED = 14.0


class Pairs:
    """Links side by side between two hosts, each between two processes of its own, made at random moments: so are their pings."""

    def __init__(self, seed, count, busy, environment, capture):
        self.chance, self.busy, self.environment = random.Random(seed), busy, environment
        self.switch, self.stage = Switch(seed, capture), Stage()
        self.hosts = [self.switch.host("ann"), self.switch.host("bob")]
        self.made = 0
        self.pairs = []
        self.add(count)

    def add(self, count):
        new = []
        for _ in range(count):
            self.made += 1
            new.append([Witness(self.stage, host, f"{host.name}{self.made}", environment=self.environment) for host in self.hosts])
        link(self.stage, new, 60, lambda: self.chance.uniform(0, 3.5))
        for number, (ann, bob) in enumerate(new):
            if self.busy:
                ann.order("tick", 100, 200)
                if number % 2:  # the other peer of every second one only listens
                    bob.order("tick", 100, 200)
        self.pairs += new

    def flows(self, ann, bob, since):
        """Returns whether messages have arrived, at bob, and at ann unless she is the only sender."""
        return bool(bob.numbers(ann, since)) and (self.busy or bool(ann.numbers(bob, since)))

    def pass_frames(self, passes):
        for host in self.hosts:
            host.cable.passes = passes

    def drop(self, pair):
        for witness in pair:
            self.stage.end(witness.program)
        self.pairs.remove(pair)

    def close(self):
        self.stage.close()
        self.switch.close()


def survive(report, outages, links, busy, without_option, seed, capture=None):
    """Outages of some lengths at random moments; returns for each how many links there were, and the reasons of those that ended."""
    stand_in, counted = {}, None
    if without_option:
        with_folder = Stage()
        stand_in, counted = kernel.without_rto_max(with_folder.folder)
    pairs = Pairs(seed, links, busy, stand_in, capture)
    found = []
    try:
        for length in outages:
            pairs.add(links - len(pairs.pairs))
            pairs.stage.run(pairs.chance.uniform(3, 8))
            begin = time.monotonic()
            pairs.pass_frames(False)
            pairs.stage.run(length)
            pairs.pass_frames(True)
            pairs.stage.run(begin + ENDED - time.monotonic())
            # Each sends at a moment of its own: pings follow the last message, and would be at the same moment for all.
            asked = time.monotonic()
            for pair in [] if pairs.busy else pairs.pairs:
                pairs.stage.after(pairs.chance.uniform(0, 3.5), lambda pair=pair: [one.order("messages", 1, 10) for one in pair])
            pairs.stage.run(7, lambda: all(pairs.flows(*pair, asked) for pair in pairs.pairs))
            reasons = []
            for pair in list(pairs.pairs):
                why = _why(pairs, pair, begin, asked)
                if why:
                    reasons.append(why)
                    pairs.drop(pair)
            found.append({"outage": length, "links": links, "ended": reasons})
            report(f"{'busy' if busy else 'idle'}{' without the option' if without_option else ''}, {length} s: "
                   f"{len(reasons)} of {links} ended")
        refused = None
        if counted:
            try:
                with open(counted, "rb") as file:
                    refused = len(file.read())
            except FileNotFoundError:
                refused = 0
        return {"outages": found, "refused": refused}
    finally:
        pairs.close()


def _why(pairs, pair, begin, asked):
    """Returns why a link counts as ended; None for one that has survived."""
    ann, bob = pair
    for witness in pair:
        witness.fail_if_ended()
    for witness in pair:
        for at, reason in witness.ends(begin):
            return f"{at - begin:.1f} s: {reason}"
    if not pairs.flows(ann, bob, asked):
        return "no message arrives afterwards"
    for one, other in ((ann, bob), (bob, ann)):
        numbers = one.numbers(other)
        if numbers != list(range(1, len(numbers) + 1)):
            return "messages are missing"
    return None


def death(report, links, seed, capture=None):
    """A network that does not come back; returns after how long each end has noticed, None for one that has not."""
    pairs = Pairs(seed, links, False, {}, capture)
    try:
        pairs.stage.run(pairs.chance.uniform(3, 8))
        begin = time.monotonic()
        pairs.pass_frames(False)
        everyone = [witness for pair in pairs.pairs for witness in pair]
        pairs.stage.run(20, lambda: all(witness.ends(begin) for witness in everyone))
        return [witness.ends(begin)[0][0] - begin if witness.ends(begin) else None for witness in everyone]
    finally:
        pairs.close()


def cost(report, seconds, seed, capture=None):
    """One idle link; returns its packets of each kind, both ways, and the processor time of an end, for a minute."""
    pairs = Pairs(seed, 1, False, {}, capture)
    try:
        pairs.stage.run(15)  # what begins with a link is over
        programs = [witness.program for witness in pairs.pairs[0]]
        before = sum((host.sent for host in pairs.hosts), start=type(pairs.hosts[0].sent)())
        processor = [processor_time(program) for program in programs]
        pairs.stage.run(seconds)
        after = sum((host.sent for host in pairs.hosts), start=type(before)())
        spent = max(processor_time(program) - then for program, then in zip(programs, processor))
        for ann, bob in pairs.pairs:
            if ann.ends() or bob.ends():
                raise Failure(f"the link has ended: {(ann.ends() + bob.ends())[0][1]}")
        minute = 60 / seconds
        return {"packets": {kind: round(count * minute, 1) for kind, count in (after - before).items()},
                "milliseconds": round(spent * 1_000 * minute, 1)}
    finally:
        pairs.close()
