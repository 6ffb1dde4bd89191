#!/usr/bin/env python3
"""Checks the specification itself: labels, lengths, links, tables, examples, state tables, vectors. Exits 1 on a fault."""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import coverage

SPEC = pathlib.Path(__file__).resolve().parent
# A chapter should be readable in one sitting. The total is what an implementer of everything reads: every word of the
# chapters, the appendices, the README and the exceptions. Text that scripts write (tables, rules.md) is for reference; hex,
# drawings and formulas are not prose; the vectors have their own README. None of these counts.
CHAPTER, TOTAL = 1400, 14250
# For those who write a shim, choose a TLS library, or read this implementation: nothing there is needed for the wire, nor
# counted with the rest.
ANNEXES, ANNEX = ("D-shim.md", "E-tls-libraries.md", "F-notes.md"), 1200
WRITTEN = "rules.md"
# These files talk about rules, or summarise them.
UNLABELLED = ("02-conventions.md", "20-conformance.md", "README.md", "C-pitfalls.md", "D-shim.md", "E-tls-libraries.md",
              "F-notes.md")
DEFINITION = re.compile(r"\*\*\[([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)\]\*\*")


def words(text, tables=False):
    """Returns the number of words of prose and of tables written by hand, and optionally of those that a script writes."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    if not tables:
        text = re.sub(r"<!-- table .*?<!-- end -->", "", text, flags=re.DOTALL)
    return len(re.findall(r"[^\s|]*\w[^\s|]*", re.sub(r"<!--.*?-->", "", text)))


def chapters():
    return {path.name: path.read_text() for path in sorted(SPEC.glob("*.md")) if path.name != WRITTEN}


def lengths(texts):
    for name, text in texts.items():
        if words(text) > CHAPTER and name[0].isdigit():
            yield f"{name} has {words(text)} words to read, more than {CHAPTER}"
        if name in ANNEXES and words(text) > ANNEX:
            yield f"{name} has {words(text)} words to read, more than {ANNEX}"
    total = sum(words(text) for name, text in texts.items() if name not in ANNEXES)
    if total > TOTAL:
        yield f"all files but the annexes have {total} words to read, more than {TOTAL}"


def labels(texts):
    seen = {}
    for name, text in texts.items():
        for line in text.splitlines():
            found = DEFINITION.findall(line)
            for label in found:
                if label in seen:
                    yield f"{label} is defined in {seen[label]} and in {name}"
                seen[label] = name
            demands = re.search(r"\b(MUST|SHOULD|MAY)\b", line)
            if found and not demands:
                yield f"{name}: {found[0]} ends a sentence without MUST, SHOULD or MAY"
            if demands and not found and name not in UNLABELLED and not line.startswith("|"):
                yield f"{name}: a rule has no label: {line}"
    named = set()
    for path in [SPEC / "registries.json", *sorted((SPEC / "vectors").glob("*.json"))]:
        named |= set(re.findall(r'"label": "([^"]+)"', path.read_text()))
        for group in re.findall(r'"labels": \[([^\]]*)\]', path.read_text()):
            named |= set(re.findall(r'"([^"]+)"', group))
    for label in sorted(named - set(seen)):
        yield f"{label} is used in a registry or a vector, but is not defined"


def cases(texts):
    """Checks that the conformance suite has the cases that the text names."""
    _, every = coverage.cases(set())
    for name, text in texts.items():
        for first, last in re.findall(rf"\b({coverage.ID})(?:–({coverage.ID}))?\b", text):
            for case in filter(None, (first, last)):
                if every and not any(fnmatch.fnmatch(case, one) for one in every):
                    yield f"{name} names {case}, which the conformance suite lacks"


def sections(texts):
    """Checks that the sections to which the text refers in parentheses exist."""
    heads = {head for text in texts.values() for head in re.findall(r"^## (\d+\.\d+) ", text, flags=re.MULTILINE)}
    for name, text in texts.items():
        for group in re.findall(r"\((\d+\.\d+(?:, \d+\.\d+)*)[),;]", text):
            for place in group.split(", "):
                if place not in heads:
                    yield f"{name} refers to section {place}, which does not exist"


def links(texts):
    for name, text in texts.items():
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not target.startswith("https://") and not (SPEC / target).exists():
                yield f"{name} links to {target}, which does not exist"


def terms(texts):
    """Checks that the chapters use the terms that chapter 2 lists."""
    used = re.sub(r"\s+", " ", " ".join(text for name, text in texts.items() if name != "02-conventions.md")).lower()
    for row in json.loads((SPEC / "terms.json").read_text())["terms"]:
        for term in row["term"].split(", "):
            if term.lower() not in used:
                yield f"terms.json lists '{term}', which no chapter uses"


def lists(texts):
    """Checks that the rules and the tests that lists.json names exist."""
    defined = {label for text in texts.values() for label in DEFINITION.findall(text)}
    suites = set()
    for path in (SPEC.parent / "Tests").glob("**/*.swift"):
        suites |= set(re.findall(r"^struct (\w+Tests)\b", path.read_text(), flags=re.MULTILINE))
    _, every = coverage.cases(set())
    rows = json.loads((SPEC / "lists.json").read_text())
    for row in rows["lists"]:
        if row["label"] not in defined:
            yield f"lists.json: '{row['list']}' names {row['label']}, which is not defined"
    sources = {path.stem: path for path in (SPEC.parent / "Sources").glob("**/*.swift")}
    for row in rows["library"]:
        name, _, member = row["rule"].partition(".")
        if name not in sources or not re.search(rf"\b{member}\b", sources[name].read_text()):
            yield f"lists.json: '{row['list']}' names {row['rule']}, which does not exist"
    for row in rows["lists"] + rows["library"]:
        if not row["tests"]:
            yield f"lists.json: '{row['list']}' has no test"
        for test in row["tests"]:
            if test not in suites and every and test not in every:
                yield f"lists.json: '{row['list']}' is shown by {test}, which does not exist"


def states():
    machines = json.loads((SPEC / "states.json").read_text())["machines"]
    for name, machine in machines.items():
        variants = ([(dial, part) for dial in ("initiator", "responder") for part in ("controlling", "controlled")]
                    if name == "connection" else [(None, None)])
        for state in machine["states"]:
            for event in machine["events"]:
                for dial, part in variants:
                    rows = [row for row in machine["rows"] if (row["state"], row["event"]) == (state, event)
                            and row.get("dial") in (None, "both", dial)
                            and row.get("nomination") in (None, "both", part)]
                    if len(rows) != 1:
                        yield f"states.json: {name}, {state} × {event} has {len(rows)} rows"
                    elif rows[0]["next"] not in machine["states"]:
                        yield f"states.json: {name}, {state} × {event} leads to an unknown state"


def fits(value, schema, place):
    """Checks a value against the subset of JSON Schema that schema.json uses."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int}
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        yield f"{place} is not of type {schema['type']}"
        return
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        yield f"{place} must not be {value!r}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place} does not match {schema['pattern']}"
    for index, item in enumerate(value if isinstance(value, list) and "items" in schema else ()):
        yield from fits(item, schema["items"], f"{place}[{index}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{place} has no {key}" for key in schema.get("required", ()) if key not in value)
        if schema.get("additionalProperties") is False:
            yield from (f"{place} has an unknown {key}" for key in value if key not in known)
        for key in known.keys() & value.keys():
            yield from fits(value[key], known[key], f"{place}.{key}")


