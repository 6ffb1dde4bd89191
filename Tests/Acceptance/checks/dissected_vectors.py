"""The test vectors of the specification, as a capture of plain connections: which ones Wireshark's dissector rejects."""

import json
import os
import struct
import tempfile

from . import network
from .dissector import tshark
from .peer import ROOT, expect

VECTORS = os.path.join(ROOT, "Spec", "vectors")
LINK, INVITATION, UDP = 20_001, 20_002, 20_003
PREFACE = b"MPCPLAIN"
# What the form alone does not show: it depends on the receiver, on earlier frames, or on a hash.
BEYOND = {
    ("hello", 4), *(("hello-receiver", number) for number in range(5, 12)),
    ("connection-data", 5), *(("connection-data-session", word) for word in ("outcome", "recipient", "self")),
    ("members", "data-changed"), ("members", "signature"),
    *(("members", word) for word in ("other-certificate", "same-key", "plain-for-a-key", "key-for-none")),
    ("datagram", "record-on-plain"), ("invite", "self"), ("invite", "recipient"), ("invite", "key"),
    *((kind, word) for kind in ("answer", "complete") for word in ("id", "outcome")),
    *((kind, f"{kind}-{word}") for kind in ("answer", "complete") for word in ("damaged", "stranger", "own", "for-another")),
    # A frame whose payload another chapter covers.
    ("frames", "before-select-2048"),
}


def _load(name):
    with open(os.path.join(VECTORS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)["groups"]


def _frame(kind, payload, channel=0):
    return len(payload).to_bytes(3) + bytes([kind]) + channel.to_bytes(4) + payload


def _hello():
    """Returns a valid HELLO, after which the connection is still before the link."""
    return _frame(1, bytes.fromhex(_load("hello")[0]["tests"][0]["hex"]))


def _complete(data):
    """Returns a COMPLETE with that connection data."""
    return _frame(0x42, bytes([0, 1, 0, 16]) + bytes(16) + bytes([0, 3]) + len(data).to_bytes(2) + data)


def _cases():
    """The port, the payloads of packets, and the vector."""
    kinds = {"hello": 0x01, "hello-receiver": 0x01, "members": 0x08, "channel-opening": 0x20, "invite": 0x40, "answer": 0x41,
             "complete": 0x42}
    for name in ("frames", "hello", "members", "channels", "invitations", "connection-data", "datagrams"):
        for group in _load(name):
            for test in group["tests"]:
                kind = group["type"]
                if {(kind, test.get("check")), (kind, test["id"])} & BEYOND or "hex" not in test:
                    continue
                raw = bytes.fromhex(test["hex"])
                if "append" in test:
                    fill = test["append"]["fill"]
                    raw += bytes([int(str(fill), 16)]) * test["append"]["length"]
                if kind == "frames":
                    selected = _frame(0x04, b"") if test["phase"] == "open" else b""
                    yield LINK, [PREFACE + _hello() + selected, raw], kind, test
                elif kind.startswith("connection-data"):
                    yield INVITATION, [_complete(raw)], kind, test
                elif kind == "datagram" and test["link"] == "plain":
                    yield UDP, [raw], kind, test
                elif kind in ("invite", "answer", "complete"):
                    yield INVITATION, [_frame(kinds[kind], raw)], kind, test
                elif kind in kinds:
                    yield LINK, [PREFACE + _frame(kinds[kind], raw, 1 if kind == "channel-opening" else 0)], kind, test


def _packet(number, port, payload, sequence):
    """Each vector has its own connection, with a different remote port."""
    if port == UDP:
        body = struct.pack("!HHHH", 20_004 + number, port, 8 + len(payload), 0) + payload
    else:
        body = struct.pack("!HHIIBBHHH", 20_004 + number, port, sequence, 1, 5 << 4, 0x18, 65_535, 0, 0) + payload
    total = 20 + len(body)
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, total, 0, 0, 64, 17 if port == UDP else 6, 0, bytes([127, 0, 0, 1]),
                       bytes([127, 0, 0, 1])) + body


def _write(path, cases):
    """Returns the vector of each packet."""
    owners = []
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, 101))
        for number, (port, payloads, _, _) in enumerate(cases):
            sequence = 1
            for payload in payloads:
                # Long data is split into segments, as in a real capture.
                for start in range(0, max(len(payload), 1), 32_000):
                    piece = payload[start:start + 32_000]
                    packet = _packet(number, port, piece, sequence)
                    sequence += len(piece)
                    file.write(struct.pack("<IIII", len(owners), 0, len(packet), len(packet)) + packet)
                    owners.append(number)
    return owners


def dissected_vectors():
    """Wireshark's dissector refuses exactly the malformed test vectors of the specification"""
    network.tool("tshark")
    cases = list(_cases())
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "capture")
        owners = _write(path, cases)
        said = tshark(path, "", "-d", f"tcp.port=={LINK},mpc", "-d", f"tcp.port=={INVITATION},mpcinvite", "-d",
                      f"udp.port=={UDP},mpcdatagram", "-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message", "-Y",
                      "mpc.malformed || _ws.malformed || _ws.lua.error")
    refused = {owners[int(line.split("\t")[0]) - 1]: line.split("\t")[1] for line in said.splitlines()}
    wrong = [f"{kind} {test['id']} is {test['result']}: {refused.get(number, 'nothing is refused')}"
             for number, (_, _, kind, test) in enumerate(cases) if (test["result"] == "invalid") != (number in refused)]
    expect(not wrong, f"{len(wrong)} of {len(cases)}: " + "; ".join(wrong[:40]))
    return f"{len(cases)} vectors, {len(refused)} of them refused"
