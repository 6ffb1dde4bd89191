"""dialling.json: which candidates are dialled, chapter 4."""

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
             "Port": "well-known ports are never dialled"}
    return document("dialling rules", notes, [
        dict(type="dialling", spec="4", labels=["dial.forbidden", "dial.loopback"], tests=tests)])
