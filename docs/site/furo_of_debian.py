# SPDX-License-Identifier: MIT
"""A Sphinx extension: mends what Debian 12's package of the theme furo has lost when it was built without its bundler. Other builds stay as they are."""

import re
from pathlib import Path

NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")  # where the package's style sheet imports it from


def mend_styles(text):
    text = re.sub(r"@import url\(/javascript/normalize\.css/[^)]*\);", lambda _: NORMALIZE.read_text(), text)
    if "prefers-color-scheme" not in text:  # the rules of the dark theme, for those whose system is dark
        dark = re.search(r'\n  body\[data-theme="dark"\] \{(.*?)\}', text, re.S)[1]
        text += f'\n@media not print {{ @media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark}}} }} }}\n'
    return text


def mend_script(text, folder):
    """The script imports a file that is no module: that file comes first, and the import goes."""
    imported = re.match(r'import Gumshoe from "\./(.+?)";', text)
    return (folder / imported[1]).read_text() + text[imported.end() :] if imported else text


def mend(app, failure):
    static = Path(app.outdir) / "_static"
    styles, script = static / "styles/furo.css", static / "scripts/furo.js"
    if not failure and app.builder.format == "html":
        styles.write_text(mend_styles(styles.read_text()))
        script.write_text(mend_script(script.read_text(), script.parent))


def setup(app):
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
