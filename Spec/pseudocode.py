#!/usr/bin/env python3
"""Runs the pseudocode of the chapters, as it stands in the Markdown, against the vectors of these chapters.

--mutate changes one place of the pseudocode at a time, in memory: each change must make a vector fail. `check.py` runs it.
The pseudocode decides; what is here delivers the input of the vectors, and compares.
"""

import argparse
import ast
import json
import pathlib
import re
import sys
import types

sys.dont_write_bytecode = True
SPEC = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SPEC / "vectors"))
from generator import connection_data, invitation_traces, mesh_traces
from generator.encryption import TABLE, effective
from generator.wire import CODE, Refused, is_keyed, tlv, u16, u32

LINES = 280
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# The subset: functions over plain values. No imports, classes, exceptions, or decorators.
ALLOWED = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.Delete, ast.For, ast.While, ast.If,
    ast.Expr, ast.Continue, ast.Break, ast.BoolOp, ast.And, ast.Or, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod,
    ast.LShift, ast.BitOr, ast.BitAnd, ast.UnaryOp, ast.Not, ast.USub, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.ListComp,
    ast.SetComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot,
    ast.In, ast.NotIn, ast.Call, ast.keyword, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.List, ast.Tuple,
    ast.Load, ast.Store, ast.Del)
BUILTINS = {name: __builtins__.__dict__[name] if not isinstance(__builtins__, dict) else __builtins__[name] for name in (
    "all", "any", "len", "list", "map", "max", "min", "reversed", "set", "sorted", "sum")}


class Wrong(Exception):
    """A vector that the pseudocode does not meet."""


def require(truth, *place):
    if not truth:
        raise Wrong(*place)


def record(**fields):
    return types.SimpleNamespace(**fields)


def blocks():
    """Returns (chapter, source) of each block."""
    return [(path.name, block) for path in sorted(SPEC.glob("[0-9]*.md")) for block in FENCE.findall(path.read_text())]


def faults():
    """Checks the size and the subset."""
    every = blocks()
    count = sum(len([line for line in block.splitlines() if line.strip()]) for _, block in every)
    if count > LINES:
        yield f"the pseudocode has {count} lines, more than {LINES}"
    for name, block in every:
        if any(len(line) > 110 for line in block.splitlines()):
            yield f"{name}: a line of pseudocode is longer than 110 characters"
        for node in ast.walk(ast.parse(block)):
            if not isinstance(node, ALLOWED):
                yield f"{name}: line {getattr(node, 'lineno', '?')} of a block uses {type(node).__name__}"


def load(trees, **given):
    """Returns the functions of all blocks, in one namespace with what the text says is given."""
    space = dict(__builtins__=BUILTINS, record=record, **given)
    for tree in trees:
        exec(compile(tree, "pseudocode", "exec"), space)
    return record(**{name: value for name, value in space.items() if name != "__builtins__"})


# The mesh, chapter 11.

