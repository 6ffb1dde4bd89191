"""Unreliable messages on a network that stops carrying UDP, except multicast DNS: does the API say so, and does it recover?"""

import random
import time

from network import Switch
from stage import Failure, Stage
from witnesses import Witness, link

SIZE, PAUSE = 200, 0.1
UP = 20


def unreliable(report, seconds, seed, capture=None):
    """Returns for each end for how long the API said up while messages vanished, after how long it was up again, and losses."""
    chance = random.Random(seed)
    switch, stage = Switch(seed, capture), Stage()
    try:
        ends = [Witness(stage, switch.host(name), name) for name in ("ann", "bob")]
        ann, bob = ends
        link(stage, [(ann, bob)])
        for one, other in ((ann, bob), (bob, ann)):
            one.order("paths")
            one.order("unreliable", int(PAUSE * 1_000), SIZE)
        if not stage.run(UP, lambda: all(is_up(one) for one in ends)):
            raise Failure(f"no path for unreliable messages within {UP} s")
        stage.run(chance.uniform(3, 8))
        cut = time.monotonic()
        for host in switch.hosts:
            host.cable.passes_udp = False
        stage.run(seconds)
        back = time.monotonic()
        for host in switch.hosts:
            host.cable.passes_udp = True
        stage.run(40, lambda: all(is_up(one) for one in ends) and time.monotonic() - back > 1)
        stage.run(3)
        found = []
        for one, other in ((ann, bob), (bob, ann)):
            one.fail_if_ended()
            if one.ends():
                raise Failure(f"the link has ended: {one.ends()[0][1]}")
            downs = [at for at, _ in one.heard("path", other.name, "down", since=cut)]
            ups = [at for at, _ in one.heard("path", other.name, "up", since=back)]
            received = {int(rest[0]) for how in ("message", "datagram") for _, rest in other.heard(how, one.name)}
            found.append({
                # Up all the time: for the whole outage.
                "blind": (downs[0] if downs and downs[0] < back else back) - cut,
                "again": ups[-1] - back if ups and is_up(one) else (0.0 if is_up(one) else None),
                "lost": max(received) - len(received) if received else None})
        return found
    finally:
        stage.close()
        switch.close()


def is_up(witness):
    paths = [said for _, said in witness.said if said[0] == "path"]
    return bool(paths) and paths[-1][2] == "up"
