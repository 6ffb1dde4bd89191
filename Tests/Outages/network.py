"""A network of its own for one job: hosts in network namespaces, cables, and a switch that this process runs.

```
   host ann                                                        host bob
   eth0 (TAP) ══ cable ══ port ── switch, a thread here ── port ══ cable ══ eth0 (TAP)
                 rules                                              rules
```

The kernel's own emulation (netem, tbf) is missing in many kernels, so the switch is a program: it reads each Ethernet frame
from the TAP device of one host and writes it to that of another. What happens to it on the way is a rule of the sender's cable,
and of the receiver's. A TAP device without a header for offloading gets whole frames with checksums, no longer than its MTU. """

import array
import collections
import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time

NEWNET = 0x40000000
TUNSETIFF, TUNSETCARRIER = 0x400454CA, 0x400454E2
TAP, WITHOUT_HEADER = 0x0002, 0x1000
# One more than the longest frame with an MTU of 1,500.
FRAME = 2_048
IPV4, IPV6, ARP, UDP, TCP, MULTICAST_DNS = b"\x08\x00", b"\x86\xdd", b"\x08\x06", 17, 6, 5353

_libc = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """What is missing on this machine, so that a check is skipped."""


def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Unavailable(f"command '{name}' not found")
    return path


def _in_namespace(call, *arguments):
    if call(*arguments):
        number = ctypes.get_errno()
        raise Unavailable(f"network namespaces: {os.strerror(number)}")


class Cable:
    """What happens to the frames between one host and the switch. Every attribute can be changed at any time."""

    def __init__(self):
        # A switch that drops everything: no end is notified.
        self.passes = True
        # UDP is dropped, except multicast DNS.
        self.passes_udp = True
        # The share of IP packets that are lost on the way to the switch.
        self.loss = 0.0
        # The longest IP packet, in bytes; a longer one is swallowed in either direction, and no end is notified.
        self.mtu = None
        # Bits per second to the switch, and the length of the queue before it, in seconds.
        self.rate = None
        self.queue = 1.0
        # Seconds that a frame takes to the switch.
        self.delay = 0.0

    def swallows(self, frame, size):
        """Returns whether a frame is dropped at the rules that hold in both directions."""
        if not self.passes or (self.mtu and size > self.mtu and frame[12:14] != ARP):
            return True
        return not self.passes_udp and kind(frame) == "udp"


def kind(frame):
    """Returns 'tcp', 'udp', 'mdns', or 'other'."""
    if frame[12:14] == IPV4 and len(frame) >= 38:
        protocol, start = frame[23], 14 + (frame[14] & 15) * 4
    elif frame[12:14] == IPV6 and len(frame) >= 58:
        protocol, start = frame[20], 54
    else:
        return "other"
    if protocol == TCP:
        return "tcp"
    if protocol != UDP or len(frame) < start + 4:
        return "other"
    source, destination = struct.unpack_from("!HH", frame, start)
    return "mdns" if MULTICAST_DNS in (source, destination) else "udp"


class Host:
    """A network namespace with a device `eth0`, whose cable goes to the switch."""

    def __init__(self, switch, name, number):
        self.name, self.number, self.switch = name, number, switch
        self.cable = Cable()
        # Packets to the switch and from it, by kind, those that were dropped, and bytes of all.
        self.sent, self.received, self.dropped, self.bytes = (
            collections.Counter(), collections.Counter(), collections.Counter(), 0)
        # When the queue of the uplink is empty.
        self.idle_at = 0.0
        self.addresses = 0
        self.address = None
        self.mac = bytes((2, 0, 0, 0, 0, number))
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            _in_namespace(_libc.unshare, NEWNET)
            self.space = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
            try:
                self.device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                fcntl.ioctl(self.device, TUNSETIFF, struct.pack("16sH22x", b"eth0", TAP | WITHOUT_HEADER))
            except OSError as error:
                raise Unavailable(f"a TAP device: {error}") from error
            _set("net/ipv6/conf/eth0/addr_gen_mode", "1")
            self.ip("link set lo up", f"link set eth0 address {self.mac.hex(':')}", "link set eth0 up")
        finally:
            _in_namespace(_libc.setns, own, NEWNET)
            os.close(own)
        self.renumber()

    def words(self, *words, descriptors=None):
        """Returns the words that run a command on this host, with a limit of descriptors if there is one."""
        limit = () if descriptors is None else (tool("prlimit"), f"--nofile={descriptors}:{descriptors}")
        return [tool("nsenter"), f"--net=/proc/{os.getpid()}/fd/{self.space}", *limit, *map(str, words)]

    def ip(self, *lines):
        """Runs lines of `ip -batch` on this host."""
        words = [tool("ip"), "-batch", "-"]
        if self.address is not None:
            words = self.words(*words)
        done = subprocess.run(words, input="".join(line + "\n" for line in lines).encode(), capture_output=True, timeout=20)
        if done.returncode:
            raise Unavailable(f"ip {'; '.join(lines)}: {done.stderr.decode().strip()}")

    def lose_address(self):
        self.ip("addr flush dev eth0")

    def renumber(self):
        """Gives the host its first address, or the next one."""
        self.addresses += 1
        self.address = self.address or ""
        address = f"10.77.{self.addresses}.{self.number}"
        self.ip(f"addr add {address}/16 broadcast 10.77.255.255 dev eth0", "route replace 224.0.0.0/4 dev eth0")
        self.address = address

    def set_carrier(self, is_up):
        """Plugs the cable in, or pulls it: the host is notified."""
        fcntl.ioctl(self.device, TUNSETCARRIER, array.array("i", [int(is_up)]), True)


