"""Meshes of members that have only some addresses, or cannot all reach each other."""

import subprocess
import tempfile
import time

from . import network, peer
from .member import Member, Mesh
from .network import Hub, command, tool
from .peer import expect, until

MEMBERS = 3


def mesh_addresses():
    """In network namespaces, a chain of three becomes a mesh over IPv4 only, IPv6 link-local only, both, and with
    an interface without a route; if two cannot reach each other, all other links are made"""
    names = LAYOUTS if peer.FULL else ["IPv6 link-local", "a wall"]
    return "; ".join(network.inside(_layout, name, seconds=60) for name in names)


def _layout(name):
    hub = Hub(MEMBERS)
    try:
        for number in range(1, MEMBERS + 1):
            LAYOUTS[name](hub, number)
            until(lambda: not _said(hub, number, "-6", "addr", "show", "tentative"), 10, "addresses stay tentative")

        def make(directory, member, *arguments):
            return Member(directory, member, *arguments, "--everywhere", there=hub.there(int(member[-1])))

        with tempfile.TemporaryDirectory() as directory:
            mesh = Mesh(directory, MEMBERS, make=make)
            start = time.monotonic()
            one, two, three = mesh.members
            mesh.join(one, two)
            mesh.join(two, three)
            if name == "a wall":
                until(lambda: two.who() == {one.uid, three.uid}, 10, "the member in the middle is not linked with both")
                time.sleep(1)
                expect(one.who() == {two.uid} and three.who() == {two.uid}, "the two ends reach each other")
            else:
                mesh.await_full(15)
            took = time.monotonic() - start
            mesh.quit()
            return f"{name} {took:.1f} s"
    finally:
        peer.end_everything()
        hub.close()


def _ip(hub, number, *words):
    command(*hub.there(number), tool("ip"), *words)


def _said(hub, number, *words):
    return subprocess.run([*hub.there(number), tool("ip"), *words], capture_output=True, timeout=20).stdout


def _v4(hub, number):
    _ip(hub, number, "addr", "flush", "dev", "cable", "scope", "link")


def _link_local(hub, number):
    _ip(hub, number, "-4", "addr", "flush", "dev", "cable")


def _both(_hub, _number):
    pass


def _two_networks(hub, number):
    """Gives each place another interface whose address no other place can reach."""
    _ip(hub, number, "link", "add", "second", "type", "veth", "peer", "name", "nowhere")
    _ip(hub, number, "addr", "add", f"10.78.{number}.1/24", "dev", "second")
    _ip(hub, number, "link", "set", "second", "up")
    _ip(hub, number, "link", "set", "nowhere", "up")


def _wall(hub, number):
    _v4(hub, number)
    if number != 2:
        _ip(hub, number, "route", "add", "blackhole", f"{hub.address(4 - number)}/32")


LAYOUTS = {
    "IPv4": _v4,
    "IPv6 link-local": _link_local,
    "both": _both,
    "two interfaces": _two_networks,
    "a wall": _wall,
}
