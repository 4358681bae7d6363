// SPDX-License-Identifier: MIT
// One process per kind and size.
#include "schedule/costs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/lc.hpp"

#include "common/clock.hpp"
#include "common/job.hpp"
#include "common/page_cache.hpp"
#include "common/statistics.hpp"
#include "save_load/method.hpp"
#include "stall/trainer.hpp"

namespace bench {
namespace {

/// Of each kind, and steps without a save before each save.
constexpr std::size_t restores = 2, idle_steps = 1;

/// MiB of the state whose blocking save tells how large the states have to be.
constexpr std::size_t first_mib = 256;

/// Saves when it is asked to.
struct on_demand {
  std::shared_ptr<bool> is_asked;
  [[nodiscard]] bool should_save(const cairn::moment&) const { return std::exchange(*is_asked, false); }
};

struct one_save {
  double stall = 0, background = 0, slowdown = 0, slowdown_of_cpu = 0, encode = 0, write = 0, bytes = 0;
};

/// What events report of the running save.
struct watched_save {
  std::atomic<double> published{0}, encode{0}, write{0}, bytes{0};

  void observe(const cairn::event& what) {
    using kind = cairn::event::kind;
    if (what.what == kind::encoded) encode = what.seconds;
    if (what.what == kind::written) write = what.seconds;
    if (what.what != kind::published) return;
    bytes = static_cast<double>(what.bytes);
    published = clock_seconds();
  }
};

cairn::checkpointer_options options_of(const std::string& kind) {
  cairn::checkpointer_options options{.keep_last = 1};
  if (kind == "raw") options.codecs = {{"*", cairn::codecs::raw{}}};
  if (kind == "delta") {
    options.codecs = {{"*", cairn::codecs::lc<3>{}}};
    options.chain = {.anchor_every = std::nullopt};
  }
  return options;
}

/// A trainer that saves with a checkpointer, and what it has measured.
class asynchronous_job {
 public:
  asynchronous_job(const std::string& kind, std::string directory, std::size_t mib)
      : options_(options_of(kind)), directory_(std::move(directory)), state_(trained_state(mib)) {
    options_.when = on_demand{is_asked_};
    options_.on_event = [this](const cairn::event& what) { watched_.observe(what); };
  }

  void measure(std::size_t saves) {
    cairn::checkpointer saver(directory_, options_);
    if (saver.restore(state_)) throw std::runtime_error("the checkpointer is not fresh");
    saver.wait();
    for (std::size_t i = 0; i <= saves; ++i) {
      for (std::size_t k = 0; k < idle_steps; ++k) {
        const auto step = train();
        idle_.push_back(step.wall);
        idle_cpu_.push_back(step.cpu);
      }
      save(saver);
      if (i == 0) saves_.clear();
    }
  }

  void print() {
    std::vector<double> restored;
    double cached = 0;
    for (std::size_t i = 0; i < restores; ++i) {
      cached = std::max(cached, drop_cached(directory_));
      cairn::checkpointer saver(directory_, options_);
      restored.push_back(seconds_of([&] {
        if (!saver.restore(state_)) throw std::runtime_error("there is nothing to restore");
      }));
    }
    const auto middle = [&](double one_save::* what) {
      std::vector<double> values;
      for (const auto& each : saves_) values.push_back(each.*what);
      return median(std::move(values));
    };
    print_numbers({middle(&one_save::stall), middle(&one_save::background), middle(&one_save::slowdown),
                   middle(&one_save::slowdown_of_cpu), median(restored), middle(&one_save::encode),
                   middle(&one_save::write), middle(&one_save::bytes), cached, median(idle_)});
  }

 private:
  struct step_seconds {
    double wall = 0, cpu = 0;
  };
  step_seconds train() {
    const double cpu = thread_cpu_seconds();
    const double wall = seconds_of([&] { compute_and_wander(state_, ++step_); });
    return {wall, thread_cpu_seconds() - cpu};
  }

  /// Saves, and trains on until it is published and old checkpoints are removed.
  void save(cairn::checkpointer& saver) {
    *is_asked_ = true;
    watched_.published = 0;
    one_save now;
    now.stall = seconds_of([&] {
      if (!saver.step(state_, {.step = step_}).started) throw std::runtime_error("cairn did not save");
    });
    const double copied = clock_seconds(), idle = median(idle_), idle_cpu = median(idle_cpu_);
    double lost = 0, lost_cpu = 0;
    while (watched_.published == 0) {
      const auto step = train();
      lost += step.wall - idle;
      lost_cpu += step.cpu - idle_cpu;
      if (saver.stats().failed > 0) break;
    }
    saver.wait();
    now.background = watched_.published - copied;
    now.slowdown = lost / now.background;
    now.slowdown_of_cpu = lost_cpu / now.background;
    now.encode = watched_.encode;
    now.write = watched_.write;
    now.bytes = watched_.bytes;
    saves_.push_back(now);
  }

