#!/usr/bin/env python3
"""Reads a page that `audit report --html` wrote, as XML and as HTML, and prints what is in it as JSON.

Ends with an error where it is not well-formed, where the two readings differ, or where it has anything that could run,
load or lead elsewhere.
"""

import html.parser
import json
import re
import sys
import xml.etree.ElementTree

ALLOWED = set("html head meta title style body main h1 h2 h3 p strong dl dt dd table thead tbody tr th td br div "
              "figure figcaption span svg path text".split())
ATTRIBUTES = set("xmlns lang charset name content http-equiv class scope viewBox role d x y".split())


class Reader(html.parser.HTMLParser):
    """The tags and texts as a browser meets them."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, {name: value for name, value in attributes}))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        raise ValueError(f"a comment: {data}")


def local(name):
    return name.rsplit("}", 1)[-1]


def text_of(element):
    return "".join(element.itertext())


def walk(element):
    yield element
    for child in element:
        yield from walk(child)


def require(condition, what):
    if not condition:
        raise ValueError(what)


def check_inert(root):
    for element in walk(root):
        require(local(element.tag) in ALLOWED, f"element {element.tag}")
        for name, value in element.attrib.items():
            require(local(name) in ATTRIBUTES, f"attribute {name} of {element.tag}")
            require("url(" not in value, f"a link in {name}")
    style = "".join(text_of(e) for e in walk(root) if local(e.tag) == "style")
    require("url(" not in style and "@import" not in style, "the style loads something")
    require("@media print" in style and "prefers-color-scheme:dark" in style, "no style for paper or the dark")


def check_path(d):
    """The coordinates of a path; all within the picture."""
    require(re.fullmatch(r"(M\d+(\.\d)?,\d+(\.\d)?|[HV]\d+(\.\d)?|Z)*", d), f"path {d[:60]}")
    x = y = 0.0
    corners = []
    for how, first, second in re.findall(r"([MHVZ])([\d.]*),?([\d.]*)", d):
        if how == "M":
            x, y = float(first), float(second)
        elif how == "H":
            require(float(first) >= x, "a line that runs back")
            x = float(first)
        elif how == "V":
            y = float(first)
        require(0 <= x <= 640 and 0 <= y <= 120, f"beyond the picture: {x}, {y}")
        corners.append([x, y])
    return corners


def tables_of(root):
    heading, tables = "", []
    for element in walk(root):
        name = local(element.tag)
        if name in ("h1", "h2", "h3"):
            heading = text_of(element)
        if name == "table":
            rows = [["\n".join(cell.itertext()) for cell in row] for row in walk(element) if local(row.tag) == "tr"]
            require(all(len(row) == len(rows[0]) for row in rows), f"a row of another length below {heading}")
            tables.append({"heading": heading, "head": rows[0], "rows": rows[1:]})
    return tables


def pictures_of(root):
    pictures = []
    for figure in (e for e in walk(root) if local(e.tag) == "figure"):
        paths = {e.get("class"): check_path(e.get("d"))
                 for e in walk(figure) if local(e.tag) == "path" and e.get("class") != "axis"}
        pictures.append({"caption": text_of(next(e for e in figure if local(e.tag) == "figcaption")),
                         "title": text_of(next(e for e in walk(figure) if local(e.tag) == "title")),
                         "line": paths["line"] if "line" in paths else [], "kinds": sorted(paths)})
    return pictures


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    require(data.startswith(b"<!DOCTYPE html>\n"), "no document type")
    root = xml.etree.ElementTree.fromstring(data)
    check_inert(root)
    reader = Reader()
    reader.feed(data.decode("utf-8"))
    reader.close()
    tags = [local(e.tag).lower() for e in walk(root)]
    require([tag for tag, _ in reader.tags] == tags, "XML and HTML do not have the same elements")
    words = "".join(root.itertext())
    require("".join(reader.texts).split() == words.split(), "XML and HTML do not have the same text")
    json.dump({"tables": tables_of(root), "pictures": pictures_of(root), "text": words,
               "title": next(text_of(e) for e in walk(root) if local(e.tag) == "title"),
               "headings": [text_of(e) for e in walk(root) if local(e.tag) in ("h1", "h2", "h3")]}, sys.stdout)


main(sys.argv[1])
