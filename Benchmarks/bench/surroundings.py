# SPDX-License-Identifier: Apache-2.0
"""What a run needs around the programs: they are built, the network and the OpenSSL are chosen, the machine described."""

import fcntl
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import socket
import struct
import subprocess
import sys

from bench.processes import Failure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUTPUT = os.path.join(ROOT, ".build", "bench")
PROGRAMS = "MULTIPEER_BENCH_PROGRAMS"


def compile_c(source, program, *libraries):
    os.makedirs(os.path.dirname(program), exist_ok=True)
    command = [os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-I", os.path.join(ROOT, "Benchmarks"), "-o", program]
    subprocess.run(command + [source] + list(libraries), check=True)
    return program


def build(options):
    programs = {}
    for name, source in (("c", "twin"), ("datagrams", "datagrams")):
        code = os.path.join(ROOT, "Benchmarks", source + ".c")
        programs[name] = compile_c(code, os.path.join(OUTPUT, source), "-lssl", "-lcrypto")
    if options.swift_binary:
        programs["swift"] = os.path.abspath(options.swift_binary)
        # That of the rows without Apple's API lies next to it.
        native = programs["swift"] + "Native"
        programs["native"] = native if os.path.exists(native) else programs["swift"]
    elif not options.twin_only:
        swift = ["swift", "build", "-c", "release", "--package-path", ROOT, "--traits", options.traits]
        if options.scratch_path:
            swift += ["--scratch-path", options.scratch_path]
        swift.append("--product")
        for name, product in (("swift", "MultipeerBench"), ("native", "MultipeerBenchNative")):
            subprocess.run(swift + [product], check=True)
            shown = subprocess.run(swift + [product, "--show-bin-path"], check=True, capture_output=True, text=True)
            programs[name] = os.path.join(shown.stdout.strip(), product)
    return programs


# MARK: OpenSSL

def libraries_in(folder):
    """Returns a folder that has the OpenSSL of another one under the names that programs look for."""
    folder = os.path.abspath(folder)
    libraries = os.path.join(OUTPUT, "openssl-" + hashlib.sha256(folder.encode()).hexdigest()[:8])
    os.makedirs(libraries, exist_ok=True)
    for name in ("libssl", "libcrypto"):
        # Packages that contain them give them names such as libssl-6a9b88ec.so.3.
        found = {os.path.realpath(file) for file in glob.glob(os.path.join(glob.escape(folder), name + "*.so.3"))}
        if len(found) != 1:
            raise Failure(f"{folder} contains {len(found)} files {name}*.so.3")
        # Symbolic links of these names as well: the libraries may look for each other under either.
        for link in {name + ".so.3", os.path.basename(*found)}:
            path = os.path.join(libraries, link)
            if os.path.lexists(path):
                os.remove(path)
            os.symlink(*found, path)
    return libraries


def openssl_version(programs, libraries):
    """Returns the line of the C side, and its numbers; both sides are run with the same libraries."""
    environment = os.environ | ({"LD_LIBRARY_PATH": libraries} if libraries else {})
    answer = subprocess.run([programs["c"], "version"], env=environment, check=True, capture_output=True, text=True)
    line = answer.stdout.strip()
    numbers = re.search(r"(\d+)\.(\d+)\.(\d+)", line)
    if not numbers:
        raise Failure(f"unknown version: {line}")
    if "swift" in programs and mapped(programs["swift"], environment) != mapped(programs["c"], environment):
        raise Failure("the two sides load different libraries")
    return line, tuple(map(int, numbers.groups()))


def mapped(program, environment):
    """Returns the files of OpenSSL that the loader gives to a program."""
    answer = subprocess.run([program], env=environment | {"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True)
    files = re.findall(r"(libssl|libcrypto)\S*\.so\S* => (\S+)", answer.stdout)
    return {name: os.path.realpath(file) for name, file in files}


# MARK: the network

def isolate(programs):
    """Starts this program again in a network namespace of its own, where the congestion control may be chosen."""
    if not shutil.which("unshare"):
        return
    for flags in ("-n", "-rn"):
        if subprocess.run(["unshare", flags, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            os.environ[PROGRAMS] = json.dumps(programs)
            os.execvp("unshare", ["unshare", flags, sys.executable] + sys.argv)


def settle_network():
    """Brings loopback up, and sets a congestion control that does not pace: bbr would measure its own clock."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        up = struct.pack("16sh22x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(handle, 0x8914, up)
    for choice in ("cubic", "reno"):
        try:
            with open("/proc/sys/net/ipv4/tcp_congestion_control", "w") as file:
                file.write(choice)
            return f"{choice}, fixed for both sides"
        except OSError:
            continue
    return None


def default_congestion():
    try:
        with open("/proc/sys/net/ipv4/tcp_congestion_control") as file:
            return f"{file.read().strip()}, the system's (not fixed: no network namespace permitted)"
    except OSError:
        return "unknown"


# MARK: the machine

def cpu_model():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "none"


def revision():
    """Returns the revision that is measured, with + if files of it were changed since."""
    git = ["git", "-C", ROOT]
    try:
        name = subprocess.run(git + ["rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changes = subprocess.run(git + ["status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name.stdout.strip() + ("+" if changes.stdout.strip() else "")


def describe(programs, congestion, openssl, traits):
    return {
        "revision": revision(), "kernel": platform.release(), "cpu": cpu_model(),
        "cpus": len(os.sched_getaffinity(0)), "congestion_control": congestion, "openssl": openssl,
        "cc": version_line(os.environ.get("CC", "cc"), "--version"),
        "swift": version_line("swift", "--version") if "swift" in programs else None, "traits": traits,
        "load_before": os.getloadavg()[0],
    }
