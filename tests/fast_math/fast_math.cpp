// SPDX-License-Identifier: MIT
// A trainer that is compiled with -O1 -ffast-math, with the definitions of Cairn: the compiler may then take NaN and
// infinities not to exist.
#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/memory.hpp"
#include "plain_check.hpp"

#if !defined(__FAST_MATH__)
#error "this test is for -ffast-math"
#endif

namespace {

struct model {
  std::vector<float> weight = std::vector<float>(100);
};

using tests::check;

/// A number that the compiler does not know.
double number(const char* text) { return std::strtod(text, nullptr); }

bool is_loss(const cairn::any_store& store, const std::string& name, const std::string& text) {
  const auto file = store.open(name)->open("index.json");
  return cairn::stores::read_text(*file, 0, file->size()).find("\"loss\":" + text) != std::string::npos;
}

void loss_is(const char* text, const char* stored, std::uint64_t best_step) {
  const cairn::any_store store = cairn::stores::memory();
  model state;
  {
    cairn::checkpointer run(store, {.keep_last = 1});
    run.save(state, {.step = 1, .loss = 1.0});
    state.weight[3] = 2;
    run.save(state,
             {.step = 2, .loss = number(text), .metrics = {{"largest", number("inf")}, {"least", number("-inf")}}});
  }
  check(is_loss(store, "step-000000002", stored), text);
  model loaded;
  cairn::checkpointer run(store, {.keep_best = cairn::keep_best_rule{}});
  const auto report = run.restore(loaded);
  check(report && report->step == 2 && report->skipped.empty() && loaded.weight[3] == 2.0F,
        "the checkpoint is restored");
  run.save(state, {.step = 3, .loss = 0.5});
  run.save(state, {.step = 4, .loss = 0.75});
  const auto best = run.restore_best(loaded);
  check(best && best->step == best_step, "the best checkpoint is that of the least finite number");
}

}  // namespace

int main() {
  loss_is("nan", "\"nan\"", 3);
  loss_is("inf", "\"inf\"", 3);
  loss_is("-inf", "\"-inf\"", 3);
  loss_is("0.25", "0.25", 2);

  // The default policy meets a loss that is no number.
  const cairn::any_store store = cairn::stores::memory();
  cairn::checkpointer run(store, {});
  model state;
  for (std::uint64_t step = 1; step <= 200; ++step)
    std::ignore =
        run.step(state, {.step = step, .loss = step % 3 == 0 ? number("nan") : 1.0 / static_cast<double>(step)});
  run.wait();
  run.save(state, {.step = 201});
  check(run.latest() == 201, "the run is saved");
  return tests::failures;
}
