"""frames.json: the header, its limits, the kinds and the fixed payloads, chapter 7."""

from .wire import (CODE, KIND, KIND_BY_VALUE, LIMIT, Refused, document, frame, header, is_text, seeded, sha256, test, tlv,
                   u16, u64)

FIRST = {"HELLO", "CONFIRM", "SELECT", "SELECTED", "CLOSE", "PING", "PONG"}


def judge_header(phase, length, kind, channel):
    """Makes the checks that need no payload. Returns the kind's row, or None for a kind that is skipped."""
    if length > LIMIT["frameBeforeSelect" if phase == "before-select" else "frame"]:
        raise Refused("PROTOCOL", "length")
    row = KIND_BY_VALUE.get(kind)
    if row is None:
        if kind < 0x80:
            raise Refused("PROTOCOL", "kind")
        return None
    wanted = ("any", phase) if phase == "open" else ("any", "before-select")
    if row["phase"] not in wanted:
        raise Refused("PROTOCOL", "phase")
    if row["channel"] == "zero" and channel or row["channel"] == "nonzero" and not channel:
        raise Refused("PROTOCOL", "channel")
    if not row["min"] <= length <= row["max"]:
        raise Refused("PROTOCOL", "payload")
    return row


def read(phase, data):
    """Returns the frames, the number of skipped frames, the number of bytes of an incomplete frame, and the verdict."""
    frames, skipped, at = [], 0, 0
    while len(data) - at >= 8:
        length, kind = int.from_bytes(data[at:at + 3], "big"), data[at + 3]
        channel = int.from_bytes(data[at + 4:at + 8], "big")
        try:
            row = judge_header(phase, length, kind, channel)
            if len(data) - at - 8 < length:
                break
            payload = data[at + 8:at + 8 + length]
            if row and row["name"] == "CLOSE" and not is_text(payload[2:], control_allowed=True):
                raise Refused("PROTOCOL", "payload")
        except Refused as verdict:
            return frames, skipped, 0, verdict
        at += 8 + length
        if row is None:
            skipped += 1
            continue
        frames.append(dict(kind=kind, name=row["name"], channel=channel, length=length))
        frames[-1].update(dict(payloadHex=payload.hex()) if length <= 4096
                          else dict(payloadSha256=sha256(payload).hex()))
        if row["name"] == "CLOSE":
            return frames, skipped, 0, None
    return frames, skipped, len(data) - at, None


