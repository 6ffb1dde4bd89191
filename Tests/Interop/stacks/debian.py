"""The other stacks, from Debian and PyPI, unpacked below .build: nothing is installed, and nothing is started by it."""

import os
import pathlib
import subprocess
import sys
import tempfile

from checks.network import Skipped

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLACE = ROOT / ".build" / "interop"
TREE, PYTHON = PLACE / "debian", PLACE / "python"

PACKAGES = {
    "avahi": ["avahi-daemon", "avahi-utils", "libavahi-core7", "libavahi-common3", "libavahi-client3", "libavahi-glib1",
              "libdaemon0", "dbus-daemon", "libdbus-1-3", "libapparmor1", "libexpat1", "libgdbm6", "libcap2"],
    # The calls of Darwin's responder, as Avahi has them.
    "dnssd": ["libavahi-compat-libdnssd-dev", "libavahi-compat-libdnssd1"],
    "resolved": ["systemd-resolved", "systemd", "libsystemd-shared", "libsystemd0", "dbus-daemon", "libdbus-1-3",
                 "libapparmor1", "libexpat1", "libseccomp2", "libcap2"],
}
MODULES = ["zeroconf", "dnspython"]


def unpacked(name):
    """The environment in which programs of these packages run; fetches them the first time."""
    mark = PLACE / f"{name}.unpacked"
    if not mark.exists():
        TREE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as directory:
            done = _run(["apt-get", "download", *PACKAGES[name]], directory)
            if done.returncode and _run(["apt-get", "update"], directory).returncode == 0:
                done = _run(["apt-get", "download", *PACKAGES[name]], directory)
            if done.returncode:
                raise Skipped(f"Debian's packages for {name} cannot be fetched: {_last(done.stderr)}")
            for package in sorted(os.listdir(directory)):
                if package.endswith(".deb"):
                    _run(["dpkg-deb", "-x", package, str(TREE)], directory)
        mark.touch()
    libraries = [TREE / "usr/lib/x86_64-linux-gnu", TREE / "lib/x86_64-linux-gnu",
                 TREE / "usr/lib/x86_64-linux-gnu/systemd", TREE / "lib/x86_64-linux-gnu/systemd"]
    libraries += [path for path in TREE.glob("usr/lib/*-linux-gnu*") if path not in libraries]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}


def python():
    """A Python that has `zeroconf` and `dns`."""
    program = PYTHON / "bin" / "python"
    mark = PLACE / "python.unpacked"
    if not mark.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        done = _run([sys.executable, "-m", "venv", str(PYTHON)], "/")
        if not done.returncode:
            done = _run([str(program), "-m", "pip", "--quiet", "install", *MODULES], "/")
        if done.returncode:
            raise Skipped(f"{' and '.join(MODULES)} cannot be fetched: {_last(done.stderr)}")
        mark.touch()
    return str(program)


def _run(words, directory):
    try:
        return subprocess.run(words, cwd=directory, capture_output=True, timeout=240)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Skipped(f"'{words[0]}' failed: {error}") from error


def _last(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"
