"""Certificates of a trusted authority that are for something else, or for somebody else."""

import os
import shutil
import subprocess
import tempfile

from . import network
from .peer import Peer, expect

PEER = ["keyUsage=critical,digitalSignature", "extendedKeyUsage=clientAuth,serverAuth"]
# The subject, the extensions, the word of --trust, and what the other side says: the holder, or a reason.
CERTIFICATES = {
    "for a peer": ("bob", PEER, "ca", None),
    "without purposes": ("bob", [], "ca", None),
    "with another subject, and the name as an alternative one": ("mallory", [*PEER, "subjectAltName=DNS:bob"], "ca", None),
    "for servers only": ("bob", ["extendedKeyUsage=serverAuth"], "ca", "not for both clients and servers"),
    "for clients only": ("bob", ["extendedKeyUsage=clientAuth"], "ca", "not for both clients and servers"),
    "for code": ("bob", ["extendedKeyUsage=codeSigning"], "ca", "not for both clients and servers"),
    "for revocation lists": ("bob", ["keyUsage=critical,cRLSign"], "ca", "not for digital signatures"),
    "for an authority": ("bob", ["basicConstraints=critical,CA:TRUE"], "ca", "authority"),
    "of somebody else": ("mallory", PEER, "ca", "names neither"),
    "of a member": ("mallory", PEER, "ca-member", None),
}


def wrong_certificates():
    """`--trust ca:` refuses certificates of the authority for servers only, code, revocation lists and other peers, with the
    reason; those that it accepts are shown with their subject"""
    openssl = shutil.which("openssl")
    if not openssl:
        raise network.Skipped("there is no openssl command")
    refused = []
    with tempfile.TemporaryDirectory() as directory:
        authority = os.path.join(directory, "ca.pem")
        _run(openssl, directory, "req", "-x509", *_key("ca.key"), "-subj", "/CN=authority", "-days", "2", "-out", "ca.pem",
             "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        for number, (what, (subject, extensions, trust, reason)) in enumerate(CERTIFICATES.items()):
            identity = _issue(openssl, directory, f"leaf{number}", subject, extensions)
            own = os.path.join(directory, str(number))
            os.mkdir(own)
            ann = Peer(own, "ann", "bob.data", arguments=("--trust", f"{trust}:{authority}", "--verbose"))
            bob = Peer(own, "bob", "ann.data", arguments=("--identity", identity))
            codes = ann.end(30), bob.end(30)
            said = ann.said()
            if reason:
                expect(codes[0] == 1 and codes[1] != 0, f"a certificate {what} is accepted: {codes}, {said}")
                expect(reason in said, f"a certificate {what} is refused without '{reason}': {said}")
                expect(f"CN={subject}" in said, f"a certificate {what} is refused without its subject: {said}")
                refused.append(what)
            else:
                expect(codes == (0, 0), f"a certificate {what} is refused: {codes}, {said} / {bob.said()}")
                expect(f"CN={subject}" in said, f"a certificate {what} is accepted, and its subject is not shown: {said}")
    return f"refused: {', '.join(refused)}; accepted: {len(CERTIFICATES) - len(refused)} others"


def _key(name):
    return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name


def _run(openssl, directory, *words):
    done = subprocess.run([openssl, *words], cwd=directory, capture_output=True, timeout=20)
    expect(done.returncode == 0, f"openssl {words[0]}: {done.stderr.decode()[-300:]}")


def _issue(openssl, directory, name, subject, extensions):
    """Returns a file with a key and a certificate of the authority."""
    _run(openssl, directory, "req", *_key(f"{name}.key"), "-subj", f"/CN={subject}", "-out", f"{name}.csr")
    with open(os.path.join(directory, f"{name}.ext"), "w", encoding="ascii") as file:
        file.write("\n".join(["basicConstraints=CA:FALSE"] * ("basicConstraints" not in str(extensions)) + extensions))
    _run(openssl, directory, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
         "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    path = os.path.join(directory, f"{name}.identity")
    with open(path, "wb") as identity:
        for part in (f"{name}.key", f"{name}.pem"):
            with open(os.path.join(directory, part), "rb") as file:
                identity.write(file.read())
    os.chmod(path, 0o600)
    return path
