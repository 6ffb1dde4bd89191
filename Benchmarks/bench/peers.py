# SPDX-License-Identifier: Apache-2.0
"""Other libraries for messages, beside the library and the C twin, in turns: `Benchmarks/run --peers`."""

import os
import subprocess
import sys

from bench.processes import Failure, measure
from bench.rounds import places, spread
from bench.surroundings import OUTPUT, ROOT, compile_c
from bench.table import print_columns, ranged

# A program in the folder peers/: its name in the table, the header that must be there, Debian's package, its libraries.
PEERS = {
    "zeromq": ("ZeroMQ CURVE", "zmq.h", "libzmq3-dev", ["-lzmq"]),
    "enet": ("ENet, plain", "enet/enet.h", "libenet-dev", ["-lenet"]),
    "nng": ("nng/TLS", "nng/nng.h", "libnng-dev", ["-lnng", "-lssl", "-lcrypto"]),
}

# A row: mode, size, count, cores, key of the figure, unit, divisor. A slow program sends a part of the messages, below.
ROWS = {
    "bulk, 64 KiB": ("bulk", 65536, 8192, "apart", "mb_per_s", "MB/s", 1),
    "64 B": ("pipelined", 64, 1_000_000, "apart", "messages_per_s", "M msg/s", 1e6),
    "1 KiB": ("pipelined", 1024, 400_000, "apart", "messages_per_s", "M msg/s", 1e6),
    "ping-pong, 2 cores": ("pingpong", 64, 5_000, "apart", "p50_us", "us p50", 1),
    "ping-pong, 1 core": ("pingpong", 64, 5_000, "one", "p50_us", "us p50", 1),
}
PARTS = {("zeromq", "bulk"): 4, ("enet", "bulk"): 4, ("nng", "bulk"): 8, ("zeromq", "pipelined"): 4,
         ("enet", "pipelined"): 4, ("nng", "pipelined"): 10}


def build():
    """Returns the programs of those libraries that are installed."""
    programs = {}
    for name, (title, header, package, libraries) in PEERS.items():
        present = subprocess.run([os.environ.get("CC", "cc"), "-E", "-include", header, "-x", "c", "/dev/null"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if present.returncode != 0:
            print(f"{title}: skipped, {package} is not installed", file=sys.stderr)
            continue
        source = os.path.join(ROOT, "Benchmarks", "peers", name + ".c")
        programs[name] = compile_c(source, os.path.join(OUTPUT, "peers", name), *libraries)
    return programs


def run_row(row, programs, options, libraries):
    mode, size, count, cores, *_ = ROWS[row]
    runs = {name: [] for name in programs}
    for _ in range(options.rounds):
        for name, program in programs.items():
            part = count // PARTS.get((name, mode), 1) // (4 if options.quick else 1)
            # The other libraries use the system's OpenSSL, if any.
            own = libraries if name in ("swift", "c") else None
            try:
                runs[name].append(measure(program, mode, size, part, places(cores), options.timeout, own))
            except Failure as failure:
                raise Failure(f"{name}: {failure}") from None
    return runs


def run(programs, options, libraries):
    programs = {name: programs[name] for name in ("swift", "c") if name in programs} | build()
    titles = {"swift": "Swift", "c": "C twin"} | {name: peer[0] for name, peer in PEERS.items()}
    results, failures = [], []
    table, protections = [["", ""] + [titles[name] for name in programs]], {}
    for row in ROWS:
        if not options.wants(row):
            continue
        print(f"{row} …", file=sys.stderr, flush=True)
        try:
            runs = run_row(row, programs, options, libraries)
        except Failure as failure:
            failures.append(f"{row}: {failure}")
            continue
        _, _, _, _, key, unit, divisor = ROWS[row]
        spreads = {name: spread([run[key] / divisor for run in records]) for name, records in runs.items()}
        cpu = {name: spread([run["cpu_us_per_message"] for run in records]) for name, records in runs.items()}
        peak = {name: max(max(run["peak_kib_client"], run["peak_kib_server"]) for run in records) / 1024
                for name, records in runs.items()}
        protections |= {titles[name]: records[0]["suite"] for name, records in runs.items() if records[0]["suite"]}
        table.append([row, unit] + [ranged(spreads[name]) for name in programs])
        table.append(["", "CPU us each"] + [ranged(cpu[name]) for name in programs])
        table.append(["", "peak MiB"] + [f"{peak[name]:.0f}" for name in programs])
        results.append({"name": row, "runs": runs, "summary": spreads})
    return results, failures, table, protections


def report(table, protections):
    print_columns(table)
    print("\nmedian (min-max); CPU is both processes together; peak is the larger of both")
    for title, protection in protections.items():
        print(f"{title}: {protection}")
