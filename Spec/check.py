#!/usr/bin/env python3
"""Checks the specification itself: labels, lengths, links, tables, examples, state tables, vectors. Exits 1 on a fault."""

import json
import pathlib
import re
import subprocess
import sys

SPEC = pathlib.Path(__file__).resolve().parent
# A chapter is read in one sitting; its generated tables are for looking things up. The total is what an implementer of
# everything has before him: 16,500 words until the mesh, 2,500 more for discovery, invitations and privacy.
CHAPTER, TOTAL = 1200, 19000
DEFINITION = re.compile(r"\*\*\[([a-z][a-z0-9]*\.[a-z][a-z0-9-]*)\]\*\*")


def words(text, generated=True):
    """Words of prose and tables, without annotated hex and drawings, and without the tables that a script writes."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    if not generated:
        text = re.sub(r"<!-- table .*?<!-- end -->", "", text, flags=re.DOTALL)
    return len(re.findall(r"[^\s|]*\w[^\s|]*", re.sub(r"<!--.*?-->", "", text)))


def chapters():
    return {path.name: path.read_text() for path in sorted(SPEC.glob("*.md"))}


def lengths(texts):
    for name, text in texts.items():
        if words(text, generated=False) > CHAPTER and name[0].isdigit():
            yield f"{name} has {words(text, generated=False)} words to read, more than {CHAPTER}"
    if sum(map(words, texts.values())) > TOTAL:
        yield f"all chapters have {sum(map(words, texts.values()))} words, more than {TOTAL}"


def labels(texts):
    seen = {}
    for name, text in texts.items():
        for line in text.splitlines():
            found = DEFINITION.findall(line)
            for label in found:
                if label in seen:
                    yield f"{label} is defined in {seen[label]} and in {name}"
                seen[label] = name
            if found and not re.search(r"\b(MUST|SHOULD|MAY)\b", line):
                yield f"{name}: {found[0]} ends a sentence that demands nothing"
    named = set()
    for path in [SPEC / "registries.json", *sorted((SPEC / "vectors").glob("*.json"))]:
        named |= set(re.findall(r'"label": "([^"]+)"', path.read_text()))
        for group in re.findall(r'"labels": \[([^\]]*)\]', path.read_text()):
            named |= set(re.findall(r'"([^"]+)"', group))
    for label in sorted(named - set(seen)):
        yield f"{label} is named by a registry or a vector but not defined"


def links(texts):
    for name, text in texts.items():
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not (SPEC / target).exists():
                yield f"{name} points to {target}, which is not there"


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
                        yield f"states.json: {name}, {state} × {event} leads nowhere"


def fits(value, schema, place):
    """As much of JSON Schema as schema.json uses."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int}
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        yield f"{place} is no {schema['type']}"
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
    for script in ("tables.py", "worked-example.py", "vectors/generate.py", "wireshark/generate.py"):
        run = subprocess.run([sys.executable, "-B", str(SPEC / script), "--check"], capture_output=True, text=True)
        if run.returncode:
            yield from ((run.stdout + run.stderr).strip() or f"{script} failed").splitlines()


def main():
    texts = chapters()
    if "--words" in sys.argv:
        for name, text in texts.items():
            print(f"{words(text):6} {name}")
        print(f"{sum(map(words, texts.values())):6} in all")
    if "--labels" in sys.argv:
        print("\n".join(label for text in texts.values() for label in DEFINITION.findall(text)))
    checks = (lengths(texts), labels(texts), links(texts), states(), vectors(), scripts())
    faults = [fault for check in checks for fault in check]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
