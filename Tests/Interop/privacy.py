"""What an eavesdropper receives: no more than chapter 19 of the spec lists."""

import json
import os
import struct
import tempfile

from checks import network, peer
from checks.peer import ROOT, expect, until

from stacks import ours
from stacks.place import Running, Switch
from stacks.tap import TCP, UDP, Tap

SERVICE = "privacy"
# Texts that must not be visible outside discovery; the secrets must not even be visible there.
NAMES = {"the receiver's name": b"listener-Wq7", "the sender's name": b"teller-Zk4"}
SECRETS = {"the file's name": b"holiday-Mv2.txt", "the file": b"The treasure lies under Xb9 oak trees. ",
           "the magic of connection data": b"MPCD"}


def capture():
    """B7: from two processes that find each other, invite, link and send a file, an eavesdropper gets what chapter 19 lists"""
    with open(os.path.join(ROOT, "Spec", "privacy.json"), encoding="utf-8") as file:
        table = json.load(file)
    return network.inside(_capture, table, seconds=90)


def _capture(table):
    hub = Switch(2)
    try:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, SECRETS["the file's name"].decode())
            with open(path, "wb") as file:
                file.write(SECRETS["the file"] * 4000)
            tap = Tap(["port1", "port2"])
            inbox = os.path.join(directory, "inbox")
            os.mkdir(inbox)
            environment = {**os.environ, "MULTIPEER_INTERFACES": ""}
            receiving = Running(hub.there(1), [peer.COMMAND, "receive", "--type", SERVICE, "--yes", "--into", inbox,
                                               "--name", NAMES["the receiver's name"].decode()], environment)
            sending = Running(hub.there(2), [peer.COMMAND, "send", "--unverified", path, "--type", SERVICE, "--to",
                                             NAMES["the receiver's name"].decode(), "--name",
                                             NAMES["the sender's name"].decode()], environment)
            until(lambda: sending.has_ended, 40, "the file does not go")
            expect(sending.process.returncode == 0, f"send failed: {sending.lines}; {receiving.lines}")
            receiving.end()
            packets = [packet for packet in tap.close() if packet.protocol in (TCP, UDP)]
        return _judge(packets, table)
    finally:
        peer.end_everything()
        hub.close()


def _judge(packets, table):
    found = {"tcp": 0, "mdns": 0, "dtls": 0}
    flows = {}
    for packet in packets:
        expect(not packet.is_part, "a packet was fragmented")
        if packet.protocol == TCP:
            if packet.payload:
                key = (packet.source, packet.source_port, packet.target, packet.target_port)
                flows.setdefault(key, {})[packet.sequence] = packet.payload
            continue
        expect(not any(secret in packet.payload for secret in SECRETS.values()), "a secret goes by UDP")
        if 5353 in (packet.source_port, packet.target_port):
            found["mdns"] += 1
            for_whom = NAMES["the sender's name"]
            expect(for_whom not in packet.payload, "a peer that only browses reveals its name")
        else:
            found["dtls"] += 1
            _judge_datagram(packet.payload, table["datagrams"])
    alpn = set()
    for key, parts in flows.items():
        data = b"".join(parts[number] for number in sorted(parts))
        for what, secret in {**NAMES, **SECRETS}.items():
            expect(secret not in data, f"{what} is sent over TCP in clear")
        found["tcp"] += 1
        alpn |= _judge_stream(data, table["tls"])
    expect(alpn == set(map(str.encode, table["tls"]["alpn"].values())), f"the names that ALPN offers are {alpn}")
    expect(found["mdns"] > 0 and found["tcp"] >= 4, f"too little was captured: {found}")
    return (f"{len(packets)} packets: {found['mdns']} of discovery, {found['tcp']} directions of TCP, "
            f"{found['dtls']} datagrams")


def _judge_stream(data, table):
    """Returns the ALPN names in it."""
    allowed = {record["type"]: record for record in table["records"]}
    names, said, place = set(), None, 0
    while place + 5 <= len(data):
        kind, length = data[place], struct.unpack_from("!H", data, place + 3)[0]
        body = data[place + 5:place + 5 + length]
        place += 5 + length
        expect(kind in allowed, f"a TLS record of type {kind}")
        if kind == 22:
            expect(said is None, "more than one handshake record is in clear")
            said = _judge_hello(body, table, names)
        elif kind == 20:
            expect(body.hex() in allowed[20]["clear"], "change_cipher_spec is not 01")
        elif kind == 21:
            expect(said is None, "an alert is in clear after the hello")
        else:
            expect(said is not None, "application data comes before the hello")
    return names


def _judge_hello(body, table, names):
    message = {1: "ClientHello", 2: "ServerHello"}.get(body[0])
    expect(message, f"a handshake message of type {body[0]} is in clear")
    expect(int.from_bytes(body[1:4], "big") == len(body) - 4, "there is more than one message in the record")
    fields = {field.get("extension", field["field"]): field for field in table["fields"] if field["message"] == message}
    place = 4

    def take(count):
        nonlocal place
        place += count
        return body[place - count:place]

    def vector(width):
        return take(int.from_bytes(take(width), "big"))

    heard = {"legacy_version": take(2), "random": take(32), "legacy_session_id": vector(1)}
    if message == "ClientHello":
        heard["cipher_suites"], heard["compression"] = vector(2), vector(1)
    else:
        heard["cipher_suite"], heard["compression"] = take(2), take(1)
    expect(len(body) >= place + 2, f"{message} has no extensions")
    take(2)
    while place < len(body):
        kind = int.from_bytes(take(2), "big")
        heard[kind] = vector(2)
    for name, value in heard.items():
        expect(name in fields, f"{message} has {name}, which the table does not list")
        field = fields[name]
        if field.get("value") == "alpn":
            names.add(value[3:])
        elif "value" in field:
            expect(value.hex() == field["value"], f"{message} {field['field']} is {value.hex()}")
        if "values" in field:
            expect(value.hex() in field["values"], f"{message} {field['field']} is {value.hex()}")
        if "bytes" in field or "sizes" in field:
            expect(len(value) in field.get("sizes", [field.get("bytes")]), f"{message} {field['field']} has {len(value)} bytes")
    return message


def _judge_datagram(payload, table):
    """Checks the header, and the DTLS records; after the first epoch everything is encrypted."""
    expect(payload and payload[0] == 1, "a datagram that is not DTLS")
    place, kinds = 9, {record["type"] for record in table["records"]}
    clear = {1: "ClientHello", 2: "ServerHello", 12: "ServerKeyExchange", 14: "ServerHelloDone", 16: "ClientKeyExchange"}
    listed = set(table["records"][0]["clear"])
    while place + 13 <= len(payload):
        if payload[place:place + 9] == payload[:9]:
            # Several datagrams that the kernel sends as one, and splits after the tap (UDP_SEGMENT).
            place += 9
            continue
        kind, epoch = payload[place], struct.unpack_from("!H", payload, place + 3)[0]
        length = struct.unpack_from("!H", payload, place + 11)[0]
        expect(kind in kinds, f"a DTLS record of type {kind} in {payload[:40].hex()}")
        if kind == 22 and epoch == 0:
            message = clear.get(payload[place + 13])
            expect(message in listed, f"a DTLS handshake message of type {payload[place + 13]} is in clear")
        if kind == 23:
            expect(epoch > 0, "application data in clear")
        place += 13 + length
    expect(place == len(payload), "a datagram has bytes after its last record")
