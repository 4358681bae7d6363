// SPDX-License-Identifier: MIT
// Measures what it costs to compile with Cairn and with cereal: a unit that saves and loads a state of 50 fields, a
// unit that only includes the library, and the quickstart, linked too; and all definitions of Cairn.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
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
    "compile_time [--reps 7] [--json FILE] [--compiler PATH] [--flags \"-std=c++20 -O2\"] [--keep DIR]\n"
    "  Compiles the same programs with Cairn and with cereal in turn. CPU seconds of the compiler, medians; all\n"
    "  definitions: wall seconds, two units at a time, which needs two idle cores.\n"
    "  --keep    where the generated units stay; a temporary directory by default\n";

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

std::vector<variant> all_variants() {
  const std::vector<std::string> parsed{"-fsyntax-only"};
  const auto quickstart = text_of_file(CAIRN_BENCH_QUICKSTART);
  std::vector<variant> all{
      {"cairn save and load", units::cairn_save_and_load()},
      {"cereal save and load", units::cereal_save_and_load()},
      {"cairn include", units::cairn_include()},
      {"cereal include", units::cereal_include()},
      {"cairn quickstart", quickstart},
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
      {"cairn 150 types", units::many_types()},
  };
  if (const std::string folders = CAIRN_BENCH_TORCH_INCLUDES; !folders.empty()) {
    std::vector<std::string> torch{"-D_GLIBCXX_USE_CXX11_ABI=1"};
    for (const auto& include : split(folders, ':'))
      if (include != "/usr/include") torch.insert(torch.end(), {"-isystem", include});
    const auto trainer = text_of_file(CAIRN_BENCH_TORCH_TRAINER);
    all.push_back({"torch_gan with cairn", trainer, torch});
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

  /// Wall seconds until all sources are compiled, two at a time, each started in the order given; `bytes`: the most
  /// memory that one takes.
  [[nodiscard]] double compile_all(const std::vector<std::string>& sources, std::uint64_t& bytes) const {
    std::mutex mutex;
    std::atomic<std::size_t> next{0};
    std::vector<std::string> failures(2);
    const auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> jobs;
      for (auto& failure : failures)
        jobs.emplace_back([&, object = file_of("definitions" + std::to_string(jobs.size()), ".o")] {
          try {
            for (auto i = next++; i < sources.size(); i = next++) {
              const auto done = invoke({"-c", sources[i], "-o", object}, sources[i]);
              const std::lock_guard lock(mutex);
              bytes = std::max(bytes, done.peak_bytes);
            }
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
    words.insert(words.begin() + 1, further.begin(), further.end());
    auto result = run(words);
    if (result.status != 0) throw std::runtime_error(what + " does not compile:\n" + result.output);
    return result;
  }

  fs::path dir_;
  std::vector<std::string> words_;
};

/// The units of the library: those that implementation.hpp includes.
std::vector<std::string> definitions() {
  const fs::path include = CAIRN_BENCH_INCLUDE;
  std::vector<std::string> found;
  for (const auto& line : split(text_of_file(include / "cairn/implementation.hpp"), '\n'))
    if (line.starts_with("#include \"cairn/definitions/")) found.push_back((include / split(line, '"').at(1)).string());
  return found;
}

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
    for (auto unit : variants) {  // afterwards all headers are in the page cache
      unit.flags.emplace_back("-E");
      static_cast<void>(cxx.compile(unit));
    }
    std::vector<double> all;
    std::uint64_t peak_bytes = 0;
    for (std::size_t repetition = 0; repetition < reps; ++repetition) {
      for (auto& unit : variants) {
        unit.seconds.push_back(cxx.compile(unit));
        if (::isatty(STDERR_FILENO) != 0)
          std::fprintf(stderr, "\r%zu/%zu %-40s", repetition + 1, reps, unit.name.c_str());
      }
      all.push_back(cxx.compile_all(definitions(), peak_bytes));
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
    seconds.row({"cairn definitions, two units at a time (wall)", text_of(median(all))});
    report.number("wall_seconds.cairn_definitions", median(all));
    seconds.print();
    print_where_time_goes(variants);
    const auto over_cereal = [&](const std::string& figure, const std::string& unit, double bound) {
      report.at_most(figure + ".over_cereal",
                     median_ratio(seconds_of(variants, "cairn " + unit), seconds_of(variants, "cereal " + unit)),
                     bound);
    };
    over_cereal("compile", "save and load", 1.15);
    over_cereal("compile_include", "include", 1.6);
    over_cereal("quickstart", "quickstart", 1.05);
    report.at_most("definitions.seconds_over_quickstart_cereal",
                   median_ratio(all, seconds_of(variants, "cereal quickstart")), 18);
    report.at_most("definitions.peak_mb", static_cast<double>(peak_bytes) / 1e6, 900);
    const auto kilobytes = [&](const std::string& name) { return static_cast<double>(cxx.linked_bytes(name)) / 1000; };
    report.at_most("binary_kb.quickstart", kilobytes("cairn quickstart"), 900);
    report.number("binary_kb.quickstart_of_cereal", kilobytes("cereal quickstart"));
    report.at_most("compile_torch.over_without",
                   std::string_view(CAIRN_BENCH_TORCH_INCLUDES).empty()
                       ? std::nan("")
                       : median_ratio(seconds_of(variants, "torch_gan with cairn"),
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
