// SPDX-License-Identifier: MIT
// Checks the options of a checkpointer.
#pragma once

#include <sched.h>

#include <string>
#include <string_view>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/options.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::inline v0_1::detail {

/// Throws errc::invalid for options that are out of range or would do nothing.
inline void check_options(const checkpointer_options& options) {
  constexpr std::uint64_t least_staging_bytes = std::uint64_t{1} << 20U;
  const auto invalid = [](std::string_view option, const std::string& why) { fail(errc::invalid, {option, " ", why}); };
  if (options.max_staging_bytes && *options.max_staging_bytes < least_staging_bytes)
    invalid("max_staging_bytes", "is " + std::to_string(*options.max_staging_bytes) + ", below 1 MiB");
  if (options.max_bytes_per_second && !is_positive(*options.max_bytes_per_second))
    invalid("max_bytes_per_second", "is " + std::to_string(*options.max_bytes_per_second) + ", not above 0");
  if (options.chain.anchor_every == std::size_t{0})
    invalid("chain.anchor_every", "is 0: 1 makes every checkpoint whole, std::nullopt only the first");
  if (options.chain.merge && options.chain.merge->every < 2)
    invalid("chain.merge.every", "is below 2: std::nullopt never merges");
  if (options.chain.merge && options.chain.merge->open == nullptr)
    invalid("chain.merge", "is no cairn::merging: #include <cairn/merge.hpp>");
  if (options.hang_timeout && !cairn::detail::is_positive(options.hang_timeout->count()))
    invalid("hang_timeout", "is not above 0");
  if (is_nan(options.retry_for.count()) || options.retry_for.count() < 0) invalid("retry_for", "is below 0");
  if (!cairn::detail::is_positive(options.preempt_deadline.count())) invalid("preempt_deadline", "is not above 0");
  const auto check_listed = [&](std::string_view option, auto chosen, auto last) {
    if (chosen > last)
      invalid(option, "is " + std::to_string(static_cast<int>(chosen)) + ", which its type does not have");
  };
  check_listed("on_busy", options.on_busy, when_busy::replace);
  check_listed("on_destruction", options.on_destruction, when_destroyed::cancel);
  check_listed("on_failure", options.on_failure, when_failed::keep_training);
  check_listed("replica_check", options.replica_check, replica_check::refuse);
  check_listed("on_older_step", options.on_older_step, when_older::replace);
  check_shards(options.shards);
  constexpr unsigned most_cores = CPU_SETSIZE;
  if (!options.cores.empty() && *options.cores.rbegin() >= most_cores)
    invalid("cores", "has " + std::to_string(*options.cores.rbegin()) + ", above 1023");
  check_rules({options.keep_last, options.keep_best, options.keep_every});

  const checkpointer_options defaults{.when = options.when};  // the default policy is not compiled where it is not used
  if (!options.durable) invalid("durable", "is false, which is an option of the store that is passed in");
  if (options.chain.merge && !options.chain.anchor_every && !options.chain.merge->to_whole)
    invalid("chain.merge",
            "merges deltas into deltas, and without chain.anchor_every their chain grows without bound: set that, or "
            "to_whole");
  if (options.preempt.is_empty() && options.preempt_deadline != defaults.preempt_deadline)
    invalid("preempt_deadline", "is given without preempt");
  if (options.asynchronous) return;
  const auto check_unused = [&](bool is_default, std::string_view option) {
    if (!is_default) invalid(option, "is of use only with asynchronous = true");
  };
  check_unused(options.on_busy == defaults.on_busy, "on_busy");
  check_unused(options.copy_threads == defaults.copy_threads, "copy_threads");
  check_unused(!options.max_staging_bytes, "max_staging_bytes");
  check_unused(!options.max_bytes_per_second, "max_bytes_per_second");
  if (options.chain.merge) return;  // merges run in the background in any case
  check_unused(options.cores.empty(), "cores");
  check_unused(options.background_threads == defaults.background_threads, "background_threads");
  check_unused(options.on_destruction == defaults.on_destruction, "on_destruction");
  check_unused(!options.hang_timeout, "hang_timeout");
}

/// What all ranks must have in common.
inline std::string common_options(const any_store& store, const checkpointer_options& options) {
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  const auto count = [](const auto& value) { return value ? std::to_string(*value) : "none"; };
  std::string text = "place " + store.location() + ", asynchronous " + number(options.asynchronous) + ", on_busy " +
                     number(options.on_busy) + ", on_destruction " + number(options.on_destruction) + ", on_failure " +
                     number(options.on_failure) + ", on_older_step " + number(options.on_older_step) +
                     ", replica_check " + number(options.replica_check) + ", chain.anchor_every " +
                     count(options.chain.anchor_every) + ", chain.merge.every " +
                     (options.chain.merge ? std::to_string(options.chain.merge->every) : "none") +
                     (options.chain.merge && options.chain.merge->to_whole ? " to a whole checkpoint" : "") +
                     (options.when.uses_steps_alone() ? ", a policy of steps alone" : "");
  for (const auto& rule : options.codecs)
    text += ", " + rule.pattern + ": " + std::string(rule.codec.name()) +
            (rule.codec.uses_parent() ? " with the parent" : "");
  return text;
}

}  // namespace cairn::inline v0_1::detail
