// How long a save stops a trainer that rewrites its whole state in every step: Cairn and its peers in turn.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "common/arguments.hpp"
#include "common/interleave.hpp"
#include "common/report.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "stall/copy.hpp"
#include "stall/jobs.hpp"
#include "stall/trainer.hpp"
#include "stall/way.hpp"

namespace {

namespace fs = std::filesystem;
using namespace bench;

constexpr std::string_view usage =
    "stall [--state 512] [--trained 128] [--saves 7] [--steps 32] [--directory .] [--json FILE] [--quick yes]\n"
    "      [--peers yes] [--each yes] [--wait 5]\n"
    "  Trains, and saves in every way in turn; prints medians of what the trainer waits, and the spread.\n"
    "  --state      MiB of the state\n"
    "  --trained    MiB of the state of the training that computes, for throughput_loss\n"
    "  --saves      of every way, after the first\n"
    "  --steps      of that training, with and without saving\n"
    "  --directory  where the checkpoints go, in a new directory that is deleted afterwards; the current one by "
    "default\n"
    "  --quick      yes: 32 MiB, 3 saves, 8 steps\n"
    "  --peers      no: without them, Cairn alone\n"
    "  --each       yes: every save on a line of its own, on stderr\n"
    "  --wait       seconds to wait at most for idle cores before a save; 0: not at all\n";

/// Trained before the save and after it; the latter at least.
constexpr std::uint64_t steps_before = 5, steps_after = 3;

/// Measurements of one way, one per save. Seconds.
struct series {
  std::vector<double> waits{};    ///< what the trainer waits for: the call, and where it must, before it writes again
  std::vector<double> slower{};   ///< of the steps until the save is durable, beyond what they take without
  std::vector<double> first{};    ///< the part of `slower` in the first of these steps
  std::vector<double> stall{};    ///< `waits`; of a fork, which goes on in page faults, with `slower`
  std::vector<double> durable{};  ///< from the beginning until durable
  std::vector<double> copy{};     ///< memcpy with two threads, one step before the save
  std::vector<double> step{};     ///< of the training, without a save
  double bytes = 0;
};

struct contender {
  way how;
  series measured{};
  std::uint64_t next_save = save_interval;
};

class comparison {
 public:
  comparison(fs::path directory, std::size_t mib, bool peers, std::chrono::duration<double> patience)
      : directory_(std::move(directory)), patience_(patience), state_(trained_state(mib)), target_(state_) {
    add("cairn", [](const auto& where) { return cairn_asynchronous(where, true); });
    add("cairn-raw", [](const auto& where) { return cairn_asynchronous(where, false); });
    add("cairn-blocking", [](const auto& where) { return cairn_blocking(where, true); });
    add("cairn-blocking-raw", [](const auto& where) { return cairn_blocking(where, false); });
    if (!peers) return;
    add("fork", fork_and_write);
#ifdef CAIRN_BENCH_LIBTORCH
    add("torch", libtorch_blocking);
    add("torch-joined", libtorch_joined);
    add("torch-cloned", libtorch_cloned);
#else
    std::printf("built without libtorch: its rows are left out\n\n");
#endif
  }

  void measure(std::size_t saves, bool each_on_a_line) {
    interleave(std::span(ways_), saves + 1, [&](contender& each, std::size_t repetition) {
      auto& m = each.measured;
      save_once(each);
      if (each_on_a_line)
        std::fprintf(stderr, "%zu/%zu %-64s waits %.3f slower %.3f durable %.3f memcpy %.3f s\n", repetition, saves,
                     each.how.name.c_str(), m.waits.back(), m.slower.back(), m.durable.back(), m.copy.back());
      if (repetition == 0) m = {};
    });
  }

  void print(report& numbers) const;

  /// Nothing is in it where the way is not there.
  [[nodiscard]] const series& of(std::string_view key) const {
    static const series none;
    for (const auto& each : ways_)
      if (each.how.key == key) return each.measured;
    return none;
  }

 private:
  template <class Make>
  void add(const char* folder, const Make& make) {
    fs::create_directories(directory_ / folder);
    ways_.push_back({.how = make((directory_ / folder).string())});
  }

  /// One step of the training, `saver` asked for leave before it and told of it afterwards.
  double train(const way& saver, std::uint64_t step) {
    return seconds_of([&] {
      rewrite(state_, step);
      saver.step(state_, step);
    });
  }

