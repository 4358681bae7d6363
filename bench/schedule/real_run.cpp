// SPDX-License-Identifier: MIT
// The parent of the training processes: starts, kills and counts.
#include "schedule/real_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <poll.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "common/interleave.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "lenet/drawn.hpp"
#include "lenet/idx.hpp"
#include "schedule/attempt.hpp"
#include "schedule/chart.hpp"

namespace bench {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class shared_log {
 public:
  shared_log() {
    void* const memory = ::mmap(nullptr, sizeof(run_log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    log_ = new (memory) run_log;
  }
  shared_log(const shared_log&) = delete;
  shared_log& operator=(const shared_log&) = delete;
  ~shared_log() { ::munmap(log_, sizeof(run_log)); }

  [[nodiscard]] run_log& operator*() const { return *log_; }
  [[nodiscard]] run_log* operator->() const { return log_; }

 private:
  run_log* log_ = nullptr;
};

/// Waits for the child until `deadline` on the shared clock, then kills it. True: it ended by itself, and well.
bool ends_before(pid_t child, double deadline) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) throw std::runtime_error("cannot watch a child");
  pollfd watched{handle, POLLIN, 0};
  for (int ready = 0; ready <= 0;) {
    const double left = std::clamp(deadline - clock_seconds(), 0.0, 1e6), whole = std::floor(left);
    const timespec limit{static_cast<std::time_t>(whole), static_cast<long>((left - whole) * 1e9)};
    ready = ::ppoll(&watched, 1, &limit, nullptr);
    if (ready < 0 && errno != EINTR) throw std::runtime_error("cannot wait for a child");
    if (ready != 0 || clock_seconds() < deadline) continue;
    ::kill(child, SIGKILL);
    break;
  }
  ::close(handle);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The child's part: never returns.
[[noreturn]] void run_attempt(const run_method& how, const run_facts& facts, const run_setting& where,
                              const lenet::digits& images, std::uint32_t attempt, run_log& log) {
  int status = 0;
  try {
    train_to_target(how, facts, where, images, attempt, log);
  } catch (const std::exception& failure) {
    std::snprintf(log.failure, sizeof log.failure, "%s", failure.what());
    status = 1;
  }
  ::_exit(status);
}

/// When processes began and ended, on the shared clock.
struct attempt_times {
  double began = 0, ended = 0;
};

double mean_of(std::span<const step_record> steps, bool beside_saves) {
  double sum = 0, count = 0;
  for (const auto& s : steps) {
    if (s.is_beside_save != beside_saves) continue;
    sum += s.trained - s.began;
    count += 1;
  }
  return sum / count;
}

/// Adds up a run's steps. `undisturbed`: seconds of a step without saves and kills; 0: that of this run.
void account(run_result& result, double undisturbed, std::span<const step_record> steps,
             std::span<const attempt_times> attempts) {
  result.iteration = mean_of(steps, false);
  if (!std::isfinite(result.iteration)) result.iteration = mean_of(steps, true);
  if (undisturbed == 0) undisturbed = result.iteration;
  double stalls = 0;
  for (std::size_t a = 0, at = 0; a < attempts.size(); ++a) {
    double until = a == 0 ? never : attempts[a - 1].ended;  // nothing is restored before the first attempt
    for (; at < steps.size() && steps[at].attempt == a; ++at) {
      const auto& s = steps[at];
      const double training = s.trained - s.began, stall = s.ended - s.trained;
      if (until < s.began) result.lost.restoring += s.began - until;
      until = never;
      if (s.step <= result.steps)
        result.lost.redoing += training;
      else
        (s.is_beside_save ? result.lost.saving : result.lost.slower) += training - undisturbed;
      if (s.saves) stalls += stall, ++result.saves;
      result.lost.saving += stall;
      result.steps = std::max<std::uint64_t>(result.steps, s.step);
    }
    if (at == steps.size() && a + 1 == attempts.size()) break;  // the end of the run
    const bool has_steps = at > 0 && steps[at - 1].attempt == a;
    if (has_steps)
      result.lost.redoing += attempts[a].ended - steps[at - 1].ended;
    else if (a > 0)
      result.lost.restoring += attempts[a].ended - attempts[a - 1].ended;
    else
      result.lost.redoing += attempts[a].ended - attempts[a].began;
  }
  result.stall = stalls / static_cast<double>(result.saves);
}

run_result train(const run_method& how, const run_facts& facts, const run_setting& where, const lenet::digits& images,
                 std::span<const double> kills) {
  namespace fs = std::filesystem;
  fs::remove_all(where.directory);
  settle(0, std::chrono::seconds(2));
  const shared_log log;
  std::vector<attempt_times> attempts;
  std::fflush(nullptr);
  const double begin = clock_seconds(), end = begin + where.longest;
  while (!log->is_done && clock_seconds() < end) {
    const auto attempt = static_cast<std::uint32_t>(attempts.size());
    attempts.push_back({clock_seconds(), 0});
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) run_attempt(how, facts, where, images, attempt, *log);
    ends_before(child, std::min(end, attempt < kills.size() ? attempts.back().began + kills[attempt] : never));
    attempts.back().ended = clock_seconds();
    if (log->failure[0] != '\0') throw std::runtime_error(how.name + ": " + log->failure);
  }
  fs::remove_all(where.directory);
  run_result result{.reached = log->is_done, .attempts = attempts.size(), .fingerprint = log->fingerprint};
  const auto steps = log->steps();
  if (steps.empty()) throw std::runtime_error(how.name + ": not one step was done");
  account(result, facts.iteration_seconds, steps, attempts);
  result.wall = (result.reached ? steps.back().ended : attempts.back().ended) - begin;
  return result;
}

/// Exponential, in seconds since the start of a process; the same for the same seed.
std::vector<double> kill_times(std::uint64_t seed, double mtbf) {
  std::mt19937_64 random(seed);
  std::vector<double> times(1000);
  for (auto& time : times) time = -mtbf * std::log(1 - 0x1p-53 * static_cast<double>(random() >> 11U));
  return times;
}

/// A method and its runs, one for each seed.
struct contender {
  run_method how;
  std::vector<run_result> runs{};
};

std::vector<double> values_of(const std::vector<run_result>& runs,
                              const std::function<double(const run_result&)>& what) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(what(run));
  return values;
}

