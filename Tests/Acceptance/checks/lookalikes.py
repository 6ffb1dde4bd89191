"""Thirty peers whose names look like another peer's."""

import os
import re
import subprocess
import tempfile
import unicodedata

from . import network
from .attacker import Attacker, Chatter, found
from .identity import Attacker as Announcer
from .impostors import environment
from .peer import COMMAND, expect, random_uid

# Characters that show nothing, or a blank; and letters of other alphabets that look like those of 'bob'.
INVISIBLE = ["\ufe0f", "\ufe0e", "\ufe00", "\u034f", "\u3164", "\u115f", "\u1160", "\uffa0", "\u00ad", "\u200b", "\u200c",
             "\u200d", "\u2060", "\u2063", "\ufeff", "\u180e", "\u2800", "\u17b4", "\u00a0", "\u2003", "\u202f", "\u3000",
             "\U000e0062"]
LETTERS = ["b\u043eb", "b\u03bfb", "b\u0585b", "\U0001d41bob", "\uff42\uff4f\uff42", "b\u2070b", "\u042cob"]
NAMES = ["bob" + character for character in INVISIBLE] + LETTERS
# What this check takes for the same, independently of the library's tables.
SAME = str.maketrans({"\u043e": "o", "\u03bf": "o", "\u0585": "o", "\u042c": "b", "0": "o"})
# In groups that fit into one room with the victim.
GROUP = 15


def look_alike_names():
    """Thirty names that look like `bob` are told apart: in a room by digits of their ids or escapes, in `browse` by the ids;
    nothing invisible is shown as it is"""
    expect(len(set(NAMES)) == 30, "the names are not thirty")
    return network.inside(_look_alike_names, seconds=240)


def _look_alike_names():
    with tempfile.TemporaryDirectory() as directory:
        shown = []
        for start in range(0, len(NAMES), GROUP):
            shown += _room(directory, NAMES[start:start + GROUP])
        _browse(directory)
    digits = sum(bool(re.search("#[0-9a-f]{4,}$", label)) for label in shown)
    return f"{len(shown)} labels in rooms, all different, {digits} of them with digits of an id; {len(NAMES) + 1} in browse"


def _room(directory, names):
    path = os.path.join(directory, "names")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(names))
    bob = Chatter(directory, "bob", "--room", "kitchen", "--peers", "16")
    uid, port = found(directory, "bob")
    attacker = Attacker("names", uid=uid, port=port, context="chat kitchen", names=path)
    expect(attacker.told(60)["linked"] == len(names), "not all have joined")
    bob.types("/who")
    bob.types("/help")  # Its answer follows that of /who.
    bob.sees("/leave +leave")
    lines = bob.said[:bob.said.index("/to NAME text")].splitlines()
    you = next(number for number, line in enumerate(lines) if re.search(r"  you$", line))
    labels = [re.split("  +", _words(line))[0] for line in lines[you:] if "linked, " in line or line.endswith("  you")]
    attacker.stop()
    bob.leave()
    expect(len(labels) == len(names) + 1, f"{len(labels)} labels: {labels}")
    for label in labels:
        expect(not _hidden(label), f"{label!r} has something invisible")
    looks = [_look(label) for label in labels]
    twice = [label for label, look in zip(labels, looks) if looks.count(look) > 1]
    expect(not twice, f"these look the same: {twice}")
    return labels


def _browse(directory):
    announcer = Announcer(directory)
    try:
        records, ids = [], {}
        for name in ["bob", *NAMES]:
            uid = random_uid()
            ids[uid.hex()] = name
            announcer.announce(name, uid)
            records += announcer.records
        announcer.records = records
        done = subprocess.run([COMMAND, "browse", "--for", "3"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
                              env=environment(directory))
    finally:
        announcer.close()
    rows = [line.split("\t") for line in done.stdout.decode().splitlines() if line.startswith("found\t")]
    missing = [ascii(ids[uid]) for uid in ids.keys() - {row[1] for row in rows}]
    expect(not missing and len(rows) == len(ids), f"{len(rows)} of {len(ids)} were found, not {missing}")
    for _, uid, name, *_ in rows:
        expect(not _hidden(name), f"{name!r} has something invisible")
        expect(ids[uid] != "bob" or name == "bob", f"bob is shown as {name!r}")


def _words(line):
    return line.removeprefix("multipeer: ")


def _hidden(text):
    """Returns the characters that show nothing, or a blank that is not a space."""
    return [one for one in text if unicodedata.category(one) in ("Cf", "Cc", "Mn", "Zl", "Zp", "Zs") and one != " "
            or one in "\u3164\u115f\u1160\uffa0\u2800"]


def _look(label):
    """Returns what a reader sees, in one form for all that looks the same."""
    return "".join(unicodedata.normalize("NFKC", label).translate(SAME).lower().split())
