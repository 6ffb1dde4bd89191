"""Our command with the system's responder in place of our own multicast DNS, as on Darwin: built with the trait
SystemDiscovery, it uses avahi-daemon by the calls of `dns_sd.h`. Place 1 has that, and place 2 our own stack."""

import os
import tempfile

from checks import discovery, network, peer
from checks.network import Skipped
from checks.peer import expect, until

from stacks import avahi, ours
from stacks.place import Running, Switch

SERVICE = "system"
PRODUCTS = os.path.join(peer.ROOT, ".build", "system", "debug")


def system_nearby():
    """B8: a peer of avahi-daemon and one of our own stack find and resolve each other, see changes of the info, and goodbyes"""
    return _inside(_nearby)


def system_chat():
    """B8: two rooms, one found by avahi-daemon, link by an invitation, and exchange messages"""
    return _inside(_chat)


def system_conflict():
    """B8: where another machine has the name, avahi-daemon is asked for the next one, which ends in the uid, too"""
    return _inside(_conflict)


def system_restart():
    """B8: without avahi-daemon the command reports it; peers are lost when it ends, and found when it is back"""
    return _inside(_restart)


def _inside(body):
    for name in ("multipeer", "MultipeerNeighbour"):
        if not os.access(os.path.join(PRODUCTS, name), os.X_OK):
            raise Skipped(f".build/system/debug/{name} does not exist: run 'Tests/Interop/build-system'")
    if not os.access(discovery.NEIGHBOUR, os.X_OK):
        raise Skipped(f"{discovery.NEIGHBOUR} does not exist: run 'swift build -c release --product MultipeerNeighbour'")
    return network.inside(_with_daemon, body.__name__, seconds=120)


def _with_daemon(name):
    hub = Switch(2)
    try:
        with tempfile.TemporaryDirectory() as directory:
            daemon = avahi.Avahi(hub.there(1), directory, "one")
            daemon.wait()
            # Avahi's library otherwise prints that a program should use another one of its libraries.
            daemon.environment["AVAHI_COMPAT_NOWARN"] = "1"
            return globals()[name](hub, daemon, directory)
    finally:
        peer.end_everything()
        hub.close()


class Neighbour(ours.Told):
    """`MultipeerNeighbour` at a place, which takes orders."""

    def __init__(self, hub, number, name, environment=None, *arguments):
        program = discovery.NEIGHBOUR if environment is None else os.path.join(PRODUCTS, "MultipeerNeighbour")
        Running.__init__(self, hub.there(number), [program, SERVICE, name, "--interfaces", "cable", "--resolve", *arguments],
                         environment, name)

    def await_report(self, event, seconds=15, **fields):
        def search():
            return next((one for one in self.events() if one["event"] == event
                         and all(one.get(key) == value for key, value in fields.items())), None)
        try:
            return until(search, seconds, f"{self.name} does not report {event} {fields}")
        except peer.Failure as failure:
            raise peer.Failure(f"{failure}; it printed {self.lines[-4:]}") from None


def _nearby(hub, daemon, _):
    one = Neighbour(hub, 1, "one", daemon.environment)
    two = Neighbour(hub, 2, "two")
    near = {one: two, two: one}
    for here, there in near.items():
        found = here.await_report("found", name=there.name)
        place = hub.address(1 if there is one else 2)
        resolved = here.await_report("resolved", uid=found["uid"])
        expect(f"{place}:4711" in resolved["addresses"], f"{here.name} resolves {there.name} to {resolved['addresses']}")
    for here, there in near.items():
        there.say("info room=8")
        here.await_report("updated", name=there.name, info={"room": "8"})
        there.say("info room=9")
        here.await_report("updated", name=there.name, info={"room": "9"})
    third = Neighbour(hub, 1, "third", daemon.environment)
    third.await_report("found", name="one")
    third.await_report("found", name="two")
    one.await_report("found", name="third")
    one.say("quit")
    two.await_report("lost", name="one")
    third.await_report("lost", name="one")
    two.say("quit")
    third.await_report("lost", name="two")
    for event in one.events() + two.events() + third.events():
        expect(event["event"] != "failed", f"{event}")
    counts = [sum(event["event"] == "found" for event in here.events()) for here in (one, two, third)]
    expect(counts == [2, 2, 2], f"peers were found {counts} times")
    return "found, resolved, updated twice, lost, in both directions and on one machine"


