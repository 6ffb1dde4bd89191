"""What has a page, by the names that texts use for it: paths, labels, cases, commands, symbols."""

import posixpath
import re
import shutil

from pages import ROOT
from sources import Sources

COMMAND = re.compile(r"^multipeer(?:-conform)?(?: [a-z]+)*")


class Places:
    def __init__(self, site):
        self.site = site
        self.documents = {}  # path of a file of Markdown → its page
        self.rules, self.definitions = {}, {}  # label → where its proofs are, and its sentence
        self.cases = {}
        self.commands = {}
        self.symbols = {}
        self.sources = Sources(site, self)

    def place(self, path):
        """The page for a path of the repository."""
        path = posixpath.normpath(path)
        if path in self.documents:
            return self.documents[path]
        article = re.fullmatch(r"Sources/(\w+)/\1\.docc/(\w+)\.md", path)
        if article and (ROOT / path).exists():
            return f"documentation/{article[1].lower()}/{article[2].lower()}/index.html"
        if f"{path}/README.md" in self.documents:
            return self.documents[f"{path}/README.md"]
        if path.endswith((".svg", ".png")) and (ROOT / path).exists():
            target = f"pictures/{posixpath.basename(path)}"
            (self.site.folder / "pictures").mkdir(exist_ok=True)
            shutil.copy(ROOT / path, self.site.folder / target)
            return target
        return self.sources.place(path)

    def target(self, text):
        """The page for what stands between backticks, if that has one."""
        bare = text.strip("[]")
        if bare in self.definitions:
            return self.definitions[bare]
        if text in self.cases:
            return self.cases[text]
        if re.fullmatch(r"(Sources|Tests|Spec|Snippets|Examples|Fuzz|Benchmarks)(/[\w.+-]+)*/?|[A-Z]+\.md|Package\.swift", text):
            return self.place(text.rstrip("/"))
        match = COMMAND.match(text)
        if match and match[0] != "multipeer" or text in ("multipeer", "multipeer-conform"):
            words = match[0].split(" ")
            while words:
                if " ".join(words) in self.commands and (len(words) > 1 or text in self.commands):
                    return self.commands[" ".join(words)]
                words.pop()
        return self.symbols.get(text.removesuffix("()"))
