// SPDX-License-Identifier: MIT
// Loads a checkpoint, or the newest of a store that can be restored, into a state: checks all, then changes the state in place.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/chain/options.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/group/team.hpp"
#include "cairn/report.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::detail {

/// Throws errc::invalid if the options have a step. For loads that do not choose a checkpoint by its step.
void refuse_step(const load_options& options);

/// Gives arrays for which `asked` says nothing the shape of the checkpoint.
[[nodiscard]] std::function<reshaping(std::string_view path)> or_resize(
    std::function<reshaping(std::string_view path)> asked);

/// Loads an open checkpoint. The state is not changed before all checks have passed, but for those of checksums without
/// `load_options::verify_first`.
load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options);

/// Loads checkpoint `name` of a store. If it is replaced before all of it has been read, as by a merge, opens it again, and loads it over what it has
/// changed in the state.
load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                       const load_options& options);

/// Whether a checkpoint is the cause of an error, and not the state, the caller or the moment: what cannot be read just now (errc::io,
/// errc::no_memory) may be whole.
[[nodiscard]] bool is_of_checkpoint(errc code) noexcept;

/// Names of checkpoints, in the order in which they are to be tried.
using list_checkpoints = std::function<std::vector<std::string>()>;

/// Those of the leader, at all ranks.
[[nodiscard]] std::vector<std::string> names_from_leader(team& ranks, const list_checkpoints& list);

/// Loads the first of the checkpoints that can be restored; nullopt if there are none. Damaged ones are skipped, with an event. Lists again when
/// one is not there that retention of another process has removed in the meantime. errc::corrupt if none can be restored; errc::io if one
/// cannot be read just now. All ranks load the same checkpoint, or throw the same error.
std::optional<load_report> restore_first(const any_store& store, const list_checkpoints& candidates,
                                         any_mutable_state state, const load_options& options, const observer& on_event,
                                         team& ranks);

/// Loads the newest checkpoint of the store that can be restored, or that of `options.step`; nullopt if the store is empty.
/// errc::not_found for a step that has no checkpoint.
std::optional<load_report> restore(const any_store& store, any_mutable_state state, const load_options& options,
                                   const observer& on_event = {});

/// The same at all ranks, which load the same checkpoint.
std::optional<load_report> restore(const any_store& store, any_mutable_state state, const load_options& options,
                                   const observer& on_event, team& ranks);

}  // namespace cairn::inline v0_1::detail
