"""Datagrams where packets are lost, and where others send packets too."""

import os
import random
import re
import socket
import subprocess
import tempfile
import time

from . import network, peer
from .peer import ENDURANCE, Peer, expect, until
from .tap import TCP, UDP, Tap


def lossy_handshakes():
    """With 30 % loss each way, in a network namespace, 95 % of the DTLS handshakes are complete within 8 s"""
    return network.inside(_lossy_handshakes, 200 if peer.FULL else 40, seconds=240)


def _lossy_handshakes(count):
    network.lose(30)
    done = subprocess.run([ENDURANCE, "handshakes", str(count)], capture_output=True, timeout=200)
    said = done.stdout.decode().strip()
    expect(done.returncode == 0, said or done.stderr.decode().strip()[-300:])
    return said


def canaries():
    """The bytes on the wire, in a network namespace, show no name, message, file, datagram or metadata"""
    return network.inside(_canaries)


def _canaries():
    # 16 bytes that are text, so that they can be names.
    canary = "".join(random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=16))
    found = {}
    for preference in ("none", "required"):
        tap = Tap()
        try:
            done = subprocess.run([ENDURANCE, "everything", preference, canary], capture_output=True, timeout=60)
            said = done.stdout.decode().strip()
            expect(done.returncode == 0, said or done.stderr.decode().strip()[-300:])
        finally:
            time.sleep(0.1)
            dropped = tap.close()
        expect(dropped == 0, f"{dropped} packets were missed")
        needles = [canary.encode(), canary.encode()[:8], canary.encode().hex().encode()]
        found[preference] = [tap.contains(needle) for needle in needles]
        seen = f"{tap.packets} packets, {tap.bytes(TCP) >> 10} KiB by TCP, {tap.bytes(UDP) >> 10} KiB by UDP"
        expect(tap.bytes(TCP) > 3_000_000 and tap.bytes(UDP) > 3_000, f"the tap has not captured everything: {seen}")
    # Plain links prove that the tap sees what there is.
    expect(found["none"][0], "the tap does not find a canary on a plain link")
    expect(not any(found["required"]), "a canary is on the wire")
    return f"{said}; {seen}, no canary visible; on a plain link there is one"


def sockets(pid):
    """The UDP ports of a process."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}"))
        except FileNotFoundError:
            continue
        if match:
            inodes.add(match[1])
    ports = set()
    for table in ("udp", "udp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as lines:
            for line in list(lines)[1:]:
                words = line.split()
                if words[9] in inodes:
                    ports.add(int(words[1].rsplit(":", 1)[1], 16))
    return sorted(ports)


def garbage():
    """A million invalid UDP packets get no answer, and the link continues"""
    count = 1_000_000 if peer.FULL else 300_000
    with tempfile.TemporaryDirectory() as directory:
        inputs = os.pipe()
        with os.fdopen(inputs[0], "rb") as stdin:
            one = Peer(directory, "one", "other.data", stdin)
        other = Peer(directory, "other", "one.data", stdout=open(os.path.join(directory, "out"), "wb"))
        for process in (one, other):
            process.await_link()
        ports = until(lambda: sockets(other.pid), 5, "no UDP socket")
        before = other.status("VmRSS")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.connect(("127.0.0.1", ports[0]))
            sender.setblocking(False)
            start = time.monotonic()
            sent = _flood(sender, count)
            passed = time.monotonic() - start
            time.sleep(0.2)
            try:
                answer = sender.recv(2_000)
                raise peer.Failure(f"there was an answer: {answer[:40].hex()}")
            except BlockingIOError:
                pass
        os.write(inputs[1], b"still here")
        os.close(inputs[1])
        codes = [one.end(20), other.end(20)]
        expect(codes == [0, 0], f"exit codes {codes}: {one.last_words()} / {other.last_words()}")
        with open(os.path.join(directory, "out"), "rb") as file:
            expect(file.read() == b"still here", "something else arrived")
        expect(other.peak < before + 16, f"grown from {before} to {other.peak} MiB")
        return f"{sent} packets in {passed:.1f} s ({sent / passed:.0f}/s), no answer; at most {other.peak} MiB"


def _flood(sender, count):
    """Yields invalid packets of every kind: random, empty, too long, and with the header of each kind of packet."""
    chance = random.Random(1)
    packets = [b"", b"\x01", b"\x02", bytes(1_400), bytes(60_000)]
    for kind in (0, 1, 2, 3, 255):
        for length in (8, 9, 13, 60, 200, 1_199, 1_200):
            packets.append(bytes([kind]) + chance.randbytes(length))
            # The beginning of a DTLS handshake, which some listeners answer.
            packets.append(bytes([kind]) + chance.randbytes(8) + bytes.fromhex("16fefd0000000000000000")
                           + length.to_bytes(2) + b"\x01" + chance.randbytes(length))
    sent = 0
    while sent < count:
        for packet in packets:
            try:
                sender.send(packet)
            except BlockingIOError:
                pass
            sent += 1
    return sent
