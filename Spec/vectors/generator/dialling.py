"""dialling.json: which candidates are dialled, chapter 4, and which data HELLO names, chapter 6."""

import ipaddress

from .wire import LIMIT, document, test


def allowed(address, port, loopback):
    if address.version == 6 and address.ipv4_mapped:
        return allowed(address.ipv4_mapped, port, loopback)
    if address.version == 4 and address.packed[0] == 0:
        return False
    if port < LIMIT["smallestPort"] or address.is_unspecified or address.is_multicast:
        return False
    if address == ipaddress.ip_address("255.255.255.255"):
        return False
    return loopback or not address.is_loopback


class Attempt:
    """Dials one address after the other, each until its connection ends."""

    def __init__(self, order, addresses):
        self.order, self.addresses, self.place, self.repeated, self.unknown = order, addresses, 0, 0, 0
        self.again = []

    def dial(self):
        """Returns the address, the data that HELLO names, and whether a pause preceded."""
        waits = not self.again and self.place == self.addresses
        if waits:
            self.place = self.repeated = 0
        if self.again:
            address = self.again.pop()
        else:
            address, self.place = self.place, self.place + 1
        return address, self.order[self.unknown % len(self.order)], waits

    def ended(self, address, code):
        if code == "UNKNOWN_PEER":
            self.unknown += 1
            if self.repeated + 1 < len(self.order):
                self.repeated += 1
                self.again.append(address)


def likely(issued, is_member):
    """Returns the data that a peer may hold, the likeliest first: `issued` are names such as peer-2, the latest last."""
    groups = {who: [one for one in reversed(issued) if one.startswith(who)] for who in ("mesh", "peer", "open")}
    first, second, third = ("mesh", "peer", "open") if is_member else ("peer", "open", "mesh")
    return groups[first] + groups[second] + groups[third]


def naming():
    tests = []

    def run(id, comment, issued, addresses, codes, expect, is_member=False):
        order = likely(issued.split(), is_member)
        attempt, steps = Attempt(order, addresses), []
        for code in codes:
            address, names, waits = attempt.dial()
            steps.append(dict(address=address, names=names, waits=waits, code=code))
            attempt.ended(address, code)
        shown = " ".join(("| " if step["waits"] else "") + f"{step['address']}:{step['names']}" for step in steps)
        assert shown == expect, (id, shown)
        tests.append(test(id, comment, ["Naming"], issued=issued.split(), isMember=is_member, addresses=addresses, steps=steps,
                          result="valid"))

    no, busy = "UNKNOWN_PEER", "BUSY"
    run("naming-one", "one version: the same after a pause", "peer-1", 1, [no] * 3, "0:peer-1 | 0:peer-1 | 0:peer-1")
    run("naming-latest", "the latest version first, then the former ones, without a pause", "peer-1 peer-2 peer-3", 1, [no] * 4,
        "0:peer-3 0:peer-2 0:peer-1 | 0:peer-3")
    run("naming-audience", "what was issued for the peer, then open data, then mesh data", "mesh-1 open-1 peer-1", 1, [no] * 4,
        "0:peer-1 0:open-1 0:mesh-1 | 0:peer-1")
    run("naming-member", "to a member, mesh data first", "mesh-1 open-1 peer-1", 1, [no] * 4,
        "0:mesh-1 0:peer-1 0:open-1 | 0:mesh-1", is_member=True)
    run("naming-versions", "all versions of each", "open-1 peer-1 open-2 peer-2", 1, [no] * 4, "0:peer-2 0:peer-1 0:open-2 0:open-1")
    run("naming-known", "another code: the same data again", "peer-1 peer-2", 1, [no, busy, busy], "0:peer-2 0:peer-1 | 0:peer-1")
    run("naming-addresses", "the address that answered is dialled again before the others", "peer-1 peer-2", 2, [no] * 5,
        "0:peer-2 0:peer-1 1:peer-2 | 0:peer-1 0:peer-2")
    run("naming-round", "in each round as often as there are other versions", "peer-1 peer-2 peer-3", 2, [busy, no, no, no, busy],
        "0:peer-3 1:peer-3 1:peer-2 1:peer-1 | 0:peer-3")
    return tests


def build():
    tests = []

    def add(id, text, port, loopback, dial, flags):
        address = ipaddress.ip_address(text)
        assert allowed(address, port, loopback) == dial, id
        tests.append(test(id, f"{text} port {port}", flags, family=address.version, address=address.packed.hex(),
                          port=port, loopbackIssued=loopback, dial=dial, result="valid" if dial else "invalid"))

    for id, text, dial in (("private-4", "192.168.1.23", True), ("public-4", "198.51.100.7", True),
                           ("unspecified-4", "0.0.0.0", False), ("this-network-4", "0.1.2.3", False), ("multicast-4-first", "224.0.0.1", False),
                           ("multicast-4-last", "239.255.255.255", False), ("broadcast", "255.255.255.255", False),
                           ("link-local-4", "169.254.10.20", True), ("global-6", "2001:db8::7", True),
                           ("unique-local-6", "fd00::1:2", True), ("link-local-6", "fe80::211:22ff:fe33:4455", True),
                           ("unspecified-6", "::", False), ("multicast-6", "ff02::1", False),
                           ("mapped-unspecified", "::ffff:0.0.0.0", False), ("mapped-multicast", "::ffff:224.0.0.251", False),
                           ("mapped-broadcast", "::ffff:255.255.255.255", False)):
        add(id, text, 49152, False, dial, ["Address"])
    for id, text in (("loopback-4", "127.0.0.1"), ("loopback-4-other", "127.8.9.10"), ("loopback-6", "::1"),
                     ("loopback-mapped", "::ffff:127.0.0.1")):
        add(id, text, 49152, False, False, ["Loopback"])
        add(id + "-issued", text, 49152, True, True, ["Loopback"])
    for port, dial in ((0, False), (22, False), (1023, False), (1024, True), (65535, True)):
        add(f"port-{port}", "192.168.1.23", port, False, dial, ["Port"])
    notes = {"Address": "addresses that name no single host are never dialled",
             "Loopback": "loopback is dialled only by a session that issued loopback candidates itself",
             "Port": "well-known ports are never dialled",
             "Naming": "which of its data a HELLO names"}
    return document("dialling rules", notes, [
        dict(type="dialling", spec="4", labels=["dial.forbidden", "dial.loopback"], tests=tests),
        dict(type="naming", spec="6", labels=["link.unknown-data"], tests=naming())])
