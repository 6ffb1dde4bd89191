"""The command reference. Each page is the command's own help, with an anchor for each option."""

import os
import re
import subprocess

from pages import escaped, relative

HEADS = re.compile(r"^[a-z][^:]*:$")
OPTION = re.compile(r"^ {2,6}(-{1,2}[\w-]+(?:, --[\w-]+)?[^ ]*(?: [A-Z\[<][^ ]*)*)(?:  +(.*))?$")


def help_of(program, words, everything=True):
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    arguments = [program, "help", *words, *(["--all"] if everything and words else [])]
    return subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment).stdout


def listed(text):
    """The commands in an overview: name and summary."""
    lines = text.split("\n")
    rows = lines[lines.index("commands:") + 1:]
    return [re.match(r"  (\S+(?: \S+)*?)  +(.*)", row).groups() for row in rows[:rows.index("")]]


class Commands:
    def __init__(self, site, known, programs):
        """`programs` are the names of the programs with their paths."""
        self.site, self.known = site, known
        self.pages = []  # words, page, summary, text
        for name, path in programs.items():
            overview = help_of(path, [])
            page = f"commands/{name}.html"
            self.pages.append(([name], page, overview.split("\n")[1], overview))
            known.commands[name] = page
            for command, summary in listed(overview):
                words = command.split(" ")
                page = f"commands/{'-'.join([name, *words])}.html"
                self.pages.append(([name, *words], page, summary, help_of(path, words)))
                known.commands[f"{name} {command}"] = page

    def _side(self, page):
        rows = [f'<li{" class=here" if place == page else ""}><a href="{relative(place, page)}">{" ".join(words)}</a></li>'
                for words, place, _, _ in self.pages]
        return f'<details open><summary>Commands</summary><ul>{"".join(rows)}</ul></details>'

    def write(self, manuals):
        """Writes the pages. `manuals` has pages of the manual as HTML, by command, where they exist."""
        rows = []
        for words, page, summary, text in self.pages:
            name = " ".join(words)
            manual = manuals.get("-".join(words))
            more = f'<p class="after">The same as a <a href="{relative(manual, page)}">page of the manual</a>.</p>' if manual else ""
            body = f"<h1><code>{name}</code></h1>" + self._body(text, page, name) + more
            self.site.page(page, name, body, self._side(page), "command", "commands/index.html")
            self.site.entry(name, page, "command", summary)
            rows.append(f'<tr><td><a href="{relative(page, "commands/index.html")}"><code>{name}</code></a></td>'
                        f"<td>{escaped(summary)}</td></tr>")
        body = ("<h1>Commands</h1><p><code>multipeer</code> links, sends, chats and diagnoses; <code>multipeer-conform</code> tests "
                "implementations of the protocol. These pages are what <code>help COMMAND --all</code> prints.</p>"
                f"<div class=wide><table><thead><tr><th>command</th><th></th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>")
        self.site.page("commands/index.html", "Commands", body, self._side("commands/index.html"), "command", "commands/index.html")

    def _body(self, text, page, name):
        """Help as HTML: paragraphs, samples, and a list of options with anchors."""
        parts, rows, options = [], [], []

        def flush():
            if rows:
                block = "\n".join(rows)
                if all(row.startswith("  ") for row in rows) or rows[0].startswith("usage:"):
                    parts.append(f"<pre>{self._linked(escaped(block), page)}</pre>")
                else:
                    parts.append(f"<p>{self._linked(escaped(' '.join(row.strip() for row in rows)), page)}</p>")
                rows.clear()
            if options:
                items = "".join(
                    f'<dt id="{anchor}"><a href="#{anchor}"><code>{escaped(word)}</code></a></dt><dd>{self._linked(escaped(words), page)}</dd>'
                    for anchor, word, words in options)
                parts.append(f"<dl class=options>{items}</dl>")
                for anchor, word, words in options:
                    if anchor != "--help":
                        self.site.entry(f"{name} {word}", f"{page}#{anchor}", "option", words)
                options.clear()

        section = ""
        for line in text.split("\n"):
            match = OPTION.match(line) if section == "options" or section.endswith("options") else None
            if HEADS.match(line):
                flush()
                section = line.rstrip(":")
                parts.append(f"<h2>{escaped(section)}</h2>")
            elif match:
                anchor = re.search(r"--[\w-]+", match[1])
                options.append([anchor[0] if anchor else match[1].split()[0], match[1], match[2] or ""])
            elif options and line.startswith("      "):
                options[-1][2] += " " + line.strip()
            elif not line.strip():
                flush()
            else:
                if rows and rows[-1].startswith("  ") != line.startswith("  ") and not rows[0].startswith("usage:"):
                    flush()
                rows.append(line)
        flush()
        seen = set()
        return re.sub(r' id="(--?[\w-]+)"', lambda m: "" if m[1] in seen or seen.add(m[1]) else m[0], "".join(parts))

    def _linked(self, text, page):
        """Names of other commands become links."""
        def link(match):
            place = self.known.commands.get(match[1])
            return f'<a href="{relative(place, page)}">{match[1]}</a>' if place and place != page else match[1]

        names = sorted((name for name in self.known.commands if " " in name), key=len, reverse=True)
        return re.sub(r"(?<![\w-])(" + "|".join(map(re.escape, names)) + r")(?![\w-])", link, text)
