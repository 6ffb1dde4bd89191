# SPDX-License-Identifier: Apache-2.0
"""The table that a run prints."""

import statistics


def shown(value):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def ranged(entry):
    return f"{shown(entry['median'])} ({shown(entry['min'])}-{shown(entry['max'])})" if entry else "-"


def costs(records):
    """Returns CPU per GiB (or per message where bytes do not matter), and the peak memory of both processes."""
    if not records:
        return "-", "-"
    median = lambda key: statistics.median(record[key] for record in records)
    if records[0]["cpu_s_per_gib"] is not None:
        cpu = f"{median('cpu_s_per_gib'):.2f} s/GiB"
    else:
        cpu = f"{median('cpu_us_per_message'):.0f} us each"
    return cpu, f"{median('peak_kib_client') / 1024:.0f}+{median('peak_kib_server') / 1024:.0f}"


def goal_text(goal):
    verdict = {True: " met", False: " MISSED", None: ""}[goal["met"]]
    return f"{'ratio ' if goal['what'] == 'ratio' else ''}{goal['relation']} {goal['bound']}{verdict}"


def rows(result):
    runs, is_first = result["runs"], True
    (c_cpu, c_peak), (swift_cpu, swift_peak) = costs(runs.get("c")), costs(runs.get("swift"))
    for entry in result["summary"].values():
        yield [result["name"] if is_first else "", entry["unit"], ranged(entry.get("c")), ranged(entry.get("swift")),
               ranged(entry.get("ratio")), "; ".join(map(goal_text, entry["goals"])),
               *([c_cpu, swift_cpu, c_peak, swift_peak] if is_first else [""] * 4)]
        is_first = False


def print_columns(table):
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_table(results):
    head = ["", "", "base", "Swift", "Swift / base", "goal", "CPU base", "CPU Swift", "peak base", "peak Swift"]
    print_columns([head] + [row for result in results for row in rows(result)])
    print("\nmedian (min-max); CPU is all processes together; peak is MiB, sender+receiver\n"
          "base: the C twin, unless the row names another")
    goals = [goal["met"] for result in results for entry in result["summary"].values() for goal in entry["goals"]]
    if any(met is not None for met in goals):
        print(f"goals: {goals.count(True)} met, {goals.count(False)} missed")
