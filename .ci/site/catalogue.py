"""The conformance catalogue: a page for each area of cases."""

import json
import re
import subprocess

from pages import ROOT, escaped, relative
from prose import inline

AREAS = {
    "DATA": "Connection data", "ENC": "Encryption", "LINK": "Link", "FRM": "Frames", "MSG": "Messages", "CHN": "Channels",
    "RES": "Files", "DGR": "Datagrams", "MSH": "Mesh", "INV": "Invitations", "LIV": "States and liveness", "LIM": "Limits",
    "SAS": "Verification code", "DNS": "Discovery", "MUT": "Mutations", "FLOOD": "Floods",
}
ORDERS = {"tester-lower": "the suite's uid is lower", "tester-higher": "the suite's uid is higher"}


def listed(program):
    """All cases, with those that run only when asked for."""
    found = {}
    for words in ([], ["FLOOD*"]):
        output = subprocess.run([program, "list", "--json", *words], capture_output=True, text=True, check=True).stdout
        for line in output.splitlines():
            case = json.loads(line)
            found[case["id"]] = case
    return list(found.values())


class Catalogue:
    def __init__(self, site, known, cases):
        self.site, self.known, self.cases = site, known, cases
        for case in cases:
            if self._area(case) not in AREAS:
                raise SystemExit(f"{case['id']}: its area has no title in .ci/site/catalogue.py")
            known.cases[case["id"]] = f"conformance/{self._area(case).lower()}.html#{case['id']}"

    @staticmethod
    def _area(case):
        return case["id"].split("-")[0]

    def _side(self, page):
        rows = [f'<li{" class=here" if page == "conformance/index.html" else ""}><a href="{relative("conformance/index.html", page)}">'
                "All areas</a></li>"]
        for area in [name for name in AREAS if any(self._area(case) == name for case in self.cases)]:
            place = f"conformance/{area.lower()}.html"
            rows.append(f'<li{" class=here" if place == page else ""}><a href="{relative(place, page)}">{area}: {AREAS[area]}</a></li>')
        return f'<details open><summary>Conformance</summary><ul>{"".join(rows)}</ul></details>'

    def write(self, sections, places, introduction):
        """Writes the pages: `sections` are those of the specification, `places` the lines of the cases."""
        rows = []
        for area, title in AREAS.items():
            cases = [case for case in self.cases if self._area(case) == area]
            if not cases:
                continue
            page = f"conformance/{area.lower()}.html"
            body = "".join(self._case(case, page, sections, places) for case in cases)
            self.site.page(page, f"{area}: {title}", f"<h1>{area}: {title}</h1>{body}", self._side(page), "conformance",
                           "conformance/index.html")
            levels = sorted({case["level"] for case in cases})
            rows.append(f'<tr><td><a href="{relative(page, "conformance/index.html")}">{area}</a></td><td>{title}</td>'
                        f"<td>{len(cases)}</td><td>{', '.join(levels)}</td></tr>")
        body = (f"<h1>Conformance catalogue</h1><p>The suite has {len(self.cases)} cases. <code>multipeer-conform run --shim COMMAND</code> "
                f"runs them against an implementation in any language.</p><div class=wide><table><thead><tr><th>area</th><th>about</th>"
                f"<th>cases</th><th>levels</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>{introduction}")
        body = re.sub(r"<code>(multipeer-conform run)([^<]*)</code>", lambda m: self._command(m), body, count=1)
        self.site.page("conformance/index.html", "Conformance catalogue", body, self._side("conformance/index.html"), "conformance",
                       "conformance/index.html")

    def _command(self, match):
        place = self.known.commands.get(match[1])
        return f'<a href="{relative(place, "conformance/index.html")}">{match[0]}</a>' if place else match[0]

    def _case(self, case, page, sections, places):
        def label(name):
            place = self.known.definitions.get(name)
            return f'<a href="{relative(place, page)}"><code>[{name}]</code></a>' if place else f"<code>[{name}]</code>"

        section = sections.get(case["clause"]) or sections.get(case["clause"].split(".")[0])
        clause = f'<a href="{relative(section, page)}">{case["clause"]}</a>' if section else case["clause"]
        source = places.get(case["id"]) or next(
            (place for name, place in places.items() if "*" in name and re.fullmatch(name.replace("*", ".*"), case["id"])), None)
        rows = [("level", case["level"]), ("section", clause), ("rules", ", ".join(map(label, case["rules"])) or "–")]
        rows += [(word, inline(case[key])) for word, key in (("does", "stimulus"), ("expects", "expectation")) if case.get(key)]
        rows.append(("finds", ", ".join(f"<code>{escaped(fault)}</code>" for fault in case["faults"]) or "–"))
        if len(case["orders"]) > 1:
            rows.append(("runs", "twice: " + ", and when ".join(ORDERS[order] for order in case["orders"])))
        if source:
            name, number = source[0][:2]
            rows.append(("source", f'<a href="{relative(self.known.place(name), page)}#L{number}"><code>'
                                   f'{escaped(name.removeprefix("Sources/MultipeerConformance/"))}:{number}</code></a>'))
        cells = "".join(f"<dt>{word}</dt><dd>{text}</dd>" for word, text in rows)
        self.site.entry(f'{case["id"]}: {case["title"]}', f'{page}#{case["id"]}', "case", case.get("expectation", ""))
        return (f'<section class="rule" id="{case["id"]}"><h2><code>{case["id"]}</code> {inline(case["title"])}</h2>'
                f"<dl>{cells}</dl></section>")
