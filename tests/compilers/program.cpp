// SPDX-License-Identifier: MIT
// A small trainer, which compilers.sh compiles in many ways: it saves, resumes from the newest checkpoint and from an
// older one, and compares bits, also of numbers that are not finite. Silent when all is well. The argument is a folder
// that it may fill.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cairn/cairn.hpp"

namespace {

struct layer {
  std::string name;
  std::vector<float> weight;
};

struct decay final {
  decay() = default;
  virtual ~decay() = default;
  double factor = 0.5;
  static auto cairn_fields() { return cairn::fields<&decay::factor>{}; }
};

struct trainer_state {
  std::vector<layer> layers;
  std::map<std::string, double> metrics;
  std::variant<int, std::string> mode;
  std::optional<std::deque<std::uint16_t>> queue;
  std::shared_ptr<layer> best, same;
  std::unique_ptr<decay> schedule;
  std::mt19937_64 rng{1};
  std::vector<double> special;
  std::uint64_t step = 0;
};

int failures = 0;
void check(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

trainer_state at(std::uint64_t step) {
  trainer_state state;
  state.step = step;
  state.rng.discard(step);
  state.layers = {{"first", {}}, {"second", {}}};
  for (auto& each : state.layers)
    for (int i = 0; i < 1000; ++i) each.weight.push_back(static_cast<float>(state.rng() % 1000) * 0.25F);
  state.metrics = {{"rate", std::strtod("0.1", nullptr)}, {"norm", 2.5}};
  state.mode = std::string("warm");
  state.queue = std::deque<std::uint16_t>{3, 1, 2};
  state.best = std::make_shared<layer>(state.layers[1]);
  state.same = state.best;
  state.schedule = std::make_unique<decay>();
  state.schedule->factor = 0.75;
  for (const char* number : {"nan", "-nan", "inf", "-inf", "-0.0", "5e-324"})
    state.special.push_back(std::strtod(number, nullptr));
  return state;
}

bool are_same(const trainer_state& a, const trainer_state& b) {
  if (a.layers.size() != b.layers.size() || a.special.size() != b.special.size()) return false;
  for (std::size_t i = 0; i < a.layers.size(); ++i)
    if (a.layers[i].name != b.layers[i].name || a.layers[i].weight != b.layers[i].weight) return false;
  for (std::size_t i = 0; i < a.special.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a.special[i]) != std::bit_cast<std::uint64_t>(b.special[i])) return false;
  return a.metrics == b.metrics && a.mode == b.mode && a.queue == b.queue && a.best->weight == b.best->weight &&
         a.best == a.same && b.best == b.same && a.schedule->factor == b.schedule->factor && a.rng == b.rng &&
         a.step == b.step;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string root = argc > 1 ? argv[1] : "compilers";
  {
    cairn::checkpointer run(root, {.keep_last = 3, .when = cairn::policies::every_steps{2}});
    for (std::uint64_t step = 1; step <= 5; ++step) {
      static_cast<void>(run.step(at(step), {.step = step, .loss = step == 3 ? std::strtod("nan", nullptr) : 1.5}));
      run.wait();  // else a save that is due while another runs is left out
    }
    run.save(at(6), {.step = 6, .loss = 0.1});
  }
  cairn::checkpointer run(root, {.preempt = {SIGTERM}});
  trainer_state state;
  const auto newest = run.restore(state);
  check(newest && newest->step == 6 && are_same(state, at(6)), "the newest checkpoint has the bits that were saved");
  check(run.restore(state, {.step = 4}) && are_same(state, at(4)), "an older one too");

  const trainer_state other = at(9);
  cairn::save(root + "/alone", other);
  cairn::load(root + "/alone", state);
  check(are_same(state, other), "a single save is loaded");
  bool is_refused = false;
  try {
    struct {
      std::vector<float> weight;
    } unlike;
    cairn::load(root + "/alone", unlike);
  } catch (const cairn::error& failure) {
    is_refused = failure.code() == cairn::errc::mismatch;
  }
  check(is_refused, "another state is refused");
  return failures;
}
