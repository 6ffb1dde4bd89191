"""A web server that redirects `multipeer send` to what only its own machine or network can reach."""

import http.server
import os
import tempfile
import threading

from . import network
from .network import command
from .peer import Peer, expect

# Loopback is 127.0.0.1; a private address; and one of RFC 5737, which counts as public.
PRIVATE, PUBLIC = "10.77.0.1", "203.0.113.1"
# Where a redirection leads from and to, and whether it is followed.
STEPS = [(PUBLIC, "127.0.0.1", False), (PUBLIC, "localhost", False), (PUBLIC, PRIVATE, False), (PRIVATE, "127.0.0.1", False),
         (PUBLIC, PUBLIC, True), ("127.0.0.1", "127.0.0.1", True)]
SECRET = b"for this machine only\n"


def redirect():
    """A web server elsewhere that redirects to loopback, or to a private address, does not get `send` to fetch it; one that
    redirects to a public address does, and the final address is shown"""
    return network.inside(_redirect, seconds=120)


def _redirect():
    for address in (PRIVATE, PUBLIC):
        command("ip", "addr", "add", f"{address}/32", "dev", "lo")
    server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    said = []
    try:
        for start, target, may_pass in STEPS:
            goal = f"http://{target}:{port}/secret"
            Server.fetched = []
            code, words, file = _send(f"http://{start}:{port}/?{goal}")
            if may_pass:
                expect(code == 0 and file == SECRET, f"{start} to {target}: {words}")
                expect(goal in words, f"{start} to {target}: the final address is not shown: {words}")
            else:
                expect(code != 0 and file is None, f"{start} to {target}: the peer has the file")
                expect("an address that is not public" in words, f"{start} to {target}: {words}")
                expect(Server.fetched == [], f"{start} to {target}: it was fetched from {Server.fetched}")
            said.append(f"{start} to {target} {'passes' if may_pass else 'is refused'}")
    finally:
        server.shutdown()
    return "; ".join(said)


class Server(http.server.BaseHTTPRequestHandler):
    """Redirects to the URL in the query; `/secret` is what nobody else may see."""

    fetched = []

    def do_GET(self):
        if self.path == "/secret":
            Server.fetched.append(self.headers["Host"])
            self.send_response(200)
            self.send_header("Content-Length", str(len(SECRET)))
            self.end_headers()
            self.wfile.write(SECRET)
        else:
            self.send_response(302)
            self.send_header("Location", self.path.split("?", 1)[1])
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *_):
        pass


def _send(url):
    """Returns the sender's exit code and words, and the file that the receiver has."""
    with tempfile.TemporaryDirectory() as directory:
        inbox = os.path.join(directory, "inbox")
        os.mkdir(inbox)
        receiver = Peer(directory, "receiver", "sender.data", command=("receive", "--into", inbox))
        sender = Peer(directory, "sender", "receiver.data", command=("send", url))
        code = sender.end(30)
        receiver.end(30)
        files = os.listdir(inbox)
        contents = None
        if files:
            with open(os.path.join(inbox, files[0]), "rb") as file:
                contents = file.read()
        return code, sender.said(), contents
