# SPDX-License-Identifier: MIT
"""What Sphinx and Doxygen need for the site.

stage.py stage ROOT WORK     writes WORK/pages (the pages of docs/, and one for each public header that docs/reference.md lists) and WORK/Doxyfile
stage.py check ROOT LOG      prints the warnings of Doxygen that are errors; exit status 1 if there are any
"""

import re
import shutil
import sys
from pathlib import Path

# Public headers that docs/reference.md does not show: parts of those that it shows, and what only the library's own headers use.
INNER = {
    "adapters/armadillo.hpp", "adapters/boost_multi_array.hpp", "adapters/cereal.hpp", "adapters/eigen.hpp", "adapters/eigen/geometry.hpp", "adapters/eigen/sparse.hpp",
    "adapters/eigen/tensor.hpp", "adapters/torch.hpp",  # specialisations of cairn::adapter; docs/types.md and adapters.md describe them
    "cairn.hpp", "fields.hpp",  # include others
    "core/leaf.hpp", "encode/code_tables.hpp",
    "state/base.hpp", "state/convert.hpp", "state/describe.hpp", "state/walk_record.hpp",
    "store/naming.hpp",
    "plan/partition.hpp",
    "schedule/fits/fit.hpp", "schedule/fits/loss_window.hpp", "schedule/means.hpp", "schedule/observed_run.hpp",
}

# Members that a concept describes once, for all types that have them: of a policy, an estimator, a store, a group, an observer, a codec, a model of failures; and
# those of the standard library's iterators and ranges.
OF_CONCEPTS = {
    "should_save", "saved", "restarted", "remember", "recall", "observe", "curve",
    "location", "lock", "begin", "join", "list", "files", "open", "remove",
    "rank", "size", "start_max", "start_broadcast", "start_gather", "roll_call",
    "name", "encode", "decode", "view", "uses_parent", "encodes_in_place", "encodes_live", "decodes_ranges", "bound", "prepare",
    "expected", "alive", "operator()", "operator==", "operator=", "operator<=>",
    "operator*", "operator->", "operator++", "iterator_concept", "value_type", "difference_type", "data", "end",
}

DOXYFILE = """
PROJECT_NAME = Cairn
STRIP_FROM_PATH = "{root}/include"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
AUTOLINK_SUPPORT = NO
SORT_MEMBER_DOCS = NO
HIDE_FRIEND_COMPOUNDS = YES
EXCLUDE_SYMBOLS = cairn::detail cairn::*::detail cairn::sentence_part
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = CAIRN_ONE_PER_PROCESS=
# Doxygen knows no inline namespaces in nested names, and Sphinx no requirements.
INPUT_FILTER = "sed -E -e 's/^namespace cairn::inline v[0-9]+_[0-9]+/namespace cairn/' -e '/^ *requires .*[^;{{]$/d'"
INPUT = {headers}
"""

HEADER_NAME = re.compile(r"`cairn/([a-z0-9_/]+\.hpp)`")
LINK = re.compile(r"(?<!!)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def listed(text):
    """The headers that docs/reference.md shows: those at the beginning of a row of a table."""
    return [name for row in re.findall(r"^\| (.+?) \|", text, re.M) for name in HEADER_NAME.findall(row)]


def name_of_page(header):
    return "reference/" + header.removesuffix(".hpp")


def adjust(text, page, root, pages):
    """Links to files outside docs/ become links to copies in the site."""

    def link(found):
        target = (page.parent / found[1]).resolve()
        anchor = found[2] or ""
        if target.suffix == ".md" and target.parent == root / "docs":
            return found[0]
        if target == root / "CHANGELOG.md":
            return f"](changelog.md{anchor})"
        if target == root / "README.md":
            return f"](index.md)"
        if not target.is_file():
            raise SystemExit(f"{page}: there is no {found[1]}")
        if target.parent == root / "docs":
            return found[0]
        copy = Path("files") / target.relative_to(root)
        (pages / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target, pages / copy)
        return f"]({copy})"

    return LINK.sub(link, text)


def stage(root, work):
    pages = work / "pages"
    (pages / "reference").mkdir(parents=True)
    for page in sorted((root / "docs").glob("*.md")) + [root / "CHANGELOG.md"]:
        text = adjust(page.read_text(), page, root, pages)
        if page.name == "reference.md":
            headers = listed(text)
            text = HEADER_NAME.sub(lambda found: f"[{found[0]}]({name_of_page(found[1])}.md)" if found[1] in headers else found[0], text)
            text += "\n```{toctree}\n:hidden:\n\n" + "".join(f"{header} <{name_of_page(header)}>\n" for header in headers) + "```\n"
        (pages / page.name.lower()).write_text(text)
    for picture in (root / "docs").glob("*.svg"):
        shutil.copy(picture, pages)
    for header in headers:
        page = pages / (name_of_page(header) + ".md")
        page.parent.mkdir(parents=True, exist_ok=True)
        about = (root / "include/cairn" / header).read_text().split("\n#pragma once")[0].splitlines()[1:]
        about = " ".join(line.removeprefix("//").strip() for line in about)
        page.write_text(f"# cairn/{header}\n\n{about}\n\n```{{doxygenfile}} cairn/{header}\n:sections: briefdescription detaileddescription innernamespace innerclass enum typedef func var define public-attrib public-func public-static-attrib public-static-func public-type user-defined\n```\n")
    (work / "Doxyfile").write_text(DOXYFILE.format(root=root, headers=" ".join(f'"{root}/include/cairn/{header}"' for header in headers)))


def needs_comment(line):
    """Is this warning not about a name that OF_CONCEPTS describes, a constructor, or a specialisation for the library's own use?"""
    if not line.endswith("is not documented."):
        return True
    member = re.search(r"Member (operator ?(?:\(\)|[^\s(]+)|~?\w+).* of (?:class|struct) \S*?(\w+)(?:<.*>)?(?: \S+)* is not", line)
    return not (member and (member[1] in OF_CONCEPTS or member[1].lstrip("~") == member[2]) or re.search(r"(Compound|of struct) cairn::adapter<", line))


def check(root, log):
    wrong = [line for line in Path(log).read_text().splitlines() if needs_comment(line)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1] == "stage":
        stage(Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve())
    else:
        sys.exit(check(Path(sys.argv[2]).resolve(), sys.argv[3]))
