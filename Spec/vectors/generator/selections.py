"""selections.json: which of the connections to one peer becomes the link, 6.4 and 6.5."""

from .wire import REGISTRIES, document, test

TIMER = {row["name"]: row["milliseconds"] for row in REGISTRIES["timers"]}


class End:
    """A session with room for links, and its candidates with one peer, which the peer dialled."""

    def __init__(self, part):
        self.controls = part == "controlling"
        self.now, self.order, self.due, self.selecting, self.link = 0, [], {}, None, None
        self.made, self.waiting, self.probe, self.is_other, self.newcomers, self.does = 0, None, None, False, [], []

    def say(self, *words):
        self.does.append(" ".join(map(str, words)))

    def close(self, number, code):
        self.forget(number)
        self.say("close", number, code)

    def forget(self, number):
        self.order = [one for one in self.order if one != number]
        self.newcomers = [one for one in self.newcomers if one[0] != number]
        self.due.pop(number, None)
        self.selecting = None if self.selecting == number else self.selecting
        self.waiting = None if self.waiting == number else self.waiting

    def ping(self):
        if self.probe is None:
            self.probe = self.now + TIMER["staleProbe"]
            self.say("PING", self.link)

    def become(self, number):
        self.forget(number)
        self.link, self.made, self.probe = number, self.now, None
        self.say("link", number)

    def next(self):
        if self.controls and self.link is None and self.selecting is None and self.order:
            self.selecting = self.order.pop(0)
            self.due[self.selecting] = self.now + TIMER["select"]
            self.say("SELECT", self.selecting)

    def candidate(self, number):
        self.due[number] = self.now + TIMER["select"]
        if self.link is not None and self.is_other:
            self.newcomers.append([number, False])
            return self.ping()
        if self.link is not None and self.controls:
            if self.probe is None and self.now - self.made < TIMER["staleAge"]:
                return self.close(number, "DUPLICATE")
            self.order.append(number)
            return self.ping()
        self.order.append(number)
        self.next()

    def select(self, number):
        for one in self.newcomers:
            if one[0] == number:
                one[1] = True
                return
        if self.controls:
            self.close(number, "PROTOCOL")
            return self.next()
        self.order.remove(number)
        if self.link is None:
            self.say("SELECTED", number)
            return self.become(number)
        if self.waiting is not None:
            self.close(self.waiting, "DUPLICATE")
        self.waiting = number
        self.due[number] = self.now + TIMER["select"]
        self.ping()

    def selected(self, number):
        if self.selecting != number:
            self.close(number, "PROTOCOL")
            return self.next()
        self.become(number)
        for one in list(self.order):
            self.close(one, "DUPLICATE")

    def restart(self):
        self.is_other = True

    def answer(self):
        self.probe = None
        for one in self.order if self.controls else [self.waiting] if self.waiting is not None else []:
            self.close(one, "DUPLICATE")
        for one, _ in self.newcomers:
            self.close(one, "BUSY")

    def lost(self, number):
        if number != self.link:
            self.forget(number)
        else:
            self.link = self.probe = None
            self.replace()
        self.next()

    def replace(self):
        """Goes on without the link, with what waited for its place."""
        if self.waiting is not None:
            number = self.waiting
            self.say("SELECTED", number)
            self.become(number)
        newcomers, self.newcomers, self.is_other = self.newcomers, [], False
        for number, is_selected in newcomers:
            self.candidate(number)
            if is_selected:
                self.select(number)

    def look(self):
        for number, due in sorted(self.due.items()):
            if self.due.get(number, due + 1) <= self.now:
                self.close(number, "TIMEOUT")
                self.next()
        if self.probe is not None and self.probe <= self.now:
            self.say("end", self.link, "DUPLICATE" if self.waiting is not None else "TIMEOUT")
            self.link = self.probe = None
            self.replace()
            self.next()