class Member(mesh_traces.Member):
    """Keeps links and entries as the generator does; what follows from them is decided by the pseudocode."""

    def __init__(self, name, cap, trees, share):
        self.code = load(
            trees, uid=mesh_traces.uid, connect=lambda one, shown: self.connects.append([one, shown]),
            withdraw=lambda one: self.withdrawn.append(one), hide=lambda one: self.hidden.append(one), dismiss=self.dismiss, leave=self.leave,
            random=lambda first, last: first + share * (last - first))
        self.m = record(own=name, cap=cap, now=0, attempts={}, missed={}, since=None, leaves_at=None, checked=0)
        self.times = []
        super().__init__(name, cap)

    def view(self):
        m = self.m
        m.now, m.links = self.now, self.mesh_links()
        m.direct = {link.peer for link in self.links.values() if not link.is_mesh}
        m.lists = {name: list(entry[1]) for name, entry in self.entries.items()}
        m.data = {name: self.data[name] for name in self.entries}
        m.learnt = {name: at for at, name in enumerate(self.entries, 1)}
        m.first_hand = {name for name in m.links if name in self.entries and not self.is_hearsay(name)}
        m.met = {name for name, at in self.meetings.items() if self.now - at < mesh_traces.TIMER["met"]}
        return m

    def component(self):
        return self.code.component(self.view())

    def is_real(self, name):
        return self.code.counts(self.view(), name)

    def is_vouched_for(self, name):
        return self.is_real(name)

    def admits(self, peer, listed):
        return self.code.admits(self.view(), peer, list(listed))

    def linked(self, number, peer, is_mesh):
        self.m.attempts.pop(peer, None)
        super().linked(number, peer, is_mesh)
        for other in [one for one in self.m.attempts if mesh_traces.uid(one) == mesh_traces.uid(peer)]:
            self.code.attempt_failed(self.view(), other, False, None)

    def stop_missing(self, name):
        m = self.view()
        m.missed = {one: until for one, until in m.missed.items()
                    if mesh_traces.uid(one) != mesh_traces.uid(name) or one != name and self.code.later(m, one, name)}

    def ended(self, number, departed, candidate_waits=False, lost=False):
        link = self.links[number]
        if not departed and not link.is_dismissed:
            self.code.link_ended(
                self.view(), link.peer, link.since, candidate_waits, lost and link.is_mesh)
        link.since = self.now - mesh_traces.TIMER["meshSteady"]
        if link.is_dismissed and not departed:
            self.m.since = self.m.leaves_at = None
        super().ended(number, departed)

    def failed(self, name, hopeless, code=None):
        self.code.attempt_failed(self.view(), name, hopeless, code)

    def forget_missed(self):
        pass

    @property
    def missed(self):
        return self.m.missed

    @missed.setter
    def missed(self, given):
        self.m.missed = given

    def slept(self, to):
        self.now = to

    def dial_members(self, component):
        self.code.dial_members(self.view())

    def evict(self, component):
        if not self.leaves:
            self.code.check_size(self.view())

    def leave(self):
        self.leaves = True

    def dismiss(self, peer):
        for number, link in self.links.items():
            if link.peer == peer and link.is_mesh and not link.is_dismissed:
                link.is_dismissed = True
                self.dismissed.append(number)

    def advance(self, to):
        while self.now < to:
            moments = [to] + [attempt.since + more for attempt in self.m.attempts.values() for more in (0, 5_000)]
            moments += [attempt.keep for attempt in self.m.attempts.values()] + list(self.m.missed.values())
            moments += [self.m.leaves_at] if self.m.leaves_at is not None else []
            moments += [self.m.since + more for more in (10_000, 12_000)] + [self.now + 1_000] if self.m.since is not None else []
            moments += [at + mesh_traces.TIMER["entryOutside"] for at in self.outside.values()]
            moments += [at + mesh_traces.TIMER["met"] for at in self.meetings.values()]
            moments += list(self.parted.values())
            moments += [self.now + 1 for link in self.links.values() if link.queue]
            self.now = min(moment for moment in moments if moment > self.now)
            self.settle()


def mesh_trace(vector, trees):
    for share in (0, 1):
        member = Member(vector["local"], vector["cap"], trees, share)
        for step in vector["steps"]:
            member.forget()
            if step["do"] == "sleep":
                member.slept(step["at"])
            member.advance(step["at"])
            error, answer = None, None
            try:
                answer = mesh_step(member, step)
            except Refused as refused:
                error = refused.code
            member.settle()
            place = step["at"], step["do"]
            require(sorted(member.component() - {member.name}) == step["component"], place, "component")
            require(sorted(member.told) == step.get("told", []), place, "told")
            require(sorted(member.connects) == step.get("connects", []), place, "connects", member.connects)
            require(sorted(member.withdrawn) == step.get("withdrawn", []), place, "withdrawn", member.withdrawn)
            require(sorted(member.hidden) == step.get("hidden", []), place, "hidden", member.hidden)
            require(member.dismissed == step.get("dismissed", []), place, "dismissed")
            require(member.leaves == step.get("leaves", False), place, "leaves")
            require(error == step.get("error") and answer == step.get("admitted"), place, "answer")
        held = [[name, entry[0]] for name, entry in member.entries.items()] + [[member.name, member.sequence]]
        require(sorted(held) == vector["held"], "held")


def mesh_step(member, step):
    do = step["do"]
    if do == "publish":
        member.publish()
    elif do == "link":
        member.linked(step["link"], step["to"], step["mesh"])
    elif do == "end":
        member.ended(step["link"], step["departed"], step.get("candidate", False), step.get("lost", False))
    elif do == "receive":
        name, sequence, listed = step["entry"]
        for _ in range(step["count"]):
            member.receive(step["link"], name, sequence, listed, data=step.get("data", "data"))
    elif do == "met":
        member.met(step["peer"])
    elif do == "failed":
        member.failed(step["peer"], step["hopeless"], step.get("code"))
    elif do == "admit":
        return member.admits(step["peer"], step["list"])
    return None


