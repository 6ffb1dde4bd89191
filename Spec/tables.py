#!/usr/bin/env python3
"""Writes the tables of the chapters from registries.json, states.json and the other lists; --check compares and exits 1 on difference."""

import json
import sys

sys.dont_write_bytecode = True
from blocks import SPEC, rewrite

REGISTRIES = json.loads((SPEC / "registries.json").read_text())
STATES = json.loads((SPEC / "states.json").read_text())
SHIM = json.loads((SPEC / "shim.json").read_text())
PRIVACY = json.loads((SPEC / "privacy.json").read_text())
ATTACKS = json.loads((SPEC / "attacks.json").read_text())
LISTS = json.loads((SPEC / "lists.json").read_text())
TERMS = json.loads((SPEC / "terms.json").read_text())


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def size(row):
    if row.get("name") == "CANDIDATE":
        return "7 or 19"
    return f"{row['min']:,}" if row["min"] == row["max"] else f"{row['min']:,}–{row['max']:,}"


def entries(name):
    return table(["type", "name", "bytes", "must", "value"], [
        (row["type"], row["name"], size(row), "yes" if row["mandatory"] else "", row["note"])
        for row in REGISTRIES["tlv"][name]])


def shown(channel):
    """Returns the table of what an eavesdropper sees in each message."""
    def value(row):
        if row.get("field") == "ALPN":
            return " or ".join(f"`{name}`" for name in PRIVACY[channel]["alpn"].values())
        values = row.get("values", [row["value"]] if row.get("value") else [])
        return " or ".join(f"`{one}`" for one in values) or ("empty" if row.get("bytes") == 0 else "")

    return table(["message", "field", "bytes", "value", "reveals"], [
        (row["message"], row["field"] + (f" ({row['extension']})" if "extension" in row else ""),
         " or ".join(f"{size:,}" for size in row.get("sizes", [])) or row.get("bytes", ""), value(row), row["reveals"]) for row in PRIVACY[channel]["fields"]])


def grease(values, digits):
    return ", ".join(f"`0x{value:0{digits}X}`" for value in values)


def named(names):
    return ", ".join(f"`{name}`" for name in names.split(", "))


