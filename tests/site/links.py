# SPDX-License-Identifier: MIT
"""links.py FOLDER: each internal link of the HTML files leads to a file and an anchor that exist. `links.py planted` tests the check itself."""

import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def dead_links(folder):
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    followed = 0
    dead = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            followed += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                dead.append(f"{path.relative_to(folder)}: {link}: there is no such file")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                dead.append(f"{path.relative_to(folder)}: {link}: there is no such anchor")
    return followed, dead


def main():
    if sys.argv[1] == "planted":
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.html").write_text('<p id="here"><a href="b.html"></a><a href="#here"></a><a href="#there"></a><a href="https://elsewhere"></a></p>')
            followed, dead = dead_links(folder)
        return 0 if followed == 3 and [line.split(": ")[1] for line in dead] == ["#there", "b.html"] else f"planted links: found {dead}"
    followed, dead = dead_links(Path(sys.argv[1]).resolve())
    print("\n".join(dead + [f"{followed} links followed, {len(dead)} dead"]))
    return 1 if dead or not followed else 0


if __name__ == "__main__":
    sys.exit(main())
