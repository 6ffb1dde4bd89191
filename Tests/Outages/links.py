"""Single links on bad paths: slow uplinks, paths for small packets only, loss, and peers that use up all descriptors."""

import collections
import random
import sys
import time

import kernel
import rooms
from network import Switch
from stage import Failure, Stage
from witnesses import Witness, link

LARGE, FILE = 300 * 1_024, 4 << 20


class Couple:
    """Two hosts with a witness each, which are linked."""

    def __init__(self, seed, capture, environment=None, change=lambda cables: None):
        self.switch, self.stage = Switch(seed, capture), Stage()
        self.hosts = [self.switch.host(name) for name in ("ann", "bob")]
        change([host.cable for host in self.hosts])
        self.ann, self.bob = [Witness(self.stage, host, host.name, environment=environment) for host in self.hosts]

    def link(self):
        link(self.stage, [(self.ann, self.bob)], 30)

    def fail_if_ended(self):
        for witness in (self.ann, self.bob):
            witness.fail_if_ended()
            for _, reason in witness.ends():
                raise Failure(f"the link has ended for {witness.name}: {reason}")

    def close(self):
        self.stage.close()
        self.switch.close()


# MARK: slow uplinks

def uplink(report, rate, congestion, load, seed, capture=None):
    """40 s worth of messages, three large ones, or a file, through a slow uplink to a peer that only listens; returns the seconds."""
    def change(cables):
        for cable in cables:
            cable.delay = 0.01
        cables[0].rate, cables[0].queue = rate, 1.0

    couple = Couple(seed, capture, kernel.congestion(congestion), change)
    ann, bob, stage = couple.ann, couple.bob, couple.stage
    size, count = {"messages": (1_000, rate * 40 // 8 // 1_000), "large": (LARGE, 3), "file": (rate * 40 // 8, 1)}[load]
    order = ("files" if load == "file" else "messages", count, size)
    try:
        couple.link()
        stage.run(random.Random(seed).uniform(0, 4))
        begin = time.monotonic()
        ann.order(*order)
        # With headers, acknowledgements and what is sent again.
        stage.run(size * count * 8 / rate * 2 + 20,
                  lambda: ann.heard("did", *order) or ann.heard("refused", *order) or ann.ends() or bob.ends())
        seconds = time.monotonic() - begin
        stage.run(1)
        try:
            couple.fail_if_ended()
        except Failure as failure:
            return {"failed": f"{failure}, after {seconds:.0f} s"}
        if load == "file":
            whole = ann.count("file", "sent", "ok") == bob.count("file", "received", "ok") == 1
        else:
            whole = bob.numbers(ann) == list(range(1, count + 1)) and not bob.said[-1][1][-1] == "wrong"
        if not whole:
            return {"failed": f"not everything has arrived after {seconds:.0f} s: {ann.said[-1][1][:12]}"}
        return {"seconds": seconds}
    finally:
        couple.close()


# MARK: small packets only

def small(report, mtu, seed, capture=None):
    """A path that swallows packets of more than `mtu` bytes: a link, a file and a stream; returns what has failed, and the seconds."""
    def change(cables):
        for cable in cables:
            cable.mtu, cable.delay = mtu, 0.005

    couple = Couple(seed, capture, change=change)
    ann, bob, stage = couple.ann, couple.bob, couple.stage
    failed, begin = [], time.monotonic()
    seconds = {}
    try:
        try:
            couple.link()
        except Failure as failure:
            return {"failed": [f"link: {failure}"], "seconds": {}}
        seconds["link"] = time.monotonic() - begin
        for what, order, arrived in (("file", ("files", 1, FILE), ("file", "received", "ok")),
                                     ("stream", ("stream", FILE), ("stream", "received", "ok"))):
            begin = time.monotonic()
            ann.order(*order)
            if stage.run(40, lambda arrived=arrived: bob.count(*arrived)):
                seconds[what] = time.monotonic() - begin
            else:
                reasons = [reason for _, reason in ann.ends() + bob.ends()]
                failed.append(f"{what}: {' / '.join(reasons) or 'not within 40 s'}")
                break
        return {"failed": failed, "seconds": {what: round(value, 1) for what, value in seconds.items()}}
    finally:
        couple.close()


def invited(report, mtu, seed, capture=None):
    """The same path for two of the README's programs, which find and invite each other; returns after how many seconds."""
    switch = Switch(seed, capture)
    room = rooms.Room(switch, "chat", 2)
    for host in room.hosts:
        host.cable.mtu, host.cable.delay = mtu, 0.005
    try:
        return {"seconds": room.start(random.Random(seed))}
    finally:
        room.close()
        switch.close()


# MARK: loss

# A plain TCP connection with a message every three seconds, as a link has pings, that is answered. The first argument is the role.
PLAIN = """
import select, socket, sys, time
role, address, count, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
begin, last, next_ping, longest, ended, ends = time.monotonic(), {}, {}, 0.0, 0, []
if role == "listen":
    listener = socket.create_server((address, 4000))
    print("ready", flush=True)
    while len(ends) < count:
        ends.append(listener.accept()[0])
else:
    for _ in range(count):
        ends.append(socket.create_connection((address, 4000), 60))
        ends[-1].settimeout(None)
    print("ready", flush=True)
begin = time.monotonic()
for number, end in enumerate(ends):
    last[end], next_ping[end] = begin, begin + number * 3 / count
open_ends = set(ends)
while time.monotonic() < begin + seconds and open_ends:
    for end in select.select(list(open_ends), [], [], 0.1)[0]:
        try:
            read = end.recv(10_000)
            if not read:
                raise OSError("end")
        except OSError:
            ended += 1
            open_ends.discard(end)
            continue
        last[end] = time.monotonic()
        if role == "listen":
            end.send(read[:100])
    now = time.monotonic()
    for end in open_ends:
        longest = max(longest, now - last[end])
        if role == "dial" and now >= next_ping[end]:
            next_ping[end] = now + 3
            end.send(bytes(100))
print("ended", ended, round(longest, 1), flush=True)
if role == "listen":
    time.sleep(30)
"""


def lossy(report, links, loss, seconds, seed, capture=None):
    """Links, idle and busy, and as many plain TCP connections in the same time on the same path; returns which have ended."""
    def change(cables):
        for cable in cables:
            cable.delay, cable.loss = 0.01, loss

    switch, stage = Switch(seed, capture), Stage()
    hosts = [switch.host(name) for name in ("ann", "bob")]
    try:
        pairs = [[Witness(stage, host, f"{host.name}{number}") for host in hosts] for number in range(links)]
        chance = random.Random(seed)
        link(stage, pairs, 60, lambda: chance.uniform(0, 3))
        for ann, _ in pairs[::2]:
            ann.order("tick", 500, 500)
        change([host.cable for host in hosts])
        begin, plain = time.monotonic(), {}

        def note(program, line):
            plain.setdefault(program.name, []).append(line.split())

        listener = stage.start(hosts[1], "listener", [sys.executable, "-c", PLAIN, "listen", hosts[1].address, links, seconds], note)
        stage.run(10, lambda: "listener" in plain)
        stage.start(hosts[0], "dialler", [sys.executable, "-c", PLAIN, "dial", hosts[1].address, links, seconds], note)
        # Connecting takes its time at such a loss.
        stage.run(120, lambda: "dialler" in plain)
        if "dialler" not in plain:
            raise Failure(f"no plain connection: {listener.last_words()}")
        stage.run(begin + seconds - time.monotonic())
        stage.run(20, lambda: len(plain["dialler"]) > 1)
        said = plain["dialler"][-1]
        ended = [f"{number % 2 and 'idle' or 'busy'}, {at - begin:.0f} s: {reason}" for number, (ann, bob) in enumerate(pairs)
                 for at, reason in (ann.ends() + bob.ends())[:1]]
        lost = sum(sum(host.dropped.values()) for host in hosts)
        return {"links": links, "ended": ended, "plain ended": int(said[1]), "plain idle": float(said[2]), "packets lost": lost}
    finally:
        stage.close()
        switch.close()


# MARK: descriptors

def descriptors(report, limit, files, size, seed, capture=None):
    """Seven peers that send so many files to an eighth at once that it has no descriptor left; returns what happened to them."""
    switch, stage = Switch(seed, capture), Stage()
    names = ("ann", "bob", "cid", "dan", "eve", "fay", "gus")
    chance = random.Random(seed)
    try:
        hosts = [switch.host(name) for name in names]
        for host in hosts:
            host.cable.rate, host.cable.delay = 12_000_000, 0.002
        receiver = Witness(stage, switch.host("hal"), "hal", descriptors=limit)
        senders = [Witness(stage, host, host.name) for host in hosts]
        if not stage.run(20, lambda: all(witness.heard("ready") for witness in [receiver, *senders])):
            receiver.fail_if_ended()
            raise Failure(f"not ready: {receiver.program.last_words()}")
        for sender in senders:
            stage.run(chance.uniform(0, 0.3))
            sender.order("join", receiver.data)
            receiver.order("join", sender.data)
        stage.run(35, lambda: all(sender.heard("did", "join") or sender.heard("refused", "join") for sender in senders))
        words = collections.Counter(_reason(rest) for sender in senders for _, rest in sender.heard("refused", "join"))
        linked = [sender for sender in senders if sender.is_linked_with(receiver)]
        report(f"limit {limit}: {len(linked)} of 7 linked")
        if linked:
            linked[0].order("tick", 20, 500)
        begin = time.monotonic()
        for sender in linked:
            stage.run(chance.uniform(0, 0.2))
            sender.order("files", files, size, receiver.name)

        def answered(sender):
            return sender.count("file", "sent") >= files or sender.ends()
        stage.run(120, lambda: all(answered(sender) for sender in linked) or receiver.program.has_ended())
        seconds = time.monotonic() - begin
        for witness in [receiver, *senders]:
            witness.fail_if_ended()
        arrived = sum(sender.count("file", "sent", "ok") for sender in linked)
        words.update(_reason(rest) for sender in linked for _, rest in sender.heard("file", "sent", "failed:"))
        open_ends = sum(files - sender.count("file", "sent") for sender in linked)
        ended = [reason for witness in [receiver, *senders] for _, reason in witness.ends()]
        # Afterwards everything works again, also for those that were not linked.
        stage.run(3)
        again = time.monotonic()
        for sender in senders:
            if not sender.is_linked_with(receiver):
                sender.order("join", receiver.data)
                receiver.order("join", sender.data)
        stage.run(35, lambda: all(sender.is_linked_with(receiver) for sender in senders))
        back = [sender for sender in senders if sender.is_linked_with(receiver)]
        for sender in back:
            sender.order("files", 1, size, receiver.name)
        stage.run(30, lambda: all(sender.heard("file", "sent", since=again) for sender in back))
        after = sum(sender.count("file", "sent", "ok", since=again) for sender in back)
        return {"linked": len(linked), "arrived": arrived, "of": files * len(linked), "unanswered": open_ends, "seconds": round(seconds, 1),
                "words": dict(words), "ended": ended, "back": len(back), "files afterwards": after}
    finally:
        stage.close()
        switch.close()


def _reason(rest):
    """Returns the text of an error, without the names in it."""
    text = " ".join(rest)
    return text.split(": ", 1)[-1] if text.startswith("/") else text
