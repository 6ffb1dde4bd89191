"""The hybrid key exchange, with a libssl that has it and with one that has not."""

import glob
import os
import tempfile

from .peer import Peer, exchange, expect


def hybrid():
    """Two ends with libssl 3.5 agree on X25519MLKEM768, and each also links with an older one"""
    folder = os.environ.get("MULTIPEER_LIBSSL")
    if not folder:
        return "skipped: MULTIPEER_LIBSSL names no folder with libssl and libcrypto 3.5"
    with tempfile.TemporaryDirectory() as libraries:
        for name in ("libssl", "libcrypto"):
            # Packages that contain them give them names such as libssl-6a9b88ec.so.3.
            files = glob.glob(os.path.join(glob.escape(os.path.abspath(folder)), name + "*.so.3"))
            expect(len(files) == 1, f"{folder} contains {len(files)} files {name}*.so.3")
            os.symlink(files[0], os.path.join(libraries, name + ".so.3"))
        new, present = {"LD_LIBRARY_PATH": libraries}, {}
        own = group(present, present)
        expect(group(new, new) == "X25519MLKEM768", "two ends with libssl 3.5 do not use the hybrid group")
        mixed = {group(new, present), group(present, new)}
        expect(mixed == {own}, f"with libssl 3.5 at one end: {mixed}, and at neither: {own}")
    return f"X25519MLKEM768 at both ends; {own} otherwise"


def group(*environments):
    """Links two processes with these environments, and returns the group that both print."""
    with tempfile.TemporaryDirectory() as directory:
        peers = [Peer(directory, name, other + ".given", timeout=20, arguments=["--verbose"], environment=environment)
                 for (name, other), environment in zip([("ann", "bob"), ("bob", "ann")], environments)]
        exchange(*peers)
        codes = [peer.end(40) for peer in peers]
        expect(codes == [0, 0], f"exit codes {codes}: {[peer.last_words() for peer in peers]}")
        groups = set()
        for peer in peers:
            lines = [line for line in peer.said().splitlines() if "protected by" in line]
            expect(len(lines) == 1, f"{peer.name} printed {peer.said()}")
            groups.add(lines[0].split("protected by ")[1].split(", ")[1])
        expect(len(groups) == 1, f"the two ends print {groups}")
        return groups.pop()
