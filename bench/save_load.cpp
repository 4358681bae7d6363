// SPDX-License-Identifier: MIT
// Saves and loads a 1 GiB training state with Cairn and its peers, all of them in turn, and prints rates and
// figures.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "common/arguments.hpp"
#include "common/memory.hpp"
#include "common/page_cache.hpp"
#include "common/process.hpp"
#include "common/report.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "save_load/columns.hpp"
#include "save_load/leaves.hpp"
#include "save_load/method.hpp"
#include "save_load/opening.hpp"
#include "save_load/reads.hpp"
#include "save_load/small.hpp"
#include "save_load/state.hpp"

namespace {

namespace fs = std::filesystem;
using namespace bench;

constexpr std::string_view usage =
    "save_load [--reps 7] [--mib 1024] [--dir DIR] [--json FILE] [--only NAME,NAME] [--each yes] [--wait 5]\n"
    "  Saves and loads about 1,200 tensors with every method in turn and prints medians.\n"
    "  --dir   where the files go; a new directory in the current one by default, deleted afterwards\n"
    "  --only  methods to run, of plain, plain-two, cairn, cairn-verify-first, cairn-lossless, cereal, libtorch, "
    "boost, hdf5\n"
    "  --each  yes: every measurement on a line of its own, on stderr\n"
    "  --wait  seconds to wait at most for idle cores before a measurement; 0: not at all\n";

std::vector<method> all_methods() {
  std::vector<method> methods{plain_method(),          plain_two_method(), cairn_method(), cairn_verify_first_method(),
                              cairn_lossless_method(), cereal_method()};
#ifdef CAIRN_BENCH_LIBTORCH
  methods.push_back(libtorch_method());
#endif
  methods.push_back(boost_method());
  methods.push_back(hdf5_method());
  return methods;
}

std::vector<method> chosen_methods(const std::string& only) {
  auto methods = all_methods();
  std::erase_if(methods, [&](const method& m) {
    return !only.empty() && ("," + only + ",").find("," + m.name + ",") == std::string::npos;
  });
  return methods;
}

method method_named(const std::string& name) {
  for (auto& m : all_methods())
    if (m.name == name) return m;
  throw std::runtime_error("no method " + name);
}

/// Removes all files of a checkpoint from the page cache, and returns their bytes.
double chill(const fs::path& path) {
  const auto drop = [](const fs::path& file) {
    const int open = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (open < 0 || ::fsync(open) != 0 || ::posix_fadvise(open, 0, 0, POSIX_FADV_DONTNEED) != 0)
      throw std::runtime_error("cannot drop the pages of " + file.string());
    ::close(open);
    return static_cast<double>(fs::file_size(file));
  };
  if (!fs::is_directory(path)) return drop(path);
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) bytes += drop(entry.path());
  return bytes;
}

/// Bytes that this process has read from disks.
double read_from_disks() {
  std::ifstream in("/proc/self/io");
  for (std::string key; in >> key;) {
    double value = 0;
    in >> value;
    if (key == "read_bytes:") return value;
  }
  throw std::runtime_error("/proc/self/io has no read_bytes");
}

/// Measurements of one method, one per repetition. Seconds.
struct series {
  std::vector<double> save, save_behind, save_durable, load, load_cold, load_fresh;
  std::vector<double> cold_reads;         ///< bytes read from the disk over those of the files
  double save_extra = 0, load_extra = 0;  ///< bytes over the state's bytes
};

/// A run of this program as a child, and the number that it prints.
double child_value(const std::string& job, const method& m, const fs::path& path, std::size_t mib) {
  const auto child =
      run({"/proc/self/exe", "--job", job, "--method", m.name, "--path", path.string(), "--mib", std::to_string(mib)});
  if (child.status != 0) throw std::runtime_error(m.name + ", " + job + ": " + child.output);
  return std::stod(child.output);
}

/// What a child does: one job in a process of its own; prints one number.
int run_job(const arguments& options) {
  const auto& job = options.text("job");
  const auto m = method_named(options.text("method"));
  const auto& path = options.text("path");
  const auto d = dimensions::of(options.count("mib"));
  double value = 0;
  if (job == "load_fresh") {
    training_state state;
    if (m.prepare) m.prepare(d);
    value = seconds_of([&] { m.load(path, state); });
    if (m.collect) m.collect(state);
    if (!is_intact(state, d)) throw std::runtime_error("a fresh load gave other values");
  } else {
    auto state = make_state(d);
    fill(state);
    value = static_cast<double>(extra_memory_of([&] {
      if (job == "load_memory")
        m.load(path, state);
      else
        m.save(path, state, job == "save_durable_memory");
    }));
  }
  std::printf("%.9g\n", value);
  return 0;
}

