// SPDX-License-Identifier: MIT
// How long a save stops a trainer that rewrites its whole state in every step: Cairn and its peers, each in a process
// of its own.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/arguments.hpp"
#include "common/interleave.hpp"
#include "common/report.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"
#include "stall/jobs.hpp"
#include "stall/way.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "stall [--state 512] [--trained 512] [--repetitions 5] [--per-process 4] [--pairs 8] [--steps 16]\n"
    "      [--directory .] [--json FILE] [--quick yes] [--peers yes] [--each yes] [--wait 5]\n"
    "  Trains and saves in every way, each in a process of its own; prints medians of what the trainer waits, and the "
    "spread.\n"
    "  --state        MiB of the state\n"
    "  --trained      MiB of the state of the training that computes, for throughput_loss\n"
    "  --repetitions  processes of every way\n"
    "  --per-process  saves of each of them, after its first\n"
    "  --pairs        of blocks of that training without and with saving, in each of three processes\n"
    "  --steps        of each block\n"
    "  --directory    where the checkpoints go, in a new directory that is deleted afterwards; the current one by "
    "default\n"
    "  --quick        yes: 32 MiB, 2 repetitions, 2 saves each, 3 pairs of 8 steps\n"
    "  --peers        no: without them, Cairn alone\n"
    "  --each         yes: every save on a line of its own, on stderr\n"
    "  --wait         seconds to wait at most for idle cores before a process starts; 0: not at all\n";

/// Processes that measure throughput_loss, and those that measure peak_memory at most.
constexpr std::size_t few_processes = 3;

/// One way and its saves, those of one process together.
struct contender {
  const known_way* how;
  std::vector<std::vector<save_times>> processes{};
};

std::vector<double> values_of(const std::vector<save_times>& saves, double save_times::* what) {
  std::vector<double> values;
  for (const auto& each : saves) values.push_back(each.*what);
  return values;
}

std::vector<double> values_of(const contender& of, double save_times::* what) {
  std::vector<double> values;
  for (const auto& saves : of.processes)
    for (const auto& each : saves) values.push_back(each.*what);
  return values;
}

/// Of each save, over the memcpy one step before it.
std::vector<double> over_memcpy(const contender& of) {
  std::vector<double> ratios;
  for (const auto& saves : of.processes)
    for (const auto& each : saves) ratios.push_back(each.waits / each.copy);
  return ratios;
}

/// The median of each process over that of the peer's process in the same repetition.
std::vector<double> over_peer(const contender& of, const contender& peer, double save_times::* what) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(of.processes.size(), peer.processes.size()); ++i)
    ratios.push_back(median(values_of(of.processes[i], &save_times::stall)) /
                     median(values_of(peer.processes[i], what)));
  return ratios;
}

std::string ms(const std::vector<double>& seconds) { return text_of(median(seconds) * 1e3, 1); }

std::string spread_of(const std::vector<double>& seconds) {
  if (seconds.empty()) return "-";
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  return text_of(*least * 1e3, 1) + " - " + text_of(*most * 1e3, 1);
}

class comparison {
 public:
  explicit comparison(bool peers) {
    for (const auto& way : known_ways())
      if (peers || way.key.starts_with("cairn")) ways_.push_back({&way});
#ifndef CAIRN_BENCH_LIBTORCH
    if (peers) std::printf("built without libtorch: its rows are left out\n\n");
#endif
  }

  void measure(const setting& where, std::size_t repetitions, std::size_t saves, bool each_on_a_line) {
    interleave(std::span(ways_), repetitions, [&](contender& each, std::size_t repetition) {
      each.processes.push_back(measure_saves(*each.how, where, saves));
      if (!each_on_a_line) return;
      for (const auto& save : each.processes.back())
        std::fprintf(stderr, "%zu %-18s waits %.4f slower %.4f durable %.3f memcpy %.4f step %.4f s\n", repetition,
                     std::string(each.how->key).c_str(), save.waits, save.slower, save.durable, save.copy, save.step);
    });
  }

  void print(std::size_t mib, report& numbers) const;

  /// Nothing is in it where the way is not there.
  [[nodiscard]] const contender& of(std::string_view key) const {
    static const contender none{};
    const auto found = std::ranges::find(ways_, key, [](const contender& each) { return each.how->key; });
    return found == ways_.end() ? none : *found;
  }

 private:
  std::vector<contender> ways_{};
};

