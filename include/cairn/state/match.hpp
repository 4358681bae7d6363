// From a checkpoint's catalog into a state, in two steps: check all, then change.
#pragma once

#include <vector>

#include "cairn/state/any_state.hpp"
#include "cairn/state/walker.hpp"

namespace cairn {

/// A load in two steps. The constructor compares everything and changes nothing; `apply` changes sizes and
/// pointees and returns where to read the arrays.
class loading {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have.
  /// `from` and `options` must outlive this object.
  loading(any_mutable_state state, const catalog& from, const match_options& options, rank_info here = {});

  [[nodiscard]] match_report& report() noexcept { return match_.report; }

  /// Gives the state the checkpoint's structure. The caller then prepares and runs `growths()`, and reads
  /// `targets()`.
  void apply();

  [[nodiscard]] const std::vector<detail::matching::growth>& growths() const noexcept { return match_.growths; }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return match_.targets; }

 private:
  any_mutable_state state_;
  detail::matching match_;
  rank_info here_;
};

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/match.ipp"  // IWYU pragma: keep
#endif