def build():
    random = seeded("frames")
    groups = {"valid": [], "invalid": []}

    def add(id, comment, flags, phase, data, fill=None, splits=None, error=None):
        whole = data + (bytes([fill[0]]) * fill[1] if fill else b"")
        frames, skipped, pending, verdict = read(phase, whole)
        assert (verdict.check if verdict else None) == error, (id, error, verdict)
        fields = dict(phase=phase, hex=data.hex())
        if fill:
            fields["append"] = dict(fill=f"{fill[0]:02x}", length=fill[1])
        if splits:
            fields["splits"] = splits
        fields.update(frames=frames, skipped=skipped, pending=pending)
        if verdict:
            fields.update(result="invalid", error=verdict.code, check=verdict.check)
        else:
            fields.update(result="valid")
        groups[fields["result"]].append(test(id, comment, flags, **fields))

    before, open_ = "before-select", "open"
    ping = frame("PING", random.randbytes(8))
    pong = frame("PONG", random.randbytes(8))
    close = lambda reason, code="GOODBYE": frame("CLOSE", u16(CODE[code]) + reason)
    message = frame("MSG", b"hello")

    # Complete frames, and frames in pieces.
    add("nothing", "no bytes", ["Pieces"], open_, b"")
    add("ping", "one PING", ["Form"], open_, ping)
    add("message", "one message", ["Form"], open_, message)
    add("message-empty", "a message of no bytes", ["Form"], open_, frame("MSG"))
    add("three-frames", "several frames in one piece", ["Pieces"], open_, ping + message + pong)
    add("byte-by-byte", "the same, split at every byte", ["Pieces"], open_, ping + message + pong,
        splits=list(range(1, len(ping + message + pong))))
    for at in (1, 3, 4, 7, 8, 9, 12):
        add(f"split-at-{at}", "one frame in two pieces", ["Pieces"], open_, message, splits=[at])
    add("split-across-frames", "a piece holds the end of one frame and the start of the next", ["Pieces"], open_,
        ping + message, splits=[5, 20])
    add("header-incomplete", "7 of 8 header bytes have arrived", ["Pieces"], open_, message[:7])
    add("payload-incomplete", "a header and all but one byte of its payload have arrived", ["Pieces"], open_, message[:-1])
    add("second-incomplete", "a whole frame, then 3 bytes of the next", ["Pieces"], open_, ping + message[:3])

    # Limits.
    hello = tlv(1, b"\x00\x01") + tlv(0x0A0A, bytes(2048 - 10))
    add("before-select-2048", "the longest payload before SELECT", ["Limit"], before, frame("HELLO", hello))
    add("before-select-2049", "one byte too many", ["Limit"], before, header("HELLO", 2049), error="length")
    add("before-select-ignorable-2049", "the limit also applies to ignorable kinds", ["Limit", "Grease"], before,
        header(0x8A, 2049), error="length")
    add("open-65536", "the longest payload", ["Limit"], open_, header("MSG", 65536), fill=(0xAB, 65536))
    add("open-65536-split", "the longest payload in pieces", ["Limit", "Pieces"], open_, header("MSG", 65536),
        fill=(0xAC, 65536), splits=[8, 1000, 4096, 65543])
    add("open-65537", "one byte too many; the header is enough to refuse it", ["Limit"], open_, header("MSG", 65537),
        error="length")
    add("open-largest-length", "length 0xFFFFFF", ["Limit"], open_, header("MSG", 0xFFFFFF), error="length")
    add("open-ignorable-65537", "an ignorable kind that is too long", ["Limit", "Grease"], open_, header(0xBB, 65537),
        error="length")
    add("open-ignorable-65536", "an ignorable kind of full length is skipped", ["Limit", "Grease"], open_,
        header(0xBB, 65536), fill=(0xEE, 65536))
    add("good-then-too-long", "the frames before the fault are delivered", ["Limit"], open_, ping + header("MSG", 65537),
        error="length")

    # Kinds.
    for kind in (0x00, 0x0A, 0x12, 0x29, 0x35, 0x45, 0x50, 0x5F, 0x7F):
        add(f"kind-{kind:02x}", "an unknown kind below 0x80", ["Unknown"], open_, header(kind, 0), error="kind")
    for kind in range(0x8A, 0x100, 0x10):
        add(f"grease-{kind:02x}", "a GREASE kind is skipped", ["Grease"], open_,
            frame(kind, random.randbytes(kind & 7), channel=random.getrandbits(32)) + ping)
    add("ignorable-80", "the lowest ignorable kind", ["Grease"], open_, frame(0x80) + ping)
    add("ignorable-ff", "the highest kind", ["Grease"], open_, frame(0xFF, b"x", 7) + ping)
    add("ignorable-before-hello", "an ignorable kind before SELECT", ["Grease"], before, frame(0x9A, b"?") + ping)
    add("kind-unknown-before-select", "an unknown kind before SELECT", ["Unknown"], before, header(0x7F, 0), error="kind")

    # Phases.
    for name in ("MSG", "MEMBERS", "CREDIT", "SAS_REQUEST"):
        row = KIND[name]
        add(f"early-{name.lower().replace('_', '-')}", f"{name} before SELECT", ["Phase"], before, frame(name, bytes(row["min"])),
            error="phase")
    add("early-data", "DATA before SELECT", ["Phase"], before, frame("DATA", b"x", 1), error="phase")
    for name in ("HELLO", "CONFIRM", "SELECT", "SELECTED"):
        add(f"late-{name.lower()}", f"{name} on an open link", ["Phase"], open_, frame(name, bytes(KIND[name]["min"])),
            error="phase")
    add("invite-on-a-link", "INVITE belongs to another ALPN name", ["Phase"], open_, frame("INVITE", tlv(1, bytes(16))),
        error="phase")
    add("ping-before-select", "PING is allowed in both phases", ["Phase"], before, ping)
    add("close-before-select", "CLOSE is allowed in both phases, too", ["Phase"], before, close(b"", "VERSION"))

    # Channels.
    for name in ("PING", "MSG", "CLOSE"):
        add(f"channel-one-{name.lower()}", f"{name} on channel 1", ["Channel"], open_, header(name, KIND[name]["min"], 1),
            error="channel")
    add("channel-highest-msg", "MSG on channel 0xFFFFFFFF", ["Channel"], open_, header("MSG", 0, 0xFFFFFFFF),
        error="channel")
    add("channel-one-hello", "HELLO on channel 1", ["Channel"], before, header("HELLO", 6, 1), error="channel")
    for name in ("OPEN", "DATA", "FIN", "RESET", "STOP", "DONE", "RESUME", "BEGIN"):
        add(f"channel-zero-{name.lower()}", f"{name} on channel 0", ["Channel"], open_, header(name, KIND[name]["min"]),
            error="channel")
    add("credit-both", "CREDIT is allowed on channel 0 and on others", ["Channel"], open_,
        frame("CREDIT", u64(1 << 22)) + frame("CREDIT", u64(1 << 18), 9))

    # Fixed payloads.
    for name, sizes in dict(PING=(0, 7, 9), PONG=(7,), CREDIT=(7, 9), DGRAM=(10, 12), SAS_COMMIT=(31,),
                            SAS_REQUEST=(1,), SAS_RESULT=(1, 3)).items():
        for size in sizes:
            add(f"{name.lower().replace('_', '-')}-of-{size}", f"{name} with {size} bytes", ["Payload"], open_,
                frame(name, bytes(size)), error="payload")
    for size in (31, 33):
        add(f"confirm-of-{size}", f"CONFIRM with {size} bytes", ["Payload"], before, frame("CONFIRM", bytes(size)),
            error="payload")
    add("select-not-empty", "SELECT with a byte", ["Payload"], before, frame("SELECT", b"\0"), error="payload")
    add("selected-not-empty", "SELECTED with a byte", ["Payload"], before, frame("SELECTED", b"\0"), error="payload")
    for name in ("RESET", "STOP", "DONE"):
        add(f"{name.lower()}-of-1", f"{name} with 1 byte", ["Payload"], open_, frame(name, b"\0", 1), error="payload")

    for name, sizes in dict(RESUME=(8, 39, 41), BEGIN=(0, 7, 9)).items():
        for size in sizes:
            add(f"{name.lower()}-of-{size}", f"{name} with {size} bytes", ["Payload"], open_, frame(name, bytes(size), 1),
                error="payload")

    # CLOSE.
    add("close-no-reason", "CLOSE with a code alone", ["Close"], open_, close(b""))
    add("close-reason", "CLOSE with a reason", ["Close"], open_, close("auf Wiedersehen, schöne Welt".encode()))
    add("close-reason-256", "the longest reason", ["Close"], open_, close(b"r" * 256))
    add("close-reason-257", "one byte too many", ["Close"], open_, close(b"r" * 257), error="payload")
    add("close-of-0", "CLOSE without a code", ["Close"], open_, frame("CLOSE"), error="payload")
    add("close-of-1", "CLOSE with half a code", ["Close"], open_, frame("CLOSE", b"\0"), error="payload")
    add("close-bad-utf8", "a reason that ends inside a character", ["Close"], open_, close(b"ab\xc3"), error="payload")
    add("close-overlong-utf8", "a reason with an overlong form", ["Close"], open_, close(b"\xc0\xaf"), error="payload")
    add("close-surrogate", "a reason with an encoded surrogate", ["Close"], open_, close(b"\xed\xa0\x80"),
        error="payload")
    add("close-unknown-code", "an unregistered code", ["Close"], open_, frame("CLOSE", u16(999) + b"later"))
    add("close-then-frames", "frames after CLOSE are ignored", ["Close"], open_, close(b"") + ping + message)
    add("close-then-rubbish", "anything else after CLOSE is ignored, too", ["Close"], open_,
        ping + close(b"") + b"\xff" * 40)
    notes = {
        "Form": "one valid frame",
        "Pieces": "a stream has no frame boundaries: bytes arrive in pieces of any size",
        "Limit": "the length limit of the phase",
        "Unknown": "kinds below 0x80 must be known",
        "Grease": "kinds from 0x80 on are skipped when unknown",
        "Phase": "which kinds may come before and after SELECTED",
        "Channel": "which kinds use channel 0",
        "Payload": "kinds with a fixed payload size",
        "Close": "code, reason, and nothing after them",
    }
    return document("frames", notes, [
        dict(type="frames", spec="7", tests=groups["valid"], labels=["frame.header", "frame.ignorable", "close.after"]),
        dict(type="frames", spec="7", tests=groups["invalid"],
             labels=["frame.limit-before", "frame.limit", "frame.unknown", "frame.order", "frame.channel-zero",
                     "frame.payload", "close.reason"])])
