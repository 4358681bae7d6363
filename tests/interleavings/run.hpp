// SPDX-License-Identifier: MIT
// One run of several ranks under a scheduler: what each rank has seen, and whether that and what the run leaves is
// right.
#pragma once

#include "cairn/checkpointer.hpp"
#include "cairn/encode/raw.hpp"
#include "cairn/load.hpp"
#include "cairn/store/memory.hpp"
#include "hooked_store.hpp"
#include "interleavings/group.hpp"
#include "standard.hpp"

namespace interleavings {

struct model {
  std::vector<float> weights;
  std::vector<double> moments;
  std::uint64_t step = 0;

  friend bool operator==(const model&, const model&) = default;
};

/// The state of a step. Each rank has a part of it; steps that follow one another have most values in common.
inline const model& model_at(std::uint64_t step) {
  constexpr std::uint64_t steps = 100;
  static const auto all = [] {
    std::vector<model> made;
    for (std::uint64_t of = 0; of < steps; ++of) {
      auto& each = made.emplace_back(model{std::vector<float>(5000), std::vector<double>(1500), of});
      for (std::size_t i = 0; i < each.weights.size(); ++i)
        each.weights[i] = static_cast<float>(i % 97 + (i % 5 == 0 ? of : 0));
      each.moments[of] = static_cast<double>(of);
    }
    return made;
  }();
  return all.at(step);
}

/// The lines that a rank has seen.
using lines = std::vector<std::string>;

/// What one rank does, and sees.
class rank_run {
 public:
  rank_run(model_group own, cairn::any_store place, lines& seen)
      : group(std::move(own)), store(std::move(place)), seen_(seen) {}

  /// A call of the trainer. A std::string that `act` returns says what it has done.
  template <class Act>
  void call(const std::string& name, const Act& act) {
    scheduler::of_this_thread()->yield("a call of the trainer");
    std::string result = "done";
    try {
      if constexpr (std::is_void_v<decltype(act())>)
        act();
      else
        result = act();
    } catch (const cairn::error& cause) {
      result = (cause.code() == cairn::errc::lost_rank ? "lost: " : "") + std::string(cause.what());
    }
    seen_.push_back(name + ": " + result);
  }
  void step(cairn::checkpointer& checkpoints, std::uint64_t step) {
    call("step " + std::to_string(step), [&] {
      const auto made = checkpoints.step(model_at(step), {.step = step});
      if (made.started) saves_.emplace_back(step, made.save);
      return std::string(made.started ? "started" : made.skipped ? "skipped" : "no save") + (made.stop ? ", stop" : "");
    });
  }
  void save(cairn::checkpointer& checkpoints, std::uint64_t step) {
    call("save " + std::to_string(step), [&] {
      checkpoints.save(model_at(step), {.step = step});
      return std::string("published");
    });
  }
  void wait(cairn::checkpointer& checkpoints) {
    call("wait", [&] { checkpoints.wait(); });
  }
  /// Returns the step, 0 for none.
  std::uint64_t restore(cairn::checkpointer& checkpoints) {
    std::uint64_t step = 0;
    call("restore", [&] {
      model state;
      const auto report = checkpoints.restore(state, {.threads = 1});
      if (report && state != model_at(report->step)) throw std::runtime_error("another state is restored");
      step = report ? report->step : 0;
      return "step " + std::to_string(step);
    });
    return step;
  }
  /// Whether they have been removed.
  bool remove_after(cairn::checkpointer& checkpoints, std::uint64_t step) {
    bool is_done = false;
    call("remove_after " + std::to_string(step), [&] {
      auto removed = std::to_string(checkpoints.remove_after(step));
      is_done = true;
      return removed;
    });
    return is_done;
  }
  /// The checkpointer has gone: how its saves have ended.
  void end() {
    for (const auto& [step, save] : saves_) {
      std::string result = "published";
      try {
        static_cast<void>(save.get());
      } catch (const cairn::error& cause) {
        result = cause.what();
      }
      seen_.push_back("the save of step " + std::to_string(step) + ": " + result);
    }
  }