const std::vector<std::pair<const char*, double (*)(const run_result&)>>& columns() {
  static const std::vector<std::pair<const char*, double (*)(const run_result&)>> all{
      {"seconds", [](const run_result& r) { return r.wall; }},
      {"attempts", [](const run_result& r) { return static_cast<double>(r.attempts); }},
      {"saves", [](const run_result& r) { return static_cast<double>(r.saves); }},
      {"stall_ms", [](const run_result& r) { return 1e3 * r.stall; }},
      {"saving", [](const run_result& r) { return r.lost.saving; }},
      {"slower", [](const run_result& r) { return r.lost.slower; }},
      {"redoing", [](const run_result& r) { return r.lost.redoing; }},
      {"restoring", [](const run_result& r) { return r.lost.restoring; }},
      {"lost", [](const run_result& r) { return r.lost.all(); }},
      {"lost_percent", [](const run_result& r) { return 100 * r.lost.all() / (r.wall - r.lost.all()); }},
      {"step_ms", [](const run_result& r) { return 1e3 * r.iteration; }}};
  return all;
}

std::string text_of_seed(const contender& each, std::size_t seed) {
  const auto& run = each.runs[seed];
  return run.reached ? "" : ", not reached (" + std::to_string(run.steps) + " steps)";
}

void print_rows(const std::vector<contender>& all, const run_setting& where, const run_facts& facts, report& numbers) {
  std::vector<std::string> header{"method"};
  for (const auto& [name, value] : columns()) header.emplace_back(name);
  for (std::size_t seed = 0; seed < where.seeds.size(); ++seed) {
    std::printf("kills of seed %llu\n\n", static_cast<unsigned long long>(where.seeds[seed]));
    table rows(header);
    for (const auto& each : all) {
      std::vector<std::string> row{each.how.name + text_of_seed(each, seed)};
      for (const auto& [name, value] : columns()) row.push_back(text_of(value(each.runs[seed])));
      rows.row(std::move(row));
    }
    rows.print();
  }
  table medians(header);
  for (const auto& each : all) {
    std::vector<std::string> row{each.how.name};
    for (const auto& [name, value] : columns()) {
      const double middle = median(values_of(each.runs, value));
      row.push_back(text_of(middle));
      numbers.number("real_run." + each.how.key + "." + name, middle);
    }
    const auto reached = std::ranges::count_if(each.runs, [](const run_result& r) { return r.reached; });
    numbers.number("real_run." + each.how.key + ".reached", static_cast<double>(reached));
    medians.row(std::move(row));
  }
  std::printf("medians of %zu seeds; an undisturbed run: %llu steps of %.2f ms\n\n", where.seeds.size(),
              static_cast<unsigned long long>(facts.steps), 1e3 * facts.iteration_seconds);
  medians.print();
}

