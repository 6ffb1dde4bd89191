"""Processes of `MultipeerWitness`: links whose every state, message, file and stream is reported."""

import os
import time

from stage import Failure, product


class Witness:
    """One process; `said` holds the lines that it has printed, as words, with their times."""

    def __init__(self, stage, host, name, **options):
        self.stage, self.name, self.said = stage, name, []
        self.program = stage.start(host, name, [product("MultipeerWitness"), name, stage.folder], self._take, **options)

    @property
    def data(self):
        return os.path.join(self.stage.folder, f"{self.name}.data")

    def _take(self, _, line):
        self.said.append((time.monotonic(), line.split(" ")))

    def order(self, *words):
        self.program.type(" ".join(map(str, words)))

    def heard(self, *words, since=0.0):
        """Returns when it has printed lines that begin with these words, and the rest of each."""
        words = [str(word) for word in words]
        return [(at, said[len(words):]) for at, said in self.said if at >= since and said[:len(words)] == list(words)]

    def count(self, *words, since=0.0):
        return len(self.heard(*words, since=since))

    def ends(self, since=0.0):
        """Returns when links ended, and the reasons."""
        return [(at, " ".join(said[3:])) for at, said in self.said
                if at >= since and said[0] == "state" and said[2] == "notConnected"]

    def is_linked_with(self, other):
        states = self.heard("state", other.name)
        return bool(states) and states[-1][1][0] == "connected"

    def numbers(self, other, since=0.0):
        """Returns the numbers of the reliable messages that it has received from another one, in their order."""
        return [int(rest[0]) for _, rest in self.heard("message", other.name, since=since)]

    def fail_if_ended(self):
        if self.program.has_ended():
            code = self.program.process.returncode
            raise Failure(f"{self.name} has ended with {code}: {self.program.last_words()}")


def link(stage, pairs, seconds=20, delay=lambda: 0):
    """Links the witnesses of each pair, after a delay of its own."""
    everyone = {witness for pair in pairs for witness in pair}
    if not stage.run(seconds, lambda: all(witness.heard("ready") for witness in everyone)):
        raise Failure("not ready: " + ", ".join(witness.name for witness in everyone if not witness.heard("ready")))
    for one, other in pairs:
        stage.after(delay(), lambda one=one, other=other: (one.order("join", other.data), other.order("join", one.data)))
    if not stage.run(seconds, lambda: all(one.is_linked_with(other) and other.is_linked_with(one) for one, other in pairs)):
        missing = [f"{one.name} and {other.name}" for one, other in pairs if not one.is_linked_with(other)]
        said = [" ".join(rest) for one, _ in pairs for _, rest in one.heard("refused")]
        raise Failure(f"not linked within {seconds} s: {', '.join(missing[:4])} {said[:1]}")


def processor_time(program):
    """Returns the seconds for which the threads of a process have run."""
    folder, total = f"/proc/{program.process.pid}/task", 0
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/schedstat", encoding="ascii") as figures:
            total += int(figures.read().split()[0])
    return total / 1e9
