// SPDX-License-Identifier: MIT
// Definitions of state/walker.hpp, walk_holder.hpp, walk_tensor.hpp and walk_container.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <new>

#include "cairn/core/box.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/joined.hpp"
#include "cairn/state/walk.hpp"
#include "cairn/state/walk_container.hpp"
#include "cairn/state/walk_holder.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/walker.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

void walker::enter(std::string_view name) {
  if (at_.lengths.size() == max_nesting)
    fail(errc::invalid, {"the state is nested more than ", max_nesting, " deep at ", path().substr(0, 200),
                         "...; keep the nodes of a long chain or graph by value in a vector, and link them by index"});
  at_.lengths.push_back(at_.path.size());
  if (!at_.path.empty()) at_.path += '.';
  at_.path += name;
}

void walker::leave() {
  at_.path.resize(at_.lengths.back());
  at_.lengths.pop_back();
}

void walker::part(std::string_view name, void* object, walk_function walk) {
  enter(name);
  visit(object);
  if (is_selected()) walk(*this, object);
  leave();
}

void walker::part(std::uint64_t index, void* object, walk_function walk) { part(std::to_string(index), object, walk); }

void walker::members(const object_members& of) {
  for (std::size_t i = 0; i < of.all.size(); ++i)
    if (of.all[i].walk) part(of.all[i].name, of.addresses[i], of.all[i].walk);
}

void walker::prototype_part(std::string_view name, const object_operations& how) {
  enter(name);
  if (is_selected()) prototype(how);
  leave();
}

void walker::sequence_part(std::uint64_t index, void* object, const object_operations& how) {
  object ? part(index, object, how.walk) : prototype_part(std::to_string(index), how);
}

void walker::content(void* object, const content_operations& how) {
  if (how.has_entry) {
    enter_content();
    object ? part(content_name(), object, how.object.walk) : prototype_part(content_name(), how.object);
  } else if (object) {
    visit(object);
    how.object.walk(*this, object);
  } else {
    prototype(how.object);
  }
}

void walker::prototype(const object_operations& how) {
  if (how.make) return walk_temporary(how.make(), how.walk, how.destroy);
  reject(
      "has to be made by the load but its type has no default constructor; make it before the load, or give its "
      "adapter a function make()");
}

void walker::walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) {
  const std::shared_ptr<void> owner(object, destroy);
  walk(*this, object);
}

void walker::array(dtype type, unsigned components, void* memory, const extents& shape,
                   const std::vector<std::int64_t>& strides, const device_copies* device) {
  if (!strides.empty() && strides.size() != shape.size())
    fail(errc::invalid, {path(), " is a tensor of ", shape.size(), " dimensions and ", strides.size(), " strides"});
  memory_view view{type, {}, static_cast<std::byte*>(memory), {}};
  view.shape.reserve(at_.shape.size() + shape.size() + 1);
  view.shape.insert(view.shape.end(), at_.shape.begin(), at_.shape.end());
  view.shape.insert(view.shape.end(), shape.begin(), shape.end());
  if (components > 1) view.shape.push_back(components);
  if (!is_addressable(shape, size_of(type)))
    fail(errc::invalid, {path(), " is a tensor of shape ", to_string(shape), "; that is more than 2^48 bytes"});
  if (!at_.strides.empty() || !strides.empty()) set_strides(view, components, strides);
  add(std::move(view), device);
}

void walker::box_of_array(const any_tensor_view& view) {
  if (!at_.shape.empty())
    fail(errc::invalid,
         {path(), " is a box of a larger array in a record of a container: keep it in a member of its own"});
  auto place = *view.place();
  const auto& shape = view.shape();
  if (!is_inside({place.first, shape}, place.whole))
    fail(errc::invalid, {path(), ": a box of shape ", to_string(shape), " at ", to_string(place.first),
                         " is not inside of an array of shape ", to_string(place.whole)});
  if (view.copies().number >= view.copies().count)
    fail(errc::invalid, {path(), ": copy ", view.copies().number, " of ", view.copies().count, " of a box"});
  if (!is_addressable(place.whole, size_of(view.type()) * view.components()))
    fail(errc::invalid,
         {path(), " is a box of an array of shape ", to_string(place.whole), "; that is more than 2^48 bytes"});
  if (view.components() > 1) {
    place.whole.push_back(view.components());
    place.first.push_back(0);
  }
  at_.place = std::make_shared<const box_place>(std::move(place));
  at_.copies = view.copies();
  array(view.type(), view.components(), view.data(), shape, view.strides(), view.device() ? &view.device() : nullptr);
  at_.place.reset();
  at_.copies = {};
}

