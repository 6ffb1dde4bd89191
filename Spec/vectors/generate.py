#!/usr/bin/env python3
"""Writes the test vectors of MPC/1, or, with --check, compares them with the existing files.

Only the standard library is used and nothing of the Swift package, so that a mistake cannot hide on both sides.
All randomness comes from fixed seeds: the same files come out, byte for byte.
"""

import argparse
import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILES = {
    "tlv.json": "tlv",
    "connection-data.json": "connection_data",
    "dialling.json": "dialling",
    "encryption-outcome.json": "encryption",
    "fingerprint.json": "fingerprint",
    "hello.json": "hello",
    "link-confirm.json": "confirm",
    "sas.json": "sas",
    "frames.json": "frames",
    "frame-sequences.json": "sequences",
    "messages.json": "messages",
    "credit.json": "credit",
    "channels.json": "channels",
    "resources.json": "resources",
    "datagrams.json": "datagrams",
    "datagram-keys.json": "datagram_keys",
    "members.json": "members",
    "mesh-traces.json": "mesh_traces",
    "dns-messages.json": "dns_messages",
    "invitations.json": "invitations",
    "invitation-traces.json": "invitation_traces",
    "codes.json": "codes",
    "limits.json": "limits",
    "turns.json": "turns",
    "selections.json": "selections",
}


def render(document):
    """Returns the text of a file, with one test to a line, so that a diff shows the tests that a change affects."""
    lines = ["{"]
    for key in ("schema", "title", "protocol", "revision"):
        lines.append(f"  {json.dumps(key)}: {json.dumps(document[key])},")
    lines.append('  "notes": {')
    notes = [f"    {json.dumps(flag)}: {json.dumps(text)}" for flag, text in document["notes"].items()]
    lines.append(",\n".join(notes) + "\n  },")
    lines.append('  "groups": [')
    groups = []
    for group in document["groups"]:
        head = [f"      {json.dumps(key)}: {json.dumps(value)}" for key, value in group.items() if key != "tests"]
        tests = ",\n".join("        " + json.dumps(one, ensure_ascii=False) for one in group["tests"])
        groups.append("    {\n" + ",\n".join(head) + ',\n      "tests": [\n' + tests + "\n      ]\n    }")
    lines.append(",\n".join(groups) + "\n  ]\n}\n")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    parser.add_argument("--count", action="store_true", help="also print how many tests each file has")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    stale, total = [], 0
    for name, module in FILES.items():
        document = importlib.import_module("generator." + module).build()
        text, path = render(document), HERE / name
        if options.count:
            count = sum(len(group["tests"]) for group in document["groups"])
            total += count
            print(f"{count:5} {name}")
        if options.check:
            if not path.exists() or path.read_text() != text:
                stale.append(name)
        else:
            path.write_text(text)
    if options.count:
        print(f"{total:5} in all")
    for name in stale:
        print(f"{name} differs from the output of the generator", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