void comparison::print(std::size_t mib, report& numbers) const {
  const auto& cairn = ways_.front();
  const auto copies = values_of(cairn, &save_times::copy);
  std::printf(
      "state of %zu MiB, one step %s ms, memcpy with two threads %s ms (%s); %zu processes, medians of %zu, ms\n\n",
      mib, ms(values_of(cairn, &save_times::step)).c_str(), ms(copies).c_str(), spread_of(copies).c_str(),
      cairn.processes.size(), copies.size());
  table rows({"way", "waits", "least - most", "next step slower", "all slower", "least - most", "until durable", "MB"});
  for (const auto& each : ways_) {
    const auto waits = values_of(each, &save_times::waits), slower = values_of(each, &save_times::slower);
    const auto bytes = median(values_of(each, &save_times::bytes));
    rows.row({std::string(each.how->name), ms(waits), spread_of(waits), ms(values_of(each, &save_times::first_slower)),
              ms(slower), spread_of(slower), ms(values_of(each, &save_times::durable)), text_of(bytes / 1e6, 1)});
    const auto number = [&](const char* name, double save_times::* what) {
      numbers.number("seconds." + std::string(each.how->key) + "." + name, median(values_of(each, what)));
    };
    number("waits", &save_times::waits);
    number("next_step_slower", &save_times::first_slower);
    number("steps_slower", &save_times::slower);
    number("until_durable", &save_times::durable);
    number("step", &save_times::step);
    number("memcpy", &save_times::copy);
    numbers.number("bytes." + std::string(each.how->key), bytes);
  }
  rows.print();
  std::fflush(stdout);
}

/// Figures with their spread: medians of ratios or numbers.
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

void compare_ways(const setting& where, std::size_t repetitions, std::size_t saves, const arguments& options,
                  report& numbers, figures& spread) {
  comparison all(options.text("peers") == "yes");
  all.measure(where, repetitions, saves, options.text("each") == "yes");
  all.print(where.mib, numbers);
  const auto& cairn = all.of("cairn");
  const auto& raw = all.of("cairn_raw");
  const auto over = [&](const char* peer) { return over_peer(cairn, all.of(peer), &save_times::stall); };
  spread.at_most("stall.over_memcpy", over_memcpy(cairn), 1.15);
  spread.add("stall.over_memcpy.raw", over_memcpy(raw));
  spread.at_most("stall.over_blocking", over("cairn_blocking"), 0.25);
  spread.add("stall.over_blocking.raw", over_peer(raw, all.of("cairn_blocking_raw"), &save_times::stall));
  spread.at_most("stall.over_libtorch", over("libtorch_joined"), 0.1);
  spread.add("stall.over_libtorch.cloned", over("libtorch_cloned"));
  spread.add("stall.over_libtorch.blocking", over("libtorch_blocking"));
  spread.add("stall.over_libtorch.until_durable", over_peer(cairn, all.of("libtorch_joined"), &save_times::durable));
  spread.add("stall.over_fork", over("fork"));
}

void measure_children(const setting& where, std::size_t repetitions, figures& spread) {
  std::vector<double> first, memory;
  for (std::size_t i = 0; i < repetitions; ++i) first.push_back(measure_first_save(where));
  for (std::size_t i = 0; i < std::min(repetitions, few_processes); ++i) memory.push_back(measure_peak_memory(where));
  spread.at_most("stall.first_over_memcpy", first, 1.5);
  spread.at_most("peak_memory", memory, 2.1);
}

void measure_training(const setting& where, std::size_t pairs, std::size_t steps, figures& spread) {
  std::vector<double> loss, stall, interference, step, saves;
  for (std::size_t i = 0; i < few_processes; ++i) {
    for (const auto& times : measure_throughput(where, pairs, steps)) {
      loss.push_back(100 * (times.with / times.without - 1));
      stall.push_back(100 * times.stall / times.without);
      interference.push_back(loss.back() - stall.back());
      step.push_back(times.without);
      saves.push_back(times.saves);
    }
  }
  std::printf("training of %zu MiB, %s ms of one core a step: a save every %.1f steps, one always in flight\n\n",
              where.mib, ms(step).c_str(), 1 / median(saves));
  spread.at_most("throughput_loss", loss, 4.5);
  spread.add("throughput_loss.stalls", stall);
  spread.add("throughput_loss.interference", interference);
}

void run_all(const arguments& options) {
  const bool quick = options.text("quick") == "yes";
  const auto count = [&](const char* name, std::size_t when_quick) { return quick ? when_quick : options.count(name); };
  const auto repetitions = count("repetitions", 2);
  const work_directory directory(options.text("directory"), "stall");
  setting where{directory.path() / "child", count("state", 32), std::chrono::duration<double>(options.number("wait"))};
  report numbers;
  figures spread(numbers);
  compare_ways(where, repetitions, count("per-process", 2), options, numbers, spread);
  measure_children(where, repetitions, spread);
  spread.at_most("poll", measure_poll(where, repetitions), 20);
  where.mib = count("trained", 32);
  measure_training(where, count("pairs", 3), count("steps", 8), spread);
  spread.print();
  numbers.print_figures();
  numbers.write_json(options.text("json"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::arguments options(argc, argv,
                                   {{"state", "512"},
                                    {"trained", "512"},
                                    {"repetitions", "5"},
                                    {"per-process", "4"},
                                    {"pairs", "8"},
                                    {"steps", "16"},
                                    {"directory", "."},
                                    {"json", ""},
                                    {"quick", "no"},
                                    {"peers", "yes"},
                                    {"each", "no"},
                                    {"wait", "5"},
                                    {"job", ""},
                                    {"way", ""}},
                                   usage);
    if (!options.text("job").empty()) return bench::run_job(options);
    run_all(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "stall: %s\n", failure.what());
    return 1;
  }
}
