# SPDX-License-Identifier: MIT
"""The rules themselves: each finds a breach that is planted in a small tree, and none in the tree without it."""

import os.path
import sys
import tempfile
from pathlib import Path

import rules

LICENSE = "// SPDX-License-Identifier: MIT\n"
HEADER = LICENSE + "// A header.\n#pragma once\n"
SUM = "#include <range/v3/numeric/accumulate.hpp>\n"
RECIPE = """# SPDX-License-Identifier: MIT
self.requires("range-v3/1")\nre.search(r'#define CAIRN_VERSION "(.+)"', header)\n"""


def include(*names):
    return HEADER + "".join(f'#include "{name}"\n' for name in names)


def quoted(names, code="train();\n\nsave();\n"):
    return f"<!-- examples/a.cpp: {names} -->\n```cpp\n{code}```\n"


def tree(**changed):
    """A tree in which every row of the order includes all that it may, with `changed` files (path under include/cairn: text)."""
    files = {}
    for row, may in rules.MAY_INCLUDE.items():
        if row == "definitions":
            continue
        path = row if row.endswith(".hpp") else f"{row}/some.hpp"
        files[path] = HEADER + "".join(f'#include "cairn/{r if r.endswith(".hpp") else r + "/some.hpp"}"\n' for r in sorted(may))
    files = {path: text.replace(HEADER, HEADER + '#include "cairn/core/config.hpp"\n') if path != "version.hpp" else text for path, text in files.items()}
    files["core/config.hpp"] = HEADER
    files["checkpointer.hpp"] += '#include "cairn/run/checkpointer.ipp"\n'
    files["run/checkpointer.ipp"] = HEADER + '#include "cairn/checkpointer.hpp"\n' + SUM
    files["definitions/run.cpp"] = LICENSE + '// Definitions.\n#include "cairn/run/checkpointer.ipp"\n'
    files["definitions.cpp"] = LICENSE + '// All definitions.\n#include "cairn/definitions/run.cpp"\n'
    files["fields.hpp"] = include("cairn/core/config.hpp", "cairn/state/field_list.hpp")
    files["state/field_list.hpp"] = HEADER
    files["../../README.md"] = "| `cairn/merge.hpp`, `cairn/schedule/policies.hpp` | merging; policies |\n" + quoted("train, save")
    files["../../examples/a.cpp"] = LICENSE + "// [train]\ntrain();\n// [train]\n{\n  // [save]\n  save();\n  // [save]\n}\n"
    files["../../bench/a.cpp"] = LICENSE + "// A bench program.\n"
    for path in [path for path in files if path.endswith(".hpp")]:
        files["../../tests/" + path.removesuffix("hpp") + "cpp"] = include("cairn/" + path)
    files["version.hpp"] += "".join(f"#define CAIRN_VERSION_{part} 1\n" for part in ("MAJOR", "MINOR", "PATCH")) + '#define CAIRN_VERSION "1.1.1"\n'
    files["../../conanfile.py"] = RECIPE
    files["../../docs/design.md"] = "```\nsave_all    calls checkpointer::save(state)\n```\n"
    files["../../docs/reference.md"] = "| `cairn/save.hpp`, `cairn/load.hpp` | saves and loads |\n"
    inner = [path for path in files if path.endswith(".hpp") and path.count("/") == 0 and path not in ("save.hpp", "load.hpp")]
    files["../../docs/site/stage.py"] = "# SPDX-License-Identifier: MIT\nINNER = {\n" + "".join(f'    "{path}",\n' for path in sorted(inner)) + "}\n"
    files["core/error.hpp"] = HEADER + "enum class errc {\n  io,  ///< refused\n  busy  ///< locked\n};\n"
    files["../../tests/core/error.cpp"] = include("cairn/core/error.hpp")
    files["../../docs/troubleshooting.md"] = "# Troubleshooting\n\n## io\n\n## busy\n"
    files["checkpointer.hpp"] += "class checkpointer {\nvoid save();\n};\nvoid save_all();\n"
    all_files = {os.path.normpath("include/cairn/" + path): text for path, text in (files | changed).items() if text is not None}
    return all_files | {".cmake/dependencies.cmake": '# SPDX-License-Identifier: MIT\nset(cairn_dependencies "range-v3" "Threads")\n'}