  std::shared_ptr<bool> is_asked_ = std::make_shared<bool>(false);
  watched_save watched_;
  cairn::checkpointer_options options_;
  std::string directory_;
  training_state state_;
  std::uint64_t step_ = 0;
  std::vector<double> idle_, idle_cpu_;
  std::vector<one_save> saves_;
};

method peer() {
#ifdef CAIRN_BENCH_LIBTORCH
  return libtorch_method();
#else
  return plain_method();
#endif
}

void blocking_job(const std::string& directory, std::size_t mib, std::size_t saves) {
  const auto how = peer();
  auto state = trained_state(mib);
  const auto path = directory + "/state";
  std::vector<double> idle, stalls, loads;
  for (std::size_t i = 0; i <= saves; ++i) {
    idle.push_back(seconds_of([&] { compute_and_wander(state, i); }));
    std::filesystem::remove(path);
    stalls.push_back(seconds_of([&] { how.save(path, state, true); }));
  }
  stalls.erase(stalls.begin());
  double cached = 0;
  for (std::size_t i = 0; i < restores; ++i) {
    cached = std::max(cached, drop_cached(directory));
    loads.push_back(seconds_of([&] { how.load(path, state); }));
    if (how.collect) how.collect(state);
  }
  print_numbers({median(stalls), 0, 0, 0, median(loads), 0, median(stalls),
                 static_cast<double>(std::filesystem::file_size(path)), cached, median(idle)});
}

struct measured_kind {
  measured_save save;
  double iteration = 0;
};

measured_kind measure_kind(const std::string& kind, std::size_t mib, std::size_t saves, const cost_setting& where) {
  const auto rows = numbers_of_job({"--job", kind, "--state", std::to_string(mib), "--saves", std::to_string(saves)},
                                   where.directory, 10, where.patience);
  const auto& n = rows.front();
  return {{.seconds = {.stall = n[0], .background = n[1], .slowdown = std::max(n[2], 0.0), .restore = n[4]},
           .slowdown_of_cpu = n[3],
           .encode = n[5],
           .write = n[6],
           .bytes = n[7],
           .cached = n[8]},
          n[9]};
}

using kind_of_save = std::pair<const char*, measured_save measured_costs::*>;
constexpr kind_of_save kinds[] = {{"raw", &measured_costs::raw},
                                  {"whole", &measured_costs::whole},
                                  {"delta", &measured_costs::delta},
                                  {"blocking", &measured_costs::blocking}};

#ifdef CAIRN_BENCH_LIBTORCH
constexpr const char* blocking_peer = "torch::save and fsync";
#else
constexpr const char* blocking_peer = "write and fsync";
#endif

/// A table, and all numbers.
void report_size(const std::string& size, const measured_costs& costs, report& numbers) {
  std::printf("state of %zu MiB, one step %.3f s; a blocking save was to take %.2f s\n\n", costs.mib, costs.iteration,
              costs.target);
  numbers.number(size + "target", costs.target);
  numbers.number(size + "mib", static_cast<double>(costs.mib));
  numbers.number(size + "iteration", costs.iteration);
  table rows({"kind", "stall", "background", "slowdown", "of CPU time", "all of a save", "restore", "encode", "write",
              "MB", "% cached"});
  for (const auto& [name, kind] : kinds) {
    const auto& [seconds, of_cpu, encode, write, bytes, cached] = costs.*kind;
    rows.row({name, text_of(seconds.stall, 4), text_of(seconds.background, 3), text_of(seconds.slowdown, 3),
              text_of(of_cpu, 3), text_of(seconds.of_a_save(), 4), text_of(seconds.restore, 3), text_of(encode, 3),
              text_of(write, 3), text_of(bytes / 1e6, 1), text_of(100 * cached, 0)});
    const auto number = [&](const char* what, double value) { numbers.number(size + name + "." + what, value); };
    number("stall", seconds.stall);
    number("background", seconds.background);
    number("slowdown", seconds.slowdown);
    number("slowdown_of_cpu", of_cpu);
    number("restore", seconds.restore);
    number("encode", encode);
    number("write", write);
    number("bytes", bytes);
    number("cached", cached);
  }
  rows.print();
  std::fflush(stdout);
}

}  // namespace

std::vector<measured_costs> measure_costs(const cost_setting& where, report& numbers) {
  std::printf("what a save costs, seconds; blocking: %s\n\n", blocking_peer);
  const auto first = measure_kind("blocking", first_mib, where.saves, where).save.seconds.stall;
  std::vector<measured_costs> all;
  for (const double target : where.targets) {
    measured_costs costs{
        .target = target,
        .mib = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(first_mib) * target / first))};
    std::vector<double> iterations;
    for (const auto& [name, kind] : kinds) {
      const auto measured = measure_kind(name, costs.mib, where.saves, where);
      costs.*kind = measured.save;
      iterations.push_back(measured.iteration);
    }
    costs.iteration = median(iterations);
    report_size("costs." + std::to_string(all.size()) + '.', costs, numbers);
    all.push_back(costs);
  }
  return all;
}

int run_cost_job(const arguments& options) {
  const auto& kind = options.text("job");
  const auto& directory = options.text("directory");
  const auto mib = options.count("state"), saves = options.count("saves");
  if (kind == "blocking") {
    blocking_job(directory, mib, saves);
  } else {
    asynchronous_job job(kind, directory, mib);
    job.measure(saves);
    job.print();
  }
  return 0;
}

}  // namespace bench