def vectors():
    schema = json.loads((SPEC / "vectors" / "schema.json").read_text())
    for path in sorted((SPEC / "vectors").glob("*.json")):
        if path.name not in ("schema.json", "certificates.json"):
            yield from fits(json.loads(path.read_text()), schema, path.name)


def scripts():
    names = ("tables.py", "worked-example.py", "coverage.py", "vectors/generate.py", "wireshark/generate.py",
             "pseudocode.py")
    for script in (name for name in names if (SPEC / name).exists()):
        run = subprocess.run([sys.executable, "-B", str(SPEC / script), "--check"], capture_output=True, text=True)
        if run.returncode:
            yield from ((run.stdout + run.stderr).strip() or f"{script} failed").splitlines()


def main():
    texts = chapters()
    if "--words" in sys.argv:
        for name, text in texts.items():
            print(f"{words(text):6} {name}, with tables {words(text, tables=True)}")
        counted = [text for name, text in texts.items() if name not in ANNEXES]
        print(f"{sum(map(words, counted)):6} in all without the annexes, with tables {sum(words(text, tables=True) for text in counted)}")
    if "--labels" in sys.argv:
        print("\n".join(label for text in texts.values() for label in DEFINITION.findall(text)))
    checks = (lengths(texts), labels(texts), cases(texts), sections(texts), links(texts), terms(texts), lists(texts), states(), vectors(),
              scripts())
    faults = [fault for check in checks for fault in check]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
