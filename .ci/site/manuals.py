"""The pages of the manual, which the programs write: mandoc makes HTML of them."""

import pathlib
import re
import subprocess
import tempfile

from pages import relative

# In the middle of the site's page, headings are a level lower, and the title is that of the page.
HEADING = re.compile(r'<(/?)h([1-5])\b')
HEAD = re.compile(r'<table class="head">.*?</table>', re.DOTALL)
REFERENCE = re.compile(r"<b>([a-z][a-z-]*)</b>\(1\)")


class Manuals:
    def __init__(self, site, programs):
        self.site, self.programs = site, programs

    def write(self):
        """Returns the places of the pages, by the names of the commands with hyphens."""
        with tempfile.TemporaryDirectory() as directory:
            for program in self.programs:
                subprocess.run([program, "--generate-manual", directory], check=True, capture_output=True)
            pages = {path.stem: path for path in sorted(pathlib.Path(directory).glob("*.1"))}
            places = {name: f"manual/{name}.1.html" for name in pages}
            for name, path in pages.items():
                self._page(name, places, self._text(path))
        return places

    def _text(self, path):
        return subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(path)], check=True, capture_output=True, text=True).stdout

    def _page(self, name, places, text):
        place = places[name]

        def reference(match):
            target = places.get(match[1])
            return f'<a href="{relative(target, place)}">{match[0]}</a>' if target and target != place else match[0]

        rows = "".join(f'<li{" class=here" if each == name else ""}><a href="{relative(other, place)}">{each}(1)</a></li>'
                       for each, other in places.items())
        side = f"<details open><summary>Manual</summary><ul>{rows}</ul></details>"
        title = f"{name}(1)"
        body = REFERENCE.sub(reference, HEADING.sub(lambda match: f"<{match[1]}h{int(match[2]) + 1}", HEAD.sub("", text)))
        self.site.page(place, title, f"<h1>{title}</h1>{body}", side, "manual", "commands/index.html")
        self.site.entry(title, place, "manual")