class comparison {
 public:
  comparison(std::vector<method> methods, fs::path dir, const arguments& options)
      : methods_(std::move(methods)),
        measured_(methods_.size()),
        dir_(std::move(dir)),
        reps_(options.count("reps")),
        mib_(options.count("mib")),
        each_(options.text("each") == "yes"),
        patience_(options.number("wait")),
        dimensions_(dimensions::of(mib_)),
        state_(make_state(dimensions_)) {
    fill(state_);
    size_ = size_of(state_);
  }

  void measure() {
    for (std::size_t repetition = 0; repetition < reps_; ++repetition) {
      step("durable saves", repetition, [&](const method& m, series& s) {
        s.save_durable.push_back(save(m, durable_path(m), true));
        fs::remove_all(durable_path(m));
        return s.save_durable.back();
      });
      step("saves", repetition, [&](const method& m, series& s) {
        s.save.push_back(save(m, path(m), false));
        return s.save.back();
      });
      step("background saves", repetition, [&](const method& m, series& s) {
        if (m.save_behind == nullptr) return 0.0;
        const auto place = dir_ / (m.name + "-behind");
        settle(2 * spare_bytes(), patience_);
        s.save_behind.push_back(m.save_behind(place.string(), state_));
        ::sync();
        fs::remove_all(place);
        return s.save_behind.back();
      });
      step("loads", repetition, [&](const method& m, series& s) {
        s.load.push_back(load(m, repetition == 0));
        return s.load.back();
      });
      step("cold loads", repetition, [&](const method& m, series& s) {
        const double bytes = chill(path(m)), before = read_from_disks();
        s.load_cold.push_back(timed_load(m, false));
        s.cold_reads.push_back((read_from_disks() - before) / bytes);
        return s.load_cold.back();
      });
      step("fresh loads", repetition, [&](const method& m, series& s) {
        read_into_cache(path(m));
        settle(spare_bytes(), patience_);
        s.load_fresh.push_back(child_value("load_fresh", m, path(m), mib_));
        return s.load_fresh.back();
      });
    }
    state_ = {};
    step("extra memory", 0, [&](const method& m, series& s) {
      s.load_extra = child_value("load_memory", m, path(m), mib_) / bytes();
      for (const auto* job : {"save_memory", "save_durable_memory"}) {
        fs::remove_all(path(m));
        s.save_extra = std::max(s.save_extra, child_value(job, m, path(m), mib_) / bytes());
      }
      fs::remove_all(path(m));
      return s.save_extra;
    });
    if (shows_progress()) std::fprintf(stderr, "\r%40s\r", "");
  }

  /// What loads of parts read. Last: `measure` has freed the state.
  void add_reads(report& figures) {
    state_ = make_state(dimensions_);
    const auto reads = measure_reads((dir_ / "parts").string(), state_);
    state_ = {};
    figures.at_most("restore.bytes_read_over_needed.subtree", reads.subtree, 1.05);
    figures.at_most("restore.bytes_read_over_needed.tenth", reads.tenth, 1.1);
  }

  void print_rates(report& numbers) const {
    std::printf("%llu tensors, %.3f GiB, medians of %zu; GB/s = 1e9 bytes per second\n\n",
                static_cast<unsigned long long>(size_.tensors), bytes() / 0x1p30, reps_);
    table rates({"method", "save", "save durable", "load", "load cold", "load fresh", "extra memory save", "load"});
    for (std::size_t i = 0; i < methods_.size(); ++i) {
      const auto& s = measured_[i];
      const auto& name = methods_[i].name;
      rates.row({name, text_of(rate(s.save)), text_of(rate(s.save_durable)), text_of(rate(s.load)),
                 text_of(rate(s.load_cold)), text_of(rate(s.load_fresh)), text_of(s.save_extra, 3),
                 text_of(s.load_extra, 3)});
      numbers.number("gbps.save." + name, rate(s.save));
      numbers.number("gbps.save_durable." + name, rate(s.save_durable));
      numbers.number("gbps.load." + name, rate(s.load));
      numbers.number("gbps.load_cold." + name, rate(s.load_cold));
      numbers.number("gbps.load_fresh." + name, rate(s.load_fresh));
      numbers.number("extra_memory.save." + name, s.save_extra);
      numbers.number("extra_memory.load." + name, s.load_extra);
    }
    rates.print();
  }

