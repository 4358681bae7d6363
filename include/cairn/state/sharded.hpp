// SPDX-License-Identifier: MIT
// What an adapter's `fields(object, field)` gets as `field`, and the walk of objects with such adapters.
#pragma once

#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walk_record.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// Numbers one after another, as in a vector or an array.
template <class T>
concept array_of_numbers = requires(T& array) {
  std::data(array);
  std::size(array);
  requires scalar_type<std::remove_cvref_t<decltype(*std::data(array))>> ||
               complex_type<std::remove_cvref_t<decltype(*std::data(array))>>;
};

template <class T>
concept can_be_box = has_view_adapter<T> || tensor_type<T> || array_of_numbers<T>;

}  // namespace detail

/// A reference to a tensor that is a box of a larger array: see shard_of.
template <class T>
class sharded {
 public:
  sharded(T& tensor, extents whole, extents first, box_copies copies)
      : tensor_(&tensor), whole_(std::move(whole)), first_(std::move(first)), copies_(copies) {}

  [[nodiscard]] any_tensor_view view() const {
    auto view = [&] {
      if constexpr (detail::has_view_adapter<T> || detail::tensor_type<T>)
        return detail::any_view(detail::view_of(*tensor_));
      else
        return detail::any_view(tensor_view(std::data(*tensor_), {std::size(*tensor_)}));
    }();
    return view.within(whole_, first_, copies_);
  }

 private:
  T* tensor_;
  extents whole_, first_;
  box_copies copies_;
};

/// Each rank of a group holds a box of an array of shape `whole`: `tensor` is that of this rank, and its first element
/// has the index `first` there. The boxes of all ranks cover the array, and do not overlap, except for `copies` of the
/// same box: if `copies.count` ranks hold it, each has another number. A checkpoint has one array of shape `whole`, as
/// if one process had saved it, and each rank loads its box, which may be another one than the ranks have saved. The
/// result refers to the tensor; it is a part of a state: of `cairn::state`, or passed to the `field` of an adapter.
///
/// T: a tensor, or a contiguous range of numbers, which is of one dimension. A load does not resize it.
///
/// A save throws errc::invalid for a box that is not inside, and where the boxes leave a gap or overlap; a load
/// errc::mismatch where the array in the checkpoint has another shape or type.
template <class T>
[[nodiscard]] sharded<T> shard_of(T& tensor, extents whole, extents first, box_copies copies = {}) {
  static_assert(!std::is_const_v<T>, "cairn: shard_of needs a tensor that can be loaded into, and this one is const");
  static_assert(detail::can_be_box<T>,
                "cairn: shard_of takes a tensor, a type with a view adapter, or a contiguous range of numbers");
  return {tensor, std::move(whole), std::move(first), copies};
}

template <class T>
struct adapter<sharded<T>> {
  static any_tensor_view view(const sharded<T>& box) { return box.view(); }
};

/// Passes the parts of an adapted object to Cairn. `fields` must pass the same parts for the purposes `check` and
/// `apply` of one load.
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

  /// Why `fields` is called. It may change the object only for the purpose `apply`: to make parts that the checkpoint
  /// has and the object lacks. The arrays of the parts must then stay where they are until the load ends.
  [[nodiscard]] cairn::purpose purpose() const noexcept { return walker_->purpose(); }

  /// Whether the checkpoint has `name`, or parts of it, which the filter selects. False for the purpose `describe`.
  [[nodiscard]] bool stored(std::string_view name) const { return walker_->has_stored(name); }

  /// For the purpose `check`: the part `name`, which the object lacks and which `fields` makes for the purpose `apply`.
  /// `temporary` is checked in its place. errc::invalid: another purpose.
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
    detail::walk_tensor(w, std::addressof(object), operations_of_tensor<T>);
  else
    adapter<T>::fields(object, adapter_field(w));
}

}  // namespace detail
}  // namespace cairn::inline v0_1
