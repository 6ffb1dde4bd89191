"""A stranger in an open room that reports members which do not exist."""

import collections
import socket
import struct
import tempfile
import threading
import time

from . import network
from .attacker import Attacker, Chatter, found
from .network import Skipped
from .peer import expect

# The most connections to addresses that a member made up, in SCAN seconds.
MOST, SCAN = 100, 20
TARGET = 24_321
IPV4, TCP, OUTGOING, SYN, ACK = 0x0800, 6, 4, 2, 16


def ghosts():
    """A stranger that reports seven members which do not exist keeps nobody out of a room"""
    return network.inside(_ghosts, seconds=120)


def _ghosts():
    with tempfile.TemporaryDirectory() as directory:
        ann = Chatter(directory, "ann", "--room", "kitchen")
        uid, port = found(directory, "ann")
        attacker = Attacker("ghosts", uid=uid, port=port, context="chat kitchen")
        expect(attacker.told()["ghosts"] == 7, "the attacker is not in the room")
        ann.sees("mallory joined")
        start = time.monotonic()
        bob = Chatter(directory, "bob", "--room", "kitchen")
        ann.sees("bob joined", 20)
        bob.sees("ann joined", 20)
        took = time.monotonic() - start
        bob.types("is anybody there?")
        ann.sees("bob.*is anybody there", 10)
        expect(attacker.stop()["alive"], "the attacker was thrown out, so nothing is shown")
        for one in (bob, ann):
            one.leave()
    return f"an honest peer joined after {took:.1f} s, beside 7 ghosts"


def scan():
    """A member that reports ever new members with other addresses causes fewer than 100 connections in 20 s, and none to an
    address that did not answer before"""
    return network.inside(_scan, seconds=120)


def _scan():
    with tempfile.TemporaryDirectory() as directory:
        ann = Chatter(directory, "ann", "--room", "kitchen")
        uid, port = found(directory, "ann")
        counter = Counter()
        attacker = Attacker("scan", uid=uid, port=port, context="chat kitchen", target=TARGET, seconds=SCAN)
        expect(attacker.told()["linked"], "the attacker is not in the room")
        facts = attacker.told(SCAN + 20)
        dials = counter.end()
        expect(facts["alive"], "the attacker was thrown out, so nothing is shown")
        attacker.stop()
        ann.leave()
    count = sum(dials.values())
    expect(count >= 8, f"only {count} connections, so nothing is shown")
    expect(count < MOST, f"{count} connections in {SCAN} s")
    target, most = dials.most_common(1)[0]
    expect(most == 1, f"{most} connections to {target[0]} port {target[1]}, which did not answer")
    return f"{count} connections in {SCAN} s to {facts['addresses']:.0f} reported addresses, none twice"


class Counter:
    """Counts the SYNs to the addresses that the attacker reports, by address and port, with a packet socket."""

    def __init__(self):
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.socket.bind(("lo", 3))
        except OSError as error:
            raise Skipped(f"no packet socket: {error}") from error
        self.socket.settimeout(0.2)
        self.dials, self.is_over = collections.Counter(), False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while not self.is_over:
            try:
                frame, address = self.socket.recvfrom(1 << 17)
            except TimeoutError:
                continue
            # Each packet passes lo twice, on its way out and on its way in.
            if address[2] != OUTGOING or address[1] != IPV4 or frame[23] != TCP:
                continue
            packet = frame[14:]
            header = (packet[0] & 15) * 4
            port, flags = struct.unpack_from("!H", packet, header + 2)[0], packet[header + 13]
            if flags & SYN and not flags & ACK and packet[16:18] == b"\x7f\x00" and packet[18] in (1, 2, 3):
                self.dials[socket.inet_ntoa(packet[16:20]), port] += 1

    def end(self):
        self.is_over = True
        self.thread.join()
        self.socket.close()
        return self.dials
