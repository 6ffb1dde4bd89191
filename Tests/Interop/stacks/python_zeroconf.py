"""python-zeroconf at a place."""

import os

from .debian import python
from .ours import Told

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zeroconf_peer.py")


def browse(there, service):
    running = Told(there, [python(), PROGRAM, "browse", service], "zeroconf")
    running.wait_for(lambda line: "browsing" in line, 20, "zeroconf does not start")
    return running


def publish(there, name, service, port, host, addresses, *texts):
    running = Told(there, [python(), PROGRAM, "publish", name, service, str(port), host, ",".join(addresses), *texts],
                   "zeroconf")
    running.wait_for(lambda line: "published" in line, 20, "zeroconf does not publish")
    return running
