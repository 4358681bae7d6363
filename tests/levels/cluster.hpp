// SPDX-License-Identifier: MIT
// A cluster of hosts for tests: each is a directory, and the ranks are threads.
#pragma once

#include <filesystem>

#include "cairn/each_host.hpp"
#include "cairn/levels.hpp"
#include "cairn/levels/survey.hpp"
#include "ranks.hpp"
#include "store/sample.hpp"
#include "trainer.hpp"

namespace tests {

using steps = std::vector<std::uint64_t>;

/// Rank r of the new job takes what the ranks r, r + ranks, ... had.
struct deal {
  static steps redistribute(const std::vector<steps>& saved, unsigned rank, unsigned ranks) {
    steps mine;
    for (std::size_t from = rank; from < saved.size(); from += ranks)
      mine.insert(mine.end(), saved[from].begin(), saved[from].end());
    return mine;
  }
};

struct state {
  trainer common;
  cairn::per_rank<steps, deal> own;

  friend bool operator==(const state& a, const state& b) { return a.common == b.common && a.own.value == b.own.value; }
};

/// What all ranks have, and rank `rank`'s deal of the numbers that `saved` ranks saved.
inline state state_at(std::uint64_t step, unsigned rank, std::size_t ranks, std::size_t saved) {
  state made{.common = trained(step, 3000), .own = {}};
  for (std::size_t from = rank; from < saved; from += ranks) made.own.value.push_back(10 * step + from);
  return made;
}

using ranks = std::vector<unsigned>;  // the host of each

/// Hosts, each with a directory: h0, h1 and so on.
struct cluster {
  sample::scratch scratch{};
  cairn::checkpointer_options options = quick();

  bool has_partners = false;
  std::shared_ptr<const cairn::detail::erasure_code> parity{};
  bool has_far = false;  // a directory that all hosts see
  cairn::level_options how{.every = std::chrono::seconds(0)};

  cluster() { options.when = cairn::policies::every_steps{1}; }
  [[nodiscard]] std::string far() const { return scratch.path("far"); }
  [[nodiscard]] cairn::any_store store(unsigned host) const {
    cairn::each_host near(root(host), {.host = std::to_string(host), .partner = has_partners, .parity = parity});
    if (!has_far) return near;
    return cairn::levels{std::move(near), cairn::level(far(), how)};
  }
  [[nodiscard]] std::string root(unsigned host) const { return scratch.path("h" + std::to_string(host)); }
  [[nodiscard]] std::string slot(unsigned host, unsigned number) const {
    return root(host) + "/slot-0" + std::to_string(number);
  }
  /// The directories of publications in a slot, by step.
  [[nodiscard]] static std::map<std::uint64_t, std::string> publications(const std::string& slot) {
    std::map<std::uint64_t, std::string> found;
    if (!std::filesystem::exists(slot)) return found;
    for (const auto& each : std::filesystem::directory_iterator(slot)) {
      const auto name = cairn::detail::checkpoint_of(each.path().filename().string());
      if (name) CHECK(found.emplace(cairn::detail::parse_checkpoint_name(*name).value(), each.path().string()).second);
    }
    return found;
  }
  [[nodiscard]] static steps steps_in(const std::string& slot) {
    steps all;
    for (const auto& [step, path] : publications(slot)) all.push_back(step);
    return all;
  }

  /// Runs a group. Returns what each rank has thrown.
  std::vector<std::string> run(const ranks& on, const std::function<void(cairn::checkpointer&, unsigned)>& act) const {
    return at_each(static_cast<unsigned>(on.size()), [&](const cairn::groups::threads& group) {
      const auto host = on[group.rank()];
      cairn::checkpointer run(store(host), options, group);
      act(run, group.rank());
    });
  }
  /// Saves those steps, in the background or not.
  void save(const ranks& on, const steps& of, bool in_background = false) const {
    CHECK(common(run(on, [&](cairn::checkpointer& run, unsigned rank) {
            for (const auto step : of) save_at(run, state_at(step, rank, on.size(), on.size()), step, in_background);
          })) == "");
  }
  /// Restores at all ranks what `saved` ranks have saved, and returns its step; 0 for none.
  [[nodiscard]] std::uint64_t restored(const ranks& on, std::size_t saved) const {
    steps of(on.size());
    CHECK(common(run(on, [&](cairn::checkpointer& run, unsigned rank) {
            state now;
            const auto report = run.restore(now);
            if (!report) return;
            of[rank] = report->step;
            require(now == state_at(report->step, rank, on.size(), saved), "another state");
          })) == "");
    for (const auto each : of) CHECK(each == of.front());
    return of.front();
  }
};

}  // namespace tests
