# SPDX-License-Identifier: Apache-2.0
"""The results of earlier runs: one line of JSON each, and the last two of one machine beside each other."""

import datetime
import json
import os
import statistics

from bench.surroundings import OUTPUT
from bench.table import print_columns, shown

FILE = os.path.join(OUTPUT, "history.jsonl")


def line_of(results, surroundings, options):
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "revision": surroundings["revision"], "machine": f"{surroundings['cpu']}, {surroundings['cpus']} cores, "
        f"Linux {surroundings['kernel']}", "openssl": surroundings["openssl"], "traits": surroundings["traits"],
        "rounds": options.rounds, "quick": options.quick, "rows": {result["name"]: row_of(result) for result in results},
    }


def row_of(result):
    row = {}
    for name, records in result["runs"].items():
        side = "base" if name == "c" else name
        for key in ("cpu_s", "cpu_s_client"):
            row[f"{key}_{side}"] = statistics.median(record[key] for record in records)
    for key, entry in result["summary"].items():
        row[key] = {"unit": entry["unit"], "goals": entry["goals"]} | {
            "base" if name == "c" else name: entry[name] for name in ("c", "swift", "ratio") if name in entry}
    return row


def append(results, surroundings, options):
    os.makedirs(os.path.dirname(FILE), exist_ok=True)
    with open(FILE, "a") as file:
        file.write(json.dumps(line_of(results, surroundings, options)) + "\n")


def compare():
    """Prints the last run, and beside it the last one before it of the same machine, OpenSSL, traits and length, with a row in
    common."""
    lines = []
    if os.path.exists(FILE):
        with open(FILE) as file:
            # Lines of earlier versions have no traits.
            lines = [{"traits": "default"} | json.loads(line) for line in file if line.strip()]
    if not lines:
        print("there are no results yet")
        return 1
    now = lines[-1]
    same = ("machine", "openssl", "traits", "quick")
    alike = [line for line in lines[:-1] if all(line[key] == now[key] for key in same)
             and set(line["rows"]) & set(now["rows"])]
    if not alike:
        print("there are no earlier results of the same machine, OpenSSL, traits and length")
        return 1
    before = alike[-1]
    print(f"{now['machine']}, {now['openssl']}{', quick' if now['quick'] else ''}")
    print(f"before: {before['date']}, {before['revision']}, {before['rounds']} rounds")
    print(f"now:    {now['date']}, {now['revision']}, {now['rounds']} rounds\n")
    table = [["", "", "before", "now", "change", "ratio before", "ratio now", "CPU s before", "CPU s now"]]
    for name, row in now["rows"].items():
        if name in before["rows"]:
            table += compared(name, before["rows"][name], row)
    print_columns(table)
    print("\nmedians; Swift, and its ratio to the base of the same run, which counts if the machine's speed varies")
    return 0


def compared(name, before, now):
    is_first = True
    for key, entry in now.items():
        if not isinstance(entry, dict) or not isinstance(before.get(key), dict):
            continue
        pairs = [(before[key].get(side, {}).get("median"), entry.get(side, {}).get("median")) for side in ("swift", "ratio")]
        (old, new), (old_ratio, new_ratio) = pairs
        cpu = [before.get("cpu_s_swift"), now.get("cpu_s_swift")] if is_first else [None, None]
        yield [name if is_first else "", entry["unit"], text(old), text(new), change(old, new), text(old_ratio),
               text(new_ratio), text(cpu[0]), text(cpu[1])]
        is_first = False


def text(value):
    return "" if value is None else shown(value)


def change(old, new):
    return f"{(new / old - 1) * 100:+.0f} %" if old and new is not None else ""
