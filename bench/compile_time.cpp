// SPDX-License-Identifier: MIT
// Measures what it costs to compile with Cairn, header-only and compiled, and with cereal: a unit that saves and loads a state of
// 50 fields, a unit that only includes the library, and the quickstart, linked too; and all definitions of Cairn.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include "common/arguments.hpp"
#include "common/process.hpp"
#include "common/report.hpp"
#include "common/statistics.hpp"
#include "compile_time/types.hpp"
#include "compile_time/units.hpp"

namespace {

namespace fs = std::filesystem;
using namespace bench;

constexpr std::string_view usage =
    "compile_time [--reps 7] [--json FILE] [--before INCLUDE] [--types-before INCLUDE] [--compiler PATH]\n"
    "             [--flags \"-std=c++20 -O2\"] [--keep DIR]\n"
    "  Compiles the same programs with Cairn and with cereal in turn. CPU seconds of the compiler, medians.\n"
    "  --before  the include folder of an older Cairn whose definitions are one unit: its wall time is what\n"
    "            definitions.over_before compares with. Needs two idle cores.\n"
    "  --types-before  the include folder of an older Cairn: its time for the unit of 150 types is what\n"
    "            types_separate.over_before compares with\n"
    "  --keep    where the generated units stay; a temporary directory by default\n";

constexpr std::string_view separate = "-DCAIRN_SEPARATE_COMPILATION";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The source without the lines that are marked as those that Cairn adds.
std::string without_marked_lines(const std::string& source) {
  std::string kept;
  for (const auto& line : split(source, '\n'))
    if (!line.ends_with("// +")) kept += line + '\n';
  return kept;
}

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A unit and how its compilation is measured.
struct variant {
  std::string name;  ///< in the table and, with '_' for ' ', in the JSON object
  std::string source;
  std::vector<std::string> flags{};
  std::vector<double> seconds{};
};

/// `types_before`: the include folder of an older Cairn; empty: none.
std::vector<variant> all_variants(const std::string& types_before) {
  const std::vector<std::string> compiled{std::string(separate)};
  const std::vector<std::string> parsed{"-fsyntax-only"};
  const auto quickstart = text_of_file(CAIRN_BENCH_QUICKSTART);
  std::vector<variant> all{
      {"cairn save and load", units::cairn_save_and_load()},
      {"cairn save and load, compiled", units::cairn_save_and_load(), compiled},
      {"cereal save and load", units::cereal_save_and_load()},
      {"cairn include", units::cairn_include()},
      {"cairn include, compiled", units::cairn_include(), compiled},
      {"cereal include", units::cereal_include()},
      {"cairn quickstart", quickstart},
      {"cairn quickstart, compiled", quickstart, compiled},
      {"cereal quickstart", units::cereal_quickstart()},
      {"state only", units::state_only()},
      {"cairn headers", units::cairn_headers()},
      {"cereal headers", units::cereal_headers()},
      {"cairn describe", units::cairn_describe()},
      {"cairn save", units::cairn_save()},
      {"cairn load", units::cairn_load()},
      {"cairn one int", units::cairn_one_int()},
      {"cairn save and load, parsed", units::cairn_save_and_load(), parsed},
      {"cereal save and load, parsed", units::cereal_save_and_load(), parsed},
      {"cairn 150 types, compiled", units::many_types(), compiled},
  };
  if (!types_before.empty())
    all.push_back(
        {"cairn 150 types before, compiled", units::many_types(), {"-I" + types_before, std::string(separate)}});
  if (const std::string folders = CAIRN_BENCH_TORCH_INCLUDES; !folders.empty()) {
    std::vector<std::string> torch{std::string(separate), "-D_GLIBCXX_USE_CXX11_ABI=1"};
    for (const auto& include : split(folders, ':'))
      if (include != "/usr/include") torch.insert(torch.end(), {"-isystem", include});
    const auto trainer = text_of_file(CAIRN_BENCH_TORCH_TRAINER);
    all.push_back({"torch_gan, compiled", trainer, torch});
    all.push_back({"torch_gan without cairn", without_marked_lines(trainer), torch});
  }
  return all;
}

class compiler {
 public:
  compiler(const arguments& options, fs::path dir) : dir_(std::move(dir)) {
    words_ = {options.text("compiler")};
    for (auto& flag : split(options.text("flags"), ' ')) words_.push_back(std::move(flag));
    for (const auto* list : {CAIRN_BENCH_CAIRN_INCLUDES, CAIRN_BENCH_CEREAL_INCLUDES})
      for (const auto& include : split(list, ':'))
        if (include != "/usr/include") words_.push_back("-I" + include);
  }

