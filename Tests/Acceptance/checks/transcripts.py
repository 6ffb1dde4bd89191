"""Sessions at terminals of 80 columns and 24 rows, with the screens that their users see, as `transcripts/README.md` explains."""

import difflib
import os
import re
import select
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from . import network, peer
from .machines import Machine, hub
from .peer import Failure
from .screen import width
from .terminal import KEYS, Broken, Terminal

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "transcripts")
DEADLINE = 30
# How long a screen must not change before it is written to a transcript.
STILL = 0.7


def _shown_length(data):
    return data if data == 80 else 208 if data > 80 else 48


# What differs from run to run, and what is shown in its place, of the same width where a row may be full.
VARYING = [
    (re.compile(r"(?<=id )[0-9a-f]{8}\b|\b[0-9a-f]{8}(?=\))|(?<=sha256 )[0-9a-f]{8}|\b([0-9a-f]{32}){1,2}\b"), lambda found: "#" * len(found.group())),
    # Connection data, whole or wrapped: its length differs a little.
    (re.compile(r"[A-Za-z0-9+/]{40,}=*"), lambda found: "#" * _shown_length(len(found.group()))),
    (re.compile(r"\b[0-9a-f]{4}( [0-9a-f]{4})+\b"), lambda found: re.sub(r"\w", "#", found.group())),
    (re.compile(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b"), lambda found: "####-##-##"),
    (re.compile(r"\b[0-9]{3} [0-9]{3}\b"), lambda found: "### ###"),
    (re.compile(r"(?<=[0-9]:)[0-9]{5}\b"), lambda found: "#####"),
    (re.compile(r"\b[0-2][0-9]:[0-5][0-9]\b"), lambda found: "##:##"),
    (re.compile(r"\b[0-9]{1,3}-[a-z]+-[a-z]+\b"), lambda found: "7-guitar-island"),
    (re.compile(r"(?<=code number )[0-9]+\b"), lambda found: "7"),
    (re.compile(r"\bin [0-9.]+ (µs|ms|s), [0-9.]+ ([KMG]i)?B/s"), lambda found: "in ### ms, ### MiB/s"),
]


def normal(line):
    for pattern, shown in VARYING:
        line = pattern.sub(shown, line)
    return line


class Play:
    """Plays one transcript on new machines, and compares or rewrites its screens."""

    def __init__(self, lines, directory, rewrites):
        self.lines, self.directory, self.rewrites = lines, directory, rewrites
        self.machines = {}
        self.terminals = {}
        self.words = {}
        self.written = []

    def run(self):
        hub()
        place = 0
        try:
            while place < len(self.lines):
                place = self._step(place)
        except Broken as reason:
            shown = "\n".join(box(name, terminal.screen) for name, terminal in self.terminals.items())
            raise Broken(f"line {place + 1}: {self.lines[place]}\n{reason}\n{shown}") from None
        finally:
            for terminal in self.terminals.values():
                terminal.close()
            for machine in self.machines.values():
                machine.close()
        return self.written

    def _terminal(self, name):
        """The terminal of a machine; with a digit at the end, another one of the same machine."""
        if name not in self.terminals:
            host = name.rstrip("23456789")
            if host not in self.machines:
                self.machines[host] = Machine(host, len(self.machines) + 1, self.directory)
            self.terminals[name] = Terminal(self.machines[host])
        return self.terminals[name]

    def _step(self, place):
        """Carries out the line, and returns the number of the next one."""
        line = self.lines[place]
        for pattern, action in self.STEPS:
            found = re.fullmatch(pattern, line)
            if found:
                after = action(self, place, *found.groups())
                if after is None:
                    after = place + 1
                    self.written.append(line)
                return after
        if re.match(r"[a-z]+[2-9]?(\$|: )", line):
            raise Broken("not a step")
        self.written.append(line)
        return place + 1

    def _filled(self, text):
        for word, value in self.words.items():
            text = text.replace(word, value)
        return text

    def _names(self, _, names):
        for name in names.replace(" and ", ", ").split(", "):
            self._terminal(name)

    def _needs(self, _, name):
        network.tool(name)

    def _starts(self, _, name, line):
        self._terminal(name).start(self._filled(line))

    def _runs(self, _, name, line):
        done = self._terminal(name).machine.run(self._filled(line))
        if done.returncode:
            raise Broken(f"exit code {done.returncode}: {done.stdout.decode()}")

    def _types(self, _, name, keys):
        text = self._filled(keys)
        for key, code in KEYS.items():
            text = text.replace(key, code)
        self._terminal(name).type(text)

    def _sees(self, _, name, text):
        terminal, text = self._terminal(name), self._filled(text)
        self._until(lambda: text in terminal.screen.text, f"{name} does not see {text!r}")

    def _takes(self, _, name, word, text):
        terminal = self._terminal(name)
        pattern = re.compile(re.escape(text).replace("…", r"(\S.*?\S|\S)") + r"(?=\n|$)", re.MULTILINE)
        found = self._until(lambda: pattern.search(terminal.screen.text), f"{name} does not see {text!r}")
        self.words[word] = found.group(1)

    def _takes_lines(self, _, name, word, text):
        """Takes what is between a line and the one that the cursor is in, as a mail program would wrap it."""
        terminal = self._terminal(name)
        pattern = re.compile(re.escape(text) + r"\n((?:[A-Za-z0-9+/=]+\n)+)(?=[^\n]*[^A-Za-z0-9+/=\n])")
        found = self._until(lambda: pattern.search(terminal.screen.text), f"{name} does not see {text!r}")
        self.words[word] = found.group(1).rstrip("\n")

    def _shell(self, _, name, word, line):
        self.words[word] = self._terminal(name).machine.run(line).stdout.decode().strip()

    def _gets(self, _, name, number):
        self._terminal(name).process.send_signal(signal.Signals[number])

    def _sets(self, _, name, word, value):
        self._terminal(name).variables[word] = value

    def _unsets(self, _, name, word):
        self._terminal(name).variables[word] = None

    def _clears(self, _, name):
        self._terminal(name).clear()

    def _exits(self, _, name, code):
        terminal = self._terminal(name)
        self._until(lambda: terminal.process.poll() is not None, f"{name}: the command does not end")
        while terminal.read():
            pass
        if terminal.process.returncode != int(code):
            raise Broken(f"exit code {terminal.process.returncode}")

    def _shows(self, place, name):
        screen = self._terminal(name).screen
        end = place + 1
        while end < len(self.lines) and self.lines[end][:1] in ("┌", "│", "└"):
            end += 1
        expected = "\n".join(self.lines[place + 1:end])
        if self.rewrites:
            self._stand_still()
        else:
            try:
                self._until(lambda: box(name, screen) == expected, "")
            except Broken:
                difference = difflib.unified_diff(expected.splitlines(), box(name, screen).splitlines(), "expected", "shown",
                                                  lineterm="", n=1)
                raise Broken("\n".join(difference)) from None
        self.written += [self.lines[place], *box(name, screen).splitlines()]
        return end

    STEPS = [
        (r"machines: (.+)", _names),
        (r"needs: (\S+)", _needs),
        (r"([a-z]+[2-9]?)\$ (.+)", _starts),
        (r"([a-z]+[2-9]?): runs (.+)", _runs),
        (r"([a-z]+[2-9]?): types (.+)", _types),
        (r"([a-z]+[2-9]?): sees (.+)", _sees),
        (r"([a-z]+[2-9]?): takes ([A-Z]+) from the lines after (.+)", _takes_lines),
        (r"([a-z]+[2-9]?): takes ([A-Z]+) from (.+)", _takes),
        (r"([a-z]+[2-9]?): shell gives ([A-Z]+) with (.+)", _shell),
        (r"([a-z]+[2-9]?): gets (SIG[A-Z]+)", _gets),
        (r"([a-z]+[2-9]?): has ([A-Z_]+)=(.*)", _sets),
        (r"([a-z]+[2-9]?): has no ([A-Z_]+)", _unsets),
        (r"([a-z]+[2-9]?): clears", _clears),
        (r"([a-z]+[2-9]?): exit code ([0-9]+)", _exits),
        (r"([a-z]+[2-9]?): screen", _shows),
    ]

    def _pump(self, seconds):
        """Takes what the terminals get within the time; returns whether there was any."""
        masters = {terminal.master: terminal for terminal in self.terminals.values()}
        ready, _, _ = select.select(list(masters), [], [], seconds)
        return any([masters[master].read() for master in ready])

    def _until(self, condition, text):
        deadline = time.monotonic() + DEADLINE
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise Broken(f"{text} within {DEADLINE} s")
            self._pump(0.02)

    def _stand_still(self):
        still = time.monotonic() + STILL
        while time.monotonic() < still:
            if self._pump(0.05):
                still = time.monotonic() + STILL


def box(name, screen):
    """Returns the screen in a frame, without the empty rows at its end."""
    lines = screen.lines(normal)
    while lines and not lines[-1]:
        lines.pop()
    title = f"─ {name} "
    rows = [f"│{line}{' ' * (screen.width - width(line))}│" for line in lines]
    return "\n".join([f"┌{title}{'─' * (screen.width - len(title))}┐", *rows, f"└{'─' * screen.width}┘"])


def play(path, rewrites=False):
    """Plays the transcript in a file. Returns how it differs, or None."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with tempfile.TemporaryDirectory() as directory:
        try:
            # The child cannot raise an exception of several lines.
            answer = network.inside(_play, lines, directory, rewrites, seconds=120)
        except Failure as failure:
            return str(failure)
    if "broken" in answer:
        return answer["broken"]
    if rewrites and answer["lines"] != lines:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(answer["lines"]) + "\n")
    return None


def _play(*arguments):
    try:
        return {"lines": Play(*arguments).run()}
    except Broken as reason:
        return {"broken": str(reason)}


def names(words=()):
    found = sorted(name for name in os.listdir(FOLDER) if name.endswith(".txt"))
    return [name for name in found if not words or any(word in name for word in words)]


def play_all(found, rewrites=False):
    """Returns the name of each transcript, how it differs, and its duration."""
    def one(name):
        start = time.monotonic()
        try:
            result = play(os.path.join(FOLDER, name), rewrites)
        except network.Skipped as reason:
            result = reason
        return name, result, time.monotonic() - start
    with ThreadPoolExecutor(4) as pool:
        yield from pool.map(one, found)


def unknown_rows():
    """Returns what the table of frictions names and does not exist: sessions, tests by their titles, checks, and files."""
    tests = os.path.dirname(os.path.dirname(FOLDER))
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| ([0-9]+) \| .* \| (.*) \|$", file.read(), re.MULTILINE)
    code = ""
    for folder, _, found in os.walk(tests):
        for name in found:
            if name.endswith((".swift", ".py")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    code += file.read()
    unknown = [] if [int(number) for number, _ in rows] == list(range(1, 26)) else ["all numbers from 1 to 25"]
    for _, shown in rows:
        for name in re.findall(r"`(.+?)`", shown):
            is_there = any(os.path.exists(os.path.join(place, name)) for place in (FOLDER, os.path.dirname(tests)))
            if not (is_there or f"def {name}():" in code or name.startswith('"') and name[:-1] in code):
                unknown.append(name)
    return unknown


def transcripts():
    """At terminals of 80 by 24, sessions look as their transcripts say"""
    unknown = unknown_rows()
    peer.expect(not unknown, f"transcripts/README.md names {unknown}")
    results = list(play_all(names()))
    skipped = [result for _, result, _ in results if isinstance(result, network.Skipped)]
    broken = [f"{name}, {result}" for name, result, _ in results if result and result not in skipped]
    peer.expect(not broken, "\n".join(broken))
    if len(skipped) == len(results):
        raise skipped[0]
    return f"{len(results) - len(skipped)} sessions" + "".join(f"; one skipped: {reason}" for reason in skipped)