def _chat(hub, daemon, _):
    rooms = [
        Running(hub.there(1), [os.path.join(PRODUCTS, "multipeer"), "chat", "--type", SERVICE, "--name", "ann", "--unverified"],
                {**daemon.environment, "MULTIPEER_INTERFACES": ""}, "ann"),
        Running(hub.there(2), [peer.COMMAND, "chat", "--type", SERVICE, "--name", "bob", "--unverified"],
                {**os.environ, "MULTIPEER_INTERFACES": ""}, "bob"),
    ]
    for here, there, text in ((rooms[0], rooms[1], "hello from avahi"), (rooms[1], rooms[0], "hello from ours")):
        here.say(text)
        there.wait_for(lambda line: text in line, 20, f"{there.name} receives nothing")
    rooms[0].end()
    rooms[1].wait_for(lambda line: "ann" in line and ("left" in line or "disconnected" in line), 15, "bob does not see ann leave")
    return "linked, two messages, left"


def _conflict(hub, daemon, directory):
    os.mkdir(os.path.join(directory, "two"))
    other = avahi.Avahi(hub.there(2), os.path.join(directory, "two"), "two")
    other.wait()
    identity = os.path.join(directory, "id")
    watching = ours.browse(hub.there(2), SERVICE)

    def advertise():
        return Running(hub.there(1), [os.path.join(PRODUCTS, "multipeer"), "advertise", "--type", SERVICE, "--name", "twin",
                                      "--id", identity, "--json"],
                       {**daemon.environment, "MULTIPEER_INTERFACES": ""}, "advertise")

    first = advertise()
    uid = bytes.fromhex(watching.await_event("found", "twin", 15)["id"])
    first.end()
    watching.await_event("lost", "twin", 15)
    keeping = other.publish(ours.label("twin", uid), SERVICE, 7000, "mpc=1", "n=twin", "from=two")
    watching.await_event("found", "twin", 15, lambda event: event["info"] == {"from": "two"})
    second = advertise()
    asking = other.browse(SERVICE)
    name = ours.label("twin (2)", uid).replace(" ", "\\032").replace("(", "\\040").replace(")", "\\041")
    asking.wait_for(lambda line: line.startswith("+") and name in line, 20, "it does not take the next name")
    keeping.end()
    # The peer is still there, with the info of the other advertisement.
    until(lambda: watching.knows() == ["twin"] and watching.events()[-1].get("info") == {}, 15,
          f"the other advertisement is not seen: {watching.events()[-2:]}")
    second.end()
    until(lambda: watching.knows() == [], 15, "it is not lost")
    return "renamed to 'twin (2)'"


def _restart(hub, daemon, _):
    # When the daemon ends, Avahi's library calls a function at an address in memory that it never set. Memory from the allocator is
    # zero with this, and then no function is called.
    environment = {**daemon.environment, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=255"}
    two = Neighbour(hub, 2, "two")
    one = Neighbour(hub, 1, "one", environment)
    one.await_report("found", name="two")
    two.await_report("found", name="one")
    daemon.daemon.end()
    one.await_report("lost", name="two")
    two.await_report("lost", name="one", seconds=30)
    late = Neighbour(hub, 1, "late", environment)
    said = late.await_report("failed")["error"]
    expect("responder" in said, f"it reports {said}")
    again = Running(hub.there(1), daemon.daemon.process.args[len(hub.there(1)):], daemon.environment)
    again.wait_for(lambda line: "Server startup complete" in line, 15, "avahi-daemon does not start again")
    for here, there in ((one, "two"), (two, "one")):
        until(lambda: [event.get("name") for event in here.events() if event["event"] == "found"].count(there) == 2, 20,
              f"'{there}' is not found again")
    return f"lost, found again; without it: {said}"
