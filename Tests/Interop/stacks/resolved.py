"""systemd-resolved: it publishes the content of a file, and resolves a service whose name is known; it cannot
browse."""

from checks import peer
from .avahi import bus
from .debian import TREE
from .place import Running

_BEGIN = """
hostname "$1"
mkdir -p /run/systemd/resolved.conf.d /run/systemd/dnssd
printf '[Resolve]\\nMulticastDNS=yes\\nLLMNR=no\\nDNSStubListener=no\\nDNSSEC=no\\n' > /run/systemd/resolved.conf.d/own.conf
shift
if [ $# -gt 0 ]; then
    printf '[Service]\\nName=%s\\nType=%s\\nPort=%s\\nTxtText=%s\\n' "$@" > /run/systemd/dnssd/own.dnssd
fi
"""


class Resolved:
    """The daemon at a place; `service` is (name, type, port, text) of what it publishes."""

    NAME = "resolved"

    def __init__(self, there, directory, host, service=None):
        self.there = there
        self.environment = bus(there, directory, "resolved")
        words = [] if service is None else [service[0], f"_{service[1]}._tcp", str(service[2]), service[3]]
        begin = Running(there, ["sh", "-ec", _BEGIN, "begin", host, *words])
        begin.end(seconds=5, by="poll")
        self.daemon = Running(there, [str(TREE / "lib/systemd/systemd-resolved")],
                              {**self.environment, "SYSTEMD_LOG_LEVEL": "info", "SYSTEMD_LOG_TARGET": "console"})

    def wait(self):
        """Switches multicast DNS on for each interface, which Debian's build requires."""
        self.daemon.wait_for(lambda line: "Using system hostname" in line, 15, "systemd-resolved does not start")

        def is_on():
            asked = Running(self.there, [str(TREE / "usr/bin/resolvectl"), "mdns", "cable", "yes"], self.environment)
            asked.process.wait(10)
            asked.end()
            return asked.process.returncode == 0
        peer.until(is_on, 10, "systemd-resolved does not accept settings")

    def resolve(self, name, service):
        """Queries once; the program ends with the answer."""
        return Running(self.there, [str(TREE / "usr/bin/resolvectl"), "--interface=cable", "--protocol=mdns", "service",
                                    name, f"_{service}._tcp", "local"], self.environment)
