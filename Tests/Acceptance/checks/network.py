"""Networks for single checks: namespaces with packet loss and limited rate, isolated from the rest of this machine.

They need `unshare(2)`, `ip` and `tc`, as root or where user namespaces are allowed. A check that cannot have one prints
why it is skipped. """

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import traceback

from .peer import Failure, end_everything, expect

NEWUSER, NEWNET = 0x10000000, 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Skipped(Exception):
    """The reason why a check cannot run here."""


def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skipped(f"command '{name}' not found")
    return path


def command(*words):
    done = subprocess.run([tool(words[0]), *words[1:]], capture_output=True, timeout=20)
    if done.returncode:
        raise Skipped(f"'{' '.join(words)}' failed: {done.stderr.decode().strip().splitlines()[-1:]}")


def _unshare():
    user, group = os.getuid(), os.getgid()
    flags = NEWNET if user == 0 else NEWNET | NEWUSER
    if _libc.unshare(flags):
        raise Skipped(f"no network namespace: {os.strerror(ctypes.get_errno())}")
    if user:
        for name, text in [("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")]:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)


def _choose_congestion_control():
    """Selects the congestion control of most machines: bbr would pace loopback by its own clock."""
    for name in ("cubic", "reno"):
        try:
            with open("/proc/sys/net/ipv4/tcp_congestion_control", "w", encoding="ascii") as file:
                file.write(name)
            return
        except OSError:
            continue


