"""An attacker that announces the id of another peer by multicast DNS, and waits for what is sent to that peer."""

import base64
import os
import random
import re
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

from . import network
from .peer import COMMAND, expect, random_uid, until

GROUP, PORT = "224.0.0.251", 5353
# What such an attack sends before anything is accepted: the context, in which `send` states how many files there are.
CONTEXT = b"send 1"
REFUSED = "the peer does not have the key of its id"


def forged_uid():
    """An attacker that announces a peer's keyed id gets neither the file nor the context, whether the peer is online or not"""
    return network.inside(_forged_uid, seconds=240)


def _forged_uid():
    with tempfile.TemporaryDirectory() as directory:
        attacker, ann = Attacker(directory), None
        try:
            ann = _receive(directory, "ann.id")
            line = until(lambda: re.search("your id.*#([0-9a-f]{32})", _log(directory)), 20, "ann states no id")
            id = line.group(1)
            expect(id[12] == "8" and id[16] in "89ab", f"ann's id {id} is not a keyed one")
            attacker.announce("ann", bytes.fromhex(id))
            code, said, took = _send(directory, id)
            expect(code == 0, f"the attacker's record ended the search: {said}")
            until(lambda: os.path.exists(os.path.join(directory, "inbox", "secret")), 5, "ann has no file")
            ann.wait(20)
            there = "the file reached ann"
            expect("ann is verified by its id" in said, f"the sender does not say that ann is verified: {said}")
            expect(not attacker.heard, f"the attacker received {attacker.heard!r}")
            _end(ann)
            code, said, _ = _send(directory, id)
            expect(code == 1 and REFUSED in said, f"without ann, exit code {code}: {said}")
            expect(attacker.callers > 0, "the attacker was never dialled, so nothing is shown")
            expect(not attacker.heard, f"without ann, the attacker received {attacker.heard!r}")
            # The same attack on a random id succeeds, and the sender is warned: so the attack above is a real one.
            old = random_uid()
            attacker.announce("bob", old)
            code, said, _ = _send(directory, old.hex(), name="bob")
            expect(CONTEXT in attacker.heard, f"a random id protects, too? {said}")
            expect("bob is not verified: its id is random" in said, f"the sender is not warned: {said}")
        finally:
            attacker.close()
            if ann:
                _end(ann)
    return f"online: {there} after {took:.1f} s; offline: refused; {attacker.callers} connections to the attacker"


def _environment():
    return {**os.environ, "MULTIPEER_INTERFACES": "lo"}


def _log(directory):
    with open(os.path.join(directory, "ann.log"), encoding="utf-8") as log:
        return log.read()


def _receive(directory, id):
    words = [COMMAND, "receive", "--name", "ann", "--id", os.path.join(directory, id), "--into",
             os.path.join(directory, "inbox"), "--yes", "--timeout", "60"]
    os.makedirs(os.path.join(directory, "inbox"), exist_ok=True)
    with open(os.path.join(directory, "ann.log"), "wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment())
    return process


def _end(process):
    if process.poll() is None:
        process.terminate()
    process.wait(20)


def _send(directory, id, name="ann"):
    path = os.path.join(directory, "secret")
    with open(path, "wb") as file:
        file.write(b"for ann alone")
    start = time.monotonic()
    done = subprocess.run([COMMAND, "send", path, "--to", f"{name}#{id}", "--timeout", "8"], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, env=_environment())
    return done.returncode, done.stderr.decode(), time.monotonic() - start


class Attacker:
    """A TLS server that accepts every invitation's connection, and a thread that announces it, over and over."""

    def __init__(self, directory):
        subprocess.run(
            [network.tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=multipeer", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem"],
            cwd=directory, capture_output=True, check=True, timeout=20)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.context.load_cert_chain(os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem"))
        self.context.set_alpn_protocols(["mpc-invite/1"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.heard, self.callers, self.records, self.is_over = b"", 0, [], False
        self.host = f"mpc-{random.randbytes(8).hex()}"
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            self.sender.setsockopt(socket.SOL_SOCKET, option, 1)
        self.sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        self.sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        self.sender.bind(("127.0.0.1", PORT))
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._serve, self._repeat)]
        for thread in self.threads:
            thread.start()

    def announce(self, name, uid):
        """Announces a receiver of this name and id at the attacker's own port. RFC 6762, 8.3."""
        label = f"{name}-{base64.b32encode(uid).decode().lower().rstrip('=')}"
        kind = ["_multipeer", "_tcp", "local"]
        instance, host = [label, *kind], [self.host, "local"]
        texts = b"".join(bytes([len(text)]) + text for text in (b"mpc=1", b"n=" + name.encode(), b"does=receive"))
        port = self.listener.getsockname()[1]
        self.records = [_record(kind, 12, 1, 4_500, _name(instance)),
                        _record(instance, 33, 0x8001, 120, struct.pack(">HHH", 0, 0, port) + _name(host)),
                        _record(instance, 16, 0x8001, 4_500, texts),
                        _record(host, 1, 0x8001, 120, socket.inet_aton("127.0.0.1"))]

    def _repeat(self):
        while not self.is_over:
            records = self.records
            # No message may have more than 9,000 bytes.
            for start in range(0, len(records), 64):
                part = records[start:start + 64]
                message = struct.pack(">HHHHHH", 0, 0x8400, 0, len(part), 0, 0) + b"".join(part)
                self.sender.sendto(message, (GROUP, PORT))
            time.sleep(0.1)

    def _serve(self):
        while not self.is_over:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            self.callers += 1
            line.settimeout(2)
            try:
                with self.context.wrap_socket(line, server_side=True) as secured:
                    self.heard += secured.recv(65_536)
            except (OSError, ssl.SSLError):
                line.close()

    def close(self):
        self.is_over = True
        # A thread that accepts is not woken by `close`.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(5)
        self.sender.close()


def _name(labels):
    return b"".join(bytes([len(label)]) + label for label in map(str.encode, labels)) + b"\0"


def _record(name, kind, record_class, ttl, data):
    return _name(name) + struct.pack(">HHIH", kind, record_class, ttl, len(data)) + data
