// SPDX-License-Identifier: MIT
// A second unit, which names the public interface of cairn.hpp. The program links only if no definition is in
// both units.
#include <cairn/cairn.hpp>
#include <cairn/merge.hpp>

#include <cstdio>
#include <string>
#include <type_traits>

#include "training.hpp"

template <class... Types>
constexpr bool are_complete = ((sizeof(Types) > 0) && ...);

static_assert(
    are_complete<cairn::any_store, cairn::batch, cairn::checkpoint, cairn::checkpointer, cairn::checkpointer_options,
                 cairn::codec_rules, cairn::error, cairn::event, cairn::load_options, cairn::load_report, cairn::loop,
                 cairn::loop_options, cairn::merge_options, cairn::merge_report, cairn::observation, cairn::observer,
                 cairn::save_options, cairn::save_handle, cairn::save_report, cairn::save_stats, cairn::signals,
                 cairn::step_outcome, cairn::removal, cairn::tensor_info>);
static_assert(are_complete<cairn::observers::all, cairn::observers::json_lines, cairn::observers::progress_line>);
static_assert(are_complete<cairn::policies::every_steps, cairn::policies::every, cairn::any_policy>);
static_assert(are_complete<cairn::stores::directory, cairn::stores::memory>);
static_assert(std::is_invocable_r_v<cairn::merge_report, decltype(&cairn::merge_checkpoints), cairn::any_store&,
                                    const std::string&, const cairn::merge_options&>);

/// Uses what the first unit uses, and what it does not.
void use_all(const std::string& folder, training& state) {
  cairn::any_store store{cairn::stores::directory(folder)};
  cairn::checkpointer checkpoints{
      store, {.keep_last = 2, .on_event = cairn::observers::json_lines(stderr), .preempt = {SIGTERM}}};
  static_cast<void>(checkpoints.restore(state));
  for (const cairn::batch& batch : cairn::loop(10, {.batch = 5}))
    static_cast<void>(checkpoints.step(state, {.step = batch.first}));
  static_cast<void>(cairn::merge_checkpoints(store, checkpoints.save(state, {.step = 2}).path));
}