# Invitations, chapter 12.

def frame_of(digits):
    """Returns what a frame says, and its fault if its form is wrong."""
    try:
        return record(**{**dict(code=None, data=None, id=None), **invitation_traces.read(bytes.fromhex(digits))}), None
    except Refused as refused:
        return None, refused.code


def is_of(data, issuer, receiver):
    try:
        invitation_traces.judge(bytes.fromhex(data), bytes.fromhex(issuer) if issuer else None, bytes.fromhex(receiver))
    except Refused:
        return False
    return True


def fits(data, other):
    pair = [effective(one["preference"], one["identity"]) for one in (connection_data.read(bytes.fromhex(some)) for some in (data, other))]
    return TABLE[tuple(pair)] != "refused"


WORDS = {"DECLINED": "declined", "BUSY": "busy", "FULL": "full", "POLICY": "incompatible", "TIMEOUT": "timedOut", "CANCELLED": "cancelled",
         "DUPLICATE": "replaced", "UNKNOWN_PEER": "unreachable"}


def invitation_trace(vector, trees):
    for share in (0, 1):
        does = []
        play = (Invitee if vector["role"] == "invitee" else Inviter)(vector, trees, share, does)
        for step in vector["steps"]:
            does.clear()
            play.look(step["at"])
            taken = None if step["do"] == "look" else play.apply(step["do"], step["with"])
            place = step["at"], step["do"]
            require(does == step["does"], place, does)
            require("taken" not in step or taken == step["taken"], place, "taken")


class Invitee:
    def __init__(self, vector, trees, share, does):
        self.does, self.questions = does, 0
        self.v = record(uid=vector["uid"], zeros="00" * 16, now=0, lines=[], quiet={}, refusals={}, has_code="code" in vector)
        self.is_stopped = False
        self.code = load(
            trees, is_of=is_of, fits=fits, is_keyed=lambda uid: is_keyed(bytes.fromhex(uid)), ask=self.ask, answer=self.answer,
            close=lambda line, code: hasattr(line, "is_lost") or does.append(f"close {line.number} {code}" if code else f"end {line.number}"),
            tell=lambda question, result: does.append(f"tell {question} {result}"),
            any_of=lambda some: some[-1 if share else 0] if some else None)

    def ask(self):
        self.questions += 1
        self.does.append(f"ask {self.questions}")
        return self.questions

    def answer(self, line, code, data):
        payload = tlv(1, bytes.fromhex(line.id)) + tlv(2, u16(CODE[code])) + (tlv(3, bytes.fromhex(data)) if data else b"")
        self.does.append(f"say {line.number} {invitation_traces.frame('ANSWER', payload).hex()}")
        if code != "OK":
            self.does.append(f"end {line.number}")

    def look(self, now):
        self.v.now = now
        for line in [one for one in self.v.lines if now >= one.until]:
            self.code.finish(self.v, line, "TIMEOUT", "timedOut")

    def apply(self, do, given):
        if do == "connect":
            line = record(number=given[0], address=given[1], keyed_uid=(given[2:] or [None])[0], has_proven=False, state="greeting",
                          until=self.v.now + 5_000, question=None)
            self.v.lines.append(line)
            if self.is_stopped:
                self.code.finish(self.v, line, "CANCELLED", "cancelled")
            return None
        if do == "stop":
            self.is_stopped = True
            for line in [one for one in self.v.lines if one.state != "agreed"]:
                self.code.finish(self.v, line, "CANCELLED", "cancelled")
            return None
        if do in ("accept", "refuse"):
            lines = [one for one in self.v.lines if str(one.question) == given[0] and one.state == "asking"]
            for line in lines:
                self.code.answered(self.v, line, given[1], given[2] if do == "accept" else None)
            return bool(lines)
        for line in [one for one in self.v.lines if one.number == given[0]]:
            if do == "lost":
                line.is_lost = True
                self.code.finish(self.v, line, None, "withdrawn")
                continue
            frame, fault = frame_of(given[1])
            if frame:
                line.id = getattr(line, "id", None) or frame.id
                self.code.invitee_received(self.v, line, frame)
            else:
                self.code.finish(self.v, line, fault, "protocolError")
        return None


