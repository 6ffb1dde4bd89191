# SPDX-License-Identifier: Apache-2.0
"""A model of one session with seven busy links on more cores than this machine has; see "On bigger machines" in README.md."""

import json
import os

from bench.history import FILE

PROGRAM = "SealInParallel.c"
ROW = "fan-out to 7, 64 KiB"
LINKS = 7
GIB = 1 << 30
# What a link sends in a turn, as in the program.
PIECE = 256 << 10
BYTES = 2048 * LINKS * 65536


def sender_time():
    """Processor seconds per GiB of the sender in the newest whole result of the row, or None."""
    if not os.path.exists(FILE):
        return None
    with open(FILE) as file:
        lines = [json.loads(line) for line in file if line.strip()]
    rows = [line["rows"][ROW] for line in lines if ROW in line["rows"] and not line["quick"]]
    times = [row["cpu_s_client_swift"] for row in rows if "cpu_s_client_swift" in row]
    return times[-1] / BYTES * GIB if times else None


def turn(threads, serial, parallel, hand_over):
    """Seconds for a turn in which every link sends a piece: what stays on the loop, and the thread with the most links."""
    most = -(-LINKS // threads)
    return (LINKS * serial + most * parallel) * PIECE / GIB + (threads - 1) * hand_over


def best(threads, *costs):
    """More threads than help are not used."""
    return min(turn(count, *costs) for count in range(1, min(threads, LINKS) + 1))


def print_model(results):
    """Prints the model if the program was among the results."""
    of_two_cores = {result["name"]: result["any"]["median"] for result in results
                    if result["program"] == PROGRAM and "any" in result}
    if not of_two_cores:
        return
    whole = sender_time()
    if whole is None:
        print(f"no model of more cores: no history has the sender's time in \"{ROW}\"; measure that row first")
        return
    parallel = of_two_cores["seal and send, one thread"]
    hand_over = of_two_cores["handing over and waiting"] / 1e6
    serial = max(whole - parallel, 0)
    print(f"\none session with {LINKS} busy links, a model: {whole:.2f} s/GiB of the sender, of which {parallel:.2f} seal and send and "
          f"can be shared; {hand_over * 1e6:.0f} us to hand over")
    for threads in (1, 2, 4, 8, 16):
        seconds = best(threads, serial, parallel, hand_over)
        print(f"  {threads:2} cores: {LINKS * PIECE / seconds / 1e6:6.0f} MB/s, "
              f"{turn(1, serial, parallel, hand_over) / seconds:.2f} times one core")
