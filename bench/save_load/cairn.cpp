// SPDX-License-Identifier: MIT
// Cairn: the state as it is, no list of fields. Stored as it is, as the others do; and without loss encoded, its
// default.
#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"

#include "common/statistics.hpp"
#include "save_load/method.hpp"

namespace bench {
namespace {

void save(const std::string& path, const training_state& state, bool durable) {
  cairn::save(path, state, {.durable = durable, .codecs = {{"*", cairn::codecs::raw{}}}});
}

double save_behind(const std::string& path, const training_state& state) {
  cairn::checkpointer_options options;
  options.durable = false;
  options.codecs = {{"*", cairn::codecs::raw{}}};
  options.when = cairn::policies::every_steps{1};
  options.background_threads = 0;  // as many as keep the store busy
  cairn::checkpointer run(path, options);
  static_cast<void>(run.step(state, {.step = 1}));
  return seconds_of([&] { run.wait(); });
}

void save_encoded(const std::string& path, const training_state& state, bool durable) {
  cairn::save(path, state, {.durable = durable, .codecs = {{"*", cairn::codecs::lossless{}}}});
}

/// In one pass, as `checkpointer::restore` does.
void load(const std::string& path, training_state& state) { cairn::load(path, state, {.verify_first = false}); }

void load_verified(const std::string& path, training_state& state) { cairn::load(path, state); }

}  // namespace

method cairn_verify_first_method() { return {.name = "cairn-verify-first", .save = save, .load = load_verified}; }
method cairn_method() { return {.name = "cairn", .save = save, .load = load, .save_behind = save_behind}; }
method cairn_lossless_method() { return {.name = "cairn-lossless", .save = save_encoded, .load = load}; }

}  // namespace bench
