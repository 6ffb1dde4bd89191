"""turns.json: which link has the turn for messages longer than its credit, chapter 15."""

from .wire import LIMIT, REGISTRIES, document, test

PERIOD = {row["name"]: row["milliseconds"] for row in REGISTRIES["timers"]}["turn"]


class Session:
    def __init__(self, credit):
        self.least, self.line, self.state, self.began, self.counted = min(LIMIT["turnProgress"], credit), [], {}, 0, 0

    def begin(self, now):
        self.began = now
        self.counted = self.state[self.line[0]]["spent"] if self.line else 0

    def report(self, link, now, wants, spent, stopped):
        holder, others = self.line[:1], len(self.line) > 1
        self.state[link] = dict(spent=spent, stopped=stopped)
        if wants and link not in self.line:
            self.line.append(link)
        elif not wants and link in self.line:
            self.line.remove(link)
        if self.line[:1] != holder:
            self.begin(now)
        elif len(self.line) == 2 and not others and link == self.line[1]:
            self.begin(now)
        elif stopped and holder == [link]:
            self.begin(now)

    def look(self, now):
        if len(self.line) < 2 or now - self.began < PERIOD:
            return None
        one = self.line[0]
        lazy = self.state[one]["spent"] - self.counted < self.least and not self.state[one]["stopped"]
        self.begin(now)
        return one if lazy else None


def build():
    tests = []

    def run(id, comment, flags, steps, credit=4 << 20):
        """A step is (ms, link, wants, spent, stopped, holder), or (ms, holder, the link that ends, or None)."""
        session, told = Session(credit), []
        for step in steps:
            ends = None
            if len(step) == 3:
                now, holder, expect = step
                ends = session.look(now)
                assert ends == expect, (id, now, ends)
                told.append(dict(at=now, do="look", ends=ends))
            else:
                now, link, wants, spent, stopped, holder = step
                session.report(link, now, wants, spent, stopped)
                told.append(dict(at=now, do="report", link=link, wants=wants, spent=spent, stopped=stopped))
            assert session.line[:1] == ([holder] if holder else []), (id, now, session.line)
            told[-1]["holder"] = holder
        tests.append(test(id, comment, flags, messageCredit=credit, steps=told, result="valid"))

    want = lambda now, link, spent, holder, stopped=False: (now, link, True, spent, stopped, holder)
    done = lambda now, link, holder: (now, link, False, 0, False, holder)
    few, enough = 65_535, 65_536
    run("alone", "a link that nobody waits for may take its time", ["Turn"],
        [want(0, 1, 0, 1), (600_000, 1, None), want(600_001, 1, 10, 1), (900_000, 1, None)])
    run("alone-and-stopped", "nor does a link that nobody waits for, without a message, change anything", ["Turn"],
        [(0, 1, False, 66, True, None), want(1, 2, 0, 2), want(2, 3, 0, 2), (5_001, 2, None), (5_002, 2, 2)])
    run("order", "the turn passes to the link that waited longest", ["Turn"],
        [want(0, 1, 0, 1), want(1, 3, 0, 1), want(2, 2, 0, 1), done(3, 1, 3), done(4, 3, 2), done(5, 2, None)])
    run("leaves-the-line", "a link whose message is complete waits no longer", ["Turn"],
        [want(0, 1, 0, 1), want(1, 2, 0, 1), want(2, 3, 0, 1), done(3, 2, 1), done(4, 1, 3)])
    run("back-in-line", "one that begins again is last", ["Turn"],
        [want(0, 1, 0, 1), want(1, 2, 0, 1), done(2, 1, 2), want(3, 3, 0, 2), want(4, 1, 0, 2), done(5, 2, 3), done(6, 3, 1)])
    run("never-wanted", "what a link without a long message reports changes nothing", ["Turn"],
        [done(0, 1, None), want(1, 2, 0, 2), done(2, 1, 2), want(2_000, 3, 0, 2), (7_000, 2, 2)])
    run("slow", "less than 65,536 bytes in 5 s while another waits", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 0, 1), want(3_000, 1, few, 1), (5_999, 1, None), (6_000, 1, 1), done(6_000, 1, 2)])
    run("not-slow", "65,536 bytes are enough, each 5 s", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 0, 1), want(3_000, 1, enough, 1), (6_000, 1, None), (10_999, 1, None), (11_000, 1, 1)])
    run("waits-again", "the first link that waits begins the 5 s, a second one does not", ["Slow"],
        [want(0, 1, 0, 1), want(9_000, 1, few, 1), want(10_000, 2, 0, 1), want(12_000, 3, 0, 1), (14_999, 1, None), (15_000, 1, 1)])
    run("counted-from-there", "what came before the 5 s does not count", ["Slow"],
        [want(0, 1, 1_000_000, 1), want(10_000, 2, 0, 1), want(12_000, 1, 1_000_000 + few, 1), (15_000, 1, 1)])
    run("next-begins", "the next link has 5 s from its turn, and what it brought before does not count", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 500_000, 1), want(1_001, 3, 0, 1), done(4_000, 1, 2), (8_999, 2, None), (9_000, 2, 2)])
    run("others-do-not-count", "nor what the link that waits has brought", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 100_000, 1), want(3_000, 1, enough, 1), (6_000, 1, None)])
    run("costs-count", "the cost counts, with 64 bytes for each frame", ["Slow"],
        [want(0, 1, 64, 1), want(0, 2, 0, 1), want(4_000, 1, 64 + enough, 1), (5_000, 1, None)])
    run("stopped", "a link that cannot send, because nothing was taken, is not slow", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 0, 1), want(4_000, 1, 10, 1, True), (6_000, 1, None), (9_000, 1, None), (14_000, 1, None)])
    run("stopped-for-a-while", "its 5 s begin again", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 0, 1), want(4_000, 1, 10, 1, True), want(5_000, 1, 20, 1), (8_999, 1, None), (9_000, 1, 1)])
    run("stopped-other", "what another link reports does not", ["Slow"],
        [want(0, 1, 0, 1), want(1_000, 2, 0, 1), want(4_000, 2, 10, 1, True), (6_000, 1, 1)])
    run("small-credit", "with less credit than 65,536, that is enough", ["Slow"],
        [want(0, 1, 0, 1), want(0, 2, 0, 1), want(4_000, 1, 20_000, 1), (5_000, 1, None), want(9_000, 1, 39_999, 1), (10_000, 1, 1)],
        credit=20_000)
    notes = {"Turn": "one link at a time", "Slow": "a link that has the turn and brings too little"}
    return document("turns of long messages", notes, [dict(type="turn", spec="15", labels=["limit.reassembly"], tests=tests)])