def blocks():
    peer, member = STATES["machines"]["peer"], STATES["machines"]["member"]
    places = {(row["state"], row["event"]): row for row in member["rows"]}
    cells = {(row["state"], row["event"]): row for row in peer["rows"]}

    def cell(state, event):
        row = cells[state, event]
        if row["next"] == state and not row["notify"]:
            return "–"
        return row["next"] + (" (reports " + ", ".join(row["notify"]) + ")" if row["notify"] != [row["next"]] else "")

    def place(state, event):
        row = places[state, event]
        if row["next"] == state and not row["actions"]:
            return "–"
        return ", ".join([row["next"]] + [f"*{action}*" for action in row["actions"]])

    return {
        "table terms": table(["term", "meaning", "from"], [
            (row["term"], row["meaning"], row["from"]) for row in TERMS["terms"]]),
        "table connection-data": entries("connectionData"),
        "table hello": entries("hello"),
        "table open": entries("open"),
        "table fin": entries("fin"),
        "table signatures": table(["key", "scheme (RFC 8446, 4.2.3)"], [
            (row["key"], f"`{row['scheme']}`") for row in REGISTRIES["signatures"]]),
        "table invite": entries("invite"),
        "table answer": entries("answer"),
        "table complete": entries("complete"),
        "table kinds": table(["KIND", "name", "meaning"], [
            (row["value"], row["name"], row["meaning"]) for row in REGISTRIES["channelKinds"]]),
        "table datagrams": table(["kind", "name", "body"], [
            (row["value"], row["name"], row["body"]) for row in REGISTRIES["datagramKinds"]]),
        "table outcome": table(["A \\ B", "none", "optional", "required"], [
            ["**" + one + "**"] + [next(row["outcome"] for row in REGISTRIES["outcomes"]
                                        if (row["one"], row["other"]) == (one, other))
                                   for other in ("none", "optional", "required")]
            for one in ("none", "optional", "required")]),
        "table frames": table(["kind", "name", "channel", "when", "payload", "chapter"], [
            (f"`{row['value']:02X}`", row["name"], {"zero": "0", "nonzero": "not 0", "any": "any"}[row["channel"]],
             {"before-select": "before the link", "any": "always", "open": "on a link",
              "invitation": "on an invitation"}[row["phase"]], row["payload"], row["chapter"])
            for row in REGISTRIES["frames"]]),
        "table limits": table(["limit", "value", "unit", "label", "when exceeded"], [
            (row["name"], f"{row['value']:,}", row["unit"], f"`{row['label']}`", row["breach"]) for row in REGISTRIES["limits"]]),
        "table timers": table(["timer", "ms", "label", "meaning"], [
            (row["name"], f"{row['milliseconds']:,}", f"`{row['label']}`", row["meaning"])
            for row in REGISTRIES["timers"]]),
        "table lists": table(["list", "who can make it longer", "bound", "until", "label", "shown by"], [
            (row["list"], row["who"], row["bound"], row["until"], f"`{row['label']}`", ", ".join(row["tests"]))
            for row in LISTS["lists"]]),
        "table library-lists": table(["list", "who can make it longer", "bound", "until", "in", "shown by"], [
            (row["list"], row["who"], row["bound"], row["until"], f"`{row['rule']}`", ", ".join(row["tests"]))
            for row in LISTS["library"]]),
        "table codes": table(["code", "name", "meaning"], [
            (row["value"], row["name"], row["meaning"]) for row in REGISTRIES["codes"]]),
        "table mc-errors": table(["`MCError`", "codes"], [
            (error, ", ".join(row["name"] for row in REGISTRIES["codes"] if row["mcError"] == error))
            for error in dict.fromkeys(row["mcError"] for row in REGISTRIES["codes"]) if error]),
        "table causes": table(["cause", "this end", "the other end"], [
            (row["meaning"], row["here"], " / ".join(row[key] for key in ("there", "unheard") if key in row))
            for row in REGISTRIES["causes"]]),
        "table privacy-discovery": table(["message", "field", "value", "reveals"], [
            (row["message"], row["field"], row["value"], row["reveals"]) for row in PRIVACY["discovery"]["fields"]]),
        "table privacy-tls": table(["message", "field", "reveals"], [
            (row["message"], row["field"] + (f" ({row['extension']})" if "extension" in row else ""), row["reveals"])
            for row in PRIVACY["tls"]["fields"]]),
        "table privacy-tls-values": shown("tls"),
        "table privacy-datagrams": shown("datagrams"),
        "table privacy-absent": "\n".join(f"* {one}" for one in PRIVACY["absent"]),
        "table attackers": table(["attacker", "stopped by", "shown by"], [
            (row["attacker"], row["stoppedBy"], row["shownBy"]) for row in ATTACKS["attackers"]]),
        "table attacks": table(["attack", "answer", "shown by"], [
            (row["attack"], row["answer"], row["shownBy"]) for row in ATTACKS["attacks"]]),
        "table grease": table(["registry", "values"], [
            ("TLV types", grease(REGISTRIES["grease"]["tlv"], 4)),
            ("versions", grease(REGISTRIES["grease"]["versions"], 4)),
            ("frame kinds", grease(REGISTRIES["grease"]["frames"], 2))]),
        "table shim-requests": table(["op", "fields", "answer", "does"], [
            (named(row["op"]), row["fields"], row["answer"], row["meaning"]) for row in SHIM["requests"]]),
        "table shim-events": table(["event", "fields", "says"], [
            (named(row["event"]), row["fields"], row["meaning"]) for row in SHIM["events"]]),
        "table shim-transcript": "\n".join(["```text"] + [
            f"{mark} {json.dumps(line[way], separators=(',', ':'))}" for line in SHIM["transcript"]
            for mark, way in ((">", "to"), ("<", "from")) if way in line] + ["```"]),
        "table peer": table(["event \\ state"] + peer["states"], [
            ["**" + event + "**: " + meaning] + [cell(state, event) for state in peer["states"]]
            for event, meaning in peer["events"].items()]),
        "table member": table(["event \\ state"] + member["states"], [
            ["**" + event + "**: " + meaning] + [place(state, event) for state in member["states"]]
            for event, meaning in member["events"].items()]),
    }


if __name__ == "__main__":
    faults = rewrite("table", blocks(), "--check" in sys.argv)
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
