# SPDX-License-Identifier: Apache-2.0
"""Measures the library beside a C twin on the same OpenSSL, interleaved. See Benchmarks/README.md."""

import argparse
import json
import os
import sys

from bench import cores, history, limits, peers, profile, surroundings
from bench.cases import CASES
from bench.processes import Failure
from bench.rounds import run_case, summarise
from bench.table import print_table


def parse_options():
    parser = argparse.ArgumentParser(prog="Benchmarks/run", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of C, Swift, C, Swift … (default 5)")
    parser.add_argument("--quick", action="store_true", help="shorter runs: a look, not a measurement")
    parser.add_argument("--twin-only", action="store_true", help="the C twin alone")
    parser.add_argument("--swift-binary", metavar="FILE", help="measure this program instead of building one")
    parser.add_argument("--traits", default="default", metavar="LIST",
                        help="traits of the package for swift build, such as default,PortableRuntime (default: default)")
    parser.add_argument("--scratch-path", metavar="DIR", help="where swift build puts the programs (default: .build)")
    parser.add_argument("--only", metavar="WORD", action="append",
                        help="only the rows whose name contains WORD, in any case; may be repeated")
    parser.add_argument("--openssl", metavar="DIR", help="both sides with the libssl and libcrypto in DIR")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run (default 60)")
    parser.add_argument("--out", default=os.path.join(surroundings.OUTPUT, "result.json"), help="where the JSON goes")
    parser.add_argument("--peers", action="store_true", help="other libraries, beside this one and the twin")
    parser.add_argument("--limits", action="store_true", help="the programs in limits/, which show what no library can do")
    parser.add_argument("--profile", action="store_true",
                        help="the functions that take the processor time of bulk, 64 B, file and connect (needs perf)")
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    parser.add_argument("--compare", action="store_true", help="the last two results of this machine, beside each other")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    options.wants = lambda name: not options.only or any(word.lower() in name.lower() for word in options.only)
    return options


def chosen(programs, options, version):
    for case in CASES:
        if not options.wants(case.name):
            continue
        if "swift" not in programs and not case.runs_on_c_alone():
            continue
        if case.is_hybrid and version < (3, 5):
            print(f"{case.name}: skipped, OpenSSL 3.5 has this key exchange: --openssl DIR", file=sys.stderr)
            continue
        yield case


def look_around(programs, options, congestion):
    """Returns the folder of the OpenSSL that is measured, if one was named, its version, and what surrounds the run."""
    libraries = surroundings.libraries_in(options.openssl) if options.openssl else None
    openssl, version = surroundings.openssl_version(programs, libraries)
    return libraries, version, surroundings.describe(programs, congestion, openssl, options.traits)


def measure_all(programs, options, congestion):
    libraries, version, around = look_around(programs, options, congestion)
    results, failures = [], []
    for case in chosen(programs, options, version):
        print(f"{case.name} …", file=sys.stderr, flush=True)
        try:
            result = run_case(case, programs, options, libraries)
            results.append(result | {"summary": summarise(case, result["runs"], version)})
        except Failure as failure:
            failures.append(f"{case.name}: {failure}")
    runs = [run for result in results for records in result["runs"].values() for run in records]
    around |= {"load_after": os.getloadavg()[0], "suites": sorted({run["suite"] or "unknown" for run in runs})}
    return results, failures, around


def show_around(around, options):
    for key, value in around.items():
        print(f"{key.replace('_', ' ')}: {value}")
    print(f"rounds: {options.rounds}{', quick' if options.quick else ''}\n")


def report(results, failures, around, options):
    show_around(around, options)
    if results:
        print_table(results)
        history.append(results, around, options)
    document = {"surroundings": around, "rounds": options.rounds, "quick": options.quick}
    write(options.out, document | {"cases": results, "failures": failures})
    print(f"written: {options.out}, and a line of {history.FILE}")
    return finish(failures)


def write(file_name, document):
    os.makedirs(os.path.dirname(os.path.abspath(file_name)), exist_ok=True)
    with open(file_name, "w") as file:
        json.dump(document, file, indent=2)


def finish(failures):
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def show_limits(options):
    results, failures, table = limits.run(options)
    limits.report(table)
    cores.print_model(results)
    write(options.out, {"limits": results, "failures": failures})
    return finish(failures)


def show_peers(programs, options, congestion):
    libraries, _, around = look_around(programs, options, congestion)
    results, failures, table, protections = peers.run(programs, options, libraries)
    show_around(around, options)
    peers.report(table, protections)
    write(options.out, {"surroundings": around, "rounds": options.rounds, "peers": results, "failures": failures})
    return finish(failures)


def show_profile(programs, options, congestion):
    libraries, _, around = look_around(programs, options, congestion)
    profiles = profile.run(programs, options, libraries)
    profile.report(profiles, around)
    write(options.out, {"surroundings": around, "profiles": profiles})
    return 0


def main():
    options = parse_options()
    if options.list:
        print("\n".join(case.name for case in CASES))
        return 0
    if options.compare:
        return history.compare()
    if options.limits:
        return show_limits(options)
    inherited = os.environ.get(surroundings.PROGRAMS)
    if inherited:
        programs, congestion = json.loads(inherited), surroundings.settle_network()
    else:
        programs = surroundings.build(options)
        surroundings.isolate(programs)
        congestion = None
    congestion = congestion or surroundings.default_congestion()
    try:
        if options.peers:
            return show_peers(programs, options, congestion)
        if options.profile:
            return show_profile(programs, options, congestion)
        return report(*measure_all(programs, options, congestion), options)
    except Failure as failure:
        return finish([failure])
