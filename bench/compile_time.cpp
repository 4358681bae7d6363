// Measures what it costs to compile a unit that saves and loads a 50-field state: with Cairn and with cereal.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "common/arguments.hpp"
#include "common/process.hpp"
#include "common/report.hpp"
#include "common/statistics.hpp"
#include "compile_time/units.hpp"

namespace {

namespace fs = std::filesystem;
using namespace bench;

constexpr std::string_view usage =
    "compile_time [--reps 7] [--json FILE] [--compiler PATH] [--flags \"-std=c++20 -O2\"] [--keep DIR]\n"
    "  Compiles the same 50-field state with Cairn and with cereal in turn; CPU seconds of the compiler, "
    "medians.\n"
    "  --keep  where the generated units stay; a temporary directory by default\n";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A unit and how its compilation is measured.
struct variant {
  std::string name;  ///< in the table and, with '_' for ' ', in the JSON object
  std::string source;
  bool front_end_only = false;
  std::vector<std::string> flags{};
  std::vector<double> seconds{};
};

std::vector<variant> all_variants() {
  return {
      {"cairn save and load", units::cairn_save_and_load()},
      {"cereal save and load", units::cereal_save_and_load()},
      {"cairn save and load, separate", units::cairn_save_and_load(), false, {"-DCAIRN_SEPARATE_COMPILATION"}},
      {"cairn definitions, once per program", units::cairn_definitions()},
      {"state only", units::state_only()},
      {"cairn headers", units::cairn_headers()},
      {"cereal headers", units::cereal_headers()},
      {"cairn describe", units::cairn_describe()},
      {"cairn save", units::cairn_save()},
      {"cairn load", units::cairn_load()},
      {"cairn one int", units::cairn_one_int()},
      {"cairn save and load, parsed", units::cairn_save_and_load(), true},
      {"cereal save and load, parsed", units::cereal_save_and_load(), true},
  };
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

  /// CPU seconds of the compiler: on a busy machine steadier than the wall clock, and the same on an idle
  /// one.
  [[nodiscard]] double compile(const variant& unit) const {
    auto file = unit.name;
    std::erase(file, ',');
    std::replace(file.begin(), file.end(), ' ', '_');
    const auto source = (dir_ / (file + ".cpp")).string();
    std::ofstream(source) << unit.source;
    auto words = words_;
    if (unit.front_end_only) words.emplace_back("-fsyntax-only");
    words.insert(words.end(), unit.flags.begin(), unit.flags.end());
    words.insert(words.end(),
                 {"-c", source, "-o", unit.front_end_only ? "/dev/null" : (dir_ / (file + ".o")).string()});
    const auto result = run(words);
    if (result.status != 0) throw std::runtime_error(unit.name + " does not compile:\n" + result.output);
    return result.cpu_seconds;
  }

 private:
  fs::path dir_;
  std::vector<std::string> words_;
};

void print_where_time_goes(const std::vector<variant>& variants) {
  const auto of = [&](std::string_view name) {
    for (const auto& v : variants)
      if (v.name == name) return median(v.seconds);
    return std::nan("");
  };
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
  parts.row({"the whole unit, library code compiled separately", share(of("cairn save and load, separate")), "-"});
  parts.print();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments options(
        argc, argv,
        {{"reps", "7"}, {"json", ""}, {"compiler", CAIRN_BENCH_COMPILER}, {"flags", "-std=c++20 -O2"}, {"keep", ""}},
        usage);
    std::string temporary = (fs::temp_directory_path() / "compile_time.XXXXXX").string();
    const bool keeps = !options.text("keep").empty();
    if (!keeps && !::mkdtemp(temporary.data())) throw std::runtime_error("cannot make a temporary directory");
    const fs::path dir = keeps ? fs::path(options.text("keep")) : fs::path(temporary);
    fs::create_directories(dir);

    auto variants = all_variants();
    const compiler cxx(options, dir);
    const auto reps = options.count("reps");
    for (const auto& unit : variants) static_cast<void>(cxx.compile(unit));  // all headers are in the page cache now
    for (std::size_t repetition = 0; repetition < reps; ++repetition)
      for (auto& unit : variants) {
        unit.seconds.push_back(cxx.compile(unit));
        if (::isatty(STDERR_FILENO) != 0)
          std::fprintf(stderr, "\r%zu/%zu %-40s", repetition + 1, reps, unit.name.c_str());
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
    seconds.print();
    print_where_time_goes(variants);
    report.at_most("compile.over_cereal", median_ratio(variants[0].seconds, variants[1].seconds), 2.0);
    report.at_most("compile_separate.over_cereal", median_ratio(variants[2].seconds, variants[1].seconds), 2.0);
    report.print_figures();
    report.write_json(options.text("json"));
    if (!keeps) fs::remove_all(dir);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "compile_time: %s\n", failure.what());
    return 1;
  }
}
