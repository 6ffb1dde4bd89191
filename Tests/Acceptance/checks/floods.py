"""Floods of connections at a session that a distant peer joins."""

import collections
import ctypes
import os
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time

from . import network, peer
from .peer import Peer, exchange, expect, free_port, until

_libc = ctypes.CDLL(None, use_errno=True)
# The longest time for an honest peer to be linked.
LONGEST = 5
ADDRESSES = 16


def connect_flood():
    """An honest peer with a round trip of 10 or 30 ms joins within 5 s while 16 addresses open thousands of connections
    a second"""
    found = []
    for milliseconds, rate, count in ([(ms, rate, 50) for ms in (10, 30) for rate in (500, 2_000, 5_000)] if peer.FULL
                                      else [(30, 5_000, 3)]):
        worst, reached = network.inside(_joins, milliseconds / 1_000, rate, count, seconds=20 + 15 * count)
        found.append(f"{milliseconds} ms, {reached:.0f}/s: {count} of {count}, the slowest after {worst:.1f} s")
    return "; ".join(found)


def _joins(round_trip, rate, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    holder = subprocess.Popen([network.tool("unshare"), "-n", "sh", "-c", "ip link set lo up; exec sleep 3600"])
    try:
        # The namespace is complete when the process has become another program.
        until(lambda: open(f"/proc/{holder.pid}/comm", encoding="ascii").read().strip() == "sleep", 5, "no namespace")
        here = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{holder.pid}/ns/net", os.O_RDONLY)
        return _measure(here, there, round_trip, rate, count)
    finally:
        holder.kill()
        holder.wait()


def _measure(here, there, round_trip, rate, count):
    times, reached = [], []
    for number in range(count):
        port = free_port()
        with tempfile.TemporaryDirectory() as directory:
            ann = Peer(directory, "ann", "bob.given", port=port, timeout=60)
            _enter(there)
            bob = Peer(directory, "bob", "ann.given", timeout=60)
            _enter(here)
            # Nothing leads to bob: his are the only dials, and they arrive from the address in his data.
            proxy = DelayingProxy(there, here, port, round_trip / 2)
            flood = Flood(port, rate)
            time.sleep(0.5)
            start = time.monotonic()
            exchange(ann, bob)
            try:
                for one in (ann, bob):
                    one.await_link(30)
            except peer.Failure as failure:
                raise peer.Failure(f"join {number + 1} of {count}: {failure}") from None
            times.append(time.monotonic() - start)
            reached.append(flood.end())
            for one in (ann, bob):
                one.kill()
                one.end(5)
            proxy.close()
    expect(max(times) <= LONGEST, f"a peer joined after {max(times):.1f} s, the others after {sorted(times)[:-1]}")
    return max(times), sum(reached) / len(reached)


def _enter(space):
    if _libc.setns(space, network.NEWNET):
        raise network.Skipped(f"no other namespace: {os.strerror(ctypes.get_errno())}")


class DelayingProxy:
    """Passes on every connection to a port of one namespace to the same port of another, each byte after a delay."""

    def __init__(self, near, far, port, delay):
        self.near, self.far, self.port, self.delay = near, far, port, delay
        self.sockets, self.is_closed = [], False
        ready = threading.Event()
        threading.Thread(target=self._accept, args=(ready,), daemon=True).start()
        expect(ready.wait(5), "the proxy does not listen")

    def _accept(self, ready):
        _enter(self.near)
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.sockets.append(self.listener)
        # A thread's sockets belong to the namespace in which it is when it makes them.
        _enter(self.far)
        ready.set()
        while not self.is_closed:
            try:
                dialler, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(dialler,), daemon=True).start()

    def _connect(self, dialler):
        _enter(self.far)
        time.sleep(self.delay)
        try:
            onward = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        except OSError:
            return dialler.close()
        onward.settimeout(None)
        self.sockets += [dialler, onward]
        for source, sink in [(dialler, onward), (onward, dialler)]:
            late = collections.deque()
            come = threading.Semaphore(0)
            threading.Thread(target=self._read, args=(source, late, come), daemon=True).start()
            threading.Thread(target=self._write, args=(sink, late, come), daemon=True).start()
        return None

    def _read(self, source, late, come):
        data = b"."
        while data:
            try:
                data = source.recv(65_536)
            except OSError:
                data = b""
            late.append((time.monotonic() + self.delay, data))
            come.release()

    @staticmethod
    def _write(sink, late, come):
        while True:
            come.acquire()
            due, data = late.popleft()
            time.sleep(max(0, due - time.monotonic()))
            try:
                if not data:
                    return sink.shutdown(socket.SHUT_WR)
                sink.sendall(data)
            except OSError:
                return None

    def close(self):
        self.is_closed = True
        for end in self.sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Flood:
    """A process that opens connections to a port from 16 addresses, at this rate, and never says anything."""

    HELD = 2_000

    def __init__(self, port, rate):
        reader, writer = os.pipe()
        self.start = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            self._run(port, rate, writer)
        os.close(writer)
        self.reader = reader

    def _run(self, port, rate, writer):
        count, held, is_over = 0, collections.deque(), []
        signal.signal(signal.SIGTERM, lambda *_: is_over.append(True))
        signal.alarm(120)
        start = time.monotonic()
        while not is_over:
            due = int((time.monotonic() - start) * rate)
            if count >= due:
                time.sleep(0.001)
                continue
            for _ in range(min(due - count, 64)):
                end = socket.socket()
                end.setblocking(False)
                try:
                    end.bind((f"127.0.0.{2 + count % ADDRESSES}", 0))
                    end.connect_ex(("127.0.0.1", port))
                    held.append(end)
                except OSError:
                    end.close()
                count += 1
            while len(held) > self.HELD:
                held.popleft().close()
        os.write(writer, str(count).encode())
        os._exit(0)

    def end(self):
        """Ends it, and returns how many connections it opened per second."""
        os.kill(self.pid, signal.SIGTERM)
        count = int(os.read(self.reader, 20) or 0)
        os.waitpid(self.pid, 0)
        os.close(self.reader)
        return count / (time.monotonic() - self.start)
