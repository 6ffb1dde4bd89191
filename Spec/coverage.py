#!/usr/bin/env python3
"""Writes rules.md: for each rule its chapter, the code that enforces it, the tests, conformance cases and faults that show it.

--check compares and exits 1 on difference. SpecTests fails where a rule has no code or nothing that shows it.
"""

import json
import pathlib
import re
import sys

SPEC = pathlib.Path(__file__).resolve().parent
ROOT = SPEC.parent
LABEL = r"[a-z][a-z0-9]*\.[a-z][a-z0-9-]*"
DEFINITION = re.compile(rf"\*\*\[({LABEL})\]\*\*")
BRACKETED = re.compile(rf"\[({LABEL})\]")
TITLE = re.compile(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"')
# A case begins with its id; the text up to the next id belongs to it. Cases made in a loop are named with a star.
AREA = r"(?:DATA|ENC|LINK|FRM|MSG|CHN|RES|DGR|MSH|INV|DNS|LIV|LIM|SAS|MUT|FLOOD)"
ID = rf"(?:{AREA}-\d\d|MUT-[A-Z]+)"
CASE = re.compile(rf'\(\s*"({AREA}-(?:\d\d|\d?\\\(\w+\)|[A-Z]+))",\s*"[0-9]')
RULES = re.compile(r"\brules:\s*\[([^\]]*)\]")
TITLES_SHOWN = 3
HEAD = """# Rules

Written by `coverage.py`: where each rule of the specification is enforced, and what shows that it is. Code names the files whose comments have the label; tests are titles; [cases](20-conformance.md) are those of `multipeer-conform`, faults those of its second peer that break the rule (`faults.json`), or why there is none.
"""


def files(folder, *endings):
    paths = (path for path in (ROOT / folder).rglob("*") if path.suffix in endings and path.is_file())
    return sorted(paths, key=lambda path: path.relative_to(ROOT).as_posix())


def note(places, label, place):
    if place not in places.setdefault(label, []):
        places[label].append(place)


def without_lines(places):
    """Returns label → what is there, once each, of label → (what, file, line)."""
    return {label: list(dict.fromkeys(what for what, _, _ in found)) for label, found in places.items()}


def code_places():
    """Returns label → (file, path, line). The conformance suite is not an implementation: the labels it cites do not count."""
    found = {}
    for path in files("Sources", ".swift", ".c", ".h"):
        name = path.relative_to(ROOT / "Sources").as_posix()
        if name.startswith("MultipeerConformance/"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for label in BRACKETED.findall(line.partition("//")[2]):
                note(found, label, (name, f"Sources/{name}", number))
    return found


def test_places():
    """Returns label → (title, path, line), the title without the labels at its end."""
    found = {}
    for path in files("Tests", ".swift"):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        for match in TITLE.finditer(text):
            for label in BRACKETED.findall(match[1]):
                title = BRACKETED.sub("", match[1]).replace('\\"', '"').strip()
                note(found, label, (title, name, text.count("\n", 0, match.start()) + 1))
    for folder in ("Tests/Acceptance", "Tests/Wasm"):
        for path in files(folder, ".py", ".sh", ".js", ".mjs", ""):
            text, name = path.read_text(errors="replace"), path.relative_to(ROOT).as_posix()
            for match in BRACKETED.finditer(text):
                note(found, match[1], (name, name, text.count("\n", 0, match.start()) + 1))
    return found


def case_places():
    """Returns id of a case → (path, line, labels)."""
    found = {}
    for path in files("Sources/MultipeerConformance/Cases", ".swift"):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        matches = list(CASE.finditer(text))
        for match, after in zip(matches, [*(m.start() for m in matches[1:]), len(text)]):
            labels = re.findall(LABEL, " ".join(RULES.findall(text[match.end():after])))
            line = text.count("\n", 0, match.start()) + 1
            found.setdefault(re.sub(r"\\.*", "*", match[1]), []).append((name, line, labels))
    return found


def code():
    return without_lines(code_places())


def tests():
    return without_lines(test_places())


def cases(defined):
    """Returns label → ids of cases, and all ids."""
    places = case_places()
    found = {}
    for name, here in places.items():
        for label in (label for _, _, labels in here for label in labels):
            if label in defined:
                note(found, label, name)
    return found, set(places)


def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def some(titles):
    shown = "; ".join(escaped(title) for title in titles[:TITLES_SHOWN])
    return shown + (f"; {len(titles) - TITLES_SHOWN} more" if len(titles) > TITLES_SHOWN else "")


def document():
    chapters = {path: DEFINITION.findall(path.read_text()) for path in sorted(SPEC.glob("[0-9A-C]*.md"))}
    defined = {label for labels in chapters.values() for label in labels}
    enforced, shown, (judged, _) = code(), tests(), cases(defined)
    table = json.loads((SPEC / "faults.json").read_text())
    planted = {label: ", ".join(f"`{fault}`" for fault in names) for label, names in table["faults"].items()}
    planted |= {label: f"none: {reason}" for label, reason in table["without"].items()}
    lines = [HEAD]
    for path, labels in chapters.items():
        if not labels:
            continue
        lines.append(f"## [{path.read_text().splitlines()[0].lstrip('# ')}]({path.name})\n")
        lines += ["| rule | code | tests | cases | faults |", "|---|---|---|---|---|"]
        lines += [f"| `{label}` | {', '.join(f'`{name}`' for name in enforced.get(label, [])) or '–'} "
                  f"| {some(shown.get(label, [])) or '–'} | {', '.join(sorted(judged.get(label, []))) or '–'} "
                  f"| {planted.get(label, '–')} |"
                  for label in labels]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    output, text = SPEC / "rules.md", document()
    if "--check" not in sys.argv:
        output.write_text(text)
    elif not output.exists() or output.read_text() != text:
        print("rules.md is not current: run Spec/coverage.py")
        sys.exit(1)