class Inviter:
    def __init__(self, vector, trees, share, does):
        self.does, self.number, self.given = does, 1, vector
        self.i = record(
            uid=vector["uid"], peer=None if "onlyAddress" in vector else vector["peer"], keyed_uid=None, id=vector["invitation"], now=0, until=1_000 * vector["timeout"], state="connecting",
            again=None, result="unreachable", losses=0, pause=250, other_addresses=vector.get("addresses", 1) - 1)
        self.code = load(
            trees, is_of=is_of, fits=fits, is_keyed=lambda uid: is_keyed(bytes.fromhex(uid)), make_data=lambda: does.append("make"), dial=self.dial, close=self.close,
            complete=self.complete, tell=lambda result: does.append(f"tell {WORDS.get(result, 'refused' if result.isupper() else result)}"),
            random=lambda first, last: first + share * (last - first))
        self.is_lost = self.is_reached = False

    def dial(self, i):
        self.number += 1
        self.is_lost = self.is_reached = False
        self.does.append(f"dial {self.number}")

    def close(self, i, code):
        if i.state != "connecting" and not self.is_lost:
            self.does.append(f"close {self.number} {code}" if code else f"end {self.number}")

    def complete(self, i, data):
        payload = tlv(1, bytes.fromhex(i.id)) + tlv(3, bytes.fromhex(data))
        self.does.append(f"say {self.number} {invitation_traces.frame('COMPLETE', payload).hex()}")

    def look(self, now):
        self.i.now = now
        if self.i.state != "over":
            self.code.inviter_looks(self.i)

    def apply(self, do, given):
        i = self.i
        if i.state == "over":
            return
        if do == "tcp":
            self.is_reached = True
        elif do == "tls":
            i.state, i.keyed_uid = "asking", (given or [None])[0]
            payload = (tlv(1, bytes.fromhex(i.id)) + tlv(2, bytes.fromhex(i.uid) + b"Ann") + tlv(3, bytes.fromhex(i.peer or "00" * 16))
                       + tlv(4, u32(-((i.now - i.until) // 1_000))))
            self.does.append(f"say {self.number} {invitation_traces.frame('INVITE', payload).hex()}")
        elif do == "receive":
            frame, fault = frame_of(given[0])
            if frame:
                frame.peer = connection_data.read(bytes.fromhex(frame.data))["uid"] if frame.data else None
                self.code.inviter_received(i, frame)
            else:
                self.code.over(i, fault, "protocolError")
        elif do == "lost":
            self.is_lost = True
            self.code.inviter_lost(i, self.is_reached)
        elif do == "supply":
            self.code.made_data(i, given[0])
        elif do == "cancel":
            self.code.over(i, "CANCELLED", "cancelled")
        self.look(i.now)


# Which data HELLO names, chapter 6, and turns, chapter 15.

def naming(vector, trees):
    pauses = []
    code = load(trees, back_off=lambda: pauses.append(True))
    issued = {who: [one for one in vector["issued"] if one.startswith(who)] for who in ("mesh", "peer", "open")}
    addresses = list(range(vector["addresses"]))
    attempt = record(issued=issued, is_member=vector["isMember"], addresses=addresses, left=list(addresses), again=[], repeats=0, unknown=0)
    for step in vector["steps"]:
        pauses.clear()
        dial = code.next_dial(attempt)
        require([dial[0], dial[1], bool(pauses)] == [step["address"], step["names"], step["waits"]], dial)
        if step["code"] == "UNKNOWN_PEER":
            # Of two connections on which the same data was named, one counts.
            for _ in range(2):
                again = list(attempt.again), attempt.repeats
                code.unknown_peer(attempt, dial)
                if _:
                    attempt.again, attempt.repeats = again


def turn(vector, trees):
    code = load(trees)
    t = record(now=0, line=[], spent={}, stopped={}, began=0, base=0, message_credit=vector["messageCredit"])
    for step in vector["steps"]:
        t.now = step["at"]
        if step["do"] == "report":
            code.report(t, step["link"], step["wants"], step["spent"], step["stopped"])
        else:
            require(code.look(t) == step["ends"], step["at"], "look")
        require(t.line[:1] == ([step["holder"]] if step["holder"] else []), step["at"], t.line)


RUNNERS = {"mesh-trace": mesh_trace, "invitation-trace": invitation_trace, "naming": naming, "turn": turn}


def vectors():
    """Returns (name, type, test) of every vector that pseudocode decides. Signatures are not its subject."""
    for path in sorted((SPEC / "vectors").glob("*.json")):
        for group in json.loads(path.read_text()).get("groups", []) if path.name != "certificates.json" else []:
            if group["type"] in RUNNERS and "mesh.signature" not in group["labels"]:
                for test in group["tests"]:
                    yield f"{path.stem} {test['id']}", group["type"], test


def run(trees, tests):
    """Returns the first vector that fails, and how."""
    for name, kind, test in tests:
        try:
            RUNNERS[kind](test, trees)
        except Wrong as wrong:
            return name, " ".join(map(str, wrong.args))
        except RecursionError:
            raise
        except Exception as error:  # A changed line may do anything.
            return name, f"{type(error).__name__}: {error}"
    return None


# Planted changes.

OTHER = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn,
         ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And}


def changes(tree):
    """Returns (line, what) and makes each change in turn, one at a time, in place."""
    for parent in list(ast.walk(tree)):
        for name in ("body", "orelse"):
            body = getattr(parent, name, None)
            for at, statement in enumerate(body if isinstance(body, list) else ()):
                if not is_tick(statement) and isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete, ast.Continue, ast.Return)):
                    body[at] = ast.copy_location(ast.Pass(), statement)
                    yield statement.lineno, "left out"
                    body[at] = statement
        if isinstance(parent, (ast.If, ast.IfExp)):
            whole = parent.test
            parent.test = ast.copy_location(ast.UnaryOp(ast.Not(), whole), whole)
            yield parent.lineno, "the opposite condition"
            parent.test = whole
        if isinstance(parent, ast.Compare):
            whole = parent.ops[0]
            parent.ops[0] = OTHER[type(whole)]()
            yield parent.lineno, f"{type(whole).__name__} is {OTHER[type(whole)].__name__}"
            parent.ops[0] = whole
        if isinstance(parent, ast.BoolOp):
            whole = parent.op
            parent.op = OTHER[type(whole)]()
            yield parent.lineno, f"{type(whole).__name__} is {OTHER[type(whole)].__name__}"
            parent.op = whole
        if isinstance(parent, ast.Constant) and type(parent.value) in (int, bool):
            whole = parent.value
            parent.value = not whole if isinstance(whole, bool) else 2 * whole + 1
            yield parent.lineno, f"{whole} is {parent.value}"
            parent.value = whole


def is_tick(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "tick"


class Bounded(ast.NodeTransformer):
    """Makes a loop that does not end fail."""

    def visit_While(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.parse("tick()").body[0])
        return node


def mutate(tests):
    """Yields the changes that no vector notices."""
    every, ticks = blocks(), record(count=0)

    def tick():
        ticks.count += 1
        require(ticks.count < 2_000_000, "a loop does not end")

    BUILTINS["tick"] = tick
    trees = [Bounded().visit(ast.parse(block)) for _, block in every]
    for (name, block), tree in zip(every, trees):
        ordered, planted, missed = list(tests), 0, 0
        for line, what in changes(tree):
            ticks.count, planted = 0, planted + 1
            ast.fix_missing_locations(tree)
            failure = run(trees, ordered)
            text = block.splitlines()[line - 1].strip()
            if failure is None and (text, what) not in EQUIVALENT:
                missed += 1
                yield f"{name}: no vector notices the change of `{text}`: {what}"
            elif failure:
                # The vector that noticed this change is tried first for the next.
                ordered.sort(key=lambda test: test[0] != failure[0])
        print(f"{name}: {planted} changes of `{block.split('(')[0].removeprefix('def ')}` and what follows, "
              f"{planted - missed} noticed", file=sys.stderr)


# (line, change): changes that no vector can notice, and why.
EQUIVALENT = {
    # No vector has a step in a range of chance, so a part of the range is as good.
    ("m.leaves_at = m.now + random(1_000, 2_000)", "1000 is 2001"),
    ('s.state, s.since = "resting", m.now + (random(1_000, 3_000) if s.failed else random(500, 1_500))', "1000 is 2001"),
    ('s.state, s.since = "resting", m.now + (random(1_000, 3_000) if s.failed else random(500, 1_500))', "500 is 1001"),
    ('i.state, i.result, i.again = "connecting", result, i.now + random(i.pause // 2, i.pause * 3 // 2)', "2 is 5"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="say nothing unless something is wrong")
    parser.add_argument("--mutate", action="store_true", help="also change one place at a time, which must make a vector fail")
    options = parser.parse_args()
    found, tests = list(faults()), list(vectors())
    trees = [ast.parse(block) for _, block in blocks()]
    for test in tests:
        failure = run(trees, [test])
        if failure:
            found.append(f"{failure[0]}: the pseudocode differs, {failure[1]}")
    if options.mutate and not found:
        found += mutate(tests)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