  /// CPU seconds of the compiler. On a busy machine they are steadier than the wall clock.
  [[nodiscard]] double compile(const variant& unit) const {
    const auto source = file_of(unit.name, ".cpp");
    std::ofstream(source) << unit.source;
    auto words = unit.flags;
    words.insert(words.end(), {"-c", source, "-o", file_of(unit.name, ".o")});
    return invoke(words, unit.name).cpu_seconds;
  }

  /// Bytes of the stripped program made of what `compile` left of the unit.
  [[nodiscard]] std::uintmax_t linked_bytes(const std::string& name) const {
    const auto program = file_of(name, ".program");
    std::vector<std::string> words{"-s", file_of(name, ".o"), "-o", program};
    for (const auto& library : split(CAIRN_BENCH_LIBRARIES, ' ')) words.push_back(library);
    static_cast<void>(invoke(words, name));
    return fs::file_size(program);
  }

  /// Wall seconds until all sources are compiled, two at a time, each started in the order given.
  [[nodiscard]] double compile_all(const std::vector<std::string>& sources, const std::string& include) const {
    std::atomic<std::size_t> next{0};
    std::vector<std::string> failures(2);
    const auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> jobs;
      for (auto& failure : failures)
        jobs.emplace_back([&, object = file_of("definitions" + std::to_string(jobs.size()), ".o")] {
          try {
            for (auto i = next++; i < sources.size(); i = next++)
              static_cast<void>(
                  invoke({"-I" + include, std::string(separate), "-c", sources[i], "-o", object}, sources[i]));
          } catch (const std::exception& error) {
            failure = error.what();
          }
        });
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    for (const auto& failure : failures)
      if (!failure.empty()) throw std::runtime_error(failure);
    return taken.count();
  }

 private:
  [[nodiscard]] std::string file_of(std::string name, std::string_view extension) const {
    std::erase(name, ',');
    std::replace(name.begin(), name.end(), ' ', '_');
    return (dir_ / name.append(extension)).string();
  }

  [[nodiscard]] process_result invoke(const std::vector<std::string>& further, const std::string& what) const {
    auto words = words_;
    // What is named here comes before the folders of this Cairn, so that an older one can be compiled.
    words.insert(words.begin() + 1, further.begin(), further.end());
    auto result = run(words);
    if (result.status != 0) throw std::runtime_error(what + " does not compile:\n" + result.output);
    return result;
  }

  fs::path dir_;
  std::vector<std::string> words_;
};

/// Wall seconds for all definitions: of this Cairn, and of the one at `before` in one unit.
struct definitions {
  std::vector<double> now{};
  std::vector<double> before{};

  void measure(const compiler& cxx, const std::string& before_folder) {
    const fs::path include = CAIRN_BENCH_INCLUDE;
    now.push_back(cxx.compile_all(units_of(include), include.string()));
    if (!before_folder.empty())
      before.push_back(cxx.compile_all({(fs::path(before_folder) / "cairn/definitions.cpp").string()}, before_folder));
  }

