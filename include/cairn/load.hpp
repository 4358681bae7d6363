// SPDX-License-Identifier: MIT
// Loads a state once, from a path, a store or an open checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "cairn/core/config.hpp"
#include "cairn/event.hpp"  // IWYU pragma: export
#include "cairn/inspect.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/report.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {

namespace detail {
load_report load(const std::string& path, any_mutable_state state, const load_options& options);
load_report load(const any_store& store, any_mutable_state state, const load_options& options);
load_report load(const any_store& store, std::string_view name, any_mutable_state state, const load_options& options);
load_report load(const checkpoint& from, any_mutable_state state, const load_options& options);
}  // namespace detail

/// Loads into `state` from `path`: a checkpoint, a directory of checkpoints (the newest one that can be restored, or
/// that of `options.step`), or a single safetensors file of any origin. Errors: `not_found`, `mismatch`, `corrupt`,
/// `unsupported`, `io`, `no_memory`; `invalid` for `options.step` with one checkpoint, and for what an adapter throws.
/// After an error the state is as it was, unless `error::state_changed()`; docs/guarantees.md lists the cases.
template <detail::state_object State>
load_report load(const std::string& path, State& state, const load_options& options = {}) {
  return detail::load(path, detail::refer_to_load(state), options);
}

/// As above, from the newest checkpoint of a store that can be restored, or that of `options.step`.
template <detail::state_object State>
load_report load(const any_store& store, State& state, const load_options& options = {}) {
  return detail::load(store, detail::refer_to_load(state), options);
}

/// As above, from checkpoint `name` of a store. errc::invalid for `options.step`.
template <detail::state_object State>
load_report load(const any_store& store, std::string_view name, State& state, const load_options& options = {}) {
  return detail::load(store, name, detail::refer_to_load(state), options);
}

/// As above, from an open checkpoint. errc::invalid for `options.step`, and `options.codecs`, which cairn::open takes.
template <detail::state_object State>
load_report load(const checkpoint& from, State& state, const load_options& options = {}) {
  return detail::load(from, detail::refer_to_load(state), options);
}

}  // namespace cairn::inline v0_1