  model_group group;
  cairn::any_store store;

 private:
  lines& seen_;
  std::vector<std::pair<std::uint64_t, cairn::save_handle>> saves_{};
};

/// What is run.
struct scenario {
  std::string name;
  std::function<void(rank_run&)> script;  ///< what each rank does
  unsigned ranks = 2;
  bool removes = false;               ///< checkpoints: without `remove_after`, not the newest one
  std::optional<unsigned> leaving{};  ///< a rank that ends by an exception
  bool is_unequal = false;            ///< the ranks make different calls
};

/// What goes wrong.
struct circumstances {
  std::size_t failing_call = 0;                              ///< of the store, counted from 1 on; 0: none
  std::size_t failing_calls = 1;                             ///< that one and those after it
  std::optional<std::pair<unsigned, std::size_t>> killed{};  ///< a rank, after how many calls of the scheduler
  group_rules rules{};
};

/// What a run leaves.
struct outcome {
  std::vector<lines> seen{};  ///< by rank
  std::size_t scheduler_calls = 0, store_calls = 0;
  std::string problem{};  ///< what is not as it must be; empty: nothing
};

/// How the saves have ended, by step.
struct ended_saves {
  std::set<std::uint64_t> published{}, failed{};
  bool are_removed = false;  // by `remove_after`

  void add(const lines& seen) {
    for (const auto& line : seen) {
      if (line.starts_with("remove_after ")) are_removed = true;
      if (!line.starts_with("save ") && !line.starts_with("the save of step ")) continue;
      const auto step = std::stoull(line.substr(line.find_first_of("0123456789")));
      (line.ends_with(": published") ? published : failed).insert(step);
    }
    for (const auto step : published) failed.erase(step);
  }
};

/// Ranks that are not lost see the same; where one is, the others may learn that in different calls.
[[nodiscard]] inline std::string difference(const lines& a, const lines& b, bool is_any_lost) {
  const auto is_loss = [](const std::string& line) { return line.find(": lost: ") != line.npos; };
  const auto has_failed = [](const std::string& line) {
    return line.starts_with("the save ") && !line.ends_with(": published");
  };
  if (a.size() != b.size()) return "the ranks have made different calls";
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool may_differ = is_loss(a[i]) || is_loss(b[i]) || (has_failed(a[i]) && has_failed(b[i]));
    if (a[i] != b[i] && !(is_any_lost && may_differ)) return "the ranks differ: " + a[i] + "; " + b[i];
  }
  return {};
}

[[nodiscard]] inline bool is_told_of_calls(const lines& seen) {
  return std::any_of(seen.begin(), seen.end(),
                     [](const std::string& line) { return line.find("the ranks differ in the call") != line.npos; });
}

/// An error of a lost rank names it, and all later calls throw it, too. `says_so`: each lost rank has said that it
/// leaves; so nobody waits for it in vain.
[[nodiscard]] inline std::string problem_of(const lines& seen, const std::set<unsigned>& lost, bool says_so) {
  const auto is_named = [&](const std::string& line) {
    return std::any_of(lost.begin(), lost.end(), [&](unsigned rank) {
      const auto number = std::to_string(rank);
      return line.find("rank " + number + " has ended") != line.npos || line.ends_with("answered: " + number);
    });
  };
  std::string loss;
  for (const auto& line : seen) {
    if (line.starts_with("thrown: ")) return line;
    const auto at = line.find(": lost: ");
    if (at == line.npos) {
      const bool is_call = !line.starts_with("the save of step ") && !line.starts_with("progress: ");
      if (!loss.empty() && is_call) return "a call after a loss: " + line;
      continue;
    }
    if (!is_named(line)) return "no lost rank is named: " + line;
    if (says_so && !line.ends_with(" has ended by an exception")) return "not told that a rank leaves: " + line;
    if (!loss.empty() && loss != line.substr(at)) return "another error: " + line + " after " + loss;
    loss = line.substr(at);
  }
  return {};
}

