#!/usr/bin/env python3
"""Writes the annotated hex of the chapters: one plain connection of Ann and Bob; --check compares, exits 1 on difference.

Nothing is random: every secret below is fixed, so the same bytes come out again.
"""

import sys

sys.dont_write_bytecode = True
from blocks import SPEC, rewrite

sys.path.insert(0, str(SPEC / "vectors"))
from generator import codes, connection_data, dns, dns_messages, hello, members, sas
from generator.confirm import key, mac
from generator.wire import frame, header, sha256, u8, u16, u32, u64

ANN = dict(name="Ann", uid=bytes(range(0x10, 0x20)), instance=bytes.fromhex("0a0a0a0a0a0a0a0a"), token=b"\xa1" * 32,
           nonce=b"\xa2" * 32, address=bytes([192, 0, 2, 1]), port=49152)
BOB = dict(name="Bob", uid=bytes(range(0xB0, 0xC0)), instance=bytes.fromhex("0b0b0b0b0b0b0b0b"), token=b"\xb1" * 32,
           nonce=b"\xb2" * 32, address=bytes([192, 0, 2, 2]), port=49153)
PART = 16


def annotated(pairs):
    """Lines of hex with what they mean, long values broken after 16 bytes."""
    lines = []
    for data, meaning in pairs:
        text = data.hex(" ") if isinstance(data, bytes) else data
        pieces = [text[at:at + 3 * PART].strip() for at in range(0, len(text), 3 * PART)] or [""]
        lines += [f"{pieces[0]:<{3 * PART}} {meaning}".rstrip()] + pieces[1:]
    return "```text\n" + "\n".join(lines) + "\n```"


def entry(kind, value, meaning):
    unit = "byte" if len(value) == 1 else "bytes"
    return [(u16(kind) + u16(len(value)), f"{meaning}, {len(value)} {unit}")] + ([(value, "")] if value else [])


def membership(me, links, sequence):
    """An entry: whose it is, and the mesh data of that endpoint."""
    pairs = entry(1, me["uid"] + me["name"].encode(), "") + entry(2, me["instance"], "") + entry(3, b"\2", "")
    pairs += entry(5, me["token"], "") + entry(6, u32(86400), "")
    pairs += entry(16, connection_data.candidate(me["address"], me["port"]), "")
    data = connection_data.seal(joined(pairs), flags=1)
    listed = sorted(one["uid"] + one["instance"] for one in links)
    payload = members.encode(me["uid"] + me["instance"], sequence, listed, data)
    members.read(payload, "none")
    return [(header("MEMBERS", len(payload)), f"MEMBERS, {len(payload)} bytes, channel 0"),
            (me["uid"] + me["instance"], f"endpoint of {me['name']}"), (u32(sequence), f"sequence {sequence}"),
            (u8(len(listed)), "count")] + [(one, "Ann") for one in listed] + [
            (u16(len(data)), f"mesh data, {len(data)} bytes"), (data[:8], "MESH"), ("...", ""),
            (u16(0), "no certificate and no signature: Bob prefers none")]


def announcement(me, entries):
    """The records that an advertiser announces, as one message."""
    writer = dns.Writer()
    kind, label = dns.dotted("_chat", "_tcp", "local"), dns.instance(me["uid"], me["name"])
    name, host = (label, *kind), dns.dotted("mpc-0123456789abcdef", "local")
    pairs = [(writer.put(bytes(2) + u16(0x8400) + u16(0) + u16(4) + u32(0)), "id 0, response, authoritative, 4 answers")]

    def add(owner, kind, ttl, flush, meaning, data):
        pairs.append((writer.name(owner), meaning))
        at = len(writer.data)
        writer.put(dns.record(kind, ttl, b"", flush))
        start = len(writer.data)
        lines = data()
        length = len(writer.data) - start
        writer.data = writer.data[:start - 2] + u16(length) + writer.data[start:]
        unit = "IN, cache-flush" if flush else "IN"
        pairs.append((writer.data[at:start], f"{unit}, {ttl:,} s, {length} bytes"))
        pairs.extend(lines)

    add(kind, dns.PTR, 4500, False, "_chat._tcp.local PTR", lambda: [(writer.name(name), label.decode())])
    add(name, dns.SRV, 120, True, "the instance, SRV", lambda: [
        (writer.put(u32(0) + u16(me["port"])), f"priority and weight 0, port {me['port']}"),
        (writer.name(host), "mpc-0123456789abcdef.local")])
    add(name, dns.TXT, 4500, True, "the instance, TXT", lambda: [
        (writer.put(bytes([len(one)]) + one), f"\"{one.decode()}\"") for one in strings(dns.text(me["name"], entries))])
    add(host, dns.A, 120, True, "the host, A", lambda: [(writer.put(me["address"]), "192.0.2.1")])
    dns_messages.read_message(writer.data)
    assert joined(pairs) == writer.data
    return pairs


