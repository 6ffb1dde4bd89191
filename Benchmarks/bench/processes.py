# SPDX-License-Identifier: Apache-2.0
"""One run: the processes of one program, from their start to one record of their results."""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

GIB = 2**30
HYBRID = "X25519MLKEM768"
# The servers of a mode that has several, and the modes of one process alone.
SERVERS = {"fanout": 7, "mesh": 7, "meshidle": 7}
ALONE = ("session", "nothing")
# Modes in which bytes do not matter.
SMALL = ("pingpong", "pingapart", "connect", "laden", "calls", "callsapart", "callsatonce", "facadepingpong", "session",
         "nothing", "memory", "mesh", "idle", "meshidle")
FILES = ("file", "undigested", "files", "laden", "facaderesource")
MEASURED = ("seconds", "messages_per_s", "mb_per_s", "mean_us", "p50_us", "p99_us", "resident_kib", "own_kib", "first_ms",
            "later_ms")
LEAST_ARRIVED = {"gso": 0.98, "sendto": 0.98, "datagrams": 0.98}  # may be lost, but not many on loopback


class Failure(Exception):
    pass


def prepare(cpus):
    def inside_child():
        os.sched_setaffinity(0, cpus)
        try:
            os.nice(-10)
        except OSError:
            pass

    return inside_child


def environment(libraries, folder):
    """The environment of a program: its files are in memory, its sessions on loopback."""
    return os.environ | {"MULTIPEER_BENCH_FOLDER": folder, "TMPDIR": folder, "MULTIPEER_INTERFACES": "lo"} | (
        {"LD_LIBRARY_PATH": libraries} if libraries else {})


def start(program, side, mode, size, count, cpus, surroundings, recorder):
    command = [program, side, mode, str(size), str(count)]
    command = recorder(command) if recorder else command
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                            preexec_fn=prepare(cpus), env=surroundings)


def follow(side, process, others, events):
    """Relays introductions, and collects the result."""
    result = None
    for line in process.stdout:
        if line.startswith("INTRO "):
            try:
                for other in others:
                    other.stdin.write(line)
                    other.stdin.flush()
            except OSError:
                break
        elif line.startswith("{"):
            result = json.loads(line)
    events.put((side, process.wait(), result))


def measure(program, mode, size, count, cpus, timeout, libraries, is_hybrid=False, recorder=None):
    """Runs all sides once and returns one record of their results. `cpus` are the client's and the servers'; a
    recorder returns the command that runs another one under its eyes."""
    folder = tempfile.mkdtemp(prefix="multipeer-bench-", dir="/dev/shm")
    try:
        record = measure_in(environment(libraries, folder), program, mode, size, count, cpus, timeout, recorder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if is_hybrid and record["group"] != HYBRID:
        raise Failure(f"the key exchange was {record['group']}")
    return record


def measure_in(surroundings, program, mode, size, count, cpus, timeout, recorder):
    events = queue.Queue()
    number = 0 if mode in ALONE else SERVERS.get(mode, 1)
    servers = [start(program, "server", mode, size, count, cpus[1], surroundings, recorder) for _ in range(number)]
    client = start(program, "client", mode, size, count, cpus[0], surroundings, recorder)
    for process, others in [(server, [client]) for server in servers] + [(client, servers)]:
        arguments = ("client" if process is client else "server", process, others, events)
        threading.Thread(target=follow, args=arguments, daemon=True).start()
    results, deadline = {"client": [], "server": []}, time.monotonic() + timeout
    try:
        for _ in range(number + 1):
            side, status, result = events.get(timeout=max(0.01, deadline - time.monotonic()))
            if status != 0 or result is None:
                raise Failure(f"the {side} ended with status {status}")
            results[side].append(result)
    except queue.Empty:
        raise Failure(f"not done after {timeout} s") from None
    finally:
        for process in servers + [client]:
            if process.poll() is None:
                process.kill()
                process.wait()
    return merge(mode, size, count, results["client"][0], results["server"])


def merge(mode, size, count, client, servers):
    wanted = count * SERVERS.get(mode, 1)
    counted = [client] if mode == "connect" or mode in ALONE else servers
    received = sum(side["received"] for side in counted)
    if not wanted * LEAST_ARRIVED.get(mode, 1) <= received <= wanted or client["sent"] != wanted:
        raise Failure(f"sent {client['sent']}, received {received} of {wanted}")
    everyone = [client] + servers
    cpu = sum(side["cpu_s"] for side in everyone)
    record = {key: client[key] for key in MEASURED if key in client}
    record |= {
        "count": count, "received": received, "lost": wanted - received, "cpu_s": cpu, "cpu_s_client": client["cpu_s"],
        "cpu_s_server": cpu - client["cpu_s"],
        "cpu_s_per_gib": cpu / (size * wanted / GIB) if mode not in SMALL else None,
        "cpu_us_per_message": cpu / wanted * 1e6, "peak_kib_client": client["peak_rss_kib"],
        "peak_kib_server": max((server["peak_rss_kib"] for server in servers), default=0),
        "suite": client.get("suite"), "group": client.get("group"), "congestion": client.get("congestion"),
        "library": client.get("library"),
    }
    if "idle_ms_per_minute" in client:
        record["idle_ms_per_minute"] = sum(side["idle_ms_per_minute"] for side in everyone) / len(everyone)
    if "whole" in client:
        record["join_ms"] = (max(side["whole"] for side in everyone) - client["began"]) * 1e3
    return record


def touch_pages(size):
    """Uses as much memory for files as a run needs, so that no run is the first to get these pages from the host."""
    block = bytes(1 << 20)
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        for _ in range((2 * size >> 20) + 1):
            file.write(block)
