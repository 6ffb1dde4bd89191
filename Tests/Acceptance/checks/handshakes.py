"""A linked peer that sends messages of the TLS handshake without end."""

import os
import tempfile

from .attacker import Attacker
from .peer import Peer, expect, until

# Seconds of processor time, with the link itself.
MOST = 0.5


def handshake_floods():
    """A flood of KeyUpdate ends the link with FLOOD, the first NewSessionTicket with PROTOCOL; both cost little processor
    time"""
    # Spec 5.3: no peer sends tickets, so that the first is a fault; KeyUpdate has a budget.
    return "; ".join([_flood("keyUpdates", "KeyUpdate", "FLOOD", "flood"),
                      _flood("tickets", "NewSessionTicket", "PROTOCOL", "protocol")])


def _flood(attack, word, expected, told):
    with tempfile.TemporaryDirectory() as directory:
        ann = Peer(directory, "ann", "mallory.data", timeout=60)
        until(lambda: os.path.exists(ann.data), 10, "no data was written")
        attacker = Attacker(attack, theirs=ann.data, ours=os.path.join(directory, "mallory.data"))
        attacker.told()
        facts = attacker.told(60)
        expect(facts["ended"], f"{word}: {facts['sent']:.0f} in {facts['seconds']:.1f} s, and the link lives")
        expect(facts["code"] == expected, f"{word}: the link ended with {facts['code'] or 'no code'}")
        code = ann.end(20)
        expect(code == 1 and told in ann.said().lower(), f"{word}: exit code {code}: {ann.last_words()}")
        expect(ann.seconds <= MOST, f"{word}: {ann.seconds:.2f} s of processor time")
        attacker.stop()
    return (f"{word}: ended after {facts['sent']:.0f} in {facts['seconds']:.2f} s, "
            f"{ann.seconds:.2f} s of processor time in all")