void walker::set_strides(memory_view& view, unsigned components, const std::vector<std::int64_t>& strides) const {
  const std::size_t width = size_of(view.type);
  if (strides.empty() && is_packed(view.shape, at_.strides, width)) return;
  auto steps = at_.strides;
  if (strides.empty()) {
    const auto outer = static_cast<std::ptrdiff_t>(at_.strides.size());
    const auto packed = packed_strides({view.shape.begin() + outer, view.shape.end()}, width);
    steps.insert(steps.end(), packed.begin(), packed.end());
  } else {
    for (const auto step : strides) steps.push_back(step * static_cast<std::int64_t>(width * components));
    if (components > 1) steps.push_back(static_cast<std::int64_t>(width));
  }
  if (!is_packed(view.shape, steps, width)) view.strides = std::move(steps);
}

void walker::columns(std::uint64_t rows, std::size_t width, void* first, walk_function walk) {
  at_.shape.push_back(rows);
  at_.strides.push_back(static_cast<std::int64_t>(width));
  walk(*this, first);
  at_.shape.pop_back();
  at_.strides.pop_back();
  at_.common_dimensions = std::min(at_.common_dimensions, at_.shape.size());
}

void walker::contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                        const size_limits& /*limits*/) {
  if (how.resize) note_owner(container, &how);
  columns(size, how.width, size > 0 ? first : how.sample(), how.walk_element);
}

void walker::require_check(std::string_view name) const {
  if (purpose() != purpose::check)
    fail(errc::invalid, {path(), ": its adapter passes a prototype of ", name, " when the part itself has to exist"});
}

void walk_optional(walker& w, void* object, const optional_operations& how) {
  w.note_owner(object, &how);
  void* value = how.at(object, access::find);
  const presence what = w.optional(value != nullptr);
  if (value && what != presence::walk) w.note_destroyed(value, how.content.object.walk);
  if (what == presence::keep) return;
  if (what == presence::clear) return static_cast<void>(how.at(object, access::remove));
  if (what == presence::make) value = how.at(object, access::make);
  w.content(value, how.content);
}

void walk_variant(walker& w, void* object, const variant_operations& how) {
  w.note_owner(object, &how);
  const std::size_t now = how.index(object);
  const auto [what, index] = w.alternative(now, how.alternatives.size());
  if (what == presence::keep || index >= how.alternatives.size()) return;  // without a value: the walk makes none
  if (what != presence::walk && now < how.alternatives.size())
    w.note_destroyed(how.alternatives[now].at(object, access::find), how.alternatives[now].content.object.walk);
  const alternative_operations& alternative = how.alternatives[index];
  w.content(alternative.at(object, what == presence::make ? access::make : access::find), alternative.content);
}

/// The entry of that type; null if the pointer's list does not have it. `type` is null for a pointer without a list,
/// which has one entry.
template <class Entry>
const Entry* entry_of_type(std::span<const Entry> types, const type_id* type) {
  if (!type) return &types.front();
  for (const Entry& each : types)
    if (*each.type == *type) return &each;
  return nullptr;
}

void walk_unique(walker& w, void* pointer, const unique_operations& how) {
  const found_object found = how.found(pointer);
  w.note_owner(pointer, &how, found.address);
  const auto answer = w.pointee(found);
  if (const auto* const now = found.address ? entry_of_type(how.types, found.type) : nullptr; now && answer.destroys)
    w.note_destroyed(const_cast<void*>(found.address), now->content.object.walk);
  if (answer.what == presence::keep) return;
  if (answer.what == presence::clear) return how.types.front().reset(pointer, nullptr);
  if (!how.deletes && answer.what != presence::walk)
    return w.reject("has to be made by the load but its pointer has a deleter of its own; make it before the load");
  const unique_type* const type = entry_of_type(how.types, answer.type);
  if (!type) return;  // an object of a class that is not listed, which a load replaces or keeps
  const auto left_out = w.left_out();
  void* object = answer.what == presence::walk ? const_cast<void*>(found.address) : nullptr;
  if (answer.what == presence::make && type->content.object.make) {
    object = type->content.object.make();
    type->reset(pointer, object);
  }
  w.content(object, type->content);
  if (found.by->is_const && answer.what != presence::walk && found.address) w.require_whole(left_out);
}

