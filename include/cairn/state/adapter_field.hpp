// SPDX-License-Identifier: MIT
// What an adapter's `fields(object, field)` gets as `field`, and the walk of objects with such adapters.
#pragma once

#include <string_view>

#include "cairn/state/adapter.hpp"
#include "cairn/state/sharded.hpp"
#include "cairn/state/walk_fixed.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1 {

/// Passes the parts of an adapted object to Cairn. `fields` must pass the same parts for the purposes `check` and `apply` of one load.
class adapter_field {
 public:
  explicit adapter_field(detail::walker& w) noexcept : walker_(&w) {}

  /// The part `name` of the object, which is `member`.
  template <class Member>
  void operator()(std::string_view name, Member& member) const {
    walker_->part(name, detail::address_of(member), detail::checked_part_walk<Member>());
  }

  /// The same for a part that is a box of a larger array.
  template <class T>
  void operator()(std::string_view name, sharded<T>&& box) const {
    (*this)(name, box);
  }

  /// Why `fields` is called. It may change the object only for the purpose `apply`: to make parts that the checkpoint has and the object
  /// lacks. The arrays of the parts must then stay where they are until the load ends.
  [[nodiscard]] cairn::purpose purpose() const noexcept { return walker_->purpose(); }

  /// Whether the checkpoint has the part `name`, or parts of it, and the load's filter selects it. False if the purpose is `describe`.
  [[nodiscard]] bool stored(std::string_view name) const { return walker_->has_stored(name); }

  /// For the purpose `check`: the part `name`, which the object lacks and which `fields` makes for the purpose `apply`. `temporary` is
  /// checked in its place. errc::invalid: another purpose.
  template <class Member>
  void prototype(std::string_view name, Member temporary) const {
    walker_->require_check(name);
    detail::walk_field_prototype(*walker_, name, temporary);
  }

 private:
  detail::walker* walker_;
};

namespace detail {

template <class T>
void walk_adapted(walker& w, T& object) {
  if constexpr (has_view_adapter<T>)
    detail::walk_tensor(w, object);
  else
    adapter<T>::fields(object, adapter_field(w));
}

}  // namespace detail
}  // namespace cairn::inline v0_1