  void save_once(contender& each);

  fs::path directory_;
  std::chrono::duration<double> patience_;
  training_state state_;
  copy_target target_;
  std::vector<contender> ways_{};
};

void comparison::save_once(contender& each) {
  const auto& saver = each.how;
  auto& measured = each.measured;
  settle(5 * size_of(state_).bytes / 2, patience_);  // a copy of the state, and the page cache
  const auto due = std::exchange(each.next_save, each.next_save + save_interval);
  std::vector<double> before;
  for (auto step = due - steps_before; step < due; ++step) before.push_back(train(saver, step));
  measured.step.push_back(median(before));
  measured.copy.push_back(target_.copy(state_));
  rewrite(state_, due);
  double waits = seconds_of([&] { saver.step(state_, due); });
  double slower = 0;
  for (std::uint64_t n = 0; n < steps_after || (n + steps_before + 1 < save_interval && !saver.is_done()); ++n) {
    if (saver.before_write) waits += seconds_of(saver.before_write);
    slower += train(saver, due + n + 1) - measured.step.back();
    if (n == 0) measured.first.push_back(slower);
  }
  const auto result = saver.finish();
  measured.waits.push_back(waits);
  measured.slower.push_back(slower);
  measured.stall.push_back(saver.key == "fork" ? waits + slower : waits);
  measured.durable.push_back(result.seconds);
  measured.bytes = static_cast<double>(result.bytes);
}

std::string ms(const std::vector<double>& seconds) { return text_of(median(seconds) * 1e3, 1); }

std::string spread_of(const std::vector<double>& seconds) {
  if (seconds.empty()) return "-";
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  return text_of(*least * 1e3, 1) + " - " + text_of(*most * 1e3, 1);
}

void comparison::print(report& numbers) const {
  const auto size = size_of(state_);
  std::printf("%llu tensors, %.1f MB, one step %s ms, memcpy with two threads %s ms (%s); medians of %zu, ms\n\n",
              static_cast<unsigned long long>(size.tensors), static_cast<double>(size.bytes) / 1e6,
              ms(ways_.front().measured.step).c_str(), ms(ways_.front().measured.copy).c_str(),
              spread_of(ways_.front().measured.copy).c_str(), ways_.front().measured.waits.size());
  table rows({"way", "waits", "least - most", "next step slower", "all slower", "least - most", "until durable", "MB"});
  for (const auto& each : ways_) {
    const auto& m = each.measured;
    rows.row({each.how.name, ms(m.waits), spread_of(m.waits), ms(m.first), ms(m.slower), spread_of(m.slower),
              ms(m.durable), text_of(m.bytes / 1e6, 1)});
    const auto number = [&](const char* what, const std::vector<double>& seconds) {
      numbers.number("seconds." + each.how.key + "." + what, median(seconds));
    };
    number("waits", m.waits);
    number("next_step_slower", m.first);
    number("steps_slower", m.slower);
    number("until_durable", m.durable);
    number("step", m.step);
    number("memcpy", m.copy);
    numbers.number("bytes." + each.how.key, m.bytes);
  }
  rows.print();
  std::fflush(stdout);
}

/// Figures with their spread: medians of ratios or numbers, one per repetition.
class figures {
 public:
  explicit figures(report& to) : report_(&to) {}

  void at_most(const std::string& name, const std::vector<double>& values, double bound) {
    report_->at_most(name, median(values), bound);
    add(name, values);
  }

  /// Without a bound.
  void add(const std::string& name, const std::vector<double>& values) {
    if (values.empty()) return;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    rows_.row({name, text_of(*least, 3), text_of(median(values), 3), text_of(*most, 3), std::to_string(values.size())});
    report_->number(name + ".least", *least);
    report_->number(name + ".most", *most);
  }

  void print() const { rows_.print(); }

 private:
  report* report_;
  table rows_{{"spread of", "least", "median", "most", "of"}};
};

std::vector<double> ratios_of(const std::vector<double>& top, const std::vector<double>& bottom) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(top.size(), bottom.size()); ++i) ratios.push_back(top[i] / bottom[i]);
  return ratios;
}