def strings(text):
    while text:
        yield text[1:1 + text[0]]
        text = text[1 + text[0]:]


def invitation(me, you, theirs, mine):
    """INVITE, ANSWER and COMPLETE, with connection data shortened."""
    id = entry(1, b"\xd0" * 16, "ID")
    invite = id + entry(2, me["uid"] + me["name"].encode(), f"INVITER: uid, then \"{me['name']}\"")
    invite += entry(3, you["uid"], "RECIPIENT") + entry(4, u32(30), "TIMEOUT: 30 s") + entry(5, b"chess?", "CONTEXT")
    answer = id + entry(2, u16(0), "CODE: OK") + entry(3, theirs, f"DATA: {you['name']}'s for {me['name']}")
    complete = id + entry(3, mine, f"DATA: {me['name']}'s for {you['name']}")
    return {f"example {name.lower()}": [(data if len(data) < 100 else data[:8].hex(" ") + " ...", meaning)
                                        for data, meaning in headed(name, joined(pairs)) + pairs]
            for name, pairs in (("INVITE", invite), ("ANSWER", answer), ("COMPLETE", complete))}


def joined(pairs):
    return b"".join(data for data, _ in pairs)


def blob(me, you):
    candidate = connection_data.candidate(me["address"], me["port"])
    pairs = entry(1, me["uid"] + me["name"].encode(), f"PEER: uid, then \"{me['name']}\"")
    pairs += entry(2, me["instance"], "INSTANCE") + entry(3, b"\2", "PREFERENCE: none")
    pairs += entry(5, me["token"], "TOKEN") + entry(6, u32(600), "LIFETIME: 600 s")
    pairs += entry(8, you["uid"], "RECIPIENT") + entry(16, candidate, f"CANDIDATE: 4, port {me['port']}, address")
    if me is ANN:
        pairs += entry(0x2A2A, b"\x5a", "GREASE")
    data = connection_data.seal(joined(pairs))
    connection_data.read(data)
    pairs = [(data[:4], "\"MPCD\""), (data[4:6], "version 1, no flags"), (data[6:8], f"length {len(data)}")] + pairs
    return data, pairs + [(data[-8:], "checksum")]


def greeting(me, you, mine, yours):
    pairs = entry(1, u16(0x3A3A) + u16(1) if me is ANN else u16(1),
                  "VERSIONS: GREASE and 1" if me is ANN else "VERSIONS: 1")
    pairs += entry(2, me["uid"] + me["instance"], "SENDER") + entry(3, you["uid"] + you["instance"], "RECEIVER")
    pairs += entry(4, sha256(mine), "MY_DATA_REF") + entry(5, sha256(yours), "YOUR_DATA_REF")
    pairs += entry(6, me["nonce"], "NONCE")
    pairs += [(u16(7) + u16(20), "LIMITS, 20 bytes"), (u64(16 << 20), "max_message 16 MiB"), (u32(64), "max_channels 64"),
              (u32(256 << 10), "channel_credit 256 KiB"), (u32(4 << 20), "message_credit 4 MiB")]
    pairs += entry(8, b"\0", "MEMBERS: none")
    hello.read(joined(pairs))
    whole = frame("HELLO", joined(pairs))
    return whole, headed("HELLO", joined(pairs)) + pairs


def headed(kind, payload):
    return [(header(kind, len(payload)), f"{kind}, {len(payload)} bytes, channel 0")]


def channel(kind, number, *pairs):
    payload = joined(pairs)
    unit = "byte" if len(payload) == 1 else "bytes"
    return [(header(kind, len(payload), number), f"{kind}, {len(payload)} {unit}, channel {number}")] + list(pairs)


