"""Another kernel than this one, for single processes: a library that is loaded before all others and answers some calls itself.

`OUTAGES_WITHOUT_RTO_MAX` makes it refuse TCP_RTO_MAX_MS, as every Linux before 6.15 does; it appends a byte to the file that the
variable names, so that a check can say how often it was refused. `OUTAGES_CONGESTION` names the congestion control that every
TCP connection gets, whichever one the program asks for. """

import os
import socket
import subprocess

from network import Unavailable, tool

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size) {
    static int (*next)(int, int, int, const void *, socklen_t);
    if (!next) next = (int (*)(int, int, int, const void *, socklen_t))dlsym(RTLD_NEXT, "setsockopt");
    const char *refusals = getenv("OUTAGES_WITHOUT_RTO_MAX"), *congestion = getenv("OUTAGES_CONGESTION");
    if (level == IPPROTO_TCP && option == 44 && refusals) {
        int file = open(refusals, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0) {
            (void)!write(file, ".", 1);
            close(file);
        }
        errno = ENOPROTOOPT;
        return -1;
    }
    if (level == IPPROTO_TCP && option == TCP_CONGESTION && congestion)
        return next(descriptor, level, option, congestion, (socklen_t)strlen(congestion));
    return next(descriptor, level, option, value, size);
}
"""


def build(folder):
    """Compiles the library and returns its path."""
    path = os.path.join(folder, "kernel.so")
    done = subprocess.run([tool("cc"), "-shared", "-fPIC", "-O1", "-x", "c", "-o", path, "-", "-ldl"], input=SOURCE.encode(),
                          capture_output=True, timeout=60)
    if done.returncode:
        raise Unavailable(f"cc: {done.stderr.decode().strip().splitlines()[:1]}")
    return path


def has_rto_max():
    """Returns whether this kernel has TCP_RTO_MAX_MS."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, 44, 1_000)
            return True
        except OSError:
            return False


def congestion(name):
    """Returns the variables for that congestion control, which this kernel must have."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            raise Unavailable(f"congestion control {name}: {error.strerror}") from error
    return {"LD_PRELOAD": library(), "OUTAGES_CONGESTION": name}


def without_rto_max(folder):
    """Returns the variables for a kernel without TCP_RTO_MAX_MS, and the file that counts the refusals."""
    counted = os.path.join(folder, "refusals")
    return {"LD_PRELOAD": library(), "OUTAGES_WITHOUT_RTO_MAX": counted}, counted


def library():
    """Returns the path of the library that the run has built for all of its jobs."""
    return os.environ["OUTAGES_LIBRARY"]
