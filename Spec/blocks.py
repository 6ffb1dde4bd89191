"""The parts of the chapters that a script writes: `<!-- NAME -->` … `<!-- end -->`, each marker on a line of its own."""

import pathlib
import re

SPEC = pathlib.Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- (?P<name>[a-z]+ [a-zA-Z0-9-]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def chapters():
    return sorted(SPEC.glob("*.md"))


def rewrite(prefix, blocks, check):
    """Puts the texts of `blocks` into every chapter with a block of that name. Returns the faults that it found."""
    faults, used = [], set()
    for path in chapters():
        old = path.read_text()

        def text(match):
            name = match["name"]
            if not name.startswith(prefix + " "):
                return match[0]
            used.add(name)
            if name not in blocks:
                faults.append(f"{path.name} asks for '{name}', which no script writes")
                return match[0]
            return match[1] + blocks[name].rstrip("\n") + "\n" + match[3]

        new = BLOCK.sub(text, old)
        if new != old and check:
            faults.append(f"{path.name} is not current")
        elif new != old:
            path.write_text(new)
    faults += [f"no chapter shows '{name}'" for name in blocks if name not in used]
    return faults