  void add_figures(report& figures) const {
    const auto& cairn = of("cairn");
    // Throughput over throughput is the peer's seconds over Cairn's.
    figures.at_least("save.over_write", median_ratio(of("plain").save, cairn.save), 1.6);
    figures.at_least("save.over_two_files", median_ratio(of("plain-two").save, cairn.save), 0.92);
    figures.at_least("background.over_two_files", median_ratio(of("plain-two").save, cairn.save_behind), 0.85);
    figures.at_least("save_durable.over_write_fsync", median_ratio(of("plain").save_durable, cairn.save_durable), 1.1);
    figures.at_least("load.over_read", median_ratio(of("plain").load, cairn.load), 1.0);
    figures.at_least("load_verify_first.over_read", median_ratio(of("plain").load, of("cairn-verify-first").load),
                     0.58);
    figures.at_least("load_cold.over_read", median_ratio(of("plain").load_cold, cairn.load_cold), 0.95);
    figures.at_least("save.over_cereal", median_ratio(of("cereal").save, cairn.save), 1.0);
    figures.at_least("load.over_cereal", median_ratio(of("cereal").load, cairn.load), 1.15);
    figures.at_least("save.over_libtorch", median_ratio(of("libtorch").save, cairn.save), 2.5);
    figures.at_least("load.over_libtorch", median_ratio(of("libtorch").load, cairn.load), 3.5);
    figures.at_least("load_fresh.over_cereal", median_ratio(of("cereal").load_fresh, cairn.load_fresh), 1.6);
    if (cairn.save.empty()) return;
    figures.at_most("save.extra_memory", cairn.save_extra, 0.05);
    figures.at_most("load.extra_memory", cairn.load_extra, 0.05);
    figures.at_most("load_cold.read_over_file", median(cairn.cold_reads), 1.01);
  }

 private:
  [[nodiscard]] bool shows_progress() const { return !each_ && ::isatty(STDERR_FILENO) != 0; }

  template <class Visit>
  void step(const char* what, std::size_t repetition, const Visit& visit) {
    for (std::size_t i = 0; i < methods_.size(); ++i) {
      const auto turn = (i + repetition) % methods_.size();
      const auto* name = methods_[turn].name.c_str();
      if (shows_progress()) std::fprintf(stderr, "\r%zu/%zu %-13s %-10s", repetition + 1, reps_, what, name);
      const double value = visit(methods_[turn], measured_[turn]);
      if (each_) std::fprintf(stderr, "%zu/%zu %-13s %-10s %.3f\n", repetition + 1, reps_, what, name, value);
    }
  }

  double save(const method& m, const fs::path& path, bool durable) {
    fs::remove_all(path);
    settle(spare_bytes(), patience_);
    const double seconds = seconds_of([&] { m.save(path.string(), state_, durable); });
    ::sync();  // before the next file is deleted: what is deleted dirty is never written
    return seconds;
  }

  double load(const method& m, bool check) {
    read_into_cache(path(m));
    if (check) spoil(state_);
    return timed_load(m, check);
  }

  double timed_load(const method& m, bool check) {
    settle(spare_bytes(), patience_);
    const double seconds = seconds_of([&] { m.load(path(m).string(), state_); });
    if (m.collect) m.collect(state_);
    if (check && !is_intact(state_, dimensions_)) throw std::runtime_error(m.name + ": a load gave other values");
    return seconds;
  }

  [[nodiscard]] fs::path path(const method& m) const { return dir_ / m.name; }
  [[nodiscard]] fs::path durable_path(const method& m) const { return dir_ / (m.name + "-durable"); }
  /// A quarter more than what a page cache or a new state takes.
  [[nodiscard]] std::size_t spare_bytes() const { return size_.bytes + size_.bytes / 4; }
  [[nodiscard]] double bytes() const { return static_cast<double>(size_.bytes); }
  [[nodiscard]] double rate(const std::vector<double>& seconds) const { return bytes() / median(seconds) / 1e9; }

