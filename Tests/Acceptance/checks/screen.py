"""The screen of a terminal: what its user sees after a program has written there.

It knows the few control sequences that the command uses, as ECMA-48 and xterm define them, and refuses all others, so that a
new one is noticed. """

import re
import unicodedata

# Control characters that a program must never write.
_KNOWN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
_JOINER = "\u200d"


def columns(character):
    """Returns how many columns a terminal gives a character: 0 if it belongs to the one before."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or 0x1f3fb <= ord(character) <= 0x1f3ff:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width(text):
    """Returns how many columns a line of text takes."""
    screen = Screen(width=1_000, height=1)
    screen.write(text)
    return screen.column


def _wrapped(line, most):
    """Cuts a line as the screen does."""
    screen = Screen(width=most, height=24)
    screen.write(line)
    return ["".join(row).rstrip() for row in screen.rows[:screen.row + 1]]


class UnknownSequence(Exception):
    """A control sequence that this screen does not know."""


class Screen:
    """Rows of cells; a cell holds a character with all that is joined to it, and is empty after a wide one."""

    def __init__(self, width=80, height=24):
        self.width, self.height = width, height
        self.rows = [self._empty() for _ in range(height)]
        self.goes_on = [False] * height  # Whether the row's text was too long for it, and goes on in the next one.
        self.scrolled = []
        self.beginning = 0
        self.row = self.column = 0
        self.wraps = False  # The last column was written: the next character goes to the next row.
        self.joins = False
        self.pending = ""

    @property
    def _current(self):
        place = self.row
        return self.rows[place]

    def _empty(self):
        return [" "] * self.width

    def lines(self, normal):
        """Returns the rows without the spaces at their ends. Lines are changed by a function before they are wrapped."""
        lines, line = [], []
        for row, goes_on in zip(self.rows, self.goes_on):
            line += row
            if not goes_on:
                lines += _wrapped(normal("".join(line).rstrip()), self.width)
                line = []
        return lines

    @property
    def text(self):
        """Everything since the last command began, also what was scrolled off."""
        return "\n".join(["".join(row).rstrip() for row in (self.scrolled + self.rows)[self.beginning:]])

    def begin(self):
        """A command begins here."""
        self.beginning = len(self.scrolled) + self.row

    def write(self, text):
        text = self.pending + text
        self.pending = ""
        place = 0
        while place < len(text):
            character = text[place]
            if character == "\x1b":
                found = _KNOWN.match(text, place)
                if not found:
                    if len(text) - place < 12 and re.fullmatch(r"\x1b(\[[0-9;?]*)?", text[place:]):
                        self.pending = text[place:]
                        return
                    raise UnknownSequence(repr(text[place:place + 12]))
                self._control(found.group(2), found.group(1))
                place = found.end()
                continue
            place += 1
            self._put(character)

    def _put(self, character):
        if character == "\r":
            self.column, self.wraps = 0, False
        elif character == "\n":
            self._feed()
        elif character == "\b":
            self.column, self.wraps = max(0, self.column - 1), False
        elif character == "\t":
            self.column = min(self.width - 1, (self.column // 8 + 1) * 8)
        elif character == "\a":
            pass
        elif ord(character) < 32 or 127 <= ord(character) < 160:
            raise UnknownSequence(repr(character))
        else:
            self._show(character)

    def _show(self, character):
        wide = columns(character)
        if wide == 0 or self.joins:
            self.joins = character == _JOINER
            self._join(character)
            return
        if self.wraps or self.column + wide > self.width:
            self._mark(True)
            self.column = 0
            self._feed()
        self.wraps = False
        row, place = self._current, self.column
        row[place] = character
        if wide == 2:
            row[place + 1] = ""
        self.column += wide
        if self.column >= self.width:
            self.column, self.wraps = self.width - 1, True

    def _mark(self, goes_on):
        place = self.row
        self.goes_on[place] = goes_on

    def _join(self, character):
        """Adds to the character before."""
        row = self._current
        place = self.column if self.wraps else self.column - 1
        while place > 0 and row[place] == "":
            place -= 1
        if place >= 0:
            row[place] += character

    def _feed(self):
        self.wraps = False
        if self.row + 1 < self.height:
            self.row += 1
        else:
            self.scrolled.append(self.rows.pop(0))
            self.rows.append(self._empty())
            self.goes_on = self.goes_on[1:] + [False]

    def _control(self, kind, parameters):
        numbers = [int(number) for number in parameters.strip("?").split(";") if number]
        count = numbers[0] if numbers else 0
        self.wraps = False
        row = self._current
        if kind == "m" or (kind in "hl" and parameters.startswith("?")):
            pass  # Colours, and modes such as the one of bracketed paste: they change no character.
        elif kind == "K" and count in (0, 2):
            self._mark(False)
            start = 0 if count == 2 else self.column
            row[start:] = [" "] * (self.width - start)
        elif kind == "J" and count in (0, 2):
            if count == 0:
                row[self.column:] = [" "] * (self.width - self.column)
            for below in range(self.row + 1 if count == 0 else 0, self.height):
                self.rows[below] = self._empty()
                self.goes_on[below] = False
        elif kind == "A":
            self.row = max(0, self.row - max(1, count))
        elif kind == "B":
            self.row = min(self.height - 1, self.row + max(1, count))
        elif kind == "C":
            self.column = min(self.width - 1, self.column + max(1, count))
        elif kind == "D":
            self.column = max(0, self.column - max(1, count))
        elif kind == "G":
            self.column = min(self.width, max(1, count)) - 1
        elif kind == "H":
            self.row = min(self.height, max(1, count)) - 1
            self.column = min(self.width, max(1, numbers[1] if len(numbers) > 1 else 1)) - 1
        else:
            raise UnknownSequence(f"CSI {parameters}{kind}")
