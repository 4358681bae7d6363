// SPDX-License-Identifier: MIT
// Checks that a checkpoint fits a state, then gives the state the checkpoint's structure. The caller reads the arrays.
#pragma once

#include <exception>
#include <map>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/state/loader.hpp"

namespace cairn::inline v0_1::detail {

/// The constructor compares everything and changes nothing. `apply` changes sizes, keys and pointees, and lists where
/// to read the arrays.
class load_plan {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have,
  /// `errc::invalid` for an exception of a user's code. `from` and `options` must outlive this object.
  load_plan(any_mutable_state state, const catalog& from, const match_options& options, rank_info here = {})
      : state_(state), at_{here}, loader_(at_, from, options) {
    walk();
    loader_.finish_check();
  }
  load_plan(const load_plan&) = delete;
  load_plan& operator=(const load_plan&) = delete;

  [[nodiscard]] match_report& report() noexcept { return loader_.report(); }
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return loader_.regions(); }

  /// Gives the state the checkpoint's structure. Then prepare and run `growths()`, read `targets()`, and call `finish`.
  void apply() {
    loader_.begin_apply();
    walk();
  }

  /// Copies what was read to the devices where it belongs.
  void finish() { loader_.finish_apply(); }

  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return loader_.growths(); }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return loader_.targets(); }
  /// What the check has read already.
  [[nodiscard]] fetched_leaves& fetched() noexcept { return loader_.fetched(); }

 private:
  void walk() {
    try {
      state_.walk(loader_, const_cast<void*>(state_.object));  // not const: any_mutable_state
    } catch (...) {
      throw error(as_error(std::current_exception(), {loader_.origin(), " cannot be loaded: ", loader_.path()}));
    }
  }

  any_mutable_state state_;
  walk_position at_;
  loader loader_;
};

}  // namespace cairn::inline v0_1::detail
