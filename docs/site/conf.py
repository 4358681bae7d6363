# SPDX-License-Identifier: MIT
"""Sphinx's configuration of the site; build.sh passes the pages that stage.py wrote."""

import logging
import re
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
version = re.search(r'CAIRN_VERSION "(.+)"', (here / "../../include/cairn/version.hpp").read_text())[1]

project = "Cairn"
release = version
copyright = "the authors of Cairn. MIT licence"
extensions = ["myst_parser", "breathe", "furo_of_debian"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page of docs/ may begin with any level of heading
breathe_default_project = "cairn"
breathe_show_include = False
breathe_projects = {}  # build.sh gives the folder of Doxygen's XML
primary_domain = "cpp"
highlight_language = "none"
nitpicky = False

# A namespace is declared on the page of each header that adds names to it.
logging.getLogger("sphinx.sphinx.domains.cpp").addFilter(lambda record: not re.search(r"Duplicate C\+\+ declaration(.|\n)*cpp:type:: (cairn|codecs|estimators|groups|mpi|observers|plan|policies|schedule|stores)\W", record.getMessage()))

html_theme = "furo"
html_title = f"Cairn {version}"
html_static_path = [str(here / "static")]
html_css_files = ["cairn.css"]
html_favicon = str(here / "static/cairn.svg")
html_logo = html_favicon
html_use_index = False  # the search finds names
html_domain_indices = False
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "monokai"
