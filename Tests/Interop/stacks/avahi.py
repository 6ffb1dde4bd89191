"""avahi-daemon with a bus of its own, and its clients."""

import os

from checks import peer
from .debian import TREE, unpacked
from .place import Running

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path=/run/bus</listen><auth>EXTERNAL</auth>
  <policy context="default"><allow own="*"/><allow send_destination="*"/><allow eavesdrop="true"/><allow user="*"/></policy>
</busconfig>
"""


def bus(there, directory, name):
    """Starts a message bus for one place, at /run/bus; returns what its clients need."""
    path = os.path.join(directory, "bus.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(BUS)
    environment = unpacked(name)
    daemon = TREE / "usr/bin/dbus-daemon"
    running = Running(there, [str(daemon), f"--config-file={path}", "--nofork", "--nopidfile", "--nosyslog",
                              "--print-address"], environment, "dbus-daemon")
    running.wait_for(lambda line: "unix:" in line, 10, "the bus does not start")
    return {**environment, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/run/bus"}


class Avahi:
    """The daemon at a place."""

    NAME = "avahi"

    def __init__(self, there, directory, host, interface="cable", disallowing=False):
        self.there = there
        self.environment = bus(there, directory, "avahi")
        path = os.path.join(directory, "avahi.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[server]\nhost-name={host}\nallow-interfaces={interface}\nuse-ipv4=yes\nuse-ipv6=yes\n"
                       f"ratelimit-interval-usec=1000000\nratelimit-burst=1000\nenable-dbus=yes\n"
                       f"disallow-other-stacks={'yes' if disallowing else 'no'}\n"
                       "[publish]\npublish-workstation=no\npublish-hinfo=no\n")
        self.daemon = Running(there, [str(TREE / "usr/sbin/avahi-daemon"), "--no-drop-root", "--no-chroot", "--no-rlimits",
                                      "-f", path], self.environment)

    def wait(self):
        self.daemon.wait_for(lambda line: "Server startup complete" in line, 15, "avahi-daemon does not start")

    def browse(self, service):
        return Running(self.there, [str(TREE / "usr/bin/avahi-browse"), "-r", "-p", "-k", f"_{service}._tcp"],
                       self.environment)

    def publish(self, name, service, port, *texts):
        return Running(self.there, [str(TREE / "usr/bin/avahi-publish"), "-s", name, f"_{service}._tcp", str(port),
                                    *texts], self.environment)