def build():
    tests = []

    def run(id, comment, flags, part, *steps):
        """A step is (ms, what happens, to which connection, what it causes)."""
        end, told = End(part), []
        for now, do, number, expect in steps:
            end.now, end.does = now, []
            end.look()
            if do != "look":
                getattr(end, do)(*([number] if number else []))
            assert end.does == expect, (id, now, do, end.does)
            told.append(dict(at=now, do=do, **(dict(connection=number) if number else {}), does=expect))
        tests.append(test(id, comment, flags, part=part, steps=told, result="valid"))

    top, low = "controlling", "controlled"
    first = ((0, "candidate", 1, ["SELECT 1"]), (1, "selected", 1, ["link 1"]))
    second = ((0, "candidate", 1, []), (1, "select", 1, ["SELECTED 1", "link 1"]))
    run("one", "the controlling end selects", ["Select"], top, *first)
    run("one-controlled", "the other one answers", ["Select"], low, *second)
    run("two", "SELECT on one at a time; the others are duplicates of the link", ["Select"], top,
        (0, "candidate", 1, ["SELECT 1"]), (1, "candidate", 2, []), (2, "selected", 1, ["link 1", "close 2 DUPLICATE"]))
    run("lost", "the next is selected when the first is lost", ["Select"], top, (0, "candidate", 1, ["SELECT 1"]),
        (1, "candidate", 2, []), (2, "lost", 1, ["SELECT 2"]), (3, "selected", 2, ["link 2"]))
    run("silent", "SELECTED has 5 s from SELECT", ["Select", "Time"], top, (0, "candidate", 1, ["SELECT 1"]), (4000, "candidate", 2, []),
        (4999, "look", None, []), (5000, "look", None, ["close 1 TIMEOUT", "SELECT 2"]), (9999, "look", None, []),
        (10000, "look", None, ["close 2 TIMEOUT"]))
    run("silent-answer-late", "so the second is linked 5 s after the first was not", ["Select", "Time"], top,
        (0, "candidate", 1, ["SELECT 1"]), (100, "candidate", 2, []), (5000, "look", None, ["close 1 TIMEOUT", "SELECT 2"]),
        (9999, "selected", 2, ["link 2"]))
    run("unselected", "SELECT has 5 s from CONFIRM", ["Select", "Time"], low, (0, "candidate", 1, []), (4999, "look", None, []),
        (5000, "look", None, ["close 1 TIMEOUT"]))
    run("select-wrong-end", "SELECT from the controlled end", ["Select"], top, (0, "candidate", 1, ["SELECT 1"]),
        (1, "candidate", 2, []), (2, "select", 2, ["close 2 PROTOCOL"]), (3, "selected", 1, ["link 1"]))
    run("selected-unasked", "SELECTED on another candidate than the selected one", ["Select"], top, (0, "candidate", 1, ["SELECT 1"]),
        (1, "candidate", 2, []), (2, "selected", 2, ["close 2 PROTOCOL"]), (3, "selected", 1, ["link 1"]))
    run("young", "a candidate while the link is younger than 2 s", ["Stale"], top, *first, (2000, "candidate", 2, ["close 2 DUPLICATE"]))
    run("old", "an older link is tested; it lives", ["Stale"], top, *first, (2001, "candidate", 2, ["PING 1"]), (2500, "candidate", 3, []),
        (3000, "answer", None, ["close 2 DUPLICATE", "close 3 DUPLICATE"]), (9000, "look", None, []))
    run("old-silent", "it does not answer for 1 s", ["Stale"], top, *first, (5000, "candidate", 2, ["PING 1"]), (5999, "look", None, []),
        (6000, "look", None, ["end 1 TIMEOUT", "SELECT 2"]), (6001, "selected", 2, ["link 2"]))
    run("old-lost", "it ends meanwhile", ["Stale"], top, *first, (5000, "candidate", 2, ["PING 1"]), (5500, "lost", 1, ["SELECT 2"]))
    run("superseded", "SELECT although there is a link, which does not answer for 1 s", ["Stale"], low, *second,
        (100, "candidate", 2, []), (200, "select", 2, ["PING 1"]), (1199, "look", None, []),
        (1200, "look", None, ["end 1 DUPLICATE", "SELECTED 2", "link 2"]))
    run("not-superseded", "the link answers", ["Stale"], low, *second, (100, "candidate", 2, []), (200, "select", 2, ["PING 1"]),
        (300, "answer", None, ["close 2 DUPLICATE"]), (5000, "look", None, []))
    run("superseded-lost", "the link ends", ["Stale"], low, *second, (100, "candidate", 2, []), (200, "select", 2, ["PING 1"]),
        (300, "lost", 1, ["SELECTED 2", "link 2"]))
    run("selected-twice", "SELECT on a second candidate replaces the first", ["Stale"], low, *second, (100, "candidate", 2, []),
        (101, "candidate", 3, []), (200, "select", 2, ["PING 1"]), (300, "select", 3, ["close 2 DUPLICATE"]),
        (1200, "look", None, ["end 1 DUPLICATE", "SELECTED 3", "link 3"]))
    run("selected-late", "a late SELECT still leaves the time for the answer", ["Stale", "Time"], low, *second, (100, "candidate", 2, []),
        (4900, "select", 2, ["PING 1"]), (5899, "look", None, []), (5900, "look", None, ["end 1 DUPLICATE", "SELECTED 2", "link 2"]))
    again = (50, "restart", None, [])
    run("restarted", "a candidate of another instance: even a young link is tested, and lives", ["Restart"], top, *first, again,
        (100, "candidate", 2, ["PING 1"]), (200, "answer", None, ["close 2 BUSY"]))
    run("restarted-silent", "it does not answer for 1 s", ["Restart"], top, *first, again, (100, "candidate", 2, ["PING 1"]),
        (1099, "look", None, []), (1100, "look", None, ["end 1 TIMEOUT", "SELECT 2"]), (1101, "selected", 2, ["link 2"]))
    run("restarted-lost", "it ends", ["Restart"], top, *first, again, (100, "candidate", 2, ["PING 1"]), (200, "lost", 1, ["SELECT 2"]))
    run("restarted-selected", "SELECT during the test is answered after it: with BUSY", ["Restart"], low, *second, again,
        (100, "candidate", 2, ["PING 1"]), (200, "select", 2, []), (300, "answer", None, ["close 2 BUSY"]))
    run("restarted-selected-silent", "or with SELECTED", ["Restart"], low, *second, again, (100, "candidate", 2, ["PING 1"]),
        (200, "select", 2, []), (1100, "look", None, ["end 1 TIMEOUT", "SELECTED 2", "link 2"]))
    run("restarted-unselected", "SELECT after the test", ["Restart"], low, *second, again, (100, "candidate", 2, ["PING 1"]),
        (1100, "look", None, ["end 1 TIMEOUT"]), (1200, "select", 2, ["SELECTED 2", "link 2"]))
    notes = {"Select": "one end selects", "Time": "how long each waits", "Stale": "a candidate while there is a link",
             "Restart": "a candidate of another instance while there is a link"}
    return document("selection among candidates", notes, [
        dict(type="selection", spec="6", tests=tests,
             labels=["select.lower", "select.one", "select.answer", "select.duplicates", "select.next", "link.timeouts", "stale.supersede",
                     "stale.probe", "stale.busy"])])
