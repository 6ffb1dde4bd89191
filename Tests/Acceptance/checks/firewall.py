"""Between two machines: a firewall that lets one number in, for TCP and UDP, or a router."""

import os
import re
import subprocess
import tempfile

from . import network, peer
from .codes import _Command
from .discovery import service_type
from .network import Hub, tool
from .peer import expect

PORT = 4761
RULES = f"""
table inet guard {{
 chain input {{
  type filter hook input priority 0; policy drop;
  ct state established,related accept
  udp dport 5353 accept
  tcp dport {PORT} counter accept
  udp dport {PORT} counter accept
  udp sport 5353 drop
  meta l4proto {{ tcp, udp }} counter drop
 }}
}}
"""


def one_port():
    """Two machines (namespaces) whose firewalls drop all that comes in but multicast DNS and one number, for TCP and UDP:
    a file is sent by name, and no packet of it is dropped"""
    return network.inside(_between_firewalls, seconds=60)


def _between_firewalls():
    hub = Hub(2)
    try:
        for number in (1, 2):
            _guard(hub.there(number))
        with tempfile.TemporaryDirectory() as directory:
            took = _send(hub, directory)
        counts = [_counts(hub.there(number)) for number in (1, 2)]
        expect(counts[0][0] > 0, f"nothing came to TCP port {PORT}: {counts}")
        expect(counts[0][1] + counts[1][1] > 0, f"nothing came to UDP port {PORT}: {counts}")
        expect(all(dropped == 0 for _, _, dropped in counts), f"packets were dropped: {counts}")
        return f"{took:.2f} s from the start of the sender to the link"
    finally:
        peer.end_everything()
        hub.close()


def across_networks():
    """A file goes by address between two networks (namespaces) with a router between them, which multicast does not pass"""
    return network.inside(_between_networks, seconds=60)


def _between_networks():
    hub = Hub(2)
    try:
        # The bridge is taken apart: each machine has a network of its own, with this namespace for a router.
        for number in (1, 2):
            hub.take_out(number)
            network.command("ip", "addr", "add", f"10.78.{number}.1/24", "dev", f"port{number}")
            there = hub.there(number)
            for words in [("addr", "flush", "dev", "cable"), ("addr", "add", f"10.78.{number}.2/24", "dev", "cable"),
                          ("route", "add", "default", "via", f"10.78.{number}.1")]:
                network.command(*there, tool("ip"), *words)
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as switch:
            switch.write("1")
        with tempfile.TemporaryDirectory() as directory:
            took = _send(hub, directory, "--to", "10.78.1.2")
        return f"{took:.2f} s from the start of the sender to the link"
    finally:
        peer.end_everything()
        hub.close()


def _guard(there):
    done = subprocess.run([*there, tool("nft"), "-f", "-"], input=RULES.encode(), capture_output=True, timeout=20)
    if done.returncode:
        raise network.Skipped(f"no rules can be made: {done.stderr.decode().strip().splitlines()[:1]}")


def _counts(there):
    """Returns how many packets came to the port over TCP and UDP, and how many were dropped."""
    said = subprocess.run([*there, tool("nft"), "list", "ruleset"], capture_output=True, text=True, timeout=20).stdout
    return [int(count) for count in re.findall(r"counter packets (\d+)", said)]


def _send(hub, directory, *to):
    kind = service_type()
    os.mkdir(os.path.join(directory, "inbox"))
    photo, copy = os.path.join(directory, "photo.jpg"), os.path.join(directory, "inbox", "photo.jpg")
    with open(photo, "wb") as file:
        file.write(os.urandom(1_000_000))
    ann = _Command(hub.there(1), "cable", directory, "receive", "inbox", "--yes", "--name", "ann", "--type", kind)
    ann.says("waiting as 'ann'")
    bob = _Command(hub.there(2), "cable", directory, "send", "photo.jpg", *(to or ["ann"]), "--unverified",
                   "--name", "bob", "--type", kind)
    _, took = bob.says("linked with ann")
    expect(bob.end() == 0 and ann.end() == 0, ann.said + bob.said)
    expect(open(photo, "rb").read() == open(copy, "rb").read(), "the file has changed")
    return took
