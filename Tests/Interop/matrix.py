"""Our stack with three others, in both directions: which services are found and resolved, which stack sends a goodbye, and
which one renames its service on a conflict."""

import os
import re
import tempfile
import time

from checks import network, peer
from checks.peer import expect, until

from stacks import avahi, ours, python_zeroconf, resolved
from stacks.place import Running, Switch
from stacks.tap import UDP, Tap

SERVICE = "matrix"
UID = bytes(range(0x20, 0x30))
# What can go wrong in names: letters beyond ASCII, quotes, dots, a backslash.
NAME = 'Zoë "Z." \\o/'
# What others make of names when they publish: python-zeroconf treats a dot as the end of a label, and systemd-resolved
# reads quotes and backslashes itself.
PLAIN = "Zoë Zed"
RESULTS = {}

ROWS = ["finds our services", "resolves our services", "receives our goodbye", "we find its services",
        "we resolve its services", "we receive its goodbye", "on the same machine", "renames itself on a conflict",
        "we rename ours on a conflict"]


def table():
    """Returns the matrix as text: a column for each stack, a row for each test."""
    columns = sorted({stack for stack, _ in RESULTS})
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in ROWS:
        lines.append(f"| {row} | " + " | ".join(RESULTS.get((stack, row), "not tested") for stack in columns) + " |")
    return "\n".join(lines)


def with_zeroconf():
    """B4: python-zeroconf finds ours and we find theirs, with names, TXT and goodbyes"""
    return _kept("python-zeroconf", network.inside(_with_zeroconf, seconds=120))


def with_avahi():
    """B4: avahi finds ours and we find what it publishes, on another machine and on the same"""
    return _kept("avahi", network.inside(_with_avahi, seconds=150))


def with_resolved():
    """B4: systemd-resolved resolves ours and we find what it publishes; it has nothing to browse with"""
    return _kept("systemd-resolved", network.inside(_with_resolved, seconds=120))


def avahi_alone():
    """B5: where avahi-daemon uses port 5353 exclusively, our command reports it and exits, and does not claim to advertise"""
    return network.inside(_avahi_alone, seconds=90)


def _kept(stack, results):
    for row, result in results.items():
        RESULTS[stack, row] = result
    failed = [f"{row}: {result}" for row, result in results.items() if not result.startswith(("yes", "does not ", "sends no "))]
    expect(not failed, "; ".join(failed))
    return f"{sum(result.startswith('yes') for result in results.values())} of {len(results)} ways"


class _Trials(dict):
    """The trials and their results: a failure does not prevent the others."""

    def attempt(self, row, body):
        try:
            self[row] = f"yes{body() or ''}"
        except peer.Failure as failure:
            self[row] = f"FAILED ({failure})"


def _with_zeroconf():
    hub, trials = Switch(2), _Trials()
    try:
        theirs = python_zeroconf.browse(hub.there(2), SERVICE)
        advertising = ours.advertise(hub.there(1), SERVICE, NAME, "greeting=grüß dich", "empty=")
        found = {}

        def find():
            event = theirs_find(theirs)
            found.update(event)

        def theirs_find(one):
            return until(lambda: next((event for event in one.events() if event["event"] in ("found", "updated")
                                       and event["name"].startswith(NAME)), None), 15, f"not found: {one.lines[-2:]}")

        trials.attempt("finds our services", find)
        trials.attempt("resolves our services", lambda: expect(
            found.get("text") == {"mpc": "1", "n": NAME, "greeting": "grüß dich", "empty": ""}
            and any(hub.address(1) == address for address in found["addresses"]) and found["port"] >= 1024,
            f"they read {found}"))

        def hear():
            advertising.end()
            until(lambda: any(event["event"] == "lost" for event in theirs.events()), 10, "not lost")

        trials.attempt("receives our goodbye", hear)
        _find_theirs(trials, hub, lambda: python_zeroconf.publish(
            hub.there(2), ours.label(PLAIN, UID), SERVICE, 7777, "zc-host", [hub.address(2)], "mpc=1", f"n={PLAIN}",
            "greeting=hallo"), PLAIN)
        trials.attempt("on the same machine", lambda: _same_machine(hub, lambda: python_zeroconf.publish(
            hub.there(1), ours.label("neighbour", UID), SERVICE, 7778, "zc-same", [hub.address(1)], "mpc=1",
            "n=neighbour"), "neighbour"))
        trials.attempt("we rename ours on a conflict", lambda: _theirs_first(hub))
        return dict(trials)
    finally:
        peer.end_everything()
        hub.close()


