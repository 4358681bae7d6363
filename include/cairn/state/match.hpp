// From a checkpoint's catalog into a state, in two steps: check all, then change.
#pragma once

#include <cstring>

#include "cairn/state/walk.hpp"

namespace cairn {

/// A load in two steps. The constructor compares everything and changes nothing; `apply` changes sizes and
/// pointees and returns where to read the arrays.
template <class State>
class loading {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have.
  /// `from` and `options` must outlive this object.
  loading(State& state, const catalog& from, const match_options& options, rank_info here = {})
      : state_(state), match_(from, options), here_(here) {
    detail::walker w(match_, here_);
    detail::walk(w, state_);
    match_.finish_check();
  }

  [[nodiscard]] match_report& report() noexcept { return match_.report; }

  /// Gives the state the checkpoint's structure. The caller then prepares and runs `growths()`, and reads
  /// `targets()`.
  void apply() {
    match_.applying = true;
    match_.objects.clear();
    match_.filled_objects.clear();
    detail::walker w(match_, here_);
    detail::walk(w, state_);
  }

  [[nodiscard]] const std::vector<detail::matching::growth>& growths() const noexcept {
    return match_.growths;
  }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return match_.targets; }

 private:
  State& state_;
  detail::matching match_;
  rank_info here_;
};

}  // namespace cairn