  [[nodiscard]] const series& of(std::string_view name) const {
    static const series none;
    for (std::size_t i = 0; i < methods_.size(); ++i)
      if (methods_[i].name == name) return measured_[i];
    return none;
  }

  std::vector<method> methods_;
  std::vector<series> measured_;
  fs::path dir_;
  std::size_t reps_, mib_;
  bool each_;
  std::chrono::duration<double> patience_;
  dimensions dimensions_;
  training_state state_;
  state_size size_;
};

/// The directory of the files: given, or made here and deleted at the end.
class work_directory {
 public:
  explicit work_directory(const std::string& given) : path_(given), own_(given.empty()) {
    if (own_) {
      std::string name = "save_load.XXXXXX";
      if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a directory here");
      path_ = fs::absolute(name);
    }
    fs::create_directories(path_);
  }
  work_directory(const work_directory&) = delete;
  work_directory& operator=(const work_directory&) = delete;
  ~work_directory() {
    std::error_code ignored;
    if (own_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool own_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::arguments options(argc, argv,
                                   {{"reps", "7"},
                                    {"mib", "1024"},
                                    {"dir", ""},
                                    {"json", ""},
                                    {"only", ""},
                                    {"each", "no"},
                                    {"wait", "5"},
                                    {"job", ""},
                                    {"method", ""},
                                    {"path", ""}},
                                   usage);
    if (!options.text("job").empty()) return run_job(options);

    bench::report report;
    const work_directory dir(options.text("dir"));
    {
      comparison all(chosen_methods(options.text("only")), dir.path(), options);
      all.measure();
      all.print_rates(report);
      all.add_figures(report);
      all.add_reads(report);
    }
    const auto opening = bench::measure_opening((dir.path() / "opening").string(), 1'000'000, options.count("reps"));
    report.number("seconds.open_1e6_tensors", opening.seconds);
    report.number("seconds.json_1e6_tensors", opening.json_seconds);
    report.at_most("open.seconds_1e6_tensors", opening.over_json, 3);
    std::printf("1e6 tensors: opened in %.2f s; RapidJSON alone parses their %.0f MB in %.2f s\n\n", opening.seconds,
                opening.json_bytes / 1e6, opening.json_seconds);
    const auto columns = bench::measure_columns(10'000'000, 3 * options.count("reps"),
                                                std::chrono::duration<double>(options.number("wait")));
    report.number("gbps.columns.cairn", columns.save_gbps);
    report.number("gbps.columns.memcpy", columns.memcpy_gbps);
    report.at_least("columns.over_memcpy", columns.over_memcpy, 0.3);
    std::printf("10 million records of 3 fields to memory: cairn %.2f GB/s, memcpy %.2f GB/s\n\n", columns.save_gbps,
                columns.memcpy_gbps);
    report.at_most("describe.ns_per_leaf", bench::describe_ns_per_leaf(100'000, 3 * options.count("reps")), 200);
    double save = 0, load = 0, bytes = 0;
    for (const auto& small : bench::measure_small(dir.path(), 3 * options.count("reps"))) {
      save = std::max(save, small.save_over_cereal);
      load = std::max(load, small.load_over_cereal);
      bytes = std::max(bytes, small.bytes_over_cereal);
      std::printf("%s: CPU time of a save %.1f ms, %.2f times cereal's; of a load %.1f ms, %.2f times\n",
                  small.state.c_str(), small.save_seconds * 1e3, small.save_over_cereal, small.load_seconds * 1e3,
                  small.load_over_cereal);
    }
    std::printf("\n");
    report.at_most("small.save_over_cereal", save, 2);
    report.at_most("small.load_over_cereal", load, 2);
    report.at_most("small.bytes_over_cereal", bytes, 1.1);
    const auto engines = bench::measure_engines(dir.path(), 3 * options.count("reps"));
    std::printf("4,096 mt19937: CPU time of a save %.1f ms, of a load %.1f ms\n\n", engines.save_seconds * 1e3,
                engines.load_seconds * 1e3);
    report.at_most("engines.save_over_words", engines.save_over_words, 3);
    report.at_most("engines.load_over_words", engines.load_over_words, 6);
    report.print_figures();
    report.write_json(options.text("json"));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "save_load: %s\n", failure.what());
    return 1;
  }
}
