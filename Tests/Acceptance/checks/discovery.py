"""Discovery between real processes of `MultipeerNeighbour`, on the loopback interface only."""

import json
import os
import queue
import random
import signal
import socket
import statistics
import struct
import subprocess
import threading
import time

from . import network, peer
from .peer import Failure, Process, expect, program, until
from .processors import Others, allowance

NEIGHBOUR = program("MultipeerNeighbour")
# Packets of garbage in the short form.
COUNT = 200_000
GROUP, PORT = "224.0.0.251", 5353


def now():
    """Returns the clock that all processes of the machine share, in seconds."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def service_type():
    """Returns a service type that no other test uses: all share the loopback interface."""
    return "t-" + "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=12))


class Neighbour(Process):
    """One process, and its reports."""

    def __init__(self, kind, name, *arguments, there=()):
        self.name = name
        self.begun = now()
        self.process = subprocess.Popen([*there, NEIGHBOUR, kind, name, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        self.said = []
        self.news = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        peer.register(self)

    def _listen(self):
        for line in self.process.stdout:
            entry = json.loads(line)
            entry["t"] /= 1e9
            self.said.append(entry)

    def heard(self, event, **fields):
        """Returns its reports of that kind so far."""
        found = [entry for entry in list(self.said) if entry["event"] == event]
        return [entry for entry in found if all(entry.get(key) == value for key, value in fields.items())]

    def await_said(self, event, seconds=20, count=1, **fields):
        """Waits until there are enough such reports, and returns the last of them."""
        said = until(lambda: self.heard(event, **fields)[count - 1:count] or self._failed(), seconds,
                     f"{self.name} does not report {event} {fields}")
        return said[0]

    def _failed(self):
        if self.heard("failed") or self.process.poll() is not None and not self.heard("quit"):
            raise Failure(f"{self.name} has ended: {self.said[-1:]}")

    @property
    def uid(self):
        return self.await_said("advertised")["uid"]

    def tell(self, *words):
        self.process.stdin.write((" ".join(words) + "\n").encode())
        self.process.stdin.flush()

    def quit(self):
        self.tell("quit")
        expect(self.end() == 0, f"{self.name} has failed")

    def processor_times(self):
        """Returns the processor time of its threads by name, and of all, in milliseconds, with nanosecond precision."""
        times = {"all": 0, "multipeer-loop": 0}
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat", encoding="ascii") as file:
                used = int(file.read().split()[0]) / 1e6
            with open(f"/proc/{self.pid}/task/{task}/comm", encoding="ascii") as file:
                name = file.read().strip()
            times["all"] += used
            times[name] = times.get(name, 0) + used
        return times

    def memory(self):
        """Returns the peak resident memory in MiB."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) / 1024
        return 0


def crowd(count, *arguments):
    """Starts that many processes at once; returns the seconds that each needed to find all others."""
    kind = service_type()
    neighbours = [Neighbour(kind, f"n{number}", *arguments) for number in range(count)]
    begun = max(neighbour.begun for neighbour in neighbours)
    times = []
    for neighbour in neighbours:
        last = neighbour.await_said("found", 60, count - 1)["t"]
        times.append(last - min(begun, last))
    for neighbour in neighbours:
        expect(len(neighbour.heard("found")) == count - 1, f"{neighbour.name} found a peer twice, or itself")
        expect(not neighbour.heard("lost"), f"{neighbour.name} lost a peer")
    return neighbours, times


def discovery_times():
    """8 processes find each other in 0.5 s (median), 40 in 2 s; from browse to resolved 0.1 s; 5 ms per minute when idle,
    in addition to what the runtime needs by itself"""
    return alone(_times)


def alone(body):
    """Runs something in a network namespace of its own, which only its processes use; if that is not possible, on the
    loopback interface that all share."""
    try:
        return network.inside(body, seconds=600)
    except network.Skipped:
        return body()


def _times():
    said = []

    def judge(what, measure, limit):
        others = Others()
        seconds = measure()
        wider, words = allowance(others.share())
        expect(seconds < limit * wider, f"{what}: {seconds * 1000:.0f} ms{words}")
        said.append(f"{what}: {seconds * 1000:.0f} ms{words}")

    def together(count):
        neighbours, times = crowd(count)
        for neighbour in neighbours:
            neighbour.quit()
        return max(times)

    judge("8", lambda: statistics.median(together(8) for _ in range(20 if peer.FULL else 7)), 0.5)
    judge("40", lambda: together(40), 2)
    judge("browse to resolved", browse_to_resolved, 0.1)
    others = Others()
    idle, own, runtime = idleness(60 if peer.FULL else 30)
    # A process that is woken on a busy machine finds none of its memory in the caches.
    wider, words = allowance(others.share())
    expect(idle < 5 * wider, f"an idle process used {idle:.1f} ms per minute{words}")
    return ", ".join(said) + (f", idle {idle:.2f} ms per minute, {own:.2f} of them in discovery's thread, in addition to "
                              f"{runtime:.2f} of a process that does nothing{words}")


