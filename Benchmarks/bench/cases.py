# SPDX-License-Identifier: Apache-2.0
"""The rows of the table: what both programs do, which figures count, and their goals."""

GIB = 2**30


class Goal:
    """A bound for the median of the "ratio" Swift / base, or of the Swift "value".

    `newer` is the bound with OpenSSL 3.5 and later, where its faster ciphers hide less of the rest; None if it is the same.
    Without a `bound` the goal is only for those.
    """

    def __init__(self, what, relation, bound, newer=None):
        self.what, self.relation, self.bound, self.newer = what, relation, bound, newer

    def bound_for(self, version):
        return self.newer if self.newer is not None and version >= (3, 5) else self.bound


class Figure:
    """A key of the programs' JSON, its unit, the divisor for that unit, and its goals."""

    def __init__(self, key, unit, divisor, *goals):
        self.key, self.unit, self.divisor, self.goals = key, unit, divisor, goals


def mbps(*goals): return Figure("mb_per_s", "MB/s", 1, *goals)
def mmps(*goals): return Figure("messages_per_s", "M msg/s", 1e6, *goals)
def kcalls(*goals): return Figure("messages_per_s", "k calls/s", 1e3, *goals)
def kpps(*goals): return Figure("messages_per_s", "k msg/s", 1e3, *goals)
def files_per_s(*goals): return Figure("messages_per_s", "files/s", 1, *goals)
def p50(*goals): return Figure("p50_us", "us p50", 1, *goals)
def p99(*goals): return Figure("p99_us", "us p99", 1, *goals)
def median_ms(*goals): return Figure("p50_us", "ms p50", 1e3, *goals)
def cpu_per_gib(*goals): return Figure("cpu_s_per_gib", "CPU s/GiB", 1, *goals)
def cpu_each(*goals): return Figure("cpu_us_per_message", "CPU ms each", 1e3, *goals)
def cpu_s(*goals): return Figure("cpu_s", "CPU s", 1, *goals)


def ratio(relation, bound, newer=None): return Goal("ratio", relation, bound, newer)
def value(relation, bound, newer=None): return Goal("value", relation, bound, newer)


class Case:
    """One row.

    `base` is what Swift is compared with: a C program, the library itself doing something else ("swift"), or None.
    `base_size` and `base_count` are those of the base where they differ. `cores` says where the two sides run: "apart" on a
    core each, "one" for both, or "any" of two. `is_hybrid` checks that the key exchange was a hybrid one, which OpenSSL has
    from 3.5 on. `is_native`: the Swift program links the native API alone. `derive` computes further figures of a Swift run
    from it and the base's run of the same round.
    """

    def __init__(self, name, mode, size, count, quick, *figures, swift_mode=None, base="c", base_size=None,
                 base_count=None, cores="apart", is_hybrid=False, is_native=False, derive=None):
        self.name, self.mode, self.size, self.count, self.quick, self.figures = name, mode, size, count, quick, figures
        self.swift_mode, self.base, self.cores = swift_mode or mode, base, cores
        self.base_size, self.base_count = base_size, base_count
        self.is_hybrid, self.is_native, self.derive = is_hybrid, is_native, derive

    def program_of(self, side):
        return "native" if self.is_native and side == "swift" else side

    def runs_on_c_alone(self):
        return self.base in ("c", "datagrams") and self.swift_mode != "awaited"


def against_bulk(name, mode, size, count, quick, *figures):
    """A row that moves 512 MiB in another way than the library's own messages of 64 KiB, and is compared with them."""
    return Case(name, "bulk", size, count, quick, *figures, swift_mode=mode, base="swift", base_size=65536,
                base_count=8192)


def above_nothing(run, base):
    return {"above_ms": run["idle_ms_per_minute"] - base["idle_ms_per_minute"]}


def each_further(run, base):
    return {"each_mib": (run["resident_kib"] - base["resident_kib"]) / 1024 / (run["count"] - 1)}


IDLE = Figure("idle_ms_per_minute", "CPU ms/min, in all", 1)
ABOVE = Figure("above_ms", "CPU ms/min", 1, value("<=", 2))
ABOVE_IN_MESH = Figure("above_ms", "CPU ms/min", 1, value("<=", 12))
OWN = Figure("own_kib", "MiB, its own", 1024)