def simple(kind, *pairs):
    return headed(kind, joined(pairs)) + list(pairs)


def blocks():
    a_blob, a_pairs = blob(ANN, BOB)
    b_blob, b_pairs = blob(BOB, ANN)
    a_hello, a_hello_pairs = greeting(ANN, BOB, a_blob, b_blob)
    b_hello, b_hello_pairs = greeting(BOB, ANN, b_blob, a_blob)
    secrets = ANN["token"], BOB["token"], a_hello, b_hello, bytes(32)
    ping = bytes.fromhex("0102030405060708")
    close = u16(1) + b"bye"
    made = {
        "example data-a": a_pairs,
        "example data-b": b_pairs,
        "example references": [(sha256(a_blob), "SHA-256 of Ann's connection data"),
                               (sha256(b_blob), "SHA-256 of Bob's connection data")],
        "example preface": [(b"MPCPLAIN", "each end, before anything else")],
        "example hello-a": a_hello_pairs,
        "example hello-b": b_hello_pairs,
        "example key": [(key(ANN["token"], BOB["token"]), "K = HMAC(\"MPC/1 link\", token_i || token_r)"),
                        (sha256(a_hello + b_hello), "th = SHA-256(HELLO_i || HELLO_r)"),
                        (bytes(32), "bind, on a plain connection")],
        "example confirm-a": simple("CONFIRM", (mac("initiator", *secrets), "HMAC(K, \"I\" || th || bind)")),
        "example confirm-b": simple("CONFIRM", (mac("responder", *secrets), "HMAC(K, \"R\" || th || bind)")),
        "example select": simple("SELECT"),
        "example selected": simple("SELECTED"),
        "example message": simple("MSG", (b"hello", "\"hello\"; it costs 5 + 64 = 69")),
        "example grease": [(header(0xAA, 2, 0x01020304), "kind AA, 2 bytes, channel 0x01020304"), (b"\x5a\x5a", "")],
        "example ping": simple("PING", (ping, "")),
        "example pong": simple("PONG", (ping, "the same 8 bytes")),
        "example close": simple("CLOSE", (close[:2], "code 1 GOODBYE"), (close[2:], "\"bye\"")),
        # For chapters of their own.
        "example endpoint": [(ANN["uid"], "uid"), (ANN["instance"], "instance")],
        "example entries": entry(1, u16(1), "type 1") + entry(9, b"Ann", "type 9") + entry(0x1A1A, b"", "GREASE"),
        "example header": simple("PING", (ping, "")),
        "example parts": [(header("MSG_PART", 1024), "MSG_PART, 1,024 bytes"), ("...", "1,024 bytes; costs 1,088"),
                          (header("MSG", 2), "MSG, 2 bytes"), (b"ok", "costs 66: the message has 1,026 bytes")],
        "example open": channel("OPEN", 1, *entry(1, b"\2", "KIND: resource"), *entry(2, b"song.ogg", "NAME"),
                                *entry(3, u64(3), "SIZE")),
        "example channel": channel("DATA", 1, (b"abc", "")) + channel("FIN", 1, *entry(1, sha256(b"abc"), "DIGEST"))
        + channel("DONE", 1, (u16(0), "OK")) + channel("CREDIT", 1, (u64(320 << 10), "limit 320 KiB since OPEN")),
        "example members": membership(BOB, [ANN], 2),
        "example dgram": simple("DGRAM", (bytes.fromhex("c1c2c3c4c5c6c7c8"), "association"), (u16(49152), "port"),
                                (b"\0", "flags")),
        "example datagram": [(b"\2", "kind plain"), (bytes.fromhex("c1c2c3c4c5c6c7c8"), "association"),
                             (b"\1" + u32(0), "message, sequence 0"), (b"hi", "")],
        "example credit": simple("CREDIT", (u64(5 << 20), "limit 5 MiB since the link began")),
    }
    made["example announcement"] = announcement(ANN, [("game", "chess")])
    made.update(invitation(ANN, BOB, b_blob, a_blob))
    made.update(sas.example())
    made.update(codes.example())
    return {name: annotated(pairs) for name, pairs in made.items()}


if __name__ == "__main__":
    faults = rewrite("example", blocks(), "--check" in sys.argv)
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
