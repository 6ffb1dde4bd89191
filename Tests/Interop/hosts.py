"""Our own stack on several machines: address families, interfaces that appear and disappear, packet loss."""

import subprocess
import time

from checks import network, peer
from checks.network import command, tool
from checks.peer import expect, until

from stacks import ours
from stacks.place import Switch

SERVICE = "hosts"


def families():
    """B1: three hosts on one switch find each other over both families, IPv4 only, and IPv6 only from the first second on,
    while addresses are still tentative"""
    return "; ".join(network.inside(_families, name, seconds=90) for name in ("both", "IPv4", "IPv6"))


def _families(name):
    hub = Switch(3)
    try:
        for number in (1, 2, 3):
            if name == "IPv4":
                _sysctl(hub, number, "cable", "disable_ipv6", "1")
            if name == "IPv6":
                # Down and up: duplicate address detection starts again, and the programs start during it.
                _ip(hub, number, "-4", "addr", "flush", "dev", "cable")
                _ip(hub, number, "link", "set", "cable", "down")
                _ip(hub, number, "link", "set", "cable", "up")
            elif name == "both":
                until(lambda: not _said(hub, number, "-6", "addr", "show", "tentative"), 10, "addresses stay tentative")
        browsing = [ours.browse(hub.there(number), SERVICE) for number in (1, 2, 3)]
        start = time.monotonic()
        for number in (1, 2, 3):
            ours.advertise(hub.there(number), SERVICE, f"host {number}", f"at={number}")
        longest = 0
        for one in browsing:
            for number in (1, 2, 3):
                found = one.await_event("found", f"host {number}", 20)
                expect(found["info"] == {"at": str(number)}, f"the info is {found['info']}")
            longest = max(longest, time.monotonic() - start)
        for one in browsing:
            for number in (1, 2, 3):
                seen = until(lambda: next((event for event in reversed(one.events()) if event["event"] != "lost"
                                           and event["name"] == f"host {number}" and event.get("addresses")), None),
                             15, f"host {number} has no address")
                v4 = any("." in address for address in seen["addresses"])
                v6 = any(address.startswith("[") for address in seen["addresses"])
                expect(v4 == (name != "IPv6") or name == "both", f"{name}: the addresses are {seen['addresses']}")
                expect(v6 if name == "IPv6" else True, f"{name}: the addresses are {seen['addresses']}")
        return f"{name} {longest:.1f} s"
    finally:
        peer.end_everything()
        hub.close()


def changes():
    """B2: an interface goes down and up on either side, an address changes, a second interface appears, one is removed: the
    peer is found again each time, and lost when it is gone"""
    return network.inside(_changes, seconds=150)


def _changes():
    hub = Switch(2)
    found = []
    try:
        browsing = ours.browse(hub.there(1), SERVICE)
        advertising = ours.advertise(hub.there(2), SERVICE, "mover")
        browsing.await_event("found", "mover", 15)
        for number in (1, 2):
            before = len(browsing.events())
            _ip(hub, number, "link", "set", "cable", "down")
            if number == 1:
                until(lambda: browsing.knows() == [], 15, "it is still known on an interface that is down")
            time.sleep(1)
            _ip(hub, number, "link", "set", "cable", "up")
            start = time.monotonic()
            until(lambda: browsing.knows() == ["mover"], 20, f"not found after the interface of {number} came back")
            expect(not advertising.has_ended, "the advertiser ended")
            found.append(f"side {number} back after {time.monotonic() - start:.1f} s")
            expect(len(browsing.events()) - before <= 8, "it flaps")
        _ip(hub, 2, "addr", "del", f"{hub.address(2)}/16", "dev", "cable")
        _ip(hub, 2, "addr", "add", "10.77.5.5/16", "dev", "cable")
        start = time.monotonic()
        until(lambda: _addresses(hub, 1, "mover", "10.77.5.5"), 20, "the new address is not known")
        found.append(f"new address after {time.monotonic() - start:.1f} s")
        for number in (1, 2):
            there = hub.there(number)
            command("ip", "link", "add", f"extra{number}", "type", "veth", "peer", "name", "second", "netns",
                    str(hub.holders[number].pid))
            command("ip", "link", "set", f"extra{number}", "master", "hub")
            command("ip", "link", "set", f"extra{number}", "up")
            command(*there, tool("ip"), "addr", "add", f"10.78.0.{number}/24", "dev", "second")
            command(*there, tool("ip"), "link", "set", "second", "up")
        start = time.monotonic()
        until(lambda: _addresses(hub, 1, "mover", "10.78.0.2"), 20, "the second interface is not known")
        found.append(f"second interface after {time.monotonic() - start:.1f} s")
        _ip(hub, 2, "link", "del", "cable")
        time.sleep(2)
        expect(browsing.knows() == ["mover"], f"with one interface left it knows {browsing.knows()}")
        _ip(hub, 2, "link", "del", "second")
        expect(not advertising.has_ended, "the advertiser ended with its last interface")
        advertising.end()
        browsing.end()
        return ", ".join(found)
    finally:
        peer.end_everything()
        hub.close()


def _addresses(hub, number, name, address):
    """Returns whether a new browse resolves the peer to that address."""
    browsing = ours.browse(hub.there(number), SERVICE)
    try:
        seen = browsing.await_event("found", name, 10)
        return any(address in one for one in seen["addresses"])
    except peer.Failure:
        return False
    finally:
        browsing.end()


def loss():
    """B3: with 40 % packet loss in each direction all are found within 15 s, and a peer that stops is lost within 15 s"""
    return network.inside(_loss, seconds=120)


def _loss():
    runs, times, gone = (10 if peer.FULL else 4), [], []
    hub = Switch(2)
    try:
        for number in (1, 2):
            # The filter that drops packets handles only IPv4.
            _sysctl(hub, number, "cable", "disable_ipv6", "1")
            hub.lose(number, 40)
        for run in range(runs):
            service = f"loss{run}"
            browsing = ours.browse(hub.there(1), service)
            start = time.monotonic()
            advertising = ours.advertise(hub.there(2), service, "faint")
            browsing.await_event("found", "faint", 15)
            times.append(time.monotonic() - start)
            start = time.monotonic()
            advertising.end()
            browsing.await_event("lost", "faint", 15)
            gone.append(time.monotonic() - start)
            browsing.end()
        lost, passed = hub.lost()
        expect(lost > passed / 2, f"{lost} packets were lost, and {passed} were not")
        return f"{lost} of {lost + passed} packets lost; {runs} runs, found after {max(times):.1f} s at the latest, lost after {max(gone):.1f} s"
    finally:
        peer.end_everything()
        hub.close()


def _ip(hub, number, *words):
    command(*hub.there(number), tool("ip"), *words)


def _said(hub, number, *words):
    return subprocess.run([*hub.there(number), tool("ip"), *words], capture_output=True, timeout=20).stdout


def _sysctl(hub, number, device, name, value):
    command(*hub.there(number), tool("sh"), "-c", f"echo {value} > /proc/sys/net/ipv6/conf/{device}/{name}")
