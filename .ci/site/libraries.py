"""The pages that DocC wrote: the bar at their top, what the search finds there, and links to the rest of the site."""

import html
import json
import re

from pages import bar, head

SHELL = re.compile(r'<div id="app"></div>')
# DocC's program finds a page by its address, which has to be that of the folder. Links name the file, since they work without a server.
ADDRESS = ('<script>if (location.pathname.endsWith("/index.html")) '
           'history.replaceState(null, "", location.pathname.slice(0, -10) + location.search + location.hash)</script>')


class Libraries:
    def __init__(self, site, known):
        self.site, self.known = site, known
        self.pages = {}  # place → data
        data = site.folder / "data"
        for path in sorted(data.rglob("*.json")):
            place = path.relative_to(data).with_suffix("").as_posix()
            if place.split("/")[0] in ("documentation", "tutorials"):
                self.pages[place] = (path, json.loads(path.read_text()))
        for place, (_, page) in self.pages.items():
            name = self._name(place, page)
            if page["metadata"].get("role") == "symbol" and name:
                known.symbols.setdefault(name, []).append(f"{place}/index.html")
        known.symbols = {name: places[0] for name, places in known.symbols.items() if len(places) == 1 and name[0].isupper()}

    def _name(self, place, page):
        """The name of a symbol with the types around it, such as `Session.messages`."""
        title = page["metadata"].get("title", "")
        paths = page.get("hierarchy", {}).get("paths", [[]])
        around = []
        for reference in paths[0] if paths else []:
            found = page.get("references", {}).get(reference, {})
            if found.get("role") == "symbol" and found.get("kind") == "symbol":
                around.append(found.get("title", ""))
        if not around or page["metadata"].get("symbolKind") in ("class", "struct", "enum", "protocol", "actor") and "." in title:
            return title
        return f"{around[-1]}.{title}" if title else ""

    def write(self):
        for place, (path, page) in self.pages.items():
            self._shell(place, page)
            if self._mend(page, f"{place}/index.html"):
                path.write_text(json.dumps(page, ensure_ascii=False, separators=(",", ":")))
            role = page["metadata"].get("role", "")
            if "-implementations" in place or role in ("collectionGroup", "pseudoSymbol"):
                continue
            text = "".join(part.get("text", part.get("code", "")) for part in page.get("abstract", []))
            module = (page["metadata"].get("modules") or [{}])[0].get("name", "")
            title = self._name(place, page)
            if title:
                kind = {"symbol": "symbol", "project": "tutorial", "overview": "tutorial"}.get(role, "article")
                kind = page["metadata"].get("symbolKind") == "module" and "library" or kind
                self.site.entry(title, f"{place}/index.html", kind, f"{module}: {text}" if kind == "symbol" else text)

    def _shell(self, place, page):
        """The page that loads DocC's program: with the links at its top, and a title before that program runs."""
        file = self.site.folder / place / "index.html"
        here = f"{place}/index.html"
        title = page["metadata"].get("title") or "Documentation"
        text = file.read_text()
        inner = head(here, f"{title} · swift-multipeer")
        style, script = re.search(r'<link rel="stylesheet"[^>]*>', inner)[0], re.search(r"<script defer.*?</script>", inner)[0]
        text = re.sub(r"<title>.*?</title>", f"<title>{html.escape(title)}</title>{ADDRESS}{style}{script}", text, count=1)
        text = SHELL.sub(lambda _: f'{bar(here, "documentation/index.html")}<div id="app"></div>', text)
        file.write_text(text)

    def _mend(self, node, page):
        """Makes links of code such as `Spec/06-link.md` or `multipeer doctor`; returns whether there were any."""
        changed = False
        if isinstance(node, dict):
            for key, value in node.items():
                if key not in ("references", "hierarchy", "abstract"):
                    changed |= self._mend(value, page)
        elif isinstance(node, list):
            for place, value in enumerate(node):
                if isinstance(value, dict) and value.get("type") == "codeVoice":
                    target = self.known.target(value["code"])
                    # A package that a tutorial makes has a `Package.swift` of its own.
                    if target and value["code"] != "Package.swift" and not target.startswith(("documentation/", "tutorials/")):
                        node[place] = {"type": "link", "destination": f"/{target}", "title": value["code"]}
                        changed = True
                else:
                    changed |= self._mend(value, page)
        return changed