 private:
  /// The units of cairn::compiled: those that definitions.cpp includes.
  [[nodiscard]] static std::vector<std::string> units_of(const fs::path& include) {
    std::vector<std::string> found;
    for (const auto& line : split(text_of_file(include / "cairn/definitions.cpp"), '\n'))
      if (line.starts_with("#include \"cairn/definitions/"))
        found.push_back((include / split(line, '"').at(1)).string());
    return found;
  }
};

[[nodiscard]] const std::vector<double>& seconds_of(const std::vector<variant>& variants, std::string_view name) {
  for (const auto& unit : variants)
    if (unit.name == name) return unit.seconds;
  throw std::runtime_error("no such unit: " + std::string(name));
}

void print_where_time_goes(const std::vector<variant>& variants) {
  const auto of = [&](std::string_view name) { return median(seconds_of(variants, name)); };
  const double whole = of("cereal save and load");
  const auto share = [&](double seconds) { return text_of(100 * seconds / whole, 0); };
  table parts({"where it goes, in % of cereal's whole unit", "cairn", "cereal"});
  parts.row({"standard headers of the state itself", share(of("state only")), share(of("state only"))});
  parts.row({"the library's headers beyond them", share(of("cairn headers") - of("state only")),
             share(of("cereal headers") - of("state only"))});
  parts.row({"code of the library that any use compiles", share(of("cairn one int") - of("cairn headers")), "-"});
  parts.row({"describing this state", share(of("cairn describe") - of("cairn headers")), "-"});
  parts.row({"saving it (describing included)", share(of("cairn save") - of("cairn headers")), "-"});
  parts.row({"loading it", share(of("cairn load") - of("cairn headers")), "-"});
  parts.row({"saving and loading it", share(of("cairn save and load") - of("cairn headers")),
             share(of("cereal save and load") - of("cereal headers"))});
  parts.row({"the whole unit, parsed and instantiated only", share(of("cairn save and load, parsed")),
             share(of("cereal save and load, parsed"))});
  parts.row({"the whole unit", share(of("cairn save and load")), share(whole)});
  parts.row({"the whole unit, with cairn::compiled", share(of("cairn save and load, compiled")), "-"});
  parts.print();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments options(argc, argv,
                            {{"reps", "7"},
                             {"json", ""},
                             {"before", ""},
                             {"types-before", ""},
                             {"compiler", CAIRN_BENCH_COMPILER},
                             {"flags", "-std=c++20 -O2"},
                             {"keep", ""}},
                            usage);
    std::string temporary = (fs::temp_directory_path() / "compile_time.XXXXXX").string();
    const bool keeps = !options.text("keep").empty();
    if (!keeps && !::mkdtemp(temporary.data())) throw std::runtime_error("cannot make a temporary directory");
    const fs::path dir = keeps ? fs::path(options.text("keep")) : fs::path(temporary);
    fs::create_directories(dir);

    auto variants = all_variants(options.text("types-before"));
    const compiler cxx(options, dir);
    const auto reps = options.count("reps");
    for (auto unit : variants) {  // afterwards all headers are in the page cache
      unit.flags.emplace_back("-E");
      static_cast<void>(cxx.compile(unit));
    }
    definitions all;
    for (std::size_t repetition = 0; repetition < reps; ++repetition) {
      for (auto& unit : variants) {
        unit.seconds.push_back(cxx.compile(unit));
        if (::isatty(STDERR_FILENO) != 0)
          std::fprintf(stderr, "\r%zu/%zu %-40s", repetition + 1, reps, unit.name.c_str());
      }
      all.measure(cxx, options.text("before"));
    }
    if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%60s\r", "");

    bench::report report;
    std::printf("%s %s, CPU seconds, medians of %zu\n\n", options.text("compiler").c_str(),
                options.text("flags").c_str(), reps);
    table seconds({"unit", "seconds"});
    for (const auto& unit : variants) {
      seconds.row({unit.name, text_of(median(unit.seconds))});
      auto key = "seconds." + unit.name;
      std::erase(key, ',');
      std::replace(key.begin(), key.end(), ' ', '_');
      report.number(key, median(unit.seconds));
    }
    seconds.row({"cairn definitions, two units at a time (wall)", text_of(median(all.now))});
    report.number("wall_seconds.cairn_definitions", median(all.now));
    if (!all.before.empty()) {
      seconds.row({"cairn definitions before, one unit (wall)", text_of(median(all.before))});
      report.number("wall_seconds.cairn_definitions_before", median(all.before));
    }
    seconds.print();
    print_where_time_goes(variants);
    const auto over_cereal = [&](const std::string& figure, const std::string& unit, std::string_view kind,
                                 double bound) {
      report.at_most(figure + ".over_cereal",
                     median_ratio(seconds_of(variants, "cairn " + unit + std::string(kind)),
                                  seconds_of(variants, "cereal " + unit)),
                     bound);
    };
    over_cereal("compile", "save and load", "", 5.0);
    over_cereal("compile_separate", "save and load", ", compiled", 1.2);
    over_cereal("compile_include", "include", "", 8.0);
    over_cereal("compile_include_separate", "include", ", compiled", 1.6);
    over_cereal("quickstart", "quickstart", "", 10.0);
    over_cereal("quickstart_separate", "quickstart", ", compiled", 1.6);
    const auto kilobytes = [&](const std::string& name) { return static_cast<double>(cxx.linked_bytes(name)) / 1000; };
    report.at_most("binary_kb.quickstart", kilobytes("cairn quickstart"), 400);
    report.number("binary_kb.quickstart_of_cereal", kilobytes("cereal quickstart"));
    report.at_most("definitions.over_before", all.before.empty() ? std::nan("") : median_ratio(all.now, all.before),
                   0.4);
    report.at_most("types_separate.over_before",
                   options.text("types-before").empty()
                       ? std::nan("")
                       : median_ratio(seconds_of(variants, "cairn 150 types, compiled"),
                                      seconds_of(variants, "cairn 150 types before, compiled")),
                   0.8);
    report.at_most("compile_torch.over_without",
                   std::string_view(CAIRN_BENCH_TORCH_INCLUDES).empty()
                       ? std::nan("")
                       : median_ratio(seconds_of(variants, "torch_gan, compiled"),
                                      seconds_of(variants, "torch_gan without cairn")),
                   1.1);
    report.print_figures();
    report.write_json(options.text("json"));
    if (!keeps) fs::remove_all(dir);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "compile_time: %s\n", failure.what());
    return 1;
  }
}