CASES = [
    # Messages.
    Case("bulk, 64 KiB", "bulk", 65536, 8192, 4096, mbps(ratio(">=", 0.95, 0.85)), cpu_per_gib(ratio("<=", None, 1.3))),
    Case("64 B, batches", "pipelined", 64, 4_000_000, 1_000_000, mmps(value(">=", 10), ratio(">=", 0.4))),
    Case("64 B, await each", "pipelined", 64, 1_000_000, 200_000, mmps(value(">=", 7)), swift_mode="awaited"),
    Case("64 B, await each, not pinned", "pipelined", 64, 1_000_000, 200_000, mmps(value(">=", 5.5)),
         swift_mode="awaited", cores="any"),
    Case("1 KiB, batches", "pipelined", 1024, 500_000, 250_000, mmps(ratio(">=", 0.9, 0.8))),
    against_bulk("1 MiB / bulk", "bulk", 2**20, 512, 256, mbps(ratio(">=", 0.9))),
    against_bulk("16 MiB / bulk", "bulk", 2**24, 32, 16, mbps(ratio(">=", 0.85))),
    against_bulk("one stream / bulk", "stream", 65536, 8192, 4096, mbps(ratio(">=", 0.9))),
    against_bulk("8 streams / bulk", "streams", 65536, 8192, 4096, mbps(ratio(">=", 0.9))),
    # Round trips, and connecting.
    Case("ping-pong, 2 cores", "pingpong", 64, 10_000, 2_000, p50(ratio("<=", 1.1)), p99(ratio("<=", 1.3))),
    Case("ping-pong, 1 core", "pingpong", 64, 10_000, 2_000, p50(ratio("<=", 1.15)), p99(ratio("<=", 1.3)),
         cores="one"),
    Case("ping-pong, ordinary task, 2 cores", "pingpong", 64, 10_000, 2_000, p50(value("<=", 80)), p99(),
         swift_mode="pingapart"),
    Case("ping-pong, ordinary task, 1 core", "pingpong", 64, 10_000, 2_000, p50(value("<=", 35)), p99(),
         swift_mode="pingapart", cores="one"),
    Case("connect", "connect", 300, 200, 50, median_ms(ratio("<=", 1.3)), cpu_each(ratio("<=", 1.8))),
    Case("connect, hybrid", "connect", 300, 200, 50, median_ms(value("<=", 2)), is_hybrid=True),
    # Several, and datagrams.
    Case("fan-out to 7, 64 KiB", "fanout", 65536, 2048, 512, mbps(ratio(">=", 0.9, 0.8))),
    Case("datagrams, GSO", "gso", 1150, 500_000, 100_000, kpps(ratio(">=", 0.95)), swift_mode="datagrams",
         base="datagrams"),
    Case("datagrams, sendto", "sendto", 1150, 300_000, 50_000, kpps(ratio(">=", 1)), swift_mode="datagrams",
         base="datagrams"),
    # Files.
    Case("file / C pair", "file", GIB, 1, 1, mbps(ratio(">=", 0.9, 0.85)), cpu_per_gib()),
    Case("file, no digest / bulk", "bulk", GIB, 1, 1, mbps(ratio(">=", 0.75)), swift_mode="undigested",
         base="swift", base_size=65536, base_count=8192),
    Case("1,000 files in turn / C pair", "file", 4096, 1000, 200, cpu_s(value("<=", 0.24)), files_per_s()),
    Case("1,000 files, 16 at once / C pair", "files", 4096, 1000, 200, cpu_s(value("<=", 0.115)), files_per_s()),
    Case("ping with a file / idle", "pingpong", 64, 5_000, 1_000, p99(ratio("<=", 5)), p50(), swift_mode="laden",
         base="swift"),
    # Calls of actors.
    Case("call / ping-pong, 2 cores", "pingpong", 64, 10_000, 2_000, p50(ratio("<=", 2.5)), p99(), swift_mode="calls",
         base="swift"),
    Case("call / ping-pong, 1 core", "pingpong", 64, 10_000, 2_000, p50(ratio("<=", 2.5)), p99(), swift_mode="calls",
         base="swift", cores="one"),
    Case("call, usual threads", "pingpong", 64, 10_000, 2_000, p50(ratio("<=", 2.5)), p99(), swift_mode="callsapart",
         base="swift"),
    Case("calls at once / 64 B", "awaited", 64, 300_000, 60_000, kcalls(value(">=", 100)), swift_mode="callsatonce",
         base="swift"),
    # Apple's API beside the native one.
    Case("Apple's API, 64 B / native", "awaited", 64, 1_000_000, 200_000, mmps(ratio(">=", 0.5)),
         swift_mode="facademessages", base="swift"),
    Case("Apple's API, 1 KiB / native", "awaited", 1024, 500_000, 100_000, mmps(ratio(">=", 0.6)),
         swift_mode="facademessages", base="swift"),
    Case("Apple's API, ping-pong, 1 core / native", "pingpong", 64, 10_000, 2_000, p50(ratio("<=", 1.4)), p99(),
         swift_mode="facadepingpong", base="swift", cores="one"),
    Case("Apple's API, stream / native", "stream", 65536, 8192, 4096, mbps(ratio(">=", 0.6)),
         swift_mode="facadestream", base="swift"),
    Case("Apple's API, resource / native", "file", GIB, 1, 1, mbps(ratio(">=", 0.9)), cpu_per_gib(),
         swift_mode="facaderesource", base="swift"),
    # Sessions that do little.
    Case("session made", "session", 1, 50, 20, Figure("first_ms", "ms, first", 1, value("<=", 1.5)),
         Figure("later_ms", "ms, later", 1, value("<=", 0.5)), base=None, is_native=True),
    Case("memory, one session", "memory", 1, 1, 1, Figure("resident_kib", "MiB", 1024, value("<=", 16)), OWN, base=None,
         is_native=True),
    Case("memory, one session, Apple's API linked", "memory", 1, 1, 1, Figure("resident_kib", "MiB", 1024), OWN, base=None),
    Case("memory, each of 200 / one session", "memory", 1, 200, 50,
         Figure("each_mib", "MiB each", 1, value("<=", 0.25)), base="swift", base_count=1, is_native=True,
         derive=each_further),
    Case("idle, one link / nothing", "nothing", 10, 1, 1, ABOVE, IDLE, swift_mode="idle", base="swift",
         cores="any", is_native=True, derive=above_nothing),
    Case("idle, mesh of 8 / nothing", "nothing", 10, 1, 1, ABOVE_IN_MESH, IDLE, swift_mode="meshidle", base="swift",
         cores="any", is_native=True, derive=above_nothing),
    Case("mesh of 8, slowest to be linked with all", "mesh", 1, 1, 1, Figure("join_ms", "ms", 1, value("<=", 120)),
         base=None, cores="any", is_native=True),
]
