"""Each packet that our discovery sends on the network."""

import json
import os
import subprocess
import sys
import time

from checks import network, peer
from checks.peer import expect

from stacks import ours
from stacks.debian import python
from stacks.place import Switch
from stacks.tap import UDP, Tap

SERVICE = "audit"
HERE = os.path.dirname(os.path.abspath(__file__))


def legacy():
    """B6: a resolver without support for multicast DNS gets answers that dnspython can read, or else NSEC"""
    return network.inside(_legacy, seconds=60)


def _legacy():
    hub = Switch(2)
    try:
        advertising = ours.advertise(hub.there(1), SERVICE, "plain one", "key=value")
        asked = subprocess.run([*hub.there(2), python(), os.path.join(HERE, "stacks", "legacy_resolver.py"),
                                hub.address(2), SERVICE], capture_output=True, timeout=40)
        expect(asked.returncode == 0, asked.stderr.decode().strip().splitlines()[-1:])
        expect(not advertising.has_ended, "advertise ended")
        return asked.stdout.decode().strip()
    finally:
        peer.end_everything()
        hub.close()


def wire():
    """B7: every packet of a browse, an announcement, an idle period and a goodbye complies with RFC 6762"""
    return network.inside(_wire, seconds=240)


def _wire():
    quiet = 90 if peer.FULL else 15
    hub = Switch(2)
    try:
        # A new address is announced at once, with those that were announced a moment ago.
        for number in (1, 2):
            peer.until(lambda: b"tentative" not in subprocess.run(
                [*hub.there(number), network.tool("ip"), "-6", "addr", "show"], capture_output=True,
                timeout=20).stdout, 10, "addresses stay tentative")
        tap = Tap(["port1", "port2"])
        browsing = ours.browse(hub.there(2), SERVICE)
        time.sleep(1)
        announced = time.monotonic()
        advertising = ours.advertise(hub.there(1), SERVICE, "audited", "key=value")
        browsing.await_event("found", "audited", 10)
        time.sleep(quiet)
        leaving = time.monotonic()
        advertising.end()
        browsing.await_event("lost", "audited", 10)
        browsing.end()
        time.sleep(0.5)
        packets = [packet for packet in tap.close() if packet.protocol == UDP and 5353 in
                   (packet.source_port, packet.target_port)]
        expect(packets, "no packets were sent")
        lines = [json.dumps({"at": packet.at, "source": packet.source, "target": packet.target, "ports":
                             [packet.source_port, packet.target_port], "lifetime": packet.lifetime, "length":
                             packet.length, "payload": packet.payload.hex()}) for packet in packets]
        judged = subprocess.run([sys.executable, os.path.join(HERE, "stacks", "auditor.py"), str(announced), str(leaving)],
                                input="\n".join(lines).encode(), capture_output=True, timeout=60)
        expect(judged.returncode == 0, (judged.stdout + judged.stderr).decode().strip())
        return judged.stdout.decode().strip()
    finally:
        peer.end_everything()
        hub.close()
