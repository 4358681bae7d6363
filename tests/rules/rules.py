# SPDX-License-Identifier: MIT
"""The rules of the source tree that a compiler does not check. Usage: rules.py <rule> <root>

Each function rule_NAME(root, files) yields one line per breach; `files` are the paths in git's view of the tree.
"""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

TOP_FOLDERS = {"include", "examples", "tests", "bench", "docs"}
TOP_FILES = {"CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "conanfile.py", "pyproject.toml"}

# The order of include/cairn, bottom to top: a row for each folder and for each public header, which lie at the top of the tree. A file
# may include what its row names, and its own folder; x.ipp, in any folder, may include the public header x.hpp. Nothing includes
# checkpointer.hpp but cairn.hpp, and the stages know no public header.
STAGES = {"core", "system", "state", "encode", "store"}
WORDS = {"event.hpp", "report.hpp"}
CALLS = {"chain", "inspect.hpp", "load.hpp", "save.hpp"}
MAY_INCLUDE = {
    "version.hpp": set(),
    "core": set(),
    "system": {"core"},
    "state": {"core", "system"},
    "encode": {"core", "system"},
    "store": {"core", "system"},
    "schedule": {"core", "system"},
    "group": {"core", "system"},
    "plan": {"core"},
    "adapters": {"core", "state"},
    "event.hpp": {"core"},
    "signals.hpp": {"core", "system"},
    "slurm.hpp": {"core", "system"},
    "report.hpp": {"core", "state"},
    "fields.hpp": {"core", "state"},
    "loop.hpp": {"core", "state"},
    "observers.hpp": {"core", "event.hpp"},
    "chain": STAGES | WORDS | {"group"},
    "options.hpp": {"core", "encode", "store", "schedule", "chain", "event.hpp", "signals.hpp"},
    "inspect.hpp": STAGES | WORDS | {"chain"},
    "load.hpp": STAGES | WORDS | {"chain", "inspect.hpp"},
    "merge.hpp": STAGES | WORDS | {"chain"},
    "save.hpp": STAGES | WORDS | {"chain"},
    "arrays.hpp": STAGES | WORDS | {"chain", "inspect.hpp", "save.hpp"},
    "s3.hpp": {"core", "system", "store"},
    "export.hpp": STAGES | WORDS | {"chain", "inspect.hpp"},
    "exporter.hpp": STAGES | WORDS | {"export.hpp"},
    "import.hpp": STAGES | WORDS | {"arrays.hpp", "inspect.hpp", "save.hpp"},
    "once": STAGES | WORDS | CALLS | {"arrays.hpp"},
    "exchange": STAGES | WORDS | CALLS | {"arrays.hpp", "once"},
    "trainer": {"core", "system", "state", "event.hpp", "loop.hpp", "observers.hpp", "signals.hpp"},
    "run": STAGES | WORDS | CALLS | {"arrays.hpp", "group", "plan", "schedule", "options.hpp", "signals.hpp"},
    "levels.hpp": {"core", "store"},
    "each_host.hpp": {"core", "store"},
    "levels": STAGES | WORDS | {"chain", "group", "schedule", "options.hpp", "each_host.hpp", "levels.hpp", "run"},
    "parity.hpp": {"core", "each_host.hpp", "levels"},
    "checkpointer.hpp": STAGES | WORDS | CALLS | {"group", "plan", "schedule", "options.hpp", "signals.hpp"},
}
MAY_INCLUDE["cairn.hpp"] = set(MAY_INCLUDE) - {"adapters", "arrays.hpp", "each_host.hpp", "export.hpp", "exporter.hpp", "import.hpp", "levels", "levels.hpp", "merge.hpp", "parity.hpp", "s3.hpp", "slurm.hpp"}
MAY_INCLUDE["definitions"] = set(MAY_INCLUDE)
MAY_INCLUDE["implementation.hpp"] = {"definitions"}
FOR_ALL = {"version.hpp"}

# The headers in folders that define names for users, in `namespace cairn` itself: what the headers at the top show, and what users extend.
# All else lies in cairn::detail or in a namespace of its own (cairn::stores, cairn::schedule).
PUBLIC = {
    "core": {"dtype", "encoding", "error", "float_types", "leaf", "policy_memory"},
    "state": {"adapter", "base", "convert", "describe", "sharded", "state", "tensor_view", "walk_record", "words"},
    "encode": {"base", "choice", "code_tables", "lc", "lc/options"},
    "store": {"base", "naming", "retention"},
    "schedule": {"base", "estimator", "every", "mtbf"},
    "adapters": {"armadillo", "boost_multi_array", "cereal", "eigen", "eigen/geometry", "eigen/sparse", "eigen/tensor", "torch"},
    "chain": {"options"},
    "group": {"base"},
}

# Headers that define names for users: those of PUBLIC, and those of these namespaces.
FOR_USERS = re.compile(r"^namespace cairn::inline v\d+_\d+(::(codecs|estimators|groups|mpi|observers|plan|policies|schedule|slurm|stores))? {$", re.M)

# The beginnings of the paths of what cairn.hpp does not include.
OPT_IN = ("adapters/", "arrays.", "each_host.", "export.", "exporter.", "exchange/", "chain/merge.", "encode/lc.", "encode/lc/", "encode/simd/lc_kernels", "group/mpi.", "group/threads.", "import.", "levels.", "levels/", "merge.", "parity.", "schedule/checkfreq.", "schedule/coci.",
          "s3.", "schedule/even_intervals.", "schedule/fits/", "schedule/level_schedule.", "schedule/estimator.", "schedule/policies.", "slurm.", "store/s3/")
# All that fields.hpp may include.
FIELDS = {"core/config.hpp", "fields.hpp", "state/adapter.hpp", "state/words.hpp"}

# The files that include these libraries, by the folder of their headers.
INCLUDED_BY = {
    "hwy": {"include/cairn/encode/simd/each_target.hpp", "include/cairn/encode/simd/highway-inl.hpp"},
    "rapidjson": {"include/cairn/system/json.ipp"},
    "xxhash.h": {"include/cairn/core/checksum.hpp"},
    "curl": {"include/cairn/store/s3/curl.ipp"},
    "openssl": {"include/cairn/store/s3/request.ipp"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TOO_HEAVY = {"boost/pfr.hpp", "range/v3/all.hpp", "range/v3/view.hpp"}
PRINTING = re.compile(r"\bstd::(cout|cerr|clog|print|println)\b|\b(f|v|vf|d)?printf\s*\(|\b(puts|fputs|putchar|perror)\s*\(|<iostream>")
# The ConanCenter package of a `<folder/...>` or `<name.h>`. Opt-in adapters, group/mpi.hpp and parity.hpp may include their own library.
OWNERS = {"boost": "boost", "hwy": "highway", "rapidjson": "rapidjson", "range": "range-v3", "xxhash.h": "xxhash", "Eigen": "eigen", "cereal": "cereal", "curl": "libcurl", "openssl": "openssl"}
SYSTEM = re.compile(r"(sys|linux)/|[a-z_0-9]+$|(unistd|fcntl|fnmatch|signal|pthread|sched|errno|dirent|cxxabi|[a-z]+intrin)\.h$")
LONGEST_HEADER = 600  # with the line of the licence: a subject is one file
UNFINISHED = re.compile("|".join(["TO" "DO", "FIX" "ME", r"\bXXX\b", r"\bHA" r"CK\b", "place" "holder", "not imple" "mented", r"\bfor n" r"ow\b"]))
VAGUE = re.compile(r"util|helper|manager")
CODEC_NAME = re.compile(r'"(raw|lossless|lc[0-9]*)"')
# Phrases that are not plain English, with _ for the spaces.
UNCLEAR_SPACE = r"[\s/]+"
UNCLEAR = re.compile(
    r"\b(behind_(a_first|all|every|it(?!s)|its|one|that|the_(header|last|marks|other|training)|them|these|those|whole)|by_heart|in_peace|"
    r"on_its_way|so_many|tells_of|told_(of|the))\b".replace("_", UNCLEAR_SPACE))


class CannotCheck(Exception):
    pass


def headers(files):
    """What a program may include; without the files that are included once per SIMD target."""
    return [f for f in files if f.startswith("include/") and f.endswith(".hpp") and not f.endswith(("-inl.hpp", "/each_target.hpp"))]


def library(files):
    """The headers, their definitions (.ipp), and the units that compile those."""
    return [f for f in files if f.startswith("include/")]


def is_text(file):
    return re.search(r"\.(hpp|ipp|cpp|sh|py|md|cmake|txt|json)$", file) is not None


def text_of(root, file):
    return (root / file).read_text(encoding="utf-8")


def lines_of(root, file):
    return text_of(root, file).splitlines()


def includes_of(root, file):
    for number, line in enumerate(lines_of(root, file), 1):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2]


def rule_folders(root, files):
    folders = {f.split("/")[0] for f in files if "/" in f and not f.startswith(".")}
    for extra in sorted(folders - TOP_FOLDERS):
        yield f"{extra}/: not one of the top-level folders {sorted(TOP_FOLDERS)}"
    for missing in sorted(TOP_FOLDERS - folders):
        yield f"{missing}/: missing"
    for extra in sorted(f for f in files if "/" not in f and not f.startswith(".") and f not in TOP_FILES):
        yield f"{extra}: not one of the files at the top, {sorted(TOP_FILES)}"


def row_of(path):
    """The row of MAY_INCLUDE for a path under include/cairn: its folder, or the file itself at the top."""
    return path.split("/")[0]


def is_public(path):
    return "/" not in path and path.endswith(".hpp")


def defines(file, header):
    """Is the file the definitions x.ipp of the public header x.hpp?"""
    return is_public(header) and file.endswith("/" + header.removesuffix(".hpp") + ".ipp")


def rule_present(root, files):
    known = set(files)
    for file in files:
        if file.endswith((".hpp", ".ipp", ".cpp")):
            for number, _, name in includes_of(root, file):
                if name.startswith("cairn/") and "include/" + name not in known:
                    yield f"{file}:{number}: {name} is not there"


def rule_columns(root, files):
    for file in files:
        if file.endswith((".hpp", ".ipp", ".cpp")):
            for number, line in enumerate((root / file).read_text().splitlines(), 1):
                # but a line that a compiler quotes in its message, and a text that cannot be divided
                if len(line) > 120 and "// cairn: " not in line and 'R"(' not in line:
                    yield f"{file}:{number}: {len(line)} columns"
        elif file == "README.md" or file.startswith("docs/") and file.endswith(".md"):
            # What the site shows of code without scrolling; not what a program prints.
            block = None
            for number, line in enumerate((root / file).read_text().splitlines(), 1):
                if line.startswith("```"):
                    block = None if block is not None else line[3:]
                elif block not in (None, "console") and len(line) > 88:
                    yield f"{file}:{number}: code of {len(line)} columns"


def rule_includes(root, files):
    for file in library(files):
        path = file.removeprefix("include/cairn/")
        row = row_of(path)
        if row not in MAY_INCLUDE:
            yield f"{file}: '{row}' has no row in the order of includes"
            continue
        for number, quote, name in includes_of(root, file):
            if not name.startswith("cairn/"):
                if quote == '"':
                    yield f'{file}:{number}: "{name}": own headers are included as "cairn/..."'
                continue
            other = name.removeprefix("cairn/")
            if row_of(other) in {row} | FOR_ALL | MAY_INCLUDE[row] or defines(path, other):
                continue
            yield f"{file}:{number}: {row} may not include {name}"


def rule_namespaces(root, files):
    """Only PUBLIC headers, and x.ipp for a public header x.hpp, define names in `namespace cairn` itself."""
    for file in library(files):
        folder, _, name = file.removeprefix("include/cairn/").rpartition(".")[0].partition("/")
        if name and name not in PUBLIC.get(folder, ()) and not (file.endswith(".ipp") and f"include/cairn/{name}.hpp" in files):
            for number, line in enumerate(lines_of(root, file), 1):
                if re.fullmatch(r"namespace cairn::inline v\d+_\d+ {", line):
                    yield f"{file}:{number}: defines names for users, but is not in the list PUBLIC of tests/rules/rules.py"


def reached(root, file):
    """What of include/cairn a unit parses that includes `file`."""
    found, left = set(), ["cairn/" + file]
    while left:
        name = left.pop()
        if name not in found and (root / "include" / name).is_file():
            found.add(name)
            left += [other for _, _, other in includes_of(root, "include/" + name)]
    return found


def public_headers(root, files):
    """The headers that define names for users, as paths under include/cairn."""
    return [f.removeprefix("include/cairn/") for f in headers(files) if f.count("/") == 2 or FOR_USERS.search(text_of(root, f))]


def rule_opt_in(root, files):
    """cairn.hpp does not include what is opt-in, and fields.hpp only what descriptions of types need."""
    for name in sorted(reached(root, "cairn.hpp")):
        if name.removeprefix("cairn/").startswith(OPT_IN):
            yield f"include/cairn/cairn.hpp: includes {name}, which is opt-in"
    for name in sorted(reached(root, "fields.hpp") - {"cairn/" + name for name in FIELDS}):
        yield f"include/cairn/fields.hpp: includes {name}, which descriptions of types do not need"


def rule_fence(root, files):
    """Only the files of INCLUDED_BY include their libraries, no public header includes those files, and no header definitions (.ipp)."""
    for file in library(files):
        for number, _, name in includes_of(root, file):
            allowed = INCLUDED_BY.get(name.split("/")[0], {file})
            if file not in allowed:
                yield f"{file}:{number}: {name} is included only by {sorted(allowed)}"
    for header in headers(files):
        for number, _, name in includes_of(root, header):
            if name.endswith(".ipp"):
                yield f"{header}:{number}: includes {name}, which is compiled once in the library"
    fenced = {file.removeprefix("include/") for allowed in INCLUDED_BY.values() for file in allowed}
    for header in set(public_headers(root, files)) - {"implementation.hpp"}:
        for name in sorted(reached(root, header) & fenced):
            yield f"include/cairn/{header}: brings {name}, which only definitions include"


def rule_config_first(root, files):
    """Of the library a public header parses core/config.hpp first, which refuses compilers and flags that cannot compile the others."""
    for header in set(public_headers(root, files)) - {"version.hpp"}:
        name = "cairn/" + header
        while name != "cairn/core/config.hpp":
            name = next((other for _, _, other in includes_of(root, "include/" + name) if other.startswith("cairn/")), None)
            if name is None:
                yield f"include/cairn/{header}: does not include cairn/core/config.hpp before other code"
                break


def rule_codec_names(root, files):
    """Only encode/ knows codecs by name."""
    for file in library(files):
        for number, line in enumerate(lines_of(root, file), 1):
            if not file.startswith("include/cairn/encode/") and CODEC_NAME.search(line.split("//")[0]):
                yield f"{file}:{number}: names a codec: {line.strip()}"


def rule_order(root, files):
    """MAY_INCLUDE is an order: a row names only rows before it."""
    rows = list(MAY_INCLUDE)
    for number, row in enumerate(rows):
        for other in sorted(MAY_INCLUDE[row] - set(rows[:number])):
            yield f"MAY_INCLUDE: {row} may include {other}, whose row comes later"


def rule_definitions(root, files):
    """Every .ipp is compiled by exactly one file in definitions/, and each of those but torch.cpp and s3.cpp is listed by implementation.hpp."""
    listed = [name for _, _, name in includes_of(root, "include/cairn/implementation.hpp")]
    units = [f for f in library(files) if f.startswith("include/cairn/definitions/")]
    compiled = [name for unit in units for _, _, name in includes_of(root, unit)]
    for what, names, wanted in [("implementation.hpp", listed, [unit for unit in units if not unit.endswith(("/torch.cpp", "/s3.cpp"))]), ("definitions/", compiled, [f for f in library(files) if f.endswith(".ipp")])]:
        for file in wanted:
            if (times := names.count(file.removeprefix("include/"))) != 1:
                yield f"{file}: included {times} times by include/cairn/{what}, not once"


def rule_cycles(root, files):
    """A header that is included has declared all by then, whichever header of the library a unit includes first: none is included while it
    still includes what it needs itself."""
    names = {f.removeprefix("include/") for f in library(files)}
    included = {name: [n for _, _, n in includes_of(root, "include/" + name) if n in names] for name in names}
    found = set()

    def follow(name, path, parsed):
        parsed.add(name)
        for other in included[name]:
            if other not in parsed:
                follow(other, [*path, other], parsed)
            elif other in path[:-1]:
                found.add((name, other, path[path.index(other) + 1]))

    for header in headers(files):
        follow(header.removeprefix("include/"), [header.removeprefix("include/")], set())
    for name, other, through in sorted(found):
        yield f"include/{name}: includes {other}, which may still be including {through}"


def rule_heavy_headers(root, files):
    for file in library(files):
        for number, _, name in includes_of(root, file):
            if name in TOO_HEAVY:
                yield f"{file}:{number}: {name} costs too much compile time; include the single header"
            elif name.startswith("range/v3/") and not file.endswith(".ipp"):
                yield f"{file}:{number}: {name} belongs into an .ipp file, which a program that is linked with the library does not parse"


def rule_printing(root, files):
    for file in library(files):
        if file in {"include/cairn/observers.hpp", "include/cairn/trainer/observers.ipp"}:
            continue
        for number, line in enumerate(lines_of(root, file), 1):
            if PRINTING.search(line.split("//")[0]):
                yield f"{file}:{number}: the library does not print: {line.strip()}"


def rule_header_form(root, files):
    for file in library(files):
        lines = lines_of(root, file)
        if not re.match(r"// \S.*", lines[1] if len(lines) > 1 else ""):
            yield f"{file}:2: the second line is not a '// ' comment with the header's job"
        if "#pragma once" not in lines and not file.endswith((".cpp", "-inl.hpp", "/each_target.hpp")):
            yield f"{file}: no #pragma once"
        if len(lines) > LONGEST_HEADER:
            yield f"{file}: {len(lines)} lines; one job takes at most {LONGEST_HEADER}"
        if VAGUE.search(Path(file).name):
            yield f"{file}: a name that says nothing"


def rule_license(root, files):
    """Every source file has its licence in the first line, or in the second after #!."""
    for file in files:
        if file.endswith((".hpp", ".ipp", ".cpp", ".py", ".sh", ".cmake", "CMakeLists.txt")):
            lines = lines_of(root, file)
            if not any(re.fullmatch(r"(//|#) SPDX-License-Identifier: MIT", line) for line in lines[:2]):
                yield f"{file}:1: no SPDX-License-Identifier"


def rule_inline_namespace(root, files):
    """Names of the library are in the inline namespace of its version, so that two versions can be in one program."""
    major, minor = re.findall(r"#define CAIRN_VERSION_M\w+ (\d+)", text_of(root, "include/cairn/version.hpp"))
    wanted = f"namespace cairn::inline v{major}_{minor}"
    for file in library(files):
        for number, line in enumerate(lines_of(root, file), 1):
            if re.match(r"namespace cairn\b", line) and not re.match(wanted + r"(::[a-z_:]+)? {$", line):
                yield f"{file}:{number}: not in {wanted}"


def rule_catch(root, files):
    for file in files:
        if file.startswith("tests/") and file.endswith("pp") and file != "tests/catch.hpp":
            for number, _, name in includes_of(root, file):
                if name.startswith("catch2/"):
                    yield f'{file}:{number}: include "catch.hpp", which works with both generations of Catch2'


def rule_unfinished(root, files):
    for file in files:
        if not is_text(file):
            continue
        for number, line in enumerate(lines_of(root, file), 1):
            if UNFINISHED.search(line):
                yield f"{file}:{number}: {line.strip()}"


OPTIONAL = {"libtorch", "openmpi", "libcurl", "openssl"}  # options of the recipe: states of libtorch, groups of MPI ranks, buckets


def packages_of_build(root):
    """What .cmake/dependencies.cmake lists, by the names of ConanCenter."""
    listed = " ".join(re.findall(r"set\(cairn_(?:build_)?dependencies (.*)\)", (root / ".cmake/dependencies.cmake").read_text()))
    return {{"hwy": "highway"}.get(name, name) for name in (entry.split()[0].lower() for entry in re.findall(r'"([^"]+)"', listed))} - {"threads"}


def rule_packages(root, files):
    """The library includes a header of each package that the build requires, and of Boost.PFR only the public ones."""
    for file in library(files):
        for number, line in enumerate(lines_of(root, file), 1):
            if re.search(r"\bpfr(/|::)detail\b", line):
                yield f"{file}:{number}: uses an internal part of Boost.PFR: {line.strip()}"
    included = {OWNERS.get(name.split("/")[0]) for file in library(files) for _, quote, name in includes_of(root, file) if quote == "<"}
    for name in sorted(packages_of_build(root) - included):
        yield f".cmake/dependencies.cmake: requires {name}, of which no file of include/ includes a header"


def rule_dependencies(root, files):
    """The build and the Conan recipe name the same packages, and the recipe takes its version where the build does."""
    build = packages_of_build(root)
    recipe = (root / "conanfile.py").read_text()
    conan = set(re.findall(r'self\.requires\("([^/"]+)/', recipe))
    for name in sorted(build ^ (conan - OPTIONAL)):
        yield f"{name}: named by only one of .cmake/dependencies.cmake and conanfile.py"
    for file in library(files):
        if file.startswith("include/cairn/adapters/") or file in ("include/cairn/group/mpi.hpp", "include/cairn/parity.hpp"):
            continue
        for number, quote, name in includes_of(root, file):
            if quote == "<" and not SYSTEM.match(name) and not name.startswith("cairn/") and OWNERS.get(name.split("/")[0]) not in conan:
                yield f"{file}:{number}: {name} belongs to no package that conanfile.py requires"
    version_header = (root / "include/cairn/version.hpp").read_text()
    parts = [re.search(rf"#define CAIRN_VERSION_{part} (\d+)", version_header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    pattern = re.search(r"re\.search\(r'(.+?)', header\)", recipe)
    found = pattern and re.search(pattern[1], version_header)
    if not found or found[1] != ".".join(parts):
        yield f"conanfile.py: reads {found and found[1]} from version.hpp, whose parts say {'.'.join(parts)}"
    compile(recipe, "conanfile.py", "exec")


def rule_snippets(root, files):
    """C++ code in README.md and docs/ names its source, and is the same as in the source between the `// [name]` marks, except for
    indentation. Of several names the code is joined by empty lines."""
    quote = re.compile(r"<!-- (\S+): ([\w, ]+) -->\n```cpp\n(.*?)```", re.S)
    for page in [f for f in files if f == "README.md" or f.startswith("docs/") and f.endswith(".md")]:
        text = text_of(root, page)
        for source, names, code in quote.findall(text):
            sections = [re.split(rf"^[ \t]*// \[{name}\]\n", text_of(root, source), flags=re.M) for name in names.split(", ")]
            wanted = "\n\n".join(textwrap.dedent(section[1]).rstrip() for section in sections if len(section) == 3)
            if {len(section) for section in sections} != {3} or wanted != code.rstrip():
                yield f"{page}: the snippet '{names}' differs from {source}"
        named = {each.start(3) for each in quote.finditer(text)}
        for each in re.finditer(r"```cpp\n", text):
            if each.end() not in named:
                yield f"{page}: the code in line {text.count(chr(10), 0, each.end())} does not name its source"


def rule_old_names(root, files):
    """The changelog names the options that are gone."""
    for name in re.findall(r"options\.(\w+) = ", text_of(root, "tests/compile_fail/old_names.cpp")):
        if not re.search(rf"`([a-z]+\.)?{name}`", text_of(root, "CHANGELOG.md")):
            yield f"CHANGELOG.md: does not name {name}, of tests/compile_fail/old_names.cpp"


def rule_sizes(root, files):
    """The library, its tests and its pages stay small."""
    tests = [f for f in files if f.startswith("tests/") and not f.startswith(("tests/bench/", "tests/levels/", "tests/s3/"))]
    pages = [f for f in files if f.startswith("docs/") and f.endswith(".md") and f not in ("docs/levels.md", "docs/s3.md")]
    words, lines = lambda f: len(text_of(root, f).split()), lambda f: (root / f).read_bytes().count(b"\n")
    for what, size, most in [("words of README.md", words("README.md"), 500), ("words of docs/ but levels.md and s3.md", sum(map(words, pages)), 38_000),
                             ("words of docs/levels.md and docs/s3.md", words("docs/levels.md") + words("docs/s3.md"), 1_700),
                             ("files of include/", len(library(files)), 360), ("lines of include/", sum(map(lines, library(files))), 44_800),
                             ("lines of tests/", sum(map(lines, tests)), 62_000)]:
        if size > most:
            yield f"{size} {what}, not {most}"


def rule_reference(root, files):
    """docs/reference.md shows each public header, but for those in the list INNER of docs/site/stage.py; none is in both."""
    shown = {name for row in re.findall(r"^\| (.+?) \|", text_of(root, "docs/reference.md"), re.M) for name in re.findall(r"`cairn/([a-z0-9_/]+\.hpp)`", row)}
    inner = set(re.findall(r'"([a-z0-9_/]+\.hpp)"', text_of(root, "docs/site/stage.py").split("INNER = {")[1].split("\n}")[0]))
    public = set(public_headers(root, files))
    for name in sorted(public - shown - inner):
        yield f"include/cairn/{name}: neither docs/reference.md nor INNER of docs/site/stage.py has this public header"
    for name in sorted((shown | inner) - public):
        yield f"docs/reference.md or INNER of docs/site/stage.py: {name} is no public header"
    for name in sorted(shown & inner):
        yield f"docs/reference.md and INNER of docs/site/stage.py: both have {name}"


def rule_troubleshooting(root, files):
    """docs/troubleshooting.md has a section for each errc."""
    codes = re.search(r"enum class errc \{(.*?)\n\}", text_of(root, "include/cairn/core/error.hpp"), re.S)[1]
    sections = re.findall(r"^## (\w+)$", text_of(root, "docs/troubleshooting.md"), re.M)
    for code in re.findall(r"^ *(\w+),? *///<", codes, re.M):
        if sections.count(code) != 1:
            yield f"docs/troubleshooting.md: {sections.count(code)} sections for errc::{code}, not one"


def rule_design(root, files):
    """The functions and types that the listings of docs/design.md name are in include/."""
    code = "\n".join(line.split("//")[0] for file in library(files) for line in lines_of(root, file))
    for listing in re.findall(r"^```\n(.*?)^```", text_of(root, "docs/design.md"), re.M | re.S):
        calls = re.findall(r"^ *(\w+(?:::\w+)*)(?:  .*)?$", listing, re.M)  # the first word of a line, before its description
        for name in sorted({*calls, *re.findall(r"(?:\w+::)+\w+|\w+_\w+|\w+(?=\()", listing)}):
            if not all(re.search(rf"\b(class|struct|namespace) {part}\b|\b{part}\(", code) for part in name.split("::")):
                yield f"docs/design.md: names {name}, which is not in include/"


FOLDED = re.compile(r"\bstd::(is(nan|inf|finite|normal)|fpclassify)\(|\.(allFinite|hasNaN)\(|\bnumeric_limits<\w+>::(infinity|\w+_NaN)\(|"
                    r"\b(INFINITY|NAN|HUGE_VALF?)\b|(?<![\w.:>])(?P<same>\w+) [!=]= (?P=same)\b(?![\w.(\[-])")


def rule_float_bits(root, files):
    """The library tells NaN and infinities by their bits (core/float_bits.hpp): programs may be compiled with -ffast-math."""
    for file in library(files):
        for number, line in enumerate(lines_of(root, file), 1):
            if found := FOLDED.search(re.sub(r'"(\\.|[^"])*"', '""', line.split("//")[0])):
                yield f"{file}:{number}: {found[0].rstrip('(')} is not what it says with -ffast-math"


def rule_language(root, files):
    """Documentation and comments are without the phrases of UNCLEAR."""
    for file in files:
        if is_text(file) and (file == "README.md" or file.split("/")[0] in TOP_FOLDERS):
            text = text_of(root, file)
            for found in UNCLEAR.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{file}:{line}: '{re.sub(UNCLEAR_SPACE, ' ', found[0])}' is not plain English"


def rule_format(root, files):
    tool = next((t for t in ("clang-format-19", "clang-format") if shutil.which(t)), None)
    if not tool or " 19." not in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
        raise CannotCheck("clang-format 19 is not here")
    sources = [f for f in files if f.endswith((".hpp", ".ipp", ".cpp"))]
    run = subprocess.run([tool, "--dry-run", "-Werror", *sources], cwd=root, capture_output=True, text=True)
    for line in run.stderr.splitlines():
        if "error:" in line:
            yield line
    if run.returncode and "error:" not in run.stderr:
        yield run.stderr


def files_of(root):
    """Paths that git tracks or would track; without git, everything that is not hidden or built."""
    listing = subprocess.run(["git", "-C", root, "-c", f"safe.directory={root}", "ls-files", "-co", "--exclude-standard"],
                             capture_output=True, text=True)
    if listing.returncode == 0:
        found = listing.stdout.splitlines()
    else:
        found = [str(p.relative_to(root)) for p in root.rglob("*")]
        found = [f for f in found if not f.startswith((".", "build"))]
    return sorted(f for f in set(found) if (root / f).is_file())


def main():
    rule, root = sys.argv[1], Path(sys.argv[2]).resolve()
    try:
        breaches = list(globals()["rule_" + rule](root, files_of(root)))
    except CannotCheck as reason:
        print(reason)
        return 77
    print("\n".join(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