def browse_to_resolved():
    """Returns the median time from the start of a browse to the address of a peer that is already present, in seconds."""
    kind = service_type()
    advertiser = Neighbour(kind, "advertiser", "--deaf")
    advertiser.await_said("advertised")
    times = []
    for _ in range(9):
        browser = Neighbour(kind, "browser", "--silent", "--resolve")
        resolved = browser.await_said("resolved", 20, uid=advertiser.uid)
        expect(resolved["addresses"], "there is no address")
        times.append(resolved["t"] - browser.await_said("browsing")["t"])
        browser.quit()
    advertiser.quit()
    return statistics.median(times)


def idleness(seconds):
    """The processor time that a process which advertises and browses, and has found another, takes more than one that does
    nothing, per minute, in milliseconds; that of the thread that does so; and that of the one that does nothing, whose
    runtime looks after its threads once a second."""
    neighbours, _ = crowd(2)
    nothing = Neighbour(service_type(), "nothing", "--silent", "--deaf")
    # What was found is confirmed, and what was asked is asked again with growing pauses: then it is idle.
    time.sleep(20)
    everybody = [*neighbours, nothing]
    before = [one.processor_times() for one in everybody]
    time.sleep(seconds)
    after = [one.processor_times() for one in everybody]
    for one in everybody:
        one.quit()
    used = [[(new[part] - old[part]) * 60 / seconds for part in ("all", "multipeer-loop")]
            for old, new in zip(before, after)]
    runtime = used.pop()[0]
    return max(one[0] for one in used) - runtime, max(one[1] for one in used), runtime


def discovery_changes():
    """A peer's information is updated, and a peer that stops is lost within 2 s, also one of another user"""
    there = ()
    if os.getuid() == 0:
        there = (network.tool("setpriv"), "--reuid", "65534", "--clear-groups")
    kind = service_type()
    advertiser, browser = Neighbour(kind, "advertiser", there=there), Neighbour(kind, "browser")
    found = browser.await_said("found", uid=advertiser.uid)
    expect(found["info"] == {"pid": str(advertiser.pid)}, f"found with {found['info']}")
    advertiser.await_said("found", uid=browser.uid)
    advertiser.tell("info", "room=7")
    told = advertiser.await_said("done")["t"]
    updated = browser.await_said("updated", uid=advertiser.uid)
    expect(updated["info"] == {"room": "7"}, f"updated to {updated['info']}")
    advertiser.tell("stop")
    stopped = now()
    lost = browser.await_said("lost", uid=advertiser.uid)["t"] - stopped
    expect(lost < 2, f"lost after {lost:.1f} s")
    for neighbour in (advertiser, browser):
        neighbour.quit()
    user = "another user" if there else "the same user, as only root can be another"
    return f"updated after {(updated['t'] - told) * 1000:.0f} ms, lost after {lost:.2f} s; {user}"


def discovery_deaths():
    """A killed peer is lost within 12 s of a failed check; one that was stopped for a while is present afterwards"""
    kind = service_type()
    advertiser, browser = Neighbour(kind, "advertiser"), Neighbour(kind, "browser")
    browser.await_said("found", uid=advertiser.uid)
    gone = advertiser.uid
    advertiser.kill()
    advertiser.end()
    killed = now()
    time.sleep(1)
    expect(not browser.heard("lost"), "lost before any failed check")
    browser.tell("reconfirm", gone)
    lost = browser.await_said("lost", 20, uid=gone)["t"] - killed
    expect(lost < 13, f"lost after {lost:.1f} s")

    sleeper = Neighbour(kind, "sleeper")
    browser.await_said("found", uid=sleeper.uid)
    sleeper.kill(signal.SIGSTOP)
    browser.tell("reconfirm", sleeper.uid)
    away = browser.await_said("lost", 20, uid=sleeper.uid)["t"]
    time.sleep(2)
    sleeper.kill(signal.SIGCONT)
    woken = now()
    back = browser.await_said("found", 20, 2, uid=sleeper.uid)["t"] - woken
    expect(back < 2, f"back after {back:.1f} s")
    for neighbour in (sleeper, browser):
        neighbour.quit()
    return (f"lost {lost:.1f} s after it was killed; one that stayed suspended for {woken - away:.0f} s more is back after "
            f"{back * 1000:.0f} ms")


def discovery_garbage():
    """A million invalid packets at port 5353 do no harm: little memory, and peers are still found"""
    return network.inside(_garbage, 1_000_000 if peer.FULL else COUNT, seconds=600)


