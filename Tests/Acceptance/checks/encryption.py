"""The outcome of two preferences, confirmed by the bytes on the wire; and data that was changed in transit."""

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from . import blob
from .peer import Peer, exchange, expect, free_port, identity
from .relay import Relay

SIDES = [("none", False), ("optional", False), ("optional", True), ("required", False), ("required", True)]


def outcome(one, other):
    """The table of spec 5.1; an identity makes optional required."""
    first, second = ("required" if side == ("optional", True) else side[0] for side in (one, other))
    if {first, second} == {"none", "required"}:
        return "refused"
    return "plain" if "none" in (first, second) else "encrypted"


def cells():
    """All 9 cells of the preference table, with and without identity, each confirmed by a tap in the path"""
    with tempfile.TemporaryDirectory() as directory:
        identities = [identity(directory, name) for name in ("ann.pem", "bob.pem")]
        pairs = [(one, other) for one in SIDES for other in SIDES]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda pair: cell(pair, identities), pairs))
    return ", ".join(f"{found.count(kind)} {kind}" for kind in ("encrypted", "plain", "refused"))


def cell(pair, identities):
    what = f"{pair[0]} with {pair[1]}"
    with tempfile.TemporaryDirectory() as directory:
        ports = [free_port(), free_port()]
        relays = [Relay(port) for port in ports]
        peers, texts = [], []
        for index, (name, other) in enumerate([("ann", "bob"), ("bob", "ann")]):
            texts.append(f"the canary of {name}\n".encode() * 3)
            with open(os.path.join(directory, name + ".in"), "wb") as file:
                file.write(texts[index])
            preference, has_identity = pair[index]
            arguments = ["--preference", preference, "--advertise", f"127.0.0.1:{relays[index].port}"]
            if has_identity:
                arguments += ["--identity", identities[index]]
            with open(os.path.join(directory, name + ".in"), "rb") as stdin, \
                    open(os.path.join(directory, name + ".out"), "wb") as stdout:
                peers.append(Peer(directory, name, other + ".given", stdin, stdout, ports[index], 20, arguments))
        exchange(*peers)
        codes = [peer.end(40) for peer in peers]
        for relay in relays:
            relay.close()
        flows = [flow for relay in relays for flow in relay.flows]
        expected = outcome(*pair)
        if expected == "refused":
            expect(codes == [1, 1], f"{what}: exit codes {codes}")
            expect(not flows, f"{what}: there was a connection")
            for peer in peers:
                expect("encryption" in peer.last_words(), f"{what}: {peer.name} printed {peer.last_words()}")
            return expected
        expect(codes == [0, 0], f"{what}: exit codes {codes}, {[peer.last_words() for peer in peers]}")
        for index, name in enumerate(["bob", "ann"]):
            with open(os.path.join(directory, name + ".out"), "rb") as file:
                expect(file.read() == texts[index], f"{what}: {name} got something else")
        check_wire(what, expected, flows, texts)
        return expected


def check_wire(what, expected, flows, texts):
    flows = [(bytes(first), bytes(second)) for first, second in flows]
    expect(any(first and second for first, second in flows), f"{what}: nothing went through the tap")
    if expected == "plain":
        for flow in flows:
            expect(all(not side or side.startswith(b"MPCPLAIN") for side in flow), f"{what}: not the plain preface")
        for text in texts:
            expect(any(text in side for flow in flows for side in flow), f"{what}: a canary is not visible on a plain link")
        return
    for first, second in flows:
        expect(not first or first.startswith(b"\x16\x03\x01"), f"{what}: the dialler does not begin with TLS")
        expect(not second or second.startswith(b"\x16\x03\x03"), f"{what}: the listener does not begin with TLS")
        expect(not second or bytes.fromhex("002b00020304") in second, f"{what}: not TLS 1.3")
        for side in (first, second):
            expect(b"MPCPLAIN" not in side and b"canary" not in side, f"{what}: something is visible in clear")


CHANGES = {
    "name": (["required", "required"], [lambda data: blob.flipped(data, blob.PEER), None]),
    "token": (["required", "required"], [lambda data: blob.flipped(data, blob.TOKEN), None]),
    "fingerprint": (["required", "required"], [lambda data: blob.flipped(data, blob.FINGERPRINT), None]),
    "one bit": (["required", "required"], [blob.damaged, None]),
    "preference": (["required", "required"], [blob.optional, None]),
    "preference to none": (["required", "required"], [blob.plain, None]),
    "both preferences to none": (["optional", "optional"], [blob.plain, blob.plain]),
    "token of a plain session": (["none", "none"], [lambda data: blob.flipped(data, blob.TOKEN), None]),
}


def changes():
    """Connection data changed in transit never leads to a link"""
    with ThreadPoolExecutor(len(CHANGES)) as pool:
        codes = list(pool.map(change, CHANGES))
    return f"{len(CHANGES)} changes, exit codes {sorted({code for pair in codes for code in pair})}"


def change(what):
    preferences, forgers = CHANGES[what]
    with tempfile.TemporaryDirectory() as directory:
        peers = [
            Peer(directory, name, f"{other}.given", timeout=4, arguments=["--preference", preferences[index]])
            for index, (name, other) in enumerate([("ann", "bob"), ("bob", "ann")])
        ]
        exchange(*peers, forgers=forgers)
        codes = [peer.end(20) for peer in peers]
        for peer in peers:
            expect(peer.code in (1, 3), f"{what}: {peer.name} ended with {peer.code}: {peer.last_words()}")
            expect("linked with" not in peer.said(), f"{what}: {peer.name} was linked")
        return codes
