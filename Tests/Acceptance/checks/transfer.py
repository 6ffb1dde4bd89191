"""Large transfers, killed processes, and a reader that stops reading."""

import os
import random
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from .peer import Peer, expect, until

GIBIBYTE = 1 << 30
MOST_MEMORY = 96


def gibibyte():
    """1 GiB through `multipeer link < file` arrives unchanged, with little memory"""
    with tempfile.TemporaryDirectory() as directory:
        source, copy = (os.path.join(directory, name) for name in ("source", "copy"))
        with open(source, "wb") as file:
            for _ in range(GIBIBYTE >> 22):
                file.write(os.urandom(1 << 22))
        start = time.monotonic()
        with open(source, "rb") as stdin, open(copy, "wb") as stdout:
            sender = Peer(directory, "sender", "receiver.data", stdin)
            receiver = Peer(directory, "receiver", "sender.data", stdout=stdout)
        codes = [sender.end(120), receiver.end(20)]
        passed = time.monotonic() - start
        expect(codes == [0, 0], f"exit codes {codes}: {sender.last_words()} / {receiver.last_words()}")
        same = subprocess.run(["cmp", source, copy], capture_output=True, timeout=60)
        expect(same.returncode == 0, f"not equal: {same.stdout.decode()}{same.stderr.decode()}")
        for peer in (sender, receiver):
            expect(peer.peak <= MOST_MEMORY, f"{peer.name} used {peer.peak} MiB")
        return (f"{passed:.1f} s, {1024 / passed:.0f} MiB/s with linking; at most {sender.peak} MiB in the sender, "
                f"{receiver.peak} MiB in the receiver")


def endless(directory, stdout=subprocess.DEVNULL):
    """An endless sender and its receiver, linked."""
    with open("/dev/zero", "rb") as stdin:
        sender = Peer(directory, "sender", "receiver.data", stdin)
    receiver = Peer(directory, "receiver", "sender.data", stdout=stdout)
    for peer in (sender, receiver):
        peer.await_link()
    return sender, receiver


def deaths():
    """Killing either side at 10 random moments of a transfer soon ends the other, with a reason"""
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    moments = [(index % 2, chance.uniform(0, 1)) for index in range(10)]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda moment: death(*moment, f"seed {seed}"), moments))
    return f"seed {seed}; the other side ended after at most {max(passed for passed, _ in results):.2f} s: " \
        + " | ".join(sorted({words for _, words in results}))


def death(victim, moment, what):
    with tempfile.TemporaryDirectory() as directory:
        peers = endless(directory)
        time.sleep(moment)
        peers[victim].kill()
        start = time.monotonic()
        other = peers[1 - victim]
        code = other.end(12)
        passed = time.monotonic() - start
        words = other.last_words()
        expect(code == 1, f"{what}: {other.name} ended with {code}")
        expect("ended before everything had arrived" in words, f"{what}: {other.name} printed: {words}")
        peers[victim].end(5)
        return passed, words.split(": ")[-1]


def freezing():
    """The link to a process that is suspended, not ended, ends within 12 seconds"""
    with tempfile.TemporaryDirectory() as directory:
        sender, receiver = endless(directory)
        receiver.kill(signal.SIGSTOP)
        start = time.monotonic()
        code = sender.end(13)
        passed = time.monotonic() - start
        words = sender.last_words()
        receiver.kill()
        expect(code == 1 and "in time" in words, f"exit code {code}: {words}")
        return f"after {passed:.1f} s: {words.split(': ')[-1]}"


def stalled():
    """A receiver that stops reading does not make the sender grow, and both continue when it reads again"""
    with tempfile.TemporaryDirectory() as directory:
        reader, writer = os.pipe()
        sender, receiver = endless(directory, writer)
        os.close(writer)
        before, still = -1, 0

        def stands_still():
            nonlocal before, still
            now = sender.bytes_read()
            still = still + 1 if now == before else 0
            before = now
            return still > 100
        until(stands_still, 20, "the sender does not stop")
        memory = [peer.status("VmRSS") for peer in (sender, receiver)]
        expect(max(memory) <= MOST_MEMORY, f"{memory} MiB")
        # Longer than the idle timeout: the link stays alive, and no process grows.
        time.sleep(11)
        expect(sender.bytes_read() == before, "the sender continued")
        later = [peer.status("VmRSS") for peer in (sender, receiver)]
        expect(max(later) <= max(memory) + 2, f"grown from {memory} to {later} MiB")
        missing = 64 << 20
        while missing > 0:
            missing -= len(os.read(reader, 1 << 20))
        until(lambda: sender.bytes_read() > before + (32 << 20), 20, "the sender did not continue")
        os.close(reader)
        sender.kill()
        receiver.kill()
        for peer in (sender, receiver):
            peer.end(5)
        return f"{before >> 20} MiB taken, then nothing for 11 s; {later[0]} MiB in the sender, {later[1]} in the receiver"
