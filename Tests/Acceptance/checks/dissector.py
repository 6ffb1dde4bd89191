"""What Wireshark's dissector in Spec/wireshark shows of a capture of the demonstration."""

import os
import shutil
import struct
import subprocess
import tempfile
import time

from . import network
from .peer import DEMO, ROOT, expect
from .tap import Tap

SCRIPT = os.path.join(ROOT, "Spec", "wireshark", "mpc.lua")
# Of links and of invitations, as every demonstration has them.
FRAMES = {"HELLO": 0x01, "CONFIRM": 0x02, "SELECT": 0x03, "SELECTED": 0x04, "CLOSE": 0x05, "MEMBERS": 0x08, "DGRAM": 0x09,
          "MSG": 0x10, "MSG_PART": 0x11, "OPEN": 0x20, "DATA": 0x21, "FIN": 0x22, "CREDIT": 0x25, "DONE": 0x26}
INVITATION = {"INVITE": 0x40, "ANSWER": 0x41, "COMPLETE": 0x42}
# Fields by the words of the specification, of every part.
FIELDS = ["mpc.agent", "mpc.reference", "mpc.mac", "mpc.max_message", "mpc.uid", "mpc.instance", "mpc.token",
          "mpc.fingerprint", "mpc.lifetime", "mpc.address4", "mpc.channel_kind", "mpc.name", "mpc.size", "mpc.digest",
          "mpc.limit", "mpc.association", "mpc.code", "mpc.id", "mpc.timeout", "mpc.datagram.association", "mpc.ignored"]
FAULTS = ["mpc.malformed", "_ws.malformed", "_ws.lua.error"]


class Capture(Tap):
    """A tap that writes captured packets to a file, as `tcpdump` would."""

    LINKTYPE_RAW = 101

    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, self.LINKTYPE_RAW))
        super().__init__()

    def _take(self, packet):
        now = time.time_ns() // 1_000
        self.file.write(struct.pack("<IIII", now // 1_000_000, now % 1_000_000, len(packet), len(packet)) + packet)
        self.packets += 1

    def close(self):
        dropped = super().close()
        self.file.close()
        return dropped


def dissector():
    """Wireshark's dissector shows every frame, entry and header of a demonstration by name, and none malformed"""
    network.tool("tshark")
    return network.inside(_dissector, seconds=280)


def _dissector():
    found = []
    for name, words in [("encrypted", []), ("plain", ["--preference", "none"]), ("mesh", ["--peers", "3"])]:
        with tempfile.TemporaryDirectory() as directory:
            keys = os.path.join(directory, "keys")
            path = os.path.join(directory, "capture")
            packets = _record(path, ["--keylog", keys, *words, *([] if name == "mesh" else ["--seconds", "1"])])
            mode = os.stat(keys).st_mode & 0o777
            expect(mode == 0o600, f"the key log has mode {mode:o}")
            shown = _dissect(path, keys, ["mpc.kind", *FIELDS, "mpc.content.kind", *FAULTS])
            faults = [fault for fault in FAULTS if shown[fault]]
            expect(not faults, f"{name}: {faults and shown[faults[0]]}")
            _judge(name, shown)
            found.append(f"{name}: {packets} packets, {sum(shown['mpc.kind'].values())} frames")
            if name == "encrypted":
                _read(path, keys, os.path.join(directory, "none"))
    return "; ".join(found)


def _read(path, keys, none):
    """Returns the beginning of a capture, as it is shown with and without keys."""
    text = tshark(path, keys, "-c", "2000", "-Y", "mpc.kind == 0x01 || mpc.kind in {0x40..0x42} || mpc.kind == 0x20", "-V")
    for words in ("MPC/1 invitation", "MY_DATA_REF", "LIMITS", "connection data of ", "SIZE", "OPEN, channel 1: "):
        expect(words in text, f"tshark -V does not say '{words}'")
    open(none, "w", encoding="ascii").close()
    expect(not tshark(path, none, "-c", "2000", "-Y", "mpc || mpcinvite"), "frames are seen without the keys")


def _record(path, words):
    capture = Capture(path)
    try:
        done = subprocess.run([DEMO, *words], capture_output=True, timeout=90,
                              env={**os.environ, "MULTIPEER_INTERFACES": "lo"})
        expect(done.returncode == 0, f"the demonstration: {done.stderr.decode().strip()[-300:]}")
    finally:
        time.sleep(0.3)
        dropped = capture.close()
    expect(dropped == 0, f"{dropped} packets were missed")
    return capture.packets


def tshark(path, keys, *words):
    """Returns its output for a capture, with the dissector."""
    # HOME has no preferences or plugins, and neither may capture.
    done = subprocess.run(
        [shutil.which("tshark"), "-r", path, "-o", f"tls.keylog_file:{keys}", "-X", f"lua_script:{SCRIPT}", *words],
        capture_output=True, timeout=200, env={**os.environ, "HOME": os.path.dirname(path), "LC_ALL": "C.UTF-8"})
    expect(done.returncode == 0, f"tshark: {done.stderr.decode().strip()[-300:]}")
    return done.stdout.decode()


def _dissect(path, keys, fields):
    """Counts each value of each field."""
    wanted = " || ".join(["mpc", "mpcinvite", "mpcdatagram", *FAULTS])
    said = tshark(path, keys, "-Y", wanted, "-T", "fields", *[word for field in fields for word in ("-e", field)])
    shown = {field: {} for field in fields}
    for line in said.splitlines():
        for field, cell in zip(fields, line.split("\t")):
            for value in cell.split(",") if cell else []:
                shown[field][value] = shown[field].get(value, 0) + 1
    return shown


def _judge(name, shown):
    kinds = {int(value, 16) for value in shown["mpc.kind"]}
    # A star makes no introductions, and a mesh of this demonstration sends only short frames.
    absent = {"mesh": {"MSG_PART", "OPEN", "DATA", "FIN", "CREDIT", "DONE"}}.get(name, {"MEMBERS"})
    wanted = {**FRAMES, **INVITATION}
    missing = [frame for frame, kind in wanted.items() if kind not in kinds and frame not in absent | {"CLOSE", "MSG_PART"}]
    expect(not missing, f"{name}: no {', '.join(missing)}")
    expect(any(kind >= 0x80 for kind in kinds), f"{name}: no GREASE")
    without = {"mesh": {"mpc.channel_kind", "mpc.size", "mpc.digest", "mpc.limit"}, "plain": {"mpc.fingerprint"}}.get(name, set())
    unseen = [field for field in FIELDS if not shown[field] and field not in without]
    expect(not unseen, f"{name}: no {', '.join(unseen)}")
    if name == "plain":
        expect({"1", "2", "3"} <= set(shown["mpc.content.kind"]), "no contents of datagrams")
