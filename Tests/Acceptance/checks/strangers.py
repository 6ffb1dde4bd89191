"""Clients that do not speak the protocol, and crowds of them."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from .peer import Peer, expect, free_port, until
from .relay import Relay

# The client's options, whether it presents a certificate, and the alert that it must receive.
HABITS = {
    "TLS 1.2": (["-tls1_2", "-alpn", "mpc/1"], True, 70),
    "no ALPN": (["-tls1_3"], True, 120),
    "another ALPN": (["-tls1_3", "-alpn", "h2"], True, 120),
    "no certificate": (["-tls1_3", "-alpn", "mpc/1"], False, 116),
    "an unknown certificate": (["-tls1_3", "-alpn", "mpc/1"], True, 42),
}


def awaiting(directory, port):
    """Returns a process that expects a peer which does not exist yet, and that peer's data."""
    absent = Peer(directory, "absent", "nobody.data")
    until(lambda: os.path.exists(absent.data), 10, "no data was written")
    shutil.copy(absent.data, os.path.join(directory, "kept.data"))
    peer = Peer(directory, "awaiting", "kept.data", port=port, timeout=60)
    until(lambda: os.path.exists(peer.data), 10, "no data was written")
    return peer, absent


def foreign_clients():
    """openssl s_client is refused inside TLS, whatever it offers, and receives nothing after the alert"""
    tool = shutil.which("openssl")
    if not tool:
        return "skipped: there is no openssl command"
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        peer, absent = awaiting(directory, port)
        subprocess.run(
            [tool, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
             "/CN=stranger", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem"],
            cwd=directory, capture_output=True, check=True, timeout=20)
        for what, (arguments, shows, alert) in HABITS.items():
            relay = Relay(port)
            words = [tool, "s_client", "-connect", f"127.0.0.1:{relay.port}", *arguments]
            if shows:
                words += ["-cert", "cert.pem", "-key", "key.pem"]
            client = subprocess.Popen(words, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
            try:
                # Standard input stays open: the other side must end the connection.
                said = client.stdout.read() if client.wait(15) is not None else b""
            finally:
                if client.poll() is None:
                    client.kill()
            relay.close()
            expect(f"alert number {alert}".encode() in said, f"{what}: {said[-300:]!r}")
            answer = bytes(relay.flows[0][1])
            if alert in (70, 120):
                expect(len(answer) == 7 and answer[0] == 0x15 and answer[6] == alert, f"{what}: {answer!r}")
            else:
                expect(answer[-24:-19] == bytes([0x17, 3, 3, 0, 19]), f"{what}: something follows the alert")
        expect(not peer.has_ended(), f"the process ended: {peer.last_words()}")
        for one in (peer, absent):
            one.kill()
            one.end(5)
        return f"{len(HABITS)} kinds of clients"


def idle_crowd():
    """500 idle connections do not block an honest peer, and their descriptors are released"""
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        with open("/dev/zero", "rb") as stdin:
            peer = Peer(directory, "ann", "bob.data", stdin, port=port, timeout=60)
        until(lambda: os.path.exists(peer.data), 10, "no data was written")
        before = peer.descriptors()
        crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(500)]
        until(lambda: peer.descriptors() > before, 5, "no connection was accepted")
        start = time.monotonic()
        honest = Peer(directory, "bob", "ann.data", timeout=30)
        for one in (peer, honest):
            one.await_link(30)
        linked = time.monotonic() - start
        crowd += [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        most = peer.descriptors()
        # The link's own socket, the one for its datagrams, and the link it may have dialled before.
        until(lambda: peer.descriptors() <= before + 3, 10, f"{peer.descriptors()} of {most} descriptors remain")
        left = peer.descriptors()
        expect(not peer.has_ended() and not honest.has_ended(), "the link ended")
        for one in crowd:
            one.close()
        for one in (peer, honest):
            one.kill()
            one.end(5)
        return f"linked after {linked:.2f} s; {before} descriptors before, {most} with the crowd, {left} afterwards"
