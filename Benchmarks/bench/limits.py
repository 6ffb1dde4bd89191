# SPDX-License-Identifier: Apache-2.0
"""Small programs that each show one limit of the machine or the language: `Benchmarks/run --limits`."""

import glob
import json
import os
import re
import subprocess
import sys

from bench.processes import Failure, prepare
from bench.rounds import places, spread
from bench.surroundings import OUTPUT, ROOT, compile_c
from bench.table import ranged


def build(source):
    name, kind = os.path.splitext(os.path.basename(source))
    program = os.path.join(OUTPUT, "limits", name)
    if kind == ".c":
        return compile_c(source, program, "-pthread", "-lssl", "-lcrypto")
    os.makedirs(os.path.dirname(program), exist_ok=True)
    subprocess.run(["swiftc", "-O", "-swift-version", "6", "-parse-as-library", "-o", program, source], check=True)
    return program


def purpose(source):
    """The first sentence of the program's comment."""
    with open(source) as file:
        lines = [line[2:].strip() for line in file if line.startswith("//") and "SPDX" not in line]
    return re.split(r"(?<=\.) ", " ".join(line for line in lines if line))[0].rstrip(".")


def run_once(program, cpus, timeout):
    try:
        answer = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=timeout, preexec_fn=prepare(cpus))
    except subprocess.TimeoutExpired:
        raise Failure(f"not done after {timeout} s") from None
    if answer.returncode != 0:
        raise Failure(f"ended with status {answer.returncode}")
    return [json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{")]


def run_program(program, options):
    """Returns by what was measured its unit and, for two cores and for one, the spread of all rounds."""
    values = {}
    for _ in range(options.rounds):
        for cores in ("any", "one"):
            for line in run_once(program, places(cores)[0], options.timeout):
                values.setdefault((line["what"], line["unit"]), {}).setdefault(cores, []).append(line["value"])
    return {key: {cores: spread(of) for cores, of in by_cores.items()} for key, by_cores in values.items()}


def run(options):
    table, results, failures = [["", "", "2 cores", "1 core"]], [], []
    for extension in ("c", "swift"):
        for source in sorted(glob.glob(os.path.join(ROOT, "Benchmarks", "limits", "*." + extension))):
            name = os.path.basename(source)
            if not options.wants(name):
                continue
            print(f"{name} …", file=sys.stderr, flush=True)
            try:
                measured = run_program(build(source), options)
            except (Failure, subprocess.CalledProcessError) as failure:
                failures.append(f"{name}: {failure}")
                continue
            table.append([f"{name}: {purpose(source)}", "", "", ""])
            for (what, unit), by_cores in measured.items():
                table.append(["  " + what, unit, ranged(by_cores.get("any")), ranged(by_cores.get("one"))])
                results.append({"program": name, "name": what, "unit": unit} | by_cores)
    return results, failures, table


def report(table):
    """Prints the table; a program's title is as long as it likes."""
    widest = max((len(row[0]) for row in table if row[1]), default=0)
    for title, unit, two, one in table:
        print("  ".join([title.ljust(widest), unit.ljust(3), two.ljust(24), one]).rstrip() if unit or two else title)
    print("\nmedian (min-max)")
