"""The pages of the specification: its chapters with every label as an anchor, and for each chapter what proves its rules."""

import json
import re
import sys

from pages import ROOT, escaped, relative
from prose import Document, inline, plain, rendered

sys.path.insert(0, str(ROOT / "Spec"))
sys.dont_write_bytecode = True
import coverage  # noqa: E402


def chapters():
    """The files, in the order in which they are read."""
    names = [path.name for path in (ROOT / "Spec").glob("[0-9A-F]*.md")]
    return sorted(names, key=lambda name: (not name[0].isdigit(), name))


def first_line(name):
    return (ROOT / "Spec" / name).read_text().split("\n", 1)[0].lstrip("# ")


class Specification:
    def __init__(self, site, known):
        self.site, self.known = site, known
        self.labels = {}  # file → labels
        for name in chapters():
            place = f"spec/{name.removesuffix('.md')}.html"
            known.documents[f"Spec/{name}"] = place
            labels = coverage.DEFINITION.findall((ROOT / "Spec" / name).read_text())
            if name[0] in "DEF" or not labels:
                continue
            self.labels[name] = labels
            for label in labels:
                known.definitions[label] = f"{place}#{label}"
                known.rules[label] = f"spec/rules-{name.removesuffix('.md')}.html#{label}"
        known.documents["Spec/README.md"] = "spec/index.html"
        known.documents["Spec/rules.md"] = "spec/rules.html"
        for name in ("exceptions.md", "vectors/README.md", "wireshark/README.md", "models/README.md"):
            known.documents[f"Spec/{name}"] = f"spec/{name.removesuffix('.md').replace('/README', '')}.html"
        self.sections = {}  # "6.2" → place
        for name in chapters():
            for line in (ROOT / "Spec" / name).read_text().splitlines():
                match = re.match(r"#+ ([0-9]+(?:\.[0-9]+)?|[A-F](?:\.[0-9]+)?) ", line)
                if match:
                    anchor = f"#{match[1]}" if "." in match[1] else ""
                    self.sections[match[1]] = known.documents[f"Spec/{name}"] + anchor

    def write(self, places, cases):
        """Writes all pages. `places` are those of the labels in the code; `cases` are the conformance suite's."""
        for path, page in list(self.known.documents.items()):
            if path.startswith("Spec/") and path != "Spec/rules.md":
                self._chapter(path, page)
        self._rules(places, cases)

    def _side(self, page, document=None):
        rows = []
        for name in chapters():
            place = self.known.documents[f"Spec/{name}"]
            here = place == page or page == f"spec/rules-{name.removesuffix('.md')}.html"
            inner = f"<ul>{document.contents()}</ul>" if here and document else ""
            rows.append(f'<li{" class=here" if here else ""}><a href="{relative(place, page)}">{escaped(first_line(name))}</a>'
                        f"{inner}</li>")
        for place, word in (("spec/index.html", "MPC/1: how to read it"), ("spec/rules.html", "Rules, with code and tests")):
            rows.insert(0, f'<li{" class=here" if place == page else ""}><a href="{relative(place, page)}">{word}</a></li>')
        return f'<details open><summary>Specification</summary><ul>{"".join(rows)}</ul></details>'

    def _chapter(self, path, page):
        document = Document(path, page, self.known)
        body = document.body()
        name = path.removeprefix("Spec/")
        if name in self.labels:
            link = relative(f"spec/rules-{name.removesuffix('.md')}.html", page)
            body += (f'<p class="after">A label leads to the code that enforces its rule, the tests and the conformance cases: '
                     f'<a href="{link}">all {len(self.labels[name])} rules of this chapter</a>.</p>')
        self.site.page(page, document.title, body, self._side(page, document), "spec", "spec/index.html")
        for level, anchor, words in document.headings:
            self.site.entry(words, page if level == 1 else f"{page}#{anchor}", "specification",
                            "" if level > 1 else document.text.split("\n\n")[1][:200])

    def _rules(self, places, cases):
        enforced, shown = places
        table = json.loads((ROOT / "Spec/faults.json").read_text())
        judged = {}
        for case in cases:
            for label in case["rules"]:
                judged.setdefault(label, []).append(case["id"])
        rows, count = [], 0
        for name, labels in self.labels.items():
            page = f"spec/rules-{name.removesuffix('.md')}.html"
            chapter = self.known.documents[f"Spec/{name}"]
            body = [f"<h1>Rules of {escaped(first_line(name))}</h1>",
                    f'<p>For each rule of <a href="{relative(chapter, page)}">the chapter</a>: the lines of code that enforce it, and '
                    "what shows that they do.</p>"]
            sentences = self._sentences(name)
            for label in labels:
                count += 1
                body.append(self._rule(label, page, sentences.get(label, ""), enforced.get(label, []), shown.get(label, []),
                                       sorted(set(judged.get(label, []))), table))
                self.site.entry(label, self.known.definitions[label], "rule", plain(sentences.get(label, "")))
            self.site.page(page, f"Rules of {first_line(name)}", "".join(body), self._side(page), "spec", "spec/index.html")
            links = ", ".join(f'<a href="{relative(self.known.rules[label], "spec/rules.html")}"><code>{label}</code></a>' for label in labels)
            rows.append(f'<h2 id="{name[:2].rstrip("-")}"><a href="{relative(page, "spec/rules.html")}">{escaped(first_line(name))}</a></h2>'
                        f"<p>{links}</p>")
        body = (f"<h1>Rules</h1><p>The specification has {count} rules. Each has a page with its sentence, the lines of code that enforce it, "
                f"the tests and the conformance cases. <code>Spec/coverage.py</code> finds them; a test fails on a rule without code or "
                f"without a test.</p>{''.join(rows)}")
        self.site.page("spec/rules.html", "Rules", body, self._side("spec/rules.html"), "spec", "spec/index.html")

    def _sentences(self, name):
        """label → the item, paragraph or row that ends with it, as HTML."""
        found = {}
        for block in re.split(r"\n(?=\n|[*|] |[0-9]+\. )", (ROOT / "Spec" / name).read_text()):
            for label in coverage.DEFINITION.findall(block):
                text = re.sub(r"^\s*(\*|[0-9]+\.) ", "", block.strip())
                if text.startswith("|"):
                    text = ": ".join(cell.strip() for cell in text.strip("| ").split("|") if cell.strip())
                parts = re.split(r"\*\*\[([a-z0-9.-]+)\]\*\*", text)
                found[label] = rendered(parts[parts.index(label) - 1].strip()) if label in parts else ""
        return {label: re.sub(r'(href)="[^"]*"', f'\\1="{self._page(name)}"', text) for label, text in found.items()}

    def _page(self, name):
        return name.removesuffix(".md") + ".html"

    def _rule(self, label, page, sentence, enforced, shown, cases, table):
        def line(path, number, text):
            return f'<a href="{relative(self.known.place(path), page)}#L{number}">{text}</a>'

        code = [line(path, number, f"<code>{escaped(name)}:{number}</code>") for name, path, number in enforced]
        tests = [line(path, number, inline(title)) for title, path, number in shown]
        links = [f'<a href="{relative(self.known.cases[name], page)}"><code>{name}</code></a>' for name in cases if name in self.known.cases]
        faults = [f"<code>{escaped(name)}</code>" for name in table["faults"].get(label, [])]
        rows = [("code", code), ("tests", tests), ("cases", [", ".join(links)] if links else []),
                ("planted faults", [", ".join(faults)] if faults else [])]
        if label in table["without"]:
            rows[-1] = ("planted faults", [f"none: {escaped(table['without'][label])}"])
        cells = "".join(f"<dt>{word}</dt><dd>{'<br>'.join(found) or '–'}</dd>" for word, found in rows)
        return (f'<section class="rule" id="{label}"><h2><a href="{relative(self.known.definitions[label], page)}"><code>[{label}]</code></a>'
                f"</h2><blockquote>{sentence}</blockquote><dl>{cells}</dl></section>")
