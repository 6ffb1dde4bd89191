"""A receiver whose file system has no inode left, or whose directory changes during a transfer."""

import ctypes
import os
import subprocess
import tempfile

from . import network
from .network import Skipped, command
from .peer import Peer, expect, until

NEWNS = 0x00020000
INODES = 64
_libc = ctypes.CDLL(None, use_errno=True)


def full_inodes():
    """A sender hears that its file has arrived exactly if it has its name: without inodes from the start, or since the middle,
    and when a directory takes the name; otherwise it says that the file was not sent"""
    return network.inside(_full_inodes, seconds=120)


def _full_inodes():
    if _libc.unshare(NEWNS):
        raise Skipped(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    command("mount", "--make-rprivate", "/")
    with tempfile.TemporaryDirectory() as directory:
        inbox = os.path.join(directory, "inbox")
        os.mkdir(inbox)
        told = []
        for what, before, during in [("full from the start", _fill, None), ("full since the middle", None, _fill),
                                     ("a directory with the name", None, _take_name)]:
            command("mount", "-t", "tmpfs", "-o", f"nr_inodes={INODES},size=64m", "tmpfs", inbox)
            try:
                told.append(f"{what}: {_transfer(directory, inbox, before, during)}")
            finally:
                command("umount", inbox)
    # To rename a file takes no inode, unlike a link, which is all that every system with POSIX has for a name that is free.
    later = "not sent" if os.environ.get("MULTIPEER_RUNTIME") == "portable" else "sent, and there"
    expect([one.rsplit(": ", 1)[1] for one in told] == ["not sent", later, "not sent"], "; ".join(told))
    return "; ".join(told)


def _transfer(directory, inbox, before, during):
    """Sends a file in two halves, between which something happens to the directory; returns what the sender heard."""
    halves = [os.urandom(400_000), os.urandom(400_000)]
    if before:
        before(inbox)
    # A file that replaces another is renamed by another call of the system.
    force = ("--force",) if during == _take_name else ()
    receiver = Peer(directory, "receiver", "sender.data", command=("receive", *force, "--into", inbox))
    sender = Peer(directory, "sender", "receiver.data", command=("send", "-", "--as", "copy"), stdin=subprocess.PIPE)
    _write(sender, halves[0])
    if during:
        until(lambda: any(os.path.getsize(path) >= 300_000 for path in _parts(inbox)), 20, "nothing arrives")
        during(inbox)
    _write(sender, halves[1])
    sender.process.stdin.close()
    code = sender.end(30)
    receiver.end(30)
    path = os.path.join(inbox, "copy")
    kept = None
    if os.path.isfile(path):
        with open(path, "rb") as file:
            kept = file.read()
    if code == 0:
        expect(kept == b"".join(halves), "the sender heard that the file has arrived, and it is not there")
        return "sent, and there"
    expect(code == 5 and "not all files were sent" in sender.said(), f"the sender does not say so: {sender.said()}")
    expect(kept is None and not _parts(inbox), f"something is left: {os.listdir(inbox)}")
    return "not sent"


def _write(sender, data):
    try:
        sender.process.stdin.write(data)
        sender.process.stdin.flush()
    except BrokenPipeError:
        pass  # The sender has heard of the failure.


def _parts(inbox):
    return [os.path.join(inbox, name) for name in os.listdir(inbox) if name.endswith(".part")]


def _fill(inbox):
    """Uses all inodes that are left."""
    try:
        for number in range(2 * INODES):
            os.mkdir(os.path.join(inbox, f"other{number}"))
    except OSError:
        return
    raise Skipped("the file system has no limit of inodes")


def _take_name(inbox):
    os.mkdir(os.path.join(inbox, "copy"))
