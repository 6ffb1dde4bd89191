"""A crowd that invites one peer, from many addresses."""

import json
import os
import random
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

from . import network, peer
from .peer import ENDURANCE, expect

ADDRESSES, WORKERS = 100, 24
INVITE, ANSWER = 0x40, 0x41


def invitation_flood():
    """A flood of invitations from 100 addresses: never more than 16 questions at once, one for each inviter, and honest
    invitations are accepted all the time"""
    return network.inside(_flood, 10_000 if peer.FULL else 1_000, seconds=600)


def _flood(count):
    tool = shutil.which("openssl")
    if not tool:
        raise network.Skipped("there is no openssl command")
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [tool, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
             "/CN=flood", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem"],
            cwd=directory, capture_output=True, check=True, timeout=20)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem"))
        context.set_alpn_protocols(["mpc-invite/1"])
        host = subprocess.Popen([ENDURANCE, "invited"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            uid, port = host.stdout.readline().split()
            crowd = Crowd(context, bytes.fromhex(uid.decode()), int(port), count)
            start = time.monotonic()
            crowd.run()
            took = time.monotonic() - start
            descriptors = _settled(host.pid)
            said = json.loads(host.communicate(timeout=60)[0])
        finally:
            host.kill()
            host.wait()
    expect(said["most"] <= 16, f"{said['most']} questions were open at once")
    expect(said["repeated"] == 0, f"{said['repeated']} questions were about an inviter with an open question")
    expect(said["honest"] >= 1 and not said["failures"], f"honest invitations failed: {said['failures'][:3]}")
    expect(crowd.answers.get(20, 0) > 0, f"no invitation was declined: {crowd.answers}")
    expect(descriptors < 40, f"{descriptors} descriptors remain")
    return (f"{crowd.done} invitations in {took:.0f} s, {said['asked']} questions, at most {said['most']} at once; "
            f"{said['honest']} honest ones accepted, the slowest after {said['slowest']:.1f} s")


def _settled(pid):
    """Returns the number of descriptors of a process once it has closed those that the crowd left."""
    count = 0
    for _ in range(100):
        count = len(os.listdir(f"/proc/{pid}/fd"))
        if count < 40:
            break
        time.sleep(0.1)
    return count


class Crowd:
    """The inviters, each with its own address and one of several behaviours."""

    def __init__(self, context, recipient, port, count):
        self.context, self.recipient, self.port, self.left = context, recipient, port, count
        self.done, self.answers, self.lock = 0, {}, threading.Lock()
        self.uids = [peer.random_uid() for _ in range(200)]

    def run(self):
        workers = [threading.Thread(target=self._work) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _work(self):
        while True:
            with self.lock:
                if not self.left:
                    return
                self.left -= 1
            try:
                self._invite(random.random())
            except (OSError, ssl.SSLError):
                pass  # A client that is refused may be cut off.
            with self.lock:
                self.done += 1

    def _invite(self, habit):
        with socket.socket() as raw:
            raw.settimeout(3)
            raw.bind((f"127.0.1.{random.randint(1, ADDRESSES)}", 0))
            raw.connect(("127.0.0.1", self.port))
            if habit < 0.05:
                time.sleep(0.05)  # sends nothing at all
                return
            with self.context.wrap_socket(raw) as line:
                if habit < 0.1:
                    time.sleep(0.05)
                    return
                line.sendall(self._frame(random.choice(self.uids), b"x" * random.choice((0, 10, 32_768))))
                if habit < 0.3:
                    time.sleep(random.random() * 0.1)  # gives up
                    return
                head = line.recv(8)
                if len(head) == 8 and head[3] == ANSWER:
                    code = struct.unpack(">H", line.recv(26)[24:26])[0]
                    with self.lock:
                        self.answers[code] = self.answers.get(code, 0) + 1

    def _frame(self, uid, context):
        entries = [(1, random.randbytes(16)), (2, uid + b"crowd"), (3, self.recipient), (4, struct.pack(">I", 600)),
                   (5, context)]
        payload = b"".join(struct.pack(">HH", kind, len(value)) + value for kind, value in entries)
        return len(payload).to_bytes(3, "big") + bytes([INVITE]) + bytes(4) + payload
