"""The rules themselves: each finds a breach that is planted in a small tree, and none in the tree without it."""

import sys
import tempfile
from pathlib import Path

import rules

HEADER = "// A header.\n#pragma once\n"
SUM = "#include <range/v3/numeric/accumulate.hpp>\n"


def tree(**changed):
    """A tree in which every row of the order includes all that it may, with `changed` files (path under include/cairn: text)."""
    files = {}
    for row, may in rules.MAY_INCLUDE.items():
        if row == "definitions":
            continue
        path = row if row.endswith(".hpp") else f"{row}/some.hpp"
        files[path] = HEADER + "".join(f'#include "cairn/{r if r.endswith(".hpp") else r + "/some.hpp"}"\n' for r in sorted(may))
    files["checkpointer.hpp"] += '#include "cairn/run/checkpointer.ipp"\n'
    files["run/checkpointer.ipp"] = HEADER + '#include "cairn/checkpointer.hpp"\n' + SUM
    files["definitions/run.cpp"] = '// Definitions.\n#include "cairn/run/checkpointer.ipp"\n'
    files["definitions.cpp"] = '// All definitions.\n#include "cairn/definitions/run.cpp"\n'
    all_files = {"include/cairn/" + path: text for path, text in (files | changed).items() if text is not None}
    return all_files | {".cmake/dependencies.cmake": 'set(cairn_dependencies "range-v3" "Threads")\n'}


def include(*names):
    return HEADER + "".join(f'#include "{name}"\n' for name in names)


# (rule, a part of what it says, the planted files)
PLANTED = [
    ("includes", "core may not include cairn/system/some.hpp", {"core/a.hpp": include("cairn/system/some.hpp")}),
    ("includes", "system may not include cairn/state/some.hpp", {"system/a.hpp": include("cairn/state/some.hpp")}),
    ("includes", "store may not include cairn/encode/some.hpp", {"store/a.hpp": include("cairn/encode/some.hpp")}),
    ("includes", "store may not include cairn/event.hpp", {"store/a.hpp": include("cairn/event.hpp")}),
    ("includes", "schedule may not include cairn/store/some.hpp", {"schedule/a.hpp": include("cairn/store/some.hpp")}),
    ("includes", "chain may not include cairn/run/some.hpp", {"chain/a.hpp": include("cairn/run/some.hpp")}),
    ("includes", "chain may not include cairn/save.hpp", {"chain/a.hpp": include("cairn/save.hpp")}),
    ("includes", "chain may not include cairn/load.hpp", {"chain/save.ipp": include("cairn/save.hpp", "cairn/load.hpp")}),
    ("includes", "chain may not include cairn/schedule/some.hpp", {"chain/a.hpp": include("cairn/schedule/some.hpp")}),
    ("includes", "run may not include cairn/checkpointer.hpp", {"run/a.hpp": include("cairn/checkpointer.hpp")}),
    ("includes", "run may not include cairn/cairn.hpp", {"run/a.ipp": include("cairn/cairn.hpp")}),
    ("includes", "save.hpp may not include cairn/run/some.hpp", {"save.hpp": include("cairn/run/some.hpp")}),
    ("includes", "load.hpp may not include cairn/save.hpp", {"load.hpp": include("cairn/save.hpp")}),
    ("includes", "checkpointer.hpp may not include cairn/cairn.hpp", {"checkpointer.hpp": include("cairn/cairn.hpp")}),
    ("includes", "'tools' has no row", {"tools/a.hpp": HEADER}),
    ("includes", "'tools.hpp' has no row", {"tools.hpp": HEADER}),
    ("includes", 'own headers are included as "cairn/..."', {"core/a.hpp": include("some.hpp")}),
    ("namespaces", "run/a.hpp:3: defines names for users", {"run/a.hpp": HEADER + "namespace cairn {\n}\n"}),
    ("namespaces", "run/a.ipp:3: defines names for users", {"run/a.ipp": HEADER + "namespace cairn {\n}\n"}),
    ("same_interface", "save.hpp: includes cairn/event.hpp header-only",
     {"save.hpp": include("cairn/run/save.ipp"), "run/save.ipp": include("cairn/event.hpp")}),
    ("definitions", "run/checkpointer.ipp: included 0 times", {"definitions/run.cpp": "// Definitions.\n"}),
    ("definitions", "run/checkpointer.ipp: included 2 times", {"definitions/run.cpp": include(*["cairn/run/checkpointer.ipp"] * 2)}),
    ("definitions", "definitions/run.cpp: included 0 times", {"definitions.cpp": "// All definitions.\n"}),
    ("packages", "requires range-v3, of which no file", {"run/checkpointer.ipp": include("cairn/checkpointer.hpp")}),
    ("heavy_headers", "include the single header", {"run/checkpointer.ipp": HEADER + SUM + "#include <range/v3/view.hpp>\n"}),
    ("heavy_headers", "belongs into an .ipp file", {"core/a.hpp": HEADER + SUM}),
]


def breaches(rule, files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return list(getattr(rules, "rule_" + rule)(root, sorted(files)))


def main():
    wrong = [f"{rule}: {line}" for rule in sorted({p[0] for p in PLANTED}) for line in breaches(rule, tree())]
    for rule, said, changed in PLANTED:
        found = breaches(rule, tree(**changed))
        if len(found) != 1 or said not in found[0]:
            wrong.append(f"{rule}: expected '{said}' alone for {changed}, found {found}")
    print("\n".join(wrong) or f"{len(PLANTED)} planted breaches found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
