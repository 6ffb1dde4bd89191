"""Small machines on one network: namespaces with a host name, an address, a home directory and the command.

They need root, or permission to create user namespaces. `network.inside` has put this process into a network of its own. """

import os
import subprocess

from . import network
from .network import command, tool
from .peer import COMMAND, CONFORM, until

ADDRESSES = "192.168.77"
# Runs in the new namespaces: "$1" is the machine's name, "$2" an empty directory for its files; the programs follow.
_SETUP = """
set -e
echo "$1" > /proc/sys/kernel/hostname
mount -t tmpfs -o mode=755 home "$2"
mkdir "$2/$1" "$2/bin"
home=$2
shift 2
for program in "$@"; do
    touch "$home/bin/${program##*/}"
    mount --bind "$program" "$home/bin/${program##*/}"
done
mount --rbind "$home" /home
exec sleep 600
"""


class Machine:
    """A host, which ends with this process."""

    def __init__(self, name, number, directory):
        self.name = name
        self.address = f"{ADDRESSES}.{number}"
        self.home = f"/home/{name}"
        place = os.path.join(directory, name)
        os.mkdir(place)
        self.holder = subprocess.Popen(
            [tool("unshare"), "-n", "-u", "-m", "/bin/sh", "-c", _SETUP, "sh", name, place, COMMAND, CONFORM],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=network._die_with_parent)
        try:
            until(self._is_ready, 10, f"the machine {name} is not ready")
            self._connect(number)
        except BaseException:
            self.close()
            raise

    def _is_ready(self):
        if self.holder.poll() is not None:
            raise network.Skipped(f"no namespaces: {self.holder.stderr.read().decode().strip()}")
        return open(f"/proc/{self.holder.pid}/comm", encoding="ascii").read() == "sleep\n"

    def _connect(self, number):
        command("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns",
                str(self.holder.pid))
        command("ip", "link", "set", f"port{number}", "master", "hub")
        command("ip", "link", "set", f"port{number}", "up")
        ip = [*self.prefix, tool("ip")]
        # One address for each machine, and none that comes later.
        command(*ip, "link", "set", "eth0", "addrgenmode", "none")
        command(*ip, "link", "set", "lo", "up")
        command(*ip, "addr", "add", f"{self.address}/24", "dev", "eth0")
        command(*ip, "link", "set", "eth0", "up")

    @property
    def prefix(self):
        """The words that run a command on this machine, as its user."""
        return [tool("nsenter"), "-t", str(self.holder.pid), "-n", "-u", "-m", f"--wdns={self.home}"]

    def environment(self, **changes):
        """The variables of a user's shell; a change to None removes one."""
        path = f"/home/bin:{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        variables = {"PATH": path, "HOME": self.home, "LANG": "C.UTF-8", "TERM": "xterm-256color", "USER": self.name}
        for name in ("LD_LIBRARY_PATH",):
            if name in os.environ:
                variables[name] = os.environ[name]
        variables.update(changes)
        return {name: value for name, value in variables.items() if value is not None}

    def run(self, line, **changes):
        """Runs a line of shell to its end; its output and errors are in the result."""
        return subprocess.run([*self.prefix, "/bin/sh", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, env=self.environment(**changes))

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stderr.close()


def hub():
    """Makes the network that all machines are on; it is gone with this process."""
    command("ip", "link", "add", "hub", "type", "bridge")
    command("ip", "link", "set", "hub", "up")