/// Medians over the seeds of all methods that have reached the target each time.
void write_chart(const std::vector<contender>& all, const run_setting& where, const run_facts& facts) {
  bar_panel panel{.title = "time lost", .unit = "seconds, logarithmic", .is_logarithmic = true};
  const std::pair<const char*, double (*)(const run_result&)> parts[] = {
      {"saving", [](const run_result& r) { return r.lost.saving; }},
      {"redoing", [](const run_result& r) { return r.lost.redoing; }},
      {"restoring", [](const run_result& r) { return r.lost.restoring; }},
      {"together", [](const run_result& r) { return r.lost.all(); }}};
  for (const auto& [name, value] : parts) panel.series.push_back({name, {}, value == parts[3].second});
  for (const auto& each : all) {
    if (!std::ranges::all_of(each.runs, &run_result::reached)) continue;
    panel.groups.push_back(each.how.name);
    for (std::size_t i = 0; i < panel.series.size(); ++i)
      panel.series[i].values.push_back(median(values_of(each.runs, parts[i].second)));
  }
  char subtitle[160];
  std::snprintf(
      subtitle, sizeof subtitle, "%llu steps of %.1f ms, a SIGKILL every %g s in the mean; medians of %zu seeds",
      static_cast<unsigned long long>(facts.steps), 1e3 * facts.iteration_seconds, where.mtbf, where.seeds.size());
  write_bars(where.chart, "LeNet-5 under SIGKILLs", subtitle, {&panel, 1});
}

/// Every run that reached the target is in the state of the undisturbed one.
void verify(const std::vector<contender>& all, const run_facts& facts) {
  for (const auto& each : all)
    for (const auto& run : each.runs)
      if (run.reached && (run.fingerprint != facts.fingerprint || run.steps != facts.steps))
        throw std::runtime_error(each.how.name + " ends in state " + run.fingerprint + ", the undisturbed run in " +
                                 facts.fingerprint);
  std::printf("all runs that reached the target are in the state of the undisturbed one, bit by bit: %s\n\n",
              facts.fingerprint.c_str());
}

/// What one method lost over what the other did, for every seed for which both have reached the target, and over all of
/// these seeds.
struct lost_ratios {
  std::vector<double> of_seeds{};
  double of_all = std::numeric_limits<double>::quiet_NaN();
};

lost_ratios ratios_of(const std::vector<contender>& all, const std::string& top, const std::string& bottom) {
  const auto of = [&](const std::string& key) {
    return std::ranges::find(all, key, [](const contender& each) { return each.how.key; });
  };
  lost_ratios ratios;
  if (of(top) == all.end() || of(bottom) == all.end()) return ratios;
  double top_lost = 0, bottom_lost = 0;
  for (std::size_t i = 0; i < of(top)->runs.size(); ++i) {
    const auto &a = of(top)->runs[i], &b = of(bottom)->runs[i];
    if (!a.reached || !b.reached) continue;
    ratios.of_seeds.push_back(a.lost.all() / b.lost.all());
    top_lost += a.lost.all();
    bottom_lost += b.lost.all();
  }
  if (!ratios.of_seeds.empty()) ratios.of_all = top_lost / bottom_lost;
  return ratios;
}