def _with_avahi():
    hub, trials = Switch(2), _Trials()
    try:
        with tempfile.TemporaryDirectory() as directory:
            daemons = []
            for number, host in ((1, "one"), (2, "two")):
                os.mkdir(os.path.join(directory, host))
                daemons.append(avahi.Avahi(hub.there(number), os.path.join(directory, host), host))
            for daemon in daemons:
                daemon.wait()
            beside, across = daemons
            watching = {daemon: daemon.browse(SERVICE) for daemon in daemons}
            advertising = ours.advertise(hub.there(1), SERVICE, NAME, "greeting=grüß dich")

            def line_of(daemon, mark):
                pattern = re.compile(rf"^{re.escape(mark)};cable;IPv\d;(.*)-[a-z2-7]{{26}};_{SERVICE}\._tcp;local")
                return watching[daemon].wait_for(lambda line: line if pattern.match(line) else None, 15,
                                                 f"no line '{mark}'")

            trials.attempt("finds our services", lambda: line_of(across, "+") and None)
            trials.attempt("resolves our services", lambda: expect(
                all(part in line_of(across, "=") for part in ("mpc=1", "greeting=gr\\195\\188\\195\\159 dich",
                                                               ".local;")), f"they read {watching[across].lines}"))
            trials.attempt("on the same machine", lambda: _on_one(hub, line_of, beside, daemons))

            def hear():
                advertising.end()
                line_of(across, "-")

            trials.attempt("receives our goodbye", hear)
            _find_theirs(trials, hub, lambda: across.publish(ours.label(NAME, UID), SERVICE, 7777, "mpc=1",
                                                             f"n={NAME}", "greeting=hallo"), NAME)
            trials.attempt("renames itself on a conflict", lambda: _ours_first(hub, across))
        return dict(trials)
    finally:
        peer.end_everything()
        hub.close()


def _on_one(hub, line_of, beside, daemons):
    """avahi on the machine of our advertiser sees it, and our browser there sees what avahi publishes."""
    line_of(beside, "+")
    _same_machine(hub, lambda: daemons[0].publish(ours.label("neighbour", UID), SERVICE, 7778, "mpc=1", "n=neighbour"),
                  "neighbour")


def _ours_first(hub, other):
    """Another stack claims a name that ours has."""
    with tempfile.TemporaryDirectory() as directory:
        advertising = ours.advertise(hub.there(1), SERVICE, "twin", more=("--id", os.path.join(directory, "id")))
        watching = ours.browse(hub.there(2), SERVICE)
        uid = bytes.fromhex(watching.await_event("found", "twin", 15)["id"])
        taking = other.publish(ours.label("twin", uid), SERVICE, 7000, "mpc=1", "n=twin")
        taking.wait_for(lambda line: "ollision" in line or "#2" in line, 15, "it does not rename its service")
        expect(watching.knows() == ["twin"], f"we know {watching.knows()}")
        for one in (taking, advertising, watching):
            one.end()


def _theirs_first(hub):
    """Ours claims a name of a stack that does not give it up: it answers, but never checks for conflicts."""
    with tempfile.TemporaryDirectory() as directory:
        identity = os.path.join(directory, "id")
        advertising = ours.advertise(hub.there(1), SERVICE, "twin", more=("--id", identity))
        watching = ours.browse(hub.there(2), SERVICE)
        uid = bytes.fromhex(watching.await_event("found", "twin", 15)["id"])
        advertising.end()
        watching.await_event("lost", "twin", 15)
        watching.end()
        keeping = python_zeroconf.publish(hub.there(2), ours.label("twin", uid), SERVICE, 7000, "keeper",
                                          [hub.address(2)], "mpc=1", "n=twin")
        advertising = ours.advertise(hub.there(1), SERVICE, "twin", more=("--id", identity))
        # python-zeroconf requests unicast answers, which no other sees; ours queries by multicast.
        asking, watching = python_zeroconf.browse(hub.there(2), SERVICE), ours.browse(hub.there(2), SERVICE)
        until(lambda: any(event["name"].startswith("twin (2)-") for event in asking.events() if "name" in event), 20,
              "ours is not renamed")
        for one in (keeping, advertising, asking, watching):
            one.end()