def namespace(name):
    """In the inline namespace of the version of tree()."""
    return HEADER + f"namespace {name.replace('cairn', 'cairn::inline v1_1', 1)} {{\n}}\n"


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
    ("namespaces", "run/a.hpp:4: defines names for users", {"run/a.hpp": namespace("cairn")}),
    ("namespaces", "run/a.ipp:4: defines names for users", {"run/a.ipp": namespace("cairn")}),
    ("license", "core/a.hpp:1: no SPDX", {"core/a.hpp": "// A header.\n#pragma once\n"}),
    ("license", "tests/a.sh:1: no SPDX", {"../../tests/a.sh": "#!/usr/bin/env bash\nset -e\n"}),
    ("inline_namespace", "core/a.hpp:4: not in namespace cairn::inline v1_1", {"core/a.hpp": HEADER + "namespace cairn::detail {\n}\n"}),
    ("inline_namespace", "core/a.hpp:4: not in namespace cairn::inline v1_1", {"core/a.hpp": HEADER + "namespace cairn::inline v1_0::detail {\n}\n"}),
    ("virtual", "run/a.hpp:5: a virtual function that is not CAIRN_INLINE: void save() override;", {"run/a.hpp": HEADER + "struct a {\n  void save() override;\n};\n"}),
    ("virtual", "run/a.hpp:5: a virtual function that is not CAIRN_INLINE: virtual void save(int);", {"run/a.hpp": HEADER + "struct a {\n  virtual void save(int);\n};\n"}),
    ("same_interface", "save.hpp: includes cairn/event.hpp header-only",
     {"save.hpp": include("cairn/run/save.ipp"), "run/save.ipp": include("cairn/event.hpp")}),
    ("same_interface", "schedule/every.hpp: includes cairn/core/error.hpp header-only",
     {"schedule/every.hpp": namespace("cairn::policies") + '#include "cairn/schedule/every.ipp"\n',
      "schedule/every.ipp": include("cairn/core/error.hpp"), "core/error.hpp": namespace("cairn")}),
    ("same_interface", "encode/lc.hpp does not bring core/float_types.hpp",
     {"encode/lc.hpp": namespace("cairn::codecs"), "core/float_types.hpp": namespace("cairn")}),
    ("opt_in", "cairn.hpp: includes cairn/schedule/even_intervals.hpp",
     {"save.hpp": include("cairn/schedule/even_intervals.hpp"), "schedule/even_intervals.hpp": HEADER}),
    ("opt_in", "fields.hpp: includes cairn/state/walk.hpp", {"fields.hpp": include("cairn/state/walk.hpp"), "state/walk.hpp": HEADER}),
    ("opt_in", "README.md: save.hpp is not opt-in", {"../../README.md": "| `cairn/merge.hpp`, `cairn/save.hpp` | merging; saving |\n"}),
    ("fence", "hwy/highway.h is included only by", {"encode/a.hpp": include("hwy/highway.h")}),
    ("fence", "rapidjson/reader.h is included only by", {"store/index.ipp": HEADER + "#include <rapidjson/reader.h>\n"}),
    ("fence", "cairn.hpp: includes the kernels",
     {"cairn.hpp": include("cairn/encode/simd/each_target.hpp"), "encode/simd/each_target.hpp": HEADER}),
    ("config_first", "save.hpp: does not include cairn/core/config.hpp before", {"save.hpp": include("cairn/core/a.hpp", "cairn/core/config.hpp"), "core/a.hpp": HEADER}),
    ("codec_names", "store/a.hpp:4: names a codec", {"store/a.hpp": HEADER + 'if (codec == "lc2") return;  // not "raw"\n'}),
    ("reference", "include/cairn/schedule/every.hpp: neither docs/reference.md nor INNER", {"schedule/every.hpp": namespace("cairn::policies")}),
    ("reference", "some.hpp is no public header", {"../../docs/reference.md": "| `cairn/save.hpp`, `cairn/load.hpp`, `cairn/core/some.hpp` | saving |\n"}),
    ("reference", "both have merge.hpp", {"../../docs/reference.md": "| `cairn/save.hpp`, `cairn/load.hpp`, `cairn/merge.hpp` | saving |\n"}),
    ("troubleshooting", "0 sections for errc::busy", {"../../docs/troubleshooting.md": "## io\n"}),
    ("troubleshooting", "2 sections for errc::io", {"../../docs/troubleshooting.md": "## io\n\n## busy\n\n## io\n"}),
    ("design", "names checkpointer::load, which", {"../../docs/design.md": "```\ncheckpointer::load    loads\n```\n"}),
    ("design", "names checkpointer::restore, which", {"../../docs/design.md": "```\nsave_all    calls it (checkpointer::restore)\n```\n"}),
    ("design", "names load_all, which", {"../../docs/design.md": "```\nsave_all    calls (load_all)\n```\n"}),
    *(("float_bits", f"core/a.hpp:4: {said} is not what it says", {"core/a.hpp": HEADER + f"inline auto a(double b) {{ return {code}; }}\n"})
      for said, code in [("std::isnan", "std::isnan(b)"), ("b != b", "b != b"), (".allFinite", "c.allFinite()"), ("INFINITY", "b < INFINITY"),
                         ("numeric_limits<double>::infinity", "std::numeric_limits<double>::infinity()")]),
    ("language", "core/a.hpp:4: ", {"core/a.hpp": HEADER + "// It is told\n// of errors.\n"}),
    ("language", "docs/a.md:2: ", {"../../docs/a.md": "one\nlearned by\nheart\n"}),
    ("folders", "log: not one of the files", {"../../log": "text\n"}),
    ("folders", "tools/: not one of", {"../../tools/a.cpp": "// A tool.\n"}),
    ("folders", "bench/: missing", {"../../bench/a.cpp": None}),
    ("printing", "core/a.hpp:4: the library does not print", {"core/a.hpp": HEADER + 'std::puts("done");  // not std::cout\n'}),
    ("header_form", "core/a.hpp:2: the second line", {"core/a.hpp": LICENSE + "#pragma once\n"}),
    ("header_form", "core/a.hpp: no #pragma once", {"core/a.hpp": LICENSE + "// A header.\n"}),
    ("header_form", "core/a.hpp: 303 lines", {"core/a.hpp": HEADER + "\n" * 300}),
    ("header_form", "core/helpers.hpp: a name that says nothing", {"core/helpers.hpp": HEADER}),
    ("mirror", "core/a.hpp: no test mirrors it", {"core/a.hpp": HEADER}),
    ("mirror", "tests/core/some.cpp: includes catch.hpp first", {"../../tests/core/some.cpp": include("catch.hpp", "cairn/core/some.hpp")}),
    ("mirror", "tests/core/a.cpp: mirrors no header", {"../../tests/core/a.cpp": HEADER}),
    ("catch", 'tests/a.cpp:1: include "catch.hpp"', {"../../tests/a.cpp": "#include <catch2/catch.hpp>\n"}),
    ("unfinished", "core/a.hpp:4: ", {"core/a.hpp": HEADER + "// TO" "DO\n"}),
    ("dependencies", "zlib: named by only one of", {"../../conanfile.py": RECIPE + 'self.requires("zlib/1")\n'}),
    ("dependencies", "state/a.hpp:4: boost/pfr.hpp belongs to no package", {"state/a.hpp": HEADER + "#include <boost/pfr.hpp>\n"}),
    ("dependencies", "reads 1.1 from version.hpp, whose parts say 1.1.1", {"../../conanfile.py": RECIPE.replace("(.+)", r"(\d\.\d)\.1")}),
    ("snippets", "docs/a.md: the snippet 'save' differs", {"../../docs/a.md": quoted("save", "store();\n")}),
    ("snippets", "docs/a.md: the snippet 'load' differs", {"../../docs/a.md": quoted("load")}),
    ("snippets", "README.md: the snippet 'save, train' differs", {"../../README.md": quoted("save, train")}),
    ("snippets", "docs/a.md: the code in line 1 does not", {"../../docs/a.md": "```cpp\nload();\n```\n"}),
    ("snippets", "README.md: the code in line 1 does not", {"../../README.md": "```cpp\nload();\n```\n" + quoted("train, save")}),
    ("definitions", "run/checkpointer.ipp: included 0 times", {"definitions/run.cpp": "// Definitions.\n"}),
    ("definitions", "run/checkpointer.ipp: included 2 times", {"definitions/run.cpp": include(*["cairn/run/checkpointer.ipp"] * 2)}),
    ("definitions", "definitions/run.cpp: included 0 times", {"definitions.cpp": "// All definitions.\n"}),
    ("packages", "state/a.hpp:4: uses an internal part of Boost.PFR", {"state/a.hpp": HEADER + "boost::pfr::detail::fields_count\n"}),
    ("packages", "requires range-v3, of which no file", {"run/checkpointer.ipp": include("cairn/checkpointer.hpp")}),
    ("cycles", "core/b.ipp: includes cairn/core/a.hpp, which may still be including cairn/core/b.hpp",
     {"core/a.hpp": include("cairn/core/b.hpp"), "core/b.hpp": include("cairn/core/b.ipp"), "core/b.ipp": include("cairn/core/a.hpp")}),
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
    rules.MAY_INCLUDE["core"] = {"system"}
    if (found := breaches("order", tree())) != ["MAY_INCLUDE: core may include system, whose row comes later"]:
        wrong.append(f"order: found {found}")
    print("\n".join(wrong) or f"{len(PLANTED)} planted breaches found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
