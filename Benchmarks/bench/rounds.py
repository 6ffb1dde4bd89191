# SPDX-License-Identifier: Apache-2.0
"""All runs of one row, in turns, and their summary."""

import concurrent.futures
import operator
import os
import statistics

from bench.cases import GIB
from bench.processes import FILES, Failure, measure, touch_pages

RELATIONS = {">=": operator.ge, "<=": operator.le}


def run_case(case, programs, options, libraries):
    cpus = places(case.cores)
    sides = ({"c": case.base} if case.base else {}) | ({"swift": "swift"} if "swift" in programs else {})
    runs = {name: [] for name in sides}
    if case.swift_mode in FILES:
        touch_pages(file_size(options) if case.size == GIB else case.size * case.count)
    # A process that does nothing disturbs no other: only then both sides run at once.
    with concurrent.futures.ThreadPoolExecutor(2 if case.mode == "nothing" else 1) as pool:
        for _ in range(options.rounds):
            arguments = {name: (name, programs[case.program_of(program)], case, cpus, options, libraries)
                         for name, program in sides.items()}
            for name, run in [(name, pool.submit(run_side, *of)) for name, of in arguments.items()]:
                try:
                    runs[name].append(run.result())
                except Failure as failure:
                    raise Failure(f"{sides[name]}: {failure}") from None
            if case.derive and "swift" in runs:
                runs["swift"][-1] |= case.derive(runs["swift"][-1], runs["c"][-1])
    return {"name": case.name, "mode": case.mode, "swift_mode": case.swift_mode, "base": case.base, "size": case.size,
            "count": case.quick if options.quick else case.count, "cpus": [sorted(cpu) for cpu in cpus], "runs": runs}


def places(cores):
    """Returns the cores of the client and those of the servers."""
    cpus = sorted(os.sched_getaffinity(0))
    if cores == "one" or len(cpus) < 2:
        return {cpus[0]}, {cpus[0]}
    return ({cpus[0]}, {cpus[1]}) if cores == "apart" else (set(cpus[:2]), set(cpus[:2]))


def run_side(name, program, case, cpus, options, libraries, recorder=None):
    count = case.quick if options.quick else case.count
    mode, size = case.swift_mode, case.size
    if name == "c":
        mode, size, count = case.mode, case.base_size or size, case.base_count or count
    if size == GIB:
        size = file_size(options)
    return measure(program, mode, size, count, cpus, options.timeout, libraries, case.is_hybrid, recorder)


def file_size(options):
    return GIB // 8 if options.quick else GIB


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarise(case, runs, version):
    """Returns for each figure the spread of both sides and of their ratio, and whether the goals are met."""
    summary = {}
    for figure in case.figures:
        entry = {"unit": figure.unit}
        of = {name: [run[figure.key] / figure.divisor for run in records] for name, records in runs.items()
              if all(run.get(figure.key) is not None for run in records)}
        entry |= {name: spread(values) for name, values in of.items()}
        if len(of) == 2:
            entry["ratio"] = spread([s / c for s, c in zip(of["swift"], of["c"])])
        entry["goals"] = [judged(goal, entry, version) for goal in figure.goals if goal.bound_for(version)]
        summary[figure.key] = entry
    return summary


def judged(goal, entry, version):
    bound = goal.bound_for(version)
    of = entry.get("ratio" if goal.what == "ratio" else "swift")
    met = RELATIONS[goal.relation](of["median"], bound) if of else None
    return {"what": goal.what, "relation": goal.relation, "bound": bound, "met": met}
