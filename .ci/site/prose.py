"""Markdown of the repository as HTML: cmark-gfm reads it; the links, anchors and drawings are those of the site."""

import html
import posixpath
import re
import subprocess

from pages import ROOT, escaped, relative

HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
LABEL = r"[a-z][a-z0-9]*\.[a-z][a-z0-9-]*"
SECTION = re.compile(r"^([0-9]{1,2}\.[0-9]{1,2}|[A-F]\.[0-9]{1,2})\b")


def rendered(markdown):
    return subprocess.run(
        ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink"], input=markdown, text=True,
        capture_output=True, check=True).stdout


def plain(text):
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def slug(text):
    """The anchor that hosts of repositories give a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def inline(text):
    """A title with code in backticks, as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text))


class Document:
    """A file of Markdown, and the page that it becomes."""

    def __init__(self, path, page, known):
        self.path, self.page, self.known = path, page, known
        self.text = (ROOT / path).read_text()
        self.headings = []

    def body(self):
        body = rendered(self.text)
        body = re.sub(r"<!--.*?-->\n?", "", body, flags=re.DOTALL)
        body = re.sub(r'(href|src)="([^"]+)"', self._link, body)
        body = HEADING.sub(self._heading, body)
        body = re.sub(rf"<strong>\[({LABEL})\]</strong>", self._label, body)
        body = re.sub(r"<pre>.*?</pre>|<a [^>]*>.*?</a>|<code>([^<]+)</code>", self._code, body, flags=re.DOTALL)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return body.replace("<th></th>", "<td></td>")

    @property
    def title(self):
        match = re.search(r"^# (.+)$", self.text, re.MULTILINE)
        return match[1].replace("`", "") if match else posixpath.basename(self.path)

    def _heading(self, match):
        level, text = int(match[1]), match[2]
        words = plain(text)
        anchor = slug(words)
        while anchor in (known for _, known, _ in self.headings):
            anchor += "-1"
        self.headings.append((level, anchor, words))
        number = SECTION.match(words)
        extra = f'<a id="{number[1]}"></a>' if number else ""
        return (f'{extra}<h{level} id="{anchor}">{text} <a class="mark" href="#{anchor}" aria-label="link to this section">#</a>'
                f"</h{level}>")

    def _label(self, match):
        label = match[1]
        rule = self.known.rules.get(label)
        if not rule:
            return match[0]
        return f'<a class="label" id="{label}" href="{relative(rule, self.page)}" title="where it is enforced and tested">[{label}]</a>'

    def _code(self, match):
        target = match[1] and self.known.target(html.unescape(match[1]))
        if not target or target.split("#")[0] == self.page:
            return match[0]
        return f'<a href="{escaped(relative(target, self.page))}">{match[0]}</a>'

    def _link(self, match):
        attribute, url = match[1], html.unescape(match[2])
        if re.match(r"[a-z]+:|#", url):
            return match[0]
        place, mark, anchor = url.partition("#")
        target = self.known.place(posixpath.normpath(posixpath.join(posixpath.dirname(self.path), place)))
        if not target:
            raise SystemExit(f"{self.path}: {url} leads nowhere")
        return f'{attribute}="{escaped(relative(target + mark + anchor, self.page))}"'

    def contents(self):
        """The headings of the second level, for the column next to the text."""
        return "".join(f'<li><a href="#{anchor}">{escaped(text)}</a></li>' for level, anchor, text in self.headings if level == 2)
