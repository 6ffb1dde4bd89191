"""Pages of source code, made for every file that another page links to; labels in comments lead to the specification."""

import re

from pages import ROOT, escaped, relative

KEYWORDS = ("actor as associatedtype async await borrowing break case catch class consuming continue default defer deinit distributed "
            "do else enum extension fallthrough false fileprivate final for func guard if import in init inout internal is isolated "
            "let mutating nil nonisolated operator override package precedencegroup private protocol public repeat rethrows return "
            "self Self sending some any static struct subscript super switch throw throws true try typealias unsafe var weak where "
            "while").split()
SWIFT = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"\"\".*?\"\"\"|#*\"(?:[^\"\\\n]|\\.)*\"#*)"
    r"|(?P<keyword>(?<![\w.])(?:" + "|".join(KEYWORDS) + r")\b)|(?P<type>\b[A-Z]\w*)|(?P<attribute>[@#]\w+)", re.DOTALL)
PYTHON = re.compile(
    r"(?P<comment>\#[^\n]*)|(?P<string>\"\"\".*?\"\"\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<keyword>\b(?:def|class|return|if|elif|else|for|while|in|not|and|or|import|from|yield|raise|try|except|finally|with|as|"
    r"lambda|None|True|False|pass|break|continue)\b)", re.DOTALL)
LANGUAGES = {".swift": SWIFT, ".c": SWIFT, ".h": SWIFT, ".py": PYTHON}
LABEL = re.compile(r"\[([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)\]")


def coloured(text, language):
    """The text as HTML, with a span for each comment, string, keyword and type."""
    if language is None:
        return escaped(text)
    parts, end = [], 0
    for match in language.finditer(text):
        parts.append(escaped(text[end:match.start()]))
        kind, end = match.lastgroup, match.end()
        # A span ends in its line, since each line is an element of its own.
        parts += "\n".join(f'<span class="{kind}">{escaped(line)}</span>' for line in match[0].split("\n"))
    return "".join([*parts, escaped(text[end:])])


class Sources:
    """The files that pages link to. Asking for a place makes the file's page."""

    def __init__(self, site, known):
        self.site, self.known = site, known
        self.asked, self.waiting = set(), []

    def place(self, path):
        """The page of a file or directory of the repository, by its path there, or none if it does not exist."""
        full = ROOT / path
        if not full.exists() or path.startswith((".build", "..")):
            return None
        page = f"code/{path}/index.html" if full.is_dir() else f"code/{path}.html"
        if path not in self.asked:
            self.asked.add(path)
            self.waiting.append((path, page))
        return page

    def write(self):
        while self.waiting:
            path, page = self.waiting.pop()
            if (ROOT / path).is_dir():
                self._listing(path, page)
            else:
                self._file(path, page)

    def _listing(self, path, page):
        rows = []
        for entry in sorted((ROOT / path).iterdir(), key=lambda one: (one.is_dir(), one.name)):
            name = f"{path}/{entry.name}"
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            target = self.known.place(name) if self._is_text(entry) else None
            link = f'<a href="{relative(target, page)}">{escaped(entry.name)}</a>' if target else escaped(entry.name)
            rows.append(f"<li>{link}{'/' if entry.is_dir() else ''}</li>")
        self.site.page(page, path, f"{self._trail(path, page)}<ul>{''.join(rows)}</ul>", kind="listing")

    @staticmethod
    def _is_text(entry):
        if entry.is_dir() or entry.stat().st_size > 400_000:
            return False
        try:
            entry.read_text()
        except UnicodeDecodeError:
            return False
        return True

    def _trail(self, path, page):
        *folders, name = path.split("/")
        return f"<h1 class=path>{''.join(f'{escaped(folder)}<wbr>/' for folder in folders)}<b>{escaped(name)}</b></h1>"

    def _file(self, path, page):
        full = ROOT / path
        text = full.read_text(errors="replace")
        language = LANGUAGES.get(full.suffix)
        if language is None and text.startswith("#!") and "python" in text.split("\n", 1)[0]:
            language = PYTHON
        shown = coloured(text, language).rstrip("\n")

        def label(match):
            target = self.known.definitions.get(match[1])
            return f'[<a href="{relative(target, page)}">{match[1]}</a>]' if target else match[0]

        shown = LABEL.sub(label, shown)
        lines = "".join(f'<span id="L{number}">{line}\n</span>' for number, line in enumerate(shown.split("\n"), 1))
        self.site.page(page, path, f'{self._trail(path, page)}<pre class="lines">{lines}</pre>', kind="code")
