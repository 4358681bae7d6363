// SPDX-License-Identifier: MIT
// Which thread runs next: all choices within a bound, or random ones.
#pragma once

#include "interleavings/scheduler.hpp"
#include "standard.hpp"

namespace interleavings {

/// The first candidate goes on, except at some choices, by their number: there as many candidates are passed over as it
/// says ("delay bounding", Emmi, Qadeer and Rakamaric, 2011).
using delays = std::map<std::size_t, std::size_t>;

[[nodiscard]] inline std::string to_text(const delays& all) {
  std::string text;
  for (const auto& [choice, passed_over] : all)
    text += (text.empty() ? "" : ",") + std::to_string(choice) + ":" + std::to_string(passed_over);
  return text;
}
[[nodiscard]] inline delays delays_from(const std::string& text) {
  delays all;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size()), colon = text.find(':', at);
    all[std::stoul(text.substr(at, colon - at))] = std::stoul(text.substr(colon + 1, end - colon - 1));
    at = end + 1;
  }
  return all;
}

/// `numbers`: of the candidates at each choice that was made.
[[nodiscard]] inline scheduler::chooser with_delays(const delays& all, std::vector<std::size_t>& numbers) {
  return [all, &numbers](std::span<const scheduler::candidate> candidates) {
    const auto at = all.find(numbers.size());
    numbers.push_back(candidates.size());
    return at == all.end() ? std::size_t{0} : std::min(at->second, candidates.size() - 1);
  };
}

/// Calls `run` with all delays that pass over at most `most` candidates together, those of `chosen` not counted. It
/// returns the numbers of candidates.
template <class Run>
void for_all_delays(std::size_t most, const Run& run, const delays& chosen = {}) {
  const std::vector<std::size_t> numbers = run(chosen);
  const auto first = chosen.empty() ? 0 : chosen.rbegin()->first + 1;
  for (auto choice = first; most > 0 && choice < numbers.size(); ++choice)
    for (std::size_t passed_over = 1; passed_over <= std::min(most, numbers[choice] - 1); ++passed_over) {
      auto more = chosen;
      more[choice] = passed_over;
      for_all_delays(most - passed_over, run, more);
    }
}

/// The thread of the highest priority runs. Priorities are random, and `changes` times in about `length` choices the
/// thread that would run gets the lowest one ("probabilistic concurrency testing", Burckhardt and others, 2010). So
/// does one that falls asleep.
class random_priorities {
 public:
  random_priorities(std::uint64_t seed, std::size_t changes, std::size_t length) : random_(seed) {
    for (std::size_t i = 0; i < changes; ++i) changes_.push_back(random_() % length);
  }

  std::size_t operator()(std::span<const scheduler::candidate> candidates) {
    const auto is_change = std::count(changes_.begin(), changes_.end(), choices_++) != 0;
    for (const auto& each : candidates)
      if (each.is_asleep && asleep_.insert(each.thread).second) lower(each.thread);
    auto best = highest(candidates);
    if (is_change) {
      lower(candidates[best].thread);
      best = highest(candidates);
    }
    asleep_.erase(candidates[best].thread);
    return best;
  }

 private:
  std::int64_t& priority(std::size_t thread) {
    return priorities_.try_emplace(thread, static_cast<std::int64_t>(random_() >> 2U)).first->second;
  }
  void lower(std::size_t thread) { priority(thread) = --lowest_; }
  std::size_t highest(std::span<const scheduler::candidate> candidates) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates.size(); ++i)
      if (priority(candidates[i].thread) > priority(candidates[best].thread)) best = i;
    return best;
  }

  std::mt19937_64 random_;
  std::vector<std::size_t> changes_;
  std::map<std::size_t, std::int64_t> priorities_;
  std::set<std::size_t> asleep_;
  std::int64_t lowest_ = 0;
  std::size_t choices_ = 0;
};

}  // namespace interleavings
