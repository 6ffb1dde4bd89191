# SPDX-License-Identifier: Apache-2.0
"""Where the processor time goes: the functions in which the two processes of a row were seen most often."""

import collections
import os
import re
import shutil
import subprocess
import tempfile

from bench.cases import CASES
from bench.processes import Failure
from bench.rounds import places, run_side

ROWS = ("bulk, 64 KiB", "64 B, batches", "file / C pair", "connect")
SHOWN = 15
# Samples per second of processor time; a prime number, so that nothing periodic is sampled in step.
FREQUENCY = 1999


def run(programs, options, libraries):
    if "swift" not in programs:
        raise Failure("--profile is of the Swift program, and there is none")
    if not shutil.which("perf"):
        raise Failure("--profile needs perf (Debian: linux-perf)")
    wanted = [case for case in CASES if (options.wants(case.name) if options.only else case.name in ROWS)]
    return {case.name: profile(case, programs[case.program_of("swift")], options, libraries) for case in wanted}


def profile(case, program, options, openssl):
    with tempfile.TemporaryDirectory(prefix="multipeer-profile-") as folder:
        recorder = Recorder(folder)
        record = run_side("swift", program, case, places(case.cores), options, openssl, recorder)
        seen = collections.Counter()
        for file in recorder.files:
            seen.update(samples(file))
    total = sum(seen.values())
    if not total:
        raise Failure(f"{case.name}: perf took no sample")
    top = [(100 * number / total, *place) for place, number in seen.most_common(SHOWN)]
    names = demangled([name for _, name, _ in top])
    libraries = collections.Counter()
    for (_, library), number in seen.items():
        libraries[library] += number
    return {"cpu_s": record["cpu_s"], "samples": total,
            "libraries": {library: 100 * number / total for library, number in libraries.most_common(8)},
            "top": [{"percent": percent, "function": name, "library": library}
                    for (percent, _, library), name in zip(top, names)]}


class Recorder:
    """Starts each process under perf, with a file of its own."""

    def __init__(self, folder):
        self.folder, self.files = folder, []

    def __call__(self, command):
        self.files.append(os.path.join(self.folder, f"{len(self.files)}.data"))
        return ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", self.files[-1], "--"] + command


def samples(file):
    """Yields the function and the library of each sample."""
    output = subprocess.run(["perf", "script", "-i", file, "-F", "ip,sym,dso"], capture_output=True, text=True)
    if output.returncode != 0:
        raise Failure(f"perf script: {output.stderr.strip()}")
    for line in output.stdout.splitlines():
        match = re.match(r"\s*[0-9a-f]+ (.+) \((.*)\)$", line)
        if match:
            function = match.group(1).replace("[unknown]", "(without symbols)")
            yield function, os.path.basename(match.group(2))


def demangled(names):
    try:
        output = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(names),
                                capture_output=True, text=True).stdout.splitlines()
    except OSError:
        return names
    return output if len(output) == len(names) else names


def report(profiles, around):
    print(f"revision: {around['revision']}\nopenssl: {around['openssl']}\n")
    for name, result in profiles.items():
        print(f"{name}: {result['cpu_s']:.2f} s of processor time of both processes, {result['samples']} samples")
        print("  " + ", ".join(f"{library} {percent:.0f} %" for library, percent in result["libraries"].items()))
        for line in result["top"]:
            print(f"  {line['percent']:5.1f} %  {line['library']:24.24}  {line['function'][:100]}")
        print()