void compare_ways(const fs::path& directory, std::size_t mib, std::size_t saves, const arguments& options,
                  report& numbers, figures& spread) {
  comparison all(directory, mib, options.text("peers") == "yes",
                 std::chrono::duration<double>(std::stod(options.text("wait"))));
  all.measure(saves, options.text("each") == "yes");
  all.print(numbers);
  const auto& stall = all.of("cairn").stall;
  const auto over = [&](const char* peer) { return ratios_of(stall, all.of(peer).stall); };
  spread.at_most("stall.over_memcpy", ratios_of(stall, all.of("cairn").copy), 1.15);
  spread.add("stall.over_memcpy.raw", ratios_of(all.of("cairn_raw").stall, all.of("cairn_raw").copy));
  spread.at_most("stall.over_blocking", over("cairn_blocking"), 0.25);
  spread.add("stall.over_blocking.raw", ratios_of(all.of("cairn_raw").stall, all.of("cairn_blocking_raw").stall));
  spread.at_most("stall.over_libtorch", over("libtorch_joined"), 0.1);
  spread.add("stall.over_libtorch.cloned", over("libtorch_cloned"));
  spread.add("stall.over_libtorch.blocking", over("libtorch_blocking"));
  spread.add("stall.over_libtorch.until_durable", ratios_of(stall, all.of("libtorch_joined").durable));
  spread.add("stall.over_fork", over("fork"));
}

void measure_children(const fs::path& directory, std::size_t mib, std::size_t saves, figures& spread) {
  std::vector<double> first, memory;
  for (std::size_t i = 0; i < saves; ++i) {
    settle(5 * (mib << 20) / 2, std::chrono::seconds(5));
    const auto times = measure_first_save(directory / "first", mib);
    first.push_back(times.stall / times.copy);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(saves, 3); ++i)
    memory.push_back(measure_peak_memory(directory / "memory", mib));
  spread.at_most("stall.first_over_memcpy", first, 1.5);
  spread.at_most("peak_memory", memory, 2.1);
}

void measure_training(const fs::path& directory, std::size_t mib, std::size_t saves, std::size_t steps,
                      figures& spread) {
  std::vector<double> loss, stall, interference;
  double step = 0, count = 0;
  for (const auto& times : measure_throughput(directory / "throughput", mib, saves, steps)) {
    loss.push_back(100 * (times.with / times.without - 1));
    stall.push_back(100 * times.stall / times.without);
    interference.push_back(loss.back() - stall.back());
    step = times.without / static_cast<double>(steps);
    count += times.saves;
  }
  std::printf(
      "training of %zu MiB, %.1f ms of one core a step, %zu steps: a save every %.1f steps, one always in flight\n\n",
      mib, step * 1e3, steps, static_cast<double>(steps * saves) / std::max(count, 1.0));
  spread.at_most("throughput_loss", loss, 5);
  spread.add("throughput_loss.stalls", stall);
  spread.add("throughput_loss.interference", interference);
}

/// A new directory in the one given, deleted at the end.
class work_directory {
 public:
  explicit work_directory(const fs::path& in) {
    fs::create_directories(in);
    std::string name = fs::absolute(in / "stall.XXXXXX");
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a directory in " + in.string());
    path_ = name;
  }
  work_directory(const work_directory&) = delete;
  work_directory& operator=(const work_directory&) = delete;
  ~work_directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void run_all(const arguments& options) {
  const bool quick = options.text("quick") == "yes";
  const auto mib = quick ? 32 : options.count("state");
  const auto saves = quick ? 3 : options.count("saves");
  const auto steps = quick ? 8 : options.count("steps");
  const auto trained = quick ? 32 : options.count("trained");
  const work_directory directory(options.text("directory"));
  report numbers;
  figures spread(numbers);
  compare_ways(directory.path(), mib, saves, options, numbers, spread);
  measure_children(directory.path(), mib, saves, spread);
  measure_training(directory.path(), trained, saves, steps, spread);
  spread.at_most("poll", measure_poll(directory.path() / "poll", saves), 20);
  spread.print();
  numbers.print_figures();
  numbers.write_json(options.text("json"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::arguments options(argc, argv,
                                   {{"state", "512"},
                                    {"trained", "128"},
                                    {"saves", "7"},
                                    {"steps", "32"},
                                    {"directory", "."},
                                    {"json", ""},
                                    {"quick", "no"},
                                    {"peers", "yes"},
                                    {"each", "no"},
                                    {"wait", "5"},
                                    {"job", ""}},
                                   usage);
    if (!options.text("job").empty()) return bench::run_job(options);
    run_all(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "stall: %s\n", failure.what());
    return 1;
  }
}