void report_ratios(const std::vector<contender>& all, report& numbers) {
  for (const auto& [own, suffix, name] :
       {std::tuple{"ours", "", "ours,"}, std::tuple{"ours_untold", "_untold", "ours, without an MTBF,"}})
    for (const std::string peer : {"checkfreq", "coci", "every_epoch"}) {
      const auto ratios = ratios_of(all, own, peer);
      if (ratios.of_seeds.empty()) continue;
      const auto [least, most] = std::ranges::minmax(ratios.of_seeds);
      const auto key = "real_run.overhead" + std::string(suffix) + "_vs_" + peer;
      if (key == "real_run.overhead_vs_checkfreq") numbers.at_most(key, median(ratios.of_seeds), 0.5);
      numbers.number(key + ".least", least);
      numbers.number(key + ".median", median(ratios.of_seeds));
      numbers.number(key + ".most", most);
      numbers.number(key + ".all_seeds", ratios.of_all);
      std::printf("%s lost of what %s did: median %.3f (%.3f - %.3f), over all seeds %.3f\n", name, peer.c_str(),
                  median(ratios.of_seeds), least, most, ratios.of_all);
    }
  std::printf("\n");
}

}  // namespace

std::vector<run_method> with_plain_methods(std::vector<run_method> others) {
  std::vector<run_method> all{
      {"none", "no checkpoints"},
      {"every_epoch", "every epoch, blocking", [](const run_facts& facts) {
         return cairn::checkpointer_options{
             .keep_last = 3, .when = cairn::policies::every_steps{facts.steps_per_epoch}, .asynchronous = false};
       }}};
  std::ranges::move(others, std::back_inserter(all));
  return all;
}

void compare_real_runs(const std::vector<run_method>& methods, const run_setting& where, report& numbers) {
  // The trainer frees and allocates megabytes in every step. Whether malloc hands them back to the system in between
  // depends on what else lies in the heap, and makes a step up to an eighth longer: by chance for one method and not
  // for the other.
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  const auto limit = where.images == 0 ? std::numeric_limits<std::size_t>::max() : where.images;
  const auto images = where.data.empty() ? lenet::draw_digits(limit) : lenet::read_digits(where.data, limit);

  auto patient = where;
  patient.longest = never;
  run_facts facts{.mtbf = where.mtbf};
  const auto undisturbed = train({"undisturbed", "undisturbed"}, facts, patient, images, {});
  facts.iteration_seconds = undisturbed.iteration;
  facts.steps = undisturbed.steps;
  facts.steps_per_epoch = (images.train.size() + where.batch - 1) / where.batch;
  facts.fingerprint = undisturbed.fingerprint;
  std::printf(
      "LeNet-5 on %zu digits to a mean loss of %g: undisturbed %.1f s, %llu steps of %.2f ms, %llu an epoch; a kill "
      "every %g s\n\n",
      images.train.size(), where.target, undisturbed.wall, static_cast<unsigned long long>(facts.steps),
      1e3 * facts.iteration_seconds, static_cast<unsigned long long>(facts.steps_per_epoch), where.mtbf);
  numbers.number("real_run.undisturbed.seconds", undisturbed.wall);
  numbers.number("real_run.undisturbed.steps", static_cast<double>(facts.steps));

  std::vector<contender> all;
  for (const auto& how : methods) all.push_back({how});
  interleave(std::span(all), where.seeds.size(), [&](contender& each, std::size_t round) {
    each.runs.push_back(train(each.how, facts, where, images, kill_times(where.seeds[round], where.mtbf)));
    std::fprintf(stderr, "seed %llu, %s: %.1f s\n", static_cast<unsigned long long>(where.seeds[round]),
                 each.how.name.c_str(), each.runs.back().wall);
  });
  print_rows(all, where, facts, numbers);
  verify(all, facts);
  report_ratios(all, numbers);
  write_chart(all, where, facts);
}

}  // namespace bench
