// SPDX-License-Identifier: MIT
// Saves a state once, as one checkpoint: in a directory of its own or in a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/core/config.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/report.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {

/// How to save one checkpoint.
struct save_options {
  bool durable = true;  ///< a crash of the machine after the save cannot lose it; else it is in the page cache
  /// For encoding and writing. 0: to encode, one per core, at most 8; to write, as many as keep the store busy.
  unsigned threads = 0;
  std::uint64_t step = 0;                         ///< recorded in the checkpoint
  std::map<std::string, double> metrics{};        ///< recorded in the checkpoint, for retention and for people
  std::map<std::string, std::string> metadata{};  ///< as above, for people and other programs: names and texts in UTF-8
  /// Files of nearly equal size to spread the state over, at most 100,000, else errc::invalid; arrays are cut for that.
  /// 0: about one per 256 MiB, at most 64, and no array is cut.
  std::size_t shards = 0;
  codec_rules codecs{};  ///< by path: the first rule that matches encodes a leaf; `codecs::raw` where none does
  std::function<void()> check{};  ///< called often, from any thread; what it throws ends the save
};

namespace detail {
save_report save(const std::string& path, any_state state, const save_options& options);
save_report save(any_store store, std::string_view name, any_state state, const save_options& options);
}  // namespace detail

/// Saves `state` as the checkpoint `path`, a directory, which appears at once and complete, and takes the place of an
/// older one. A process that is killed meanwhile may leave it as `path~2`, where a load of `path` finds it. Errors:
/// `io`; `busy` when another process is saving to the same path; `invalid` for a state that cannot be saved, and a path
/// that ends with `~` and digits. After an error nothing is left behind, and an older checkpoint at the path stays.
template <detail::state_object State>
save_report save(const std::string& path, const State& state, const save_options& options = {}) {
  return detail::save(path, cairn::refer(state), options);
}

/// As above, as checkpoint `name` of a store. errc::invalid for `durable = false`, which is the store's option.
template <detail::state_object State>
save_report save(any_store store, std::string_view name, const State& state, const save_options& options = {}) {
  return detail::save(std::move(store), name, cairn::refer(state), options);
}

}  // namespace cairn::inline v0_1
