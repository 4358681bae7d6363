// SPDX-License-Identifier: MIT
#include "cairn/state/setting.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"

namespace {

struct optimizer {
  cairn::setting<double> rate = 0.1;
  cairn::setting<std::int64_t> batch = 32;
  cairn::setting<bool> nesterov = false;
  std::vector<float> momentum{1, 2};
};
struct trainer {
  optimizer sgd;
  std::uint64_t step = 0;
};
/// The same without settings.
struct plain_trainer {
  struct {
    double rate = 0.1;
    std::int64_t batch = 32;
    bool nesterov = false;
    std::vector<float> momentum{1, 2};
  } sgd;
  std::uint64_t step = 0;
};
using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a setting that the checkpoint replaces is reported, by a load and by a restore") {
  cairn::stores::memory store;
  trainer saved;
  saved.step = 5;
  cairn::checkpointer(store).save(saved, {.step = 5});
  std::vector<std::string> messages;
  const auto restored = [&](trainer state) {
    cairn::checkpointer ckpt(store, {.on_event = [&](const cairn::event& what) {
                               if (what.what == cairn::event::kind::restored) messages.push_back(what.message);
                             }});
    const auto report = ckpt.restore(state);
    CHECK(state.sgd.rate == 0.1);
    CHECK(state.sgd.batch == 32);
    CHECK(state.step == 5);
    return report->replaced;
  };
  CHECK(restored({}) == lines{});
  const lines all{"sgd.rate: 0.01 in the program, 0.1 in the checkpoint",
                  "sgd.batch: 64 in the program, 32 in the checkpoint",
                  "sgd.nesterov: 1 in the program, 0 in the checkpoint"};
  CHECK(restored({.sgd = {.rate = 0.01, .batch = 64, .nesterov = true}}) == all);
  CHECK(messages == lines{"", all[0] + "; " + all[1] + "; " + all[2]});
}

TEST_CASE("settings in objects that the load makes are not the program's") {
  cairn::stores::memory store;
  cairn::save(store, "two", std::vector<optimizer>{{.rate = 1}, {.rate = 2}});
  std::vector<optimizer> one{{.rate = 3}};
  CHECK(cairn::load(store, "two", one).replaced == lines{"0.rate: 3 in the program, 1 in the checkpoint"});
  CHECK(one.at(1).rate == 2);
}

TEST_CASE("a setting is stored as its number, and used as that") {
  cairn::stores::memory store;
  trainer with;
  with.sgd.rate = 0.25;
  with.sgd.batch += 1;
  cairn::save(store, "with", with);
  plain_trainer without;
  cairn::load(store, "with", without);
  CHECK(without.sgd.rate == 0.25);
  CHECK(without.sgd.batch == 33);
  cairn::save(store, "without", without);
  trainer again;
  CHECK(cairn::load(store, "without", again).replaced.size() == 2);
  CHECK(2 * again.sgd.rate == 0.5);
}
