#!/usr/bin/env python3
"""Writes the numbers of mpc.lua from ../registries.json; --check compares and exits 1 on difference."""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DISSECTOR = HERE / "mpc.lua"
REGISTRIES = json.loads((HERE.parent / "registries.json").read_text())
MARKED = re.compile(r"(-- tables: generate\.py writes from here\n).*?(-- tables: to here\n)", re.DOTALL)


def quoted(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else str(value)


def row(values):
    return "{ " + ", ".join(f"{key} = {quoted(value)}" for key, value in values.items()) + " }"


def table(name, lines):
    return "\n".join([f"local {name} = {{", *(f"    {line}," for line in lines), "}"])


def chosen(one, *keys):
    return {key: one[key] for key in keys if one.get(key) is not None and one[key] is not False}


def tables():
    def numbered(key, *keys):
        return [f"[{one['value']}] = {row(chosen(one, 'name', *keys))}" for one in REGISTRIES[key]]

    def names(key):
        return [f"[{one['value']}] = {quoted(one['name'])}" for one in REGISTRIES[key]]

    entries = []
    for name, rows in REGISTRIES["tlv"].items():
        # A receiver treats what is reserved as unknown.
        known = [one for one in rows if not one["note"].startswith("reserved")]
        entries += [f"{name} = {{"]
        entries += [f"    [{one['type']}] = {row(chosen(one, 'name', 'min', 'max', 'mandatory', 'repeatable'))},"
                    for one in known]
        entries += ["}"]
    entries = "\n".join(["local ENTRIES = {"] + [f"    {line}" + ("," if line == "}" else "") for line in entries] + ["}"])
    grease = [f"{key} = {{ " + ", ".join(f"[0x{value:X}] = true" for value in values) + " }"
              for key, values in REGISTRIES["grease"].items() if key != "versions"]
    wanted = ("frame", "frameBeforeSelect", "connectionData", "candidates", "datagram", "entryCertificate", "entrySignature")
    limits = [f"{one['name']} = {one['value']}" for one in REGISTRIES["limits"] if one["name"] in wanted]
    return "\n".join([
        table("MAGIC", [f"{key} = {quoted(REGISTRIES['magic'][key])}" for key in ("connectionData", "plainPreface")]),
        table("ALPN", [f"{key} = {quoted(value)}" for key, value in REGISTRIES["alpn"].items()]),
        table("FRAMES", numbered("frames", "channel", "phase", "min", "max")),
        table("CODES", names("codes")),
        table("PREFERENCES", names("preferences")),
        table("CHANNEL_KINDS", names("channelKinds")),
        table("DATAGRAM_KINDS", names("datagramKinds")),
        table("DATAGRAM_CONTENTS", numbered("datagramContents", "min", "max")),
        table("GREASE", grease),
        table("LIMITS", limits),
        entries,
    ]) + "\n"


def main():
    old = DISSECTOR.read_text()
    new = MARKED.sub(lambda found: found[1] + tables() + found[2], old)
    if new == old:
        return 0
    if "--check" in sys.argv:
        print("wireshark/mpc.lua is not current: run Spec/wireshark/generate.py")
        return 1
    DISSECTOR.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