/// What is published is the states of their steps, and another process can go on from the newest.
[[nodiscard]] inline std::string problem_of(const cairn::any_store& store, const ended_saves& saves, bool removes) {
  std::set<std::uint64_t> listed;
  for (const auto& name : store.list()) {
    const auto step = std::stoull(name.substr(name.find('-') + 1));
    listed.insert(step);
    if (saves.failed.contains(step)) return "a save has failed, and is published: " + name;
    model state;
    cairn::load(store, name, state, {.threads = 1});
    if (state != model_at(step)) return name + " is another state";
  }
  for (const auto step : saves.published) {
    const bool is_replaced = removes && !listed.empty() && *listed.rbegin() > step;
    if (!saves.are_removed && !is_replaced && !listed.contains(step))
      return "a save is not there: that of step " + std::to_string(step);
  }
  const auto newest = listed.empty() ? 0 : *listed.rbegin();
  model state;
  cairn::checkpointer next(store, {.threads = 1, .codecs = {{"*", cairn::codecs::raw{}}}, .asynchronous = false});
  const auto report = next.restore(state, {.threads = 1});
  if ((report ? report->step : 0) != newest) return "another checkpoint is restored";
  next.save(model_at(newest + 1), {.step = newest + 1});
  return {};
}

/// `about` is printed if the threads are stuck.
[[nodiscard]] inline outcome run(const scenario& what, const circumstances& how, scheduler::chooser choose,
                                 std::string about) {
  outcome made;
  made.seen.resize(what.ranks);
  const cairn::any_store base = cairn::stores::memory();
  scheduler threads(std::move(choose), std::move(about));
  if (how.killed) threads.kill(how.killed->first, how.killed->second);
  const auto at = std::make_shared<meeting>(what.ranks, how.rules);
  const auto before_call = [&](const char* which) {
    if (auto* const by = scheduler::of_this_thread()) by->yield(which);
    ++made.store_calls;
    if (made.store_calls >= how.failing_call && made.store_calls - how.failing_call < how.failing_calls &&
        how.failing_call != 0)
      cairn::fail(cairn::errc::io, {"the disk is full"});
  };
  const hooked_store store{base,
                           {.before_write = [&] { before_call("a write"); },
                            .before_open = [&](std::string_view, std::string_view) { before_call("a read"); },
                            .before_other = [&] { before_call("a call of the store"); }}};
  for (unsigned rank = 0; rank < what.ranks; ++rank)
    threads.start(rank, "rank " + std::to_string(rank), [&, rank] {
      try {
        rank_run own(model_group(at, rank), store, made.seen[rank]);
        what.script(own);
        own.end();
      } catch (const std::exception& cause) {
        made.seen[rank].push_back(std::string("thrown: ") + cause.what());
      }
      at->is_gone[rank] = true;
    });
  threads.run();
  made.scheduler_calls = threads.calls();

  std::set<unsigned> lost;
  if (what.leaving) lost.insert(*what.leaving);
  const bool is_killed = how.killed && threads.is_killed(how.killed->first);
  if (is_killed) lost.insert(how.killed->first);
  ended_saves saves;
  const lines* first = nullptr;
  if (at->is_out_of_order) made.problem = "the ranks have started different operations";
  for (unsigned rank = 0; rank < what.ranks; ++rank) {
    if (lost.contains(rank)) continue;
    const auto& seen = made.seen[rank];
    saves.add(seen);
    if (first == nullptr) first = &seen;
    if (made.problem.empty()) made.problem = problem_of(seen, lost, !is_killed);
    if (made.problem.empty() && !what.is_unequal) made.problem = difference(*first, seen, !lost.empty());
    if (made.problem.empty() && what.is_unequal && lost.empty() && how.failing_call == 0 && !is_told_of_calls(seen))
      made.problem = "a rank is not told that the calls differ";
  }
  if (!lost.empty()) saves.failed.clear();  // rank 0 may have published what the others do not know of
  try {
    if (made.problem.empty()) made.problem = problem_of(base, saves, what.removes);
  } catch (const std::exception& cause) {
    made.problem = cause.what();
  }
  return made;
}

}  // namespace interleavings