def _with_resolved():
    hub, trials = Switch(2), _Trials()
    try:
        with tempfile.TemporaryDirectory() as directory:
            # White space ends an entry there.
            theirs = resolved.Resolved(hub.there(2), directory, "two", (ours.label("Zed", UID), SERVICE, 7777,
                                                               "mpc=1 n=Zed greeting=hallo"))
            theirs.wait()
            browsing = ours.browse(hub.there(1), SERVICE)
            trials.attempt("we find its services", lambda: browsing.await_event("found", "Zed", 15) and None)
            trials.attempt("we resolve its services", lambda: browsing.await_event(
                "found", "Zed", 1, lambda event: event["info"] == {"greeting": "hallo"}
                and any(hub.address(2) in address for address in event["addresses"])) and None)
            with tempfile.TemporaryDirectory() as own:
                identity = os.path.join(own, "id")
                advertising = ours.advertise(hub.there(1), SERVICE, "quiet one", "greeting=hello",
                                             more=("--id", identity))
                watching = ours.browse(hub.there(1), SERVICE)
                uid = bytes.fromhex(watching.await_event("found", "quiet one", 15)["id"])
                asked = []

                def find():
                    def ask():
                        asked.append(theirs.resolve(ours.label("quiet one", uid), SERVICE))
                        asked[-1].process.wait(20)
                        return any("mpc-" in line for line in asked[-1].lines)
                    until(ask, 20, "it does not resolve ours")

                trials.attempt("finds our services", find)
                trials.attempt("resolves our services", lambda: expect(
                    {"mpc=1", "n=quiet one", "greeting=hello"} <= {line.strip() for line in asked[-1].lines},
                    f"it read {asked[-1].lines}"))
                advertising.end()
            trials["receives our goodbye"] = "does not browse"

            # It leaves without a goodbye; if that ever changes, this fails.
            tap = Tap(["port2"])
            theirs.daemon.end()
            time.sleep(1.5)
            said = [packet for packet in tap.close() if packet.protocol == UDP and packet.source_port == 5353]
            trials["we receive its goodbye"] = "it sends something" if said else "sends no goodbye"
        return dict(trials)
    finally:
        peer.end_everything()
        hub.close()


def _find_theirs(trials, hub, publish, name):
    browsing = ours.browse(hub.there(1), SERVICE)
    publishing = publish()
    trials.attempt("we find its services", lambda: browsing.await_event("found", name, 15) and None)
    trials.attempt("we resolve its services", lambda: browsing.await_event(
        "found", name, 1, lambda event: event["info"] == {"greeting": "hallo"}
        and any(hub.address(2) in address for address in event["addresses"])) and None)

    def hear():
        publishing.leave()
        browsing.await_event("lost", name, 15)

    trials.attempt("we receive its goodbye", hear)
    browsing.end()


def _same_machine(hub, publish, name):
    browsing = ours.browse(hub.there(1), SERVICE)
    publishing = publish()
    try:
        browsing.await_event("found", name, 15)
    finally:
        publishing.end(by="terminate")
        browsing.end()


def _avahi_alone():
    hub = Switch(1)
    try:
        with tempfile.TemporaryDirectory() as directory:
            daemon = avahi.Avahi(hub.there(1), directory, "one", disallowing=True)
            daemon.wait()
            trying = Running(hub.there(1), [peer.COMMAND, "advertise", "--type", SERVICE, "--name", "late"],
                             {**os.environ, "MULTIPEER_INTERFACES": ""}, "advertise")
            until(lambda: trying.has_ended, 20, "advertise does not end")
            said = " ".join(trying.lines)
            expect(trying.process.returncode not in (0, None), "advertise succeeded")
            expect("5353" in said, f"it does not report the reason: {said}")
            expect("announcing" not in said, f"it reports that it announces: {said}")
            return f"exit {trying.process.returncode}: {trying.lines[-1][:200]}"
    finally:
        peer.end_everything()
        hub.close()