void walk_shared(walker& w, void* pointer, const void* owner, const shared_operations& how) {
  std::shared_ptr<void> object;
  const found_object found = how.found(pointer, object);
  w.note_owner(owner, &how, found.address);
  const auto answer = w.shared(found, object);
  if (const auto* const now = object ? entry_of_type(how.types, found.type) : nullptr;
      now && answer.destroys && owner == pointer)
    w.note_dropped(object, owner, now->content.object.walk);
  const shared_type* const type = entry_of_type(how.types, answer.type);
  if (answer.same && type) type->set(pointer, answer.same);
  if (answer.what == presence::keep || !type) return;
  if (answer.what == presence::clear) return type->set(pointer, nullptr);
  const auto left_out = w.left_out();
  std::shared_ptr<void> made;
  if (answer.what == presence::make && type->make) {
    made = type->make();
    w.shared_made(made, *type->type);
  }
  w.content(answer.what == presence::walk ? object.get() : made.get(), type->content);
  w.shared_end();
  if (made) type->set(pointer, made);
  if (found.by->is_const && answer.what != presence::walk && found.address) w.require_whole(left_out);
}

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

// Containers.

void walk_elements(walker& w, void* sequence, const sequence_operations& how) {
  w.note_owner(sequence, &how);
  size_limits limits;
  const std::uint64_t now = call_adapter(w, [&] { return how.size(sequence, limits); });
  if (w.joined(sequence, now, limits, how)) return;
  const size_answer answer = w.sequence(now, limits, how.elements_are_empty);
  if (answer.size != now) {
    std::uint64_t index = 0;
    for_each_element(sequence, how, [&](void* element) {
      if (how.elements_move || index >= answer.size) w.note_freed(element, how.width);
      if (how.elements_are_made || index >= answer.size) w.note_destroyed(element, how.element.walk);
      ++index;
    });
  }
  if (answer.resize) how.resize(sequence, answer.size);
  std::uint64_t next = 0;
  for_each_element(sequence, how, [&](void* element) {
    if (next < answer.size) w.sequence_part(next++, element, how.element);
  });
  for (; next < answer.size; ++next) w.sequence_part(next, nullptr, how.element);
}

void fail_lookup() { fail(errc::invalid, {"a map does not find a key that has just been inserted, such as a NaN"}); }

bool parse_number(const std::string& from, std::int64_t& number) { return read_number(from, number); }
bool parse_number(const std::string& from, std::uint64_t& number) { return read_number(from, number); }

bool is_same_state(walk_function walk, void* a, void* b) {
  const auto describe = [&](void* object) {
    walk_position at;
    describer result(at);
    walk(result, object);
    return result.finish();
  };
  const auto bytes_of = [](const leaf& of) {
    std::vector<std::byte> bytes(of.bytes());
    gather(of, 0, bytes);
    return bytes;
  };
  const description first = describe(a), second = describe(b);
  return first.structure == second.structure &&
         std::ranges::equal(first.leaves, second.leaves, [&](const leaf& one, const leaf& other) {
           return one.path == other.path && one.type == other.type && one.shape == other.shape &&
                  bytes_of(one) == bytes_of(other);
         });
}

void walker::map(void* object, const map_operations& how) {
  note_owner(object, &how);
  for_each_entry(object, how, [&](std::string_view key, void* value) { part(key, value, how.value.walk); });
}

void describer::map(void* object, const map_operations& how) {
  const bool is_joined = how.value.make && add_joined(how.size(object), [&](column_joiner& joiner) {
                           for_each_entry(object, how, [&](std::string_view key, void* value) {
                             if (joiner.fits()) joiner.entry(key, value, how.value.walk);
                           });
                         });
  if (is_joined) return;
  std::vector<std::string> keys;
  for_each_entry(object, how, [&](std::string_view key, void* /*value*/) { keys.emplace_back(key); });
  note({.what = structure_entry::kind::keys, .keys = std::move(keys)});
  walker::map(object, how);
}

void walker::entry_part(std::uint64_t index, std::string_view name, void* object, walk_function walk) {
  enter(std::to_string(index));
  if (is_selected()) part(name, object, walk);
  leave();
}

void walker::entries(void* map, const entries_operations& how) {
  note_owner(map, &how);
  const auto now = how.entries(map);
  const auto size = sequence(now.size(), {}, false).size;
  for (std::uint64_t i = 0; i < size; ++i) {
    entry_part(i, "first", now[i].key, how.walk_key);
    entry_part(i, "second", now[i].value, how.walk_value);
  }
}

CAIRN_COMMON_WALKS()

}  // namespace cairn::inline v0_1::detail
