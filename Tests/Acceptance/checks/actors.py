"""Calls of distributed actors between processes that are killed and restarted."""

import random
import tempfile
import time

from . import member, peer
from .peer import expect, program

CALLER = program("MultipeerCaller")
# Members that call, and members that are killed.
CALLERS, VICTIMS = 5, 3


class Caller(member.Member):
    def program(self):
        return CALLER

    def report(self):
        words = self.order("report").split()[1:]
        fields = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("failed:"))
        failed = sum(int(word.split("=")[-1]) for word in words if word.startswith("failed:"))
        return {key: float(value) for key, value in fields.items() if key in NUMBERS} | {"failed": failed, "line": " ".join(words)}


NUMBERS = ("callers", "placed", "results", "errors", "running", "own", "others", "longest-loss", "wrong")


def actor_calls():
    """10,000 calls between 8 processes, of which 3 are killed and restarted: each ends with one result or one error"""
    each, kills = (10_000, 60) if peer.FULL else (2_000, 8)
    with tempfile.TemporaryDirectory() as directory:
        mesh = member.Mesh(directory, CALLERS + VICTIMS, make=Caller)
        mesh.chain()
        callers, victims = mesh.members[:CALLERS], mesh.members[CALLERS:]
        for caller in callers:
            caller.order("call", str(each))
        done = 0
        while done < kills and any(caller.report()["callers"] for caller in callers):
            victim = random.choice(victims)
            mesh.nemesis.kill(victim)
            time.sleep(random.uniform(0, 0.3))
            victim.start()
            victim.await_ready()
            mesh.rejoin(victim)
            done += 1
        peer.until(lambda: not any(caller.report()["callers"] for caller in callers), 120, "not all calls have ended")
        reports = [caller.report() for caller in callers]
        # Calls from others to this member are over as soon as those are notified.
        peer.until(lambda: not any(each.report()["others"] for each in mesh.members), 10,
                   "a call from another member continues")
        mesh.quit()
    for report in reports:
        ended = report["results"] + report["errors"] + report["failed"]
        expect(report["placed"] == each == ended and not report["running"] and not report["own"] and not report["wrong"],
               f"the calls do not add up: {report['line']}")
        expect(report["longest-loss"] < 1, f"calls to a lost peer continued: {report['line']}")
    expect(done >= min(kills, 3), f"only {done} were killed while calls were in progress")
    lost = int(sum(report["failed"] for report in reports))
    longest = max(report["longest-loss"] for report in reports)
    return (f"{each * CALLERS} calls, {done} kills; {lost} failed with their link, at most {longest * 1000:.0f} ms "
            f"after its end")
