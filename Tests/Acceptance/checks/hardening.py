"""How the shipped programs are linked."""

import os
import re
import shutil
import subprocess

from .peer import COMMAND, CONFORM, PRODUCTS, expect


def hardening():
    """The shipped programs have full RELRO, and look for no library in their own folder"""
    reader = shutil.which("readelf") or shutil.which("llvm-readelf")
    if not reader:
        return "skipped: readelf is missing"
    shipped = [program for program in (COMMAND, CONFORM) if os.path.dirname(program) == PRODUCTS]
    expect(COMMAND in shipped, f"{PRODUCTS} has no multipeer")
    for program in shipped:
        said = subprocess.run([reader, "-W", "-d", "-l", program], capture_output=True, text=True, check=True).stdout
        expect(re.search(r"\bGNU_RELRO\b", said), f"{program} has no RELRO segment")
        expect(re.search(r"\(BIND_NOW\)|\(FLAGS(_1)?\).*\b(BIND_)?NOW\b", said), f"{program} binds its symbols late")
        expect("PIE" in said or "DYN" in said, f"{program} has a fixed address")
        for line in re.findall(r"\(R(?:UN)?PATH\).*", said):
            expect("$ORIGIN" not in line, f"{program} looks for libraries in its own folder: {line}")
    return "BIND_NOW, RELRO, no $ORIGIN"