def inside(body, *arguments, seconds=120):
    """Runs something in its own network namespace, where only lo exists, and returns the result."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            signal.alarm(seconds)
            _unshare()
            command("ip", "link", "set", "lo", "up")
            _choose_congestion_control()
            answer = {"value": body(*arguments)}
        except Skipped as reason:
            answer = {"skipped": str(reason)}
        except Failure as failure:
            answer = {"failed": str(failure)}
        except BaseException:
            answer = {"failed": " / ".join(traceback.format_exc().strip().splitlines()[-3:])}
        end_everything()
        os.write(writer, json.dumps(answer).encode() + b"\n")
        os._exit(0)
    os.close(writer)
    # Not to the end: children of other threads have the pipe, too.
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.readline()
    os.waitpid(child, 0)
    answer = json.loads(said) if said else {"failed": f"no result within {seconds} s"}
    if "skipped" in answer:
        raise Skipped(answer["skipped"])
    if "failed" in answer:
        raise Failure(answer["failed"])
    return answer["value"]


def lose(percent):
    """Drops UDP packets at random on lo, so that each way loses that many; TCP is left alone.

    A classic BPF program picks them: IPv4, protocol 17, and a random number below the limit. Those picked are sent to
    one end of a veth pair whose other end drops them. """
    limit = int(percent / 100 * 0xffffffff)
    program = [
        (48, 0, 0, 23), (21, 0, 3, 17),  # ldb [23], after the Ethernet header; is it UDP?
        (32, 0, 0, 0xfffff000 + 56), (53, 1, 0, limit),  # ld #random; is it above the limit?
        (6, 0, 0, 0xffffffff), (6, 0, 0, 0),
    ]
    text = ",".join([str(len(program))] + [" ".join(map(str, line)) for line in program])
    command("ip", "link", "add", "nowhere", "type", "veth", "peer", "name", "behind")
    command("ip", "link", "set", "nowhere", "up")
    command("tc", "qdisc", "add", "dev", "lo", "clsact")
    command("tc", "filter", "add", "dev", "lo", "ingress", "protocol", "ip", "bpf", "bytecode", text,
            "action", "mirred", "egress", "redirect", "dev", "nowhere")
    lost = 100 - _arrived(1_000) / 10
    expect(abs(lost - percent) < 6, f"{lost:.0f} % of the packets are lost, not {percent} %")


def _arrived(count):
    """Returns how many of that many UDP packets pass lo."""
    arrived = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        end.setblocking(False)
        for _ in range(count):
            end.sendto(b"is it there?", end.getsockname())
            try:
                end.recv(100)
                arrived += 1
            except BlockingIOError:
                pass
    return arrived


class Cable:
    """Two namespaces, this one and another, with a veth pair between them that carries that many megabits per
    second."""

    NEAR, FAR = "10.77.0.1", "10.77.0.2"

    def __init__(self, rate):
        self.holder = subprocess.Popen([tool("unshare"), "-n", "sleep", "600"], stdin=subprocess.DEVNULL)
        try:
            # The namespace exists when the process has become another program.
            while "sleep" not in open(f"/proc/{self.holder.pid}/comm", encoding="ascii").read():
                pass
            command("ip", "link", "add", "near", "type", "veth", "peer", "name", "far")
            command("ip", "link", "set", "far", "netns", str(self.holder.pid))
            self._set_up((), "near", self.NEAR, rate)
            self._set_up(self.far, "far", self.FAR, rate)
        except BaseException:
            self.close()
            raise

    @property
    def far(self):
        """Returns the prefix that runs a command at the other end."""
        return (tool("nsenter"), "-t", str(self.holder.pid), "-n")

    @staticmethod
    def _set_up(there, device, address, rate):
        for words in [
            ("ip", "link", "set", "lo", "up"), ("ip", "addr", "add", f"{address}/24", "dev", device),
            ("ip", "link", "set", device, "up"),
            ("tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{rate}mbit", "burst", "64kb", "latency",
             "50ms"),
        ]:
            command(*there, tool(words[0]), *words[1:])

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Hub:
    """That many namespaces, numbered from 1, at one bridge that this one holds; each can be removed from it.

    One that is removed can neither send nor receive, without any notification: its link has a carrier all the time. """

    # The namespaces that each place has: options of `unshare` and `nsenter`.
    SPACES = ("-n",)
    HOLDER = ("sleep", "infinity")

    def __init__(self, count):
        self.holders = {}
        self.losing = []
        try:
            command("ip", "link", "add", "hub", "type", "bridge")
            command("ip", "link", "set", "hub", "up")
            for number in range(1, count + 1):
                self._add(number)
        except BaseException:
            self.close()
            raise

    def _add(self, number):
        holder = subprocess.Popen([tool("unshare"), *self.SPACES, *self.HOLDER], stdin=subprocess.DEVNULL,
                                  preexec_fn=_die_with_parent)
        self.holders[number] = holder
        while "sleep" not in open(f"/proc/{holder.pid}/comm", encoding="ascii").read():
            pass
        command("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "cable", "netns", str(holder.pid))
        self.put_in(number)
        command("ip", "link", "set", f"port{number}", "up")
        inside = self.there(number)
        for words in [("link", "set", "lo", "up"), ("addr", "add", f"{self.address(number)}/16", "dev", "cable"),
                      ("link", "set", "cable", "up")]:
            command(*inside, tool("ip"), *words)

    @staticmethod
    def address(number):
        return f"10.77.{number // 200}.{number % 200 + 1}"

    def there(self, number):
        """Returns the prefix that runs a command at that place."""
        return (tool("nsenter"), "-t", str(self.holders[number].pid), *self.SPACES)

    def take_out(self, number):
        command("ip", "link", "set", f"port{number}", "nomaster")

    def put_in(self, number):
        command("ip", "link", "set", f"port{number}", "master", "hub")

    def lose(self, number, percent):
        """Drops that many of the IP packets that come from that place, as `lose` does."""
        if not self.losing:
            command("ip", "link", "add", "nowhere", "type", "veth", "peer", "name", "behind")
            command("ip", "link", "set", "nowhere", "up")
        limit = int(percent / 100 * 0xffffffff)
        program = [(32, 0, 0, 0xfffff000 + 56), (53, 1, 0, limit), (6, 0, 0, 0xffffffff), (6, 0, 0, 0)]
        text = ",".join([str(len(program))] + [" ".join(map(str, line)) for line in program])
        port = f"port{number}"
        command("tc", "qdisc", "add", "dev", port, "clsact")
        command("tc", "filter", "add", "dev", port, "ingress", "protocol", "ip", "bpf", "bytecode", text,
                "action", "mirred", "egress", "redirect", "dev", "nowhere")
        self.losing.append(port)

    def lost(self):
        """Returns how many packets were dropped, and how many passed."""
        said = subprocess.run([tool("tc"), "-s", "-j", "actions", "list", "action", "mirred"], capture_output=True)
        lost = sum(action["stats"]["packets"] for part in json.loads(said.stdout) for action in part.get("actions", []))
        return lost, sum(_figure(port, "rx_packets") for port in self.losing) - lost

    def close(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()


def _figure(device, name):
    """Returns the namespace's counters of a device: /sys would show those of another one."""
    fields = ["rx_bytes", "rx_packets", "rx_errs", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed", "rx_multicast",
              "tx_bytes", "tx_packets", "tx_errs", "tx_dropped"]
    with open("/proc/self/net/dev", encoding="ascii") as lines:
        for line in lines:
            words = line.replace(":", " ").split()
            if words[0] == device:
                return int(words[1 + fields.index(name)])
    return 0


def _die_with_parent():
    _libc.prctl(1, signal.SIGKILL)