def _set(name, value):
    try:
        with open(f"/proc/sys/{name}", "w", encoding="ascii") as file:
            file.write(value)
    except OSError as error:
        raise Unavailable(f"{name} = {value}: {error.strerror}") from error


class Switch:
    """Carries frames between hosts, in a thread of its own. `capture`: a file for all frames, in the format of pcap."""

    def __init__(self, seed=0, capture=None):
        self.hosts = []
        self._by_device, self._by_mac = {}, {}
        self._random = random.Random(seed)
        # Frames under way: when they arrive, a number that keeps their order, the receiver, the frame.
        self._under_way, self._number = [], 0
        self._epoll = select.epoll()
        self._alarm = os.eventfd(0, os.EFD_NONBLOCK)
        self._epoll.register(self._alarm, select.EPOLLIN)
        self._is_over = False
        self._capture = open(capture, "wb") if capture else None
        if self._capture:
            self._capture.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def host(self, name):
        host = Host(self, name, len(self.hosts) + 1)
        self.hosts.append(host)
        self._by_mac[host.mac] = host
        self._by_device[host.device] = host
        self._epoll.register(host.device, select.EPOLLIN)
        return host

    def close(self):
        self._is_over = True
        os.eventfd_write(self._alarm, 1)
        self._thread.join()
        if self._capture:
            self._capture.close()
        for host in self.hosts:
            os.close(host.device)
            os.close(host.space)

    # What the thread does.

    def _run(self):
        while not self._is_over:
            wait = -1
            if self._under_way:
                wait = max(0.0, self._under_way[0][0] - time.monotonic())
            for device, _ in self._epoll.poll(wait):
                host = self._by_device.get(device)
                if host:
                    self._take(host)
            self._deliver_due()

    def _take(self, host):
        """Reads what a host has sent; not all at once, so that no host waits for another one's file."""
        for _ in range(32):
            try:
                frame = os.read(host.device, FRAME)
            except BlockingIOError:
                return
            self._forward(host, frame)

    def _forward(self, sender, frame):
        cable, size = sender.cable, len(frame) - 14
        is_ip = frame[12:14] in (IPV4, IPV6)
        if cable.swallows(frame, size) or (cable.loss and is_ip and self._random.random() < cable.loss):
            sender.dropped[kind(frame)] += 1
            return
        arrives = 0.0
        if cable.rate or cable.delay:
            now = arrives = time.monotonic()
            if cable.rate:
                begins = max(now, sender.idle_at)
                if begins - now > cable.queue:
                    sender.dropped[kind(frame)] += 1
                    return
                arrives = sender.idle_at = begins + len(frame) * 8 / cable.rate
            arrives += cable.delay
        sender.sent[kind(frame)] += 1
        sender.bytes += len(frame)
        if self._capture:
            self._record(frame)
        to = self._by_mac.get(frame[:6])
        for host in (to,) if to else [host for host in self.hosts if host is not sender]:
            if arrives:
                self._number += 1
                heapq.heappush(self._under_way, (arrives, self._number, host, frame))
            else:
                self._deliver(host, frame)

    def _deliver_due(self):
        now = time.monotonic()
        while self._under_way and self._under_way[0][0] <= now:
            _, _, host, frame = heapq.heappop(self._under_way)
            self._deliver(host, frame)

    def _deliver(self, host, frame):
        if host.cable.swallows(frame, len(frame) - 14):
            host.dropped[kind(frame)] += 1
            return
        try:
            os.write(host.device, frame)
            host.received[kind(frame)] += 1
        except OSError:  # the interface is down, or has no carrier
            host.dropped[kind(frame)] += 1

    def _record(self, frame):
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        self._capture.write(struct.pack("<IIII", seconds, nanoseconds // 1_000, len(frame), len(frame)) + frame)