def _garbage(count):
    kind = service_type()
    target, other = Neighbour(kind, "target"), Neighbour(kind, "other")
    target.await_said("found", uid=other.uid)
    before = target.memory()
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    # As from a neighbour: answers from another port are not even parsed.
    sender.bind(("127.0.0.1", PORT))
    packets = rubbish(kind)
    begun, used = now(), target.processor_times()["all"]
    sent = 0
    while sent < count:
        for packet in packets[:count - sent]:
            sender.sendto(packet, (GROUP, PORT))
            sent += 1
            # Sent in bursts of that size, or the kernel would drop most of them before they are read.
            if sent % 250 == 0:
                let_through()
    passed, used = now() - begun, target.processor_times()["all"] - used
    late = Neighbour(kind, "late")
    found = target.await_said("found", 30, uid=late.uid)["t"] - late.begun
    late.await_said("found", 30, uid=target.uid)
    expect(not target.has_ended() and not other.has_ended(), "a process has crashed")
    grown = target.memory() - before
    expect(grown < 16, f"grown by {grown:.0f} MiB")
    lost = dropped()
    expect(lost < count / 10, f"{lost} packets were never read")
    for neighbour in (target, other, late):
        neighbour.quit()
    return (f"{sent} packets in {passed:.1f} s, {used / sent * 1000:.1f} us of processor time each, grown by {grown:.1f} MiB; "
            f"the next peer was found after {found:.2f} s")


def let_through():
    deadline = now() + 30
    while waiting():
        expect(now() < deadline, "received packets are not read")
        time.sleep(0.0005)


def waiting():
    """Returns the unread bytes of the sockets of port 5353 in this namespace."""
    total = 0
    with open("/proc/self/net/udp", encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words[1].endswith(f":{PORT:04X}"):
                total += int(words[4].split(":")[1], 16)
    return total


def dropped():
    """Returns the number of packets dropped by those sockets."""
    with open("/proc/self/net/udp", encoding="ascii") as lines:
        return sum(int(line.split()[-1]) for line in lines if line.split()[1].endswith(f":{PORT:04X}"))


def rubbish(kind):
    """Yields invalid packets of every kind: random, truncated, with wrong lengths and names, and well-formed answers with
    ever new nonsense."""
    chance = random.Random(7)
    name = b"".join(bytes([len(part)]) + part for part in (f"_{kind}".encode(), b"_tcp", b"local")) + b"\0"
    packets = [b"", b"\0", bytes(12), bytes(9_000), b"\xff" * 9_000, bytes(20_000)]

    def header(flags, *counts):
        return struct.pack(">6H", chance.randrange(65_536), flags, *counts)

    def record(owner, kind, data, life=120, flush=0x8000):
        return owner + struct.pack(">HHIH", kind, flush | 1, life, len(data)) + data

    for size in (1, 11, 12, 13, 100, 1_400, 8_900):
        packets += [chance.randbytes(size), header(0x8400, 0, 5, 0, 0) + chance.randbytes(size)]
    packets += [
        header(0, 65_535, 0, 0, 0) + name, header(0x8400, 0, 65_535, 65_535, 65_535),
        header(0x8400, 0, 1, 0, 0) + b"\xc0\x0c" + bytes(10), header(0x8400, 0, 1, 0, 0) + b"\xc0\xff" + bytes(10),
        header(0, 1, 0, 0, 0) + b"\x3f" + bytes(20), header(0, 1, 0, 0, 0) + b"\x41" + bytes(80),
        header(0x0200, 1, 0, 0, 0) + name + struct.pack(">HH", 12, 1),
        header(0, 400, 0, 0, 0) + (name + struct.pack(">HH", 255, 1)) * 400,
    ]
    for number in range(300):
        # Some of it names peers of this type; most of it is of no interest to any process.
        if number == 100:
            name = name.replace(kind.encode(), b"u" + kind[1:].encode())
        label = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz234567", k=26)).encode()
        instance = bytes([len(label) + 2]) + b"x-" + label + name
        host = b"\x14mpc-" + chance.randbytes(8).hex().encode() + b"\x05local\0"
        answers = [
            record(name, 12, instance, 4_500, 0), record(instance, 33, struct.pack(">HHH", 0, 0, 4_711) + host),
            record(instance, 16, b"\x05mpc=1" + b"\x04n=no", 4_500), record(host, 1, chance.randbytes(4)),
        ]
        packets.append(header(0x8400, 0, len(answers), 0, 0) + b"".join(answers))
        whole = packets[-1]
        packets.append(whole[:chance.randrange(len(whole))])
        changed = bytearray(whole)
        for _ in range(4):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        packets.append(bytes(changed))
    return packets
