"""The command where there is less than a terminal of today and a home directory: one session, in each of these surroundings."""

import tempfile
from concurrent.futures import ThreadPoolExecutor

from . import network, peer
from .terminal import Broken
from .transcripts import Play

# What the user's shell sets, as steps for both machines; whether the command may write control sequences there, and
# characters other than ASCII.
SURROUNDINGS = {
    "TERM=dumb": (["has TERM=dumb"], False, True),
    "no TERM": (["has no TERM"], False, True),
    "LC_ALL=C": (["has LC_ALL=C", "has no LANG"], True, False),
    # The home of the user database is in its place, which belongs to who runs this: nothing is kept there.
    "no HOME": (["has no HOME", "has XDG_CONFIG_HOME=/proc/self"], True, True),
    "a HOME that does not exist": (["has HOME=/nonexistent"], True, True),
    # No user can create a file there, not even root.
    "a HOME that cannot be written": (["has HOME=/proc/self"], True, True),
    "an empty environment": (
        ["has no HOME", "has XDG_CONFIG_HOME=/proc/self", "has no LANG", "has no TERM", "has no USER"], False, False),
}

TERMINALS = """
machines: ann and bob
bob: runs head -c 300000 /dev/zero > photo.jpg
ann$ multipeer help send
ann: exit code 0
ann: sees usage: multipeer send
ann: clears
bob$ multipeer send photo.jpg
bob: takes CODE from run: multipeer …
ann$ multipeer CODE
ann: exit code 0
bob: exit code 0
ann: runs test "$(wc -c < photo.jpg)" = 300000
ann: clears
bob: clears
ann$ multipeer receive inbox
ann: sees waiting as 'ann'
bob$ multipeer send -u photo.jpg ann
ann: sees [y/N]
ann: types y⏎
ann: exit code 0
bob: exit code 0
ann: runs test "$(wc -c < inbox/photo.jpg)" = 300000
ann: clears
bob: clears
ann$ multipeer link --name ann --yes -u
ann: sees waiting as 'ann'
bob$ multipeer link ann -u
ann: sees linked with bob
bob: sees linked with ann
bob: types over here⏎
ann: sees over here
bob: types ^D
ann: types ^D
ann: exit code 0
bob: exit code 0
ann: clears
bob: clears
ann$ multipeer chat kitchen
ann: sees you are ann
bob$ multipeer chat kitchen
ann: sees bob joined
bob: sees ann joined
bob: types grüße⏎
ann: sees : gr
ann: types ^D
ann: exit code 0
bob: sees ann left
bob: types /quit⏎
bob: exit code 0
"""

# Started by cron, say: no controlling terminal, standard input is empty, and all output goes to a file.
PIPES = """
machines: ann and bob
bob: runs head -c 300000 /dev/zero > photo.jpg
ann: runs multipeer help send > help 2> errors && grep -q '^usage: multipeer send' help && ! [ -s errors ]
bob$ setsid -w multipeer send photo.jpg < /dev/null > out 2>&1
bob: runs until grep -q 'run: multipeer' out; do sleep 0.02; done
bob: shell gives CODE with sed -n 's/.*run: multipeer //p' out
ann$ setsid -w multipeer CODE < /dev/null > out 2>&1
ann: exit code 0
bob: exit code 0
ann: runs test "$(wc -c < photo.jpg)" = 300000
ann$ setsid -w multipeer receive --yes inbox < /dev/null > out 2>&1
ann: runs until grep -q waiting out; do sleep 0.02; done
bob$ setsid -w multipeer send -u photo.jpg ann < /dev/null > out2 2>&1
ann: exit code 0
bob: exit code 0
ann: runs test "$(wc -c < inbox/photo.jpg)" = 300000
ann$ setsid -w multipeer link --name ann --yes -u < /dev/null > copy 2> out3
ann: runs until grep -q waiting out3; do sleep 0.02; done
bob$ setsid -w multipeer link ann -u < photo.jpg 2> out3
ann: exit code 0
bob: exit code 0
ann: runs test "$(wc -c < copy)" = 300000
ann: runs mkfifo words
ann$ setsid -w multipeer chat kitchen -u < words > said 2> out4
ann: runs sleep 600 > words 2> /dev/null < /dev/null & echo $! > holder
ann: runs until grep -q 'you are ann' out4; do sleep 0.02; done
bob$ { until grep -q 'ann joined' out4; do sleep 0.02; done; echo grüße; } | setsid -w multipeer chat kitchen -u > said 2> out4
bob: exit code 0
ann: runs until grep -q ': grüße' said; do sleep 0.02; done
ann: runs kill "$(cat holder)"
ann: exit code 0
ann: runs ! grep -l "$(printf '\\033')" out* said
bob: runs ! grep -l "$(printf '\\033')" out* said
"""


def _session(name):
    if name == "pipes":
        lines, mayControl, mayShow = PIPES.strip().splitlines(), True, True
    else:
        settings, mayControl, mayShow = SURROUNDINGS[name]
        lines = TERMINALS.strip().splitlines()
        lines[1:1] = [f"{machine}: {setting}" for machine in ("ann", "bob") for setting in settings]
    with tempfile.TemporaryDirectory() as directory:
        play = Play(lines, directory, False)
        try:
            play.run()
        except Broken as reason:
            return f"{name}: {reason}"
        for machine, terminal in play.terminals.items():
            if terminal.has_escapes and not mayControl:
                return f"{name}: {machine} got control sequences after '{terminal.has_escapes}'"
            if terminal.foreign and not mayShow:
                return f"{name}: {machine} got {terminal.foreign!r}"
    return None


def surroundings():
    """`help`, `send`, `receive`, `link` and `chat` work with TERM=dumb, without a terminal, with LC_ALL=C, and without a home"""
    names = ["pipes", *SURROUNDINGS]
    with ThreadPoolExecutor(4) as pool:
        wrong = [found for found in pool.map(lambda name: network.inside(_session, name), names) if found]
    peer.expect(not wrong, "\n".join(wrong))
    return ", ".join(names)
