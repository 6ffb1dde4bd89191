"""How much there is to type for eight tasks, counted in sessions that are played, beside two other commands."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

from . import peer, transcripts
from .terminal import KEYS

FOLDER = os.path.join(os.path.dirname(transcripts.FOLDER), "comparison")
TABLE = os.path.join(FOLDER, "README.md")
BEGIN, END = "<!-- counted: begin -->", "<!-- counted: end -->"
# A number of 1 to 999 and two of the words in Spec/words.txt, on average.
CODE = 16.6


# A task without a session cannot be done with this command.
TASKS = {
    "1-photo": "One photo",
    "2-directory": "A directory",
    "3-text": "A text",
    "4-pipe": "Standard input to standard output",
    "5-three-receivers": "One photo to three receivers",
    "6-address": "One photo, by address",
    "7-resume": "Going on with a transfer that broke",
    "8-verified": "One photo, with no one in between",
}


def played():
    return [task for task in TASKS if os.path.exists(os.path.join(FOLDER, "tasks", f"{task}.txt"))]


def _lines(task):
    with open(os.path.join(FOLDER, "tasks", f"{task}.txt"), encoding="utf-8") as file:
        return file.read().splitlines()


def typed(lines):
    """Returns what the users type in a session, each command line with its Return."""
    found = []
    for line in lines:
        command = re.fullmatch(r"[a-z]+[0-9]?\$ (.+)", line)
        keys = re.fullmatch(r"[a-z]+[0-9]?: types (.+)", line)
        if command:
            found.append(command.group(1) + "⏎")
        elif keys:
            found.append(keys.group(1))
    return found


def keys(texts, code=CODE):
    """Returns how many keys are pressed for that; a code counts as the average one."""
    count = 0
    for text in texts:
        for key in KEYS:
            text = text.replace(key, "⏎")
        count += len(text.replace("CODE", "")) + text.count("CODE") * code
    return round(count)


def table():
    """The lines of the table."""
    with open(os.path.join(FOLDER, "others.json"), encoding="utf-8") as file:
        others = json.load(file)
    heads = [f"{name} {other['version']}" for name, other in others.items()]
    rows = ["| task | " + " | ".join(["multipeer", *heads]) + " |", "|---|" + "---|" * (len(others) + 1)]
    for task, title in TASKS.items():
        cells = [str(keys(typed(_lines(task)))) if task in played() else "no"]
        for other in others.values():
            texts = other["tasks"][task]
            cells.append("no" if texts is None else str(keys([text + "⏎" for text in texts], other["codeLength"])))
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return rows


def _play(task):
    return transcripts.play(os.path.join(FOLDER, "tasks", f"{task}.txt"))


def comparison():
    """Each of eight tasks is done with what its session types, and the table of the keys has these figures"""
    names = played()
    with ThreadPoolExecutor(4) as pool:
        broken = [f"{name}, {result}" for name, result in zip(names, pool.map(_play, names)) if result]
    peer.expect(not broken, "\n".join(broken))
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    peer.expect("\n".join(table()) in text, "the table in comparison/README.md is old: 'transcribe --table' writes it")
    return f"{len(names)} tasks"


def write():
    """Puts the table into the document."""
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{chr(10).join(table())}\n{END}{after}")
