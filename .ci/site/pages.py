"""The frame of every page of the site, and the files that are written."""

import html
import pathlib
import posixpath

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# What every page links to: the place from the root of the site, and the word.
SECTIONS = [
    ("documentation/index.html", "Libraries"),
    ("commands/index.html", "Commands"),
    ("spec/index.html", "Specification"),
    ("conformance/index.html", "Conformance"),
    ("project/index.html", "Project"),
]


def escaped(text):
    return html.escape(text, quote=True)


def relative(target, page):
    """Returns the link from a page to another one; both are places from the root of the site."""
    place, mark, anchor = target.partition("#")
    if not place or place == page:
        return mark + anchor if mark else posixpath.basename(page)
    return posixpath.relpath(place, posixpath.dirname(page) or ".") + mark + anchor


def bar(page, current=None):
    """The links at the top of a page, with the search field."""
    links = "".join(
        f'<a href="{relative(place, page)}"{" aria-current=page" if place == current else ""}>{word}</a>'
        for place, word in SECTIONS)
    return (f'<header class="site-bar"><a class="site-name" href="{relative("index.html", page)}">swift-multipeer</a>'
            f"<nav>{links}</nav>"
            f'<form class="site-search" action="{relative("search.html", page)}" role="search">'
            '<input name="q" type="search" placeholder="Search" aria-label="Search" autocomplete="off"></form></header>')


def head(page, title):
    return (f'<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{escaped(title)}</title>"
            '<meta name="color-scheme" content="light dark">'
            f'<link rel="icon" href="{relative("favicon.svg", page)}" type="image/svg+xml">'
            f'<link rel="stylesheet" href="{relative("site.css", page)}">'
            f'<script defer src="{relative("search.js", page)}"></script>')


class Site:
    """The folder of the site, and what was written there."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.written = {}
        # What the search finds: title, place, kind, text.
        self.entries = []

    def write(self, place, text):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page(self, place, title, body, side="", kind="", current=None):
        """Writes a page: its title, its content, and what stands next to that."""
        self.written[place] = title
        side = f'<aside class="site-side">{side}</aside>' if side else ""
        self.write(place, f'<!doctype html><html lang="en"><head>{head(place, title + " · swift-multipeer")}</head>'
                          f'<body class="site {kind}">{bar(place, current)}<div class="site-columns">{side}'
                          f'<main>{body}</main></div></body></html>\n')

    def entry(self, title, place, kind, text=""):
        self.entries.append([title, place, kind, " ".join(text.split())[:160]])
