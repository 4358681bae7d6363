// SPDX-License-Identifier: MIT
// Definitions of walk_tensor.hpp.
#pragma once

#include <exception>
#include <limits>
#include <new>

#include "cairn/core/catalog.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/walk_tensor.hpp"

namespace cairn::inline v0_1::detail {

/// Whether the product of `width` and the sizes that are not 0 fits in an int64, as which libraries compute it.
inline bool is_size_of_memory(const extents& shape, std::uint64_t width) noexcept {
  std::uint64_t most = static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)()) / width;
  for (const auto n : shape) {
    if (n > most) return false;
    if (n > 0) most /= n;
  }
  return true;
}

/// The shape that the tensor is to have: the stored one, without the dimension of a complex number's parts.
inline extents wanted_shape(const any_tensor_view& view, const stored_leaf& stored) {
  extents wanted = stored.shape;
  if (view.components() > 1) {
    if (wanted.empty() || wanted.back() != view.components()) return view.shape();
    wanted.pop_back();
  }
  return wanted;
}

/// Resizes another tensor, and notes why that refuses the shape. Lack of memory is no reason, but an error.
inline bool another_takes_shape(walker& w, const void* tensor, const tensor_operations& how, const extents& shape,
                                dtype type) {
  try {
    return how.try_resize(tensor, shape, type);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    w.note_refusal(as_error(std::current_exception(), {"its type refuses the shape"}).sentence());
    return false;
  }
}

inline bool contains(const void* object, std::size_t size, const void* elements) {
  const auto begin = reinterpret_cast<std::uintptr_t>(object), at = reinterpret_cast<std::uintptr_t>(elements);
  return at >= begin && at < begin + size;
}

/// Arrays of more elements are not made to try a shape, except for a tensor that contains its elements: that would take
/// as long as the load.
inline constexpr std::uint64_t most_tried = std::uint64_t{1} << 20U;

inline bool can_take_shape(walker& w, const void* tensor, const tensor_operations& how, const any_tensor_view& now,
                           const extents& wanted, dtype type) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 48U;  // per dimension: far below the limit of signed sizes
  for (const auto n : wanted)
    if (n > largest) return false;
  constexpr std::uint64_t widest = 16;  // bytes per element, of a complex<double>
  if (!is_size_of_memory(wanted, widest)) return false;
  if (how.can_be) {
    if (how.can_be(tensor, wanted)) return true;
    w.note_refusal("its type cannot have that shape: make it one that can");
    return false;
  }
  if (wanted.size() != now.shape().size() && !(how.has_dynamic_rank && now.shape().empty())) return false;
  if (!how.try_resize) return true;
  // A tensor that contains its elements may have a fixed shape, or room for some elements only.
  const bool contains_elements = contains(tensor, how.size, now.data());
  const auto is_small = [](const extents& shape) { return element_count(shape) <= most_tried; };
  if (!contains_elements && (now.device() || !is_small(wanted))) return true;
  if (another_takes_shape(w, tensor, how, wanted, type)) return true;
  // One that refuses also the present shape, as a null handle does, tells nothing.
  const bool is_default = !now.data() && now.shape().empty();
  if (contains_elements || is_default) return false;
  const bool tells = is_small(now.shape()) && another_takes_shape(w, tensor, how, now.shape(), type);
  if (!tells) w.note_refusal({});
  return !tells;
}

void walk_tensor(walker& w, void* tensor, const tensor_operations& how) {
  const auto view_now = [&] {
    auto view = call_adapter(w, [&] { return how.view(tensor); });
    const std::uint64_t width = size_of(view.type()) * view.components();
    if (!is_addressable(view.shape(), width))
      fail(errc::invalid,
           {w.path(), " is a tensor of shape ", to_string(view.shape()), "; that is more than 2^48 bytes"});
    return view;
  };
  // Default-made, without dimensions and memory, it stands for an empty array.
  const auto is_unmade = [](const any_tensor_view& view) { return !view.data() && view.shape().empty(); };

  auto view = view_now();
  if (how.resize) w.note_owner(tensor, &how, view.data());
  const std::uint64_t count = is_unmade(view) ? 0 : element_count(view.shape());
  const auto shape_now = [&] {
    extents all = is_unmade(view) ? extents{0} : view.shape();
    if (view.components() > 1) all.push_back(view.components());
    return all;
  };
  if (const stored_leaf* const stored = how.resize ? w.stored(shape_now()) : nullptr) {
    const extents wanted = wanted_shape(view, *stored);
    const dtype type = view.exists() ? view.type() : stored->type;
    if ((wanted != view.shape() || type != view.type() || is_unmade(view)) &&
        call_adapter(w, [&] { return can_take_shape(w, tensor, how, view, wanted, type); })) {
      const std::uint64_t width = size_of(type) * view.components();
      if (view.data() && !view.device() && count > 0) {
        const auto element = size_of(view.type()) * view.components();
        memory_view freed{view.type(), view.shape(), static_cast<std::byte*>(view.data()), {}};
        for (const auto step : view.strides()) freed.strides.push_back(step * static_cast<std::int64_t>(element));
        freed.shape.push_back(view.components());
        if (!freed.strides.empty()) freed.strides.push_back(static_cast<std::int64_t>(size_of(view.type())));
        const auto [first, last] = address_range(freed);
        w.note_freed(first, static_cast<std::uint64_t>(last - first));
      }
      if (!w.note_resize(count, element_count(wanted), width)) return w.array(type, view.components(), nullptr, wanted);
      call_adapter(w, [&] { how.resize(tensor, wanted, type); });
      view = view_now();
      if (view.shape() != wanted || view.type() != type || (!view.data() && element_count(wanted) > 0))
        fail(errc::invalid, {w.path(), " was resized to ", name(type), " ", to_string(wanted), ", but is ",
                             name(view.type()), " ", to_string(view.shape()), view.data() ? "" : " without memory"});
    }
  }
  if (is_unmade(view)) return w.array(view.type(), view.components(), nullptr, {0});
  if (!view.data() && element_count(view.shape()) > 0)
    fail(errc::invalid, {w.path(), " is a tensor of shape ", to_string(view.shape()), " without memory"});
  if (view.place()) return w.box_of_array(view);
  const auto pass = [&] {
    w.array(view.type(), view.components(), view.data(), view.shape(), view.strides(),
            view.device() ? &view.device() : nullptr);
  };
  how.resize || contains(tensor, how.size, view.data()) ? pass() : w.as_view(pass);
}

}  // namespace cairn::inline v0_1::detail
