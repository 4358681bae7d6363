// SPDX-License-Identifier: MIT
// Loads a checkpoint, or the newest of a store that can be restored: checks all, then changes the state in place.
#pragma once

#include <functional>
#include <memory>
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
#include "cairn/state/base.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::detail {

/// Throws errc::invalid if the options have a step. For loads that do not choose a checkpoint by its step.
void refuse_step(const load_options& options);

/// Gives arrays for which `asked` says nothing the shape of the checkpoint.
[[nodiscard]] std::function<reshaping(std::string_view path)> or_resize(
    std::function<reshaping(std::string_view path)> asked);

/// Loads an open checkpoint: checks all (checksums only with `load_options::verify_first`), then changes the state.
load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options);

/// Calls `act` with a reader of the checkpoint that `choose()` names. What fails because a publication that it reads
/// has been removed or followed by another one meanwhile, or because another checkpoint would be chosen now, is done
/// again from the beginning, at all ranks. What fails with errc::io or errc::not_found is tried three times: a file
/// that another host has deleted gives no other error.
void with_reader(const any_store& store, const std::function<std::string()>& choose, const codec_rules& codecs,
                 team& ranks, const std::function<void(const std::shared_ptr<const chain_reader>&)>& act);

/// Opens the checkpoint that `choose()` names, and its first shards: see `chain_reader::open_shards`.
[[nodiscard]] std::shared_ptr<const chain_reader> open_chain(const any_store& store,
                                                             const std::function<std::string()>& choose,
                                                             const codec_rules& codecs = {});

/// Loads the newest publication of checkpoint `name`. If that is removed while it is read, begins again with the then
/// newest one, over the partly loaded state.
load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                       const load_options& options);

/// Whether a checkpoint is the cause of an error, and not the state, the caller or the moment: what cannot be read just
/// now (errc::io, errc::no_memory) may be whole.
[[nodiscard]] bool is_of_checkpoint(errc code) noexcept;

/// Loads the first of the checkpoints that can be restored; nullopt if there are none. `candidates()`: their names, in
/// the order in which they are tried, each at all places that have it, the nearest first. Damaged ones are skipped,
/// with an event. Lists again when one is not there that retention of another process has removed in the meantime.
/// errc::corrupt if none can be restored; errc::io if one cannot be read just now. All ranks load the same checkpoint,
/// or throw the same error.
std::optional<load_report> restore_first(const any_store& store,
                                         const std::function<std::vector<std::string>()>& candidates,
                                         any_mutable_state state, const load_options& options, const observer& on_event,
                                         team& ranks);

/// Loads the newest checkpoint of the store that can be restored, or that of `options.step`; nullopt if the store is
/// empty. errc::not_found for a step that has no checkpoint.
std::optional<load_report> restore(const any_store& store, any_mutable_state state, const load_options& options);

/// The same at all ranks, which load the same checkpoint.
std::optional<load_report> restore(const any_store& store, any_mutable_state state, const load_options& options,
                                   const observer& on_event, team& ranks);

}  // namespace cairn::inline v0_1::detail
