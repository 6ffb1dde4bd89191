"""Simulated machines on a network that exists only for one check: each has its own interfaces and its own /run."""

import subprocess
import sys

from checks import peer
from checks.network import Hub


# Its own /run, and the users that the stacks look for: all of them are root, the only user in the namespace.
_FURNISH = """
mount -t tmpfs run /run
mkdir -p /run/lock /run/avahi-daemon /run/systemd/resolve
for file in passwd group; do cp /etc/$file /run/$file; done
for name in avahi netdev systemd-resolve messagebus; do
    sed -i "/^$name:/d" /run/passwd /run/group
    echo "$name:x:0:0::/run:/bin/false" >> /run/passwd
    echo "$name:x:0:" >> /run/group
done
for file in passwd group; do mount --bind /run/$file /etc/$file; done
exec sleep infinity
"""


class Switch(Hub):
    """Places on one switch, numbered from 1, that share neither network nor host name nor /run."""

    SPACES = ("-n", "-m", "-u")
    HOLDER = ("sh", "-ec", _FURNISH)


class Running:
    """A program at a place; what it prints can be waited for."""

    def __init__(self, there, words, environment=None, name=None):
        self.name = name or words[0].rsplit("/", 1)[-1]
        self.process = subprocess.Popen([*there, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment)
        peer.register(self)
        self.lines = []
        self._reader = peer.threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.decode(errors="replace").rstrip("\n"))

    def wait_for(self, found, seconds, text):
        """Returns the first result of `found` for a line."""
        def search():
            return next((value for value in map(found, list(self.lines)) if value), None)
        try:
            return peer.until(search, seconds, text)
        except peer.Failure as failure:
            ending = " / ".join(self.lines[-3:]) or "nothing"
            raise peer.Failure(f"{failure}; {self.name} printed: {ending}") from None

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self, seconds=10, by="terminate"):
        if self.process.poll() is None:
            getattr(self.process, by)()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        peer.unregister(self)

    def leave(self):
        """Ends its input, which makes `zeroconf_peer.py` send a goodbye; other programs get a signal."""
        if self.name == "zeroconf":
            self.process.stdin.close()
            self.process.wait(10)
        self.end()

    def kill(self):
        self.end(by="kill")

    @property
    def has_ended(self):
        return self.process.poll() is not None


def note(text):
    print(f"   {text}", file=sys.stderr, flush=True)
