// Definitions of walker.hpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/matcher.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

template <class Question>
decltype(auto) walker::ask(const Question& question) {
  if (auto* const* to = std::get_if<describer*>(&purpose_)) return question(**to);
  return question(load());
}

template <class Action>
void walker::with_path(const Action& action) {
  try {
    action();
  } catch (const error& cause) {
    fail(cause.code(), {path(), " in ", load().origin(), ": ", cause.sentence()});
  }
}

CAIRN_INLINE std::string walker::path() const { return path_.empty() ? "value" : path_; }

CAIRN_INLINE void walker::enter(std::string_view name) {
  if (lengths_.size() == max_nesting)
    fail(errc::invalid, {"the state is nested more than ", max_nesting, " deep at ",
                         std::string_view(path_).substr(0, 200), "...; keep long chains of objects in a vector"});
  lengths_.push_back(path_.size());
  if (!path_.empty()) path_ += '.';
  path_ += name;
}

CAIRN_INLINE void walker::leave() {
  path_.resize(lengths_.back());
  lengths_.pop_back();
}

CAIRN_INLINE bool walker::is_filtered() {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  if (!to || (*to)->is_selected(path_)) return false;
  (*to)->skip();
  return true;
}

CAIRN_INLINE void walker::part(std::string_view name, void* object, walk_function walk) {
  enter(name);
  if (search_ && outer_copies_.empty()) search_->visit_object(path_, object);
  if (auto* const* to = std::get_if<describer*>(&purpose_)) (*to)->visit(object, path_.size());
  if (!is_filtered()) walk(*this, object);
  leave();
}

CAIRN_INLINE void walker::part(std::uint64_t index, void* object, walk_function walk) {
  part(std::to_string(index), object, walk);
}

CAIRN_INLINE void walker::parts(std::span<const named_part> all) {
  for (const auto& each : all) part(each.name, each.object, each.walk);
}

CAIRN_INLINE void walker::prototype_part(std::string_view name, void (*walk_prototype)(walker&)) {
  enter(name);
  if (!is_filtered()) walk_prototype(*this);
  leave();
}

CAIRN_INLINE void walker::prototype(void* object, walk_function walk, void (*destroy)(void*)) {
  const std::shared_ptr<void> owner(object, destroy);
  load().begin_prototype();
  walk(*this, object);
  load().end_prototype();
}

CAIRN_INLINE void walker::element(dtype type, void* memory) { array(type, 1, memory, {}); }

CAIRN_INLINE void walker::array(dtype type, unsigned components, void* memory, const extents& shape,
                                const std::vector<std::int64_t>& strides, const device_copies* device) {
  if (!strides.empty() && strides.size() != shape.size())
    fail(errc::invalid, {path(), " is a tensor of ", shape.size(), " dimensions and ", strides.size(), " strides"});
  const std::size_t width = size_of(type);
  memory_view view{type, shape_, static_cast<std::byte*>(memory), {}};
  view.shape.insert(view.shape.end(), shape.begin(), shape.end());
  if (!is_addressable(shape, width))
    fail(errc::invalid, {path(), " is a tensor of shape ", to_string(shape), ", which no machine has in memory"});
  auto steps = strides_;
  extents inner = shape;
  if (components > 1) {
    inner.push_back(components);
    view.shape.push_back(components);
  }
  if (strides.empty()) {
    const auto packed = packed_strides(inner, width);
    steps.insert(steps.end(), packed.begin(), packed.end());
  } else {
    for (const auto step : strides) steps.push_back(step * static_cast<std::int64_t>(width * components));
    if (components > 1) steps.push_back(static_cast<std::int64_t>(width));
  }
  if (!is_packed(view.shape, steps, width)) view.strides = std::move(steps);
  if (search_ && device) return;  // a search reads no array, and those of devices are not in the host's memory
  if (search_ && outer_copies_.empty()) search_->visit_array(path_, view);
  ask([&](auto& to) { to.add(path(), std::move(view), device); });
}

CAIRN_INLINE void walker::columns(std::uint64_t rows, std::size_t width, void* first, walk_function walk) {
  shape_.push_back(rows);
  strides_.push_back(static_cast<std::int64_t>(width));
  walk(*this, first);
  shape_.pop_back();
  strides_.pop_back();
}

CAIRN_INLINE void walker::contiguous(void* container, std::uint64_t size, void* first,
                                     const contiguous_operations& how) {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  if (!to) return columns(size, how.width, size > 0 ? first : how.sample, how.walk_element);
  matcher& load = **to;
  if (how.resize) {
    // The stored size is that of the first stored column.
    load.begin_probe();
    columns(0, 0, how.sample, how.walk_element);
    const std::uint64_t stored = load.end_probe().value_or(size);
    const std::uint64_t bytes = stored * how.width;
    const bool resizes = stored != size && load.resizes(path(), size, stored, how.width);
    if (stored != size && !admits(how.limits, stored)) return;
    if (stored != size && size > 0) frees(container, first, size * how.width);
    if (resizes) {
      // Large containers are resized later, when the pages of all of them have been prepared. Reserved memory does not move until then.
      first = stored > size && how.reserve && load.may_grow_later(bytes) ? how.reserve(container, stored) : nullptr;
      if (first)
        load.grow_later({container, stored, how.resize, static_cast<std::byte*>(first), bytes});
      else
        first = how.resize(container, stored);
    } else if (stored != size) {
      first = nullptr;  // first walk: the elements do not exist yet
    }
    size = stored;
  }
  if (size > 0 && first) return columns(size, how.width, first, how.walk_element);
  // No elements to walk: the sample stands for them.
  load.begin_prototype();
  columns(size, how.width, how.sample, how.walk_element);
  load.end_prototype();
}

CAIRN_INLINE size_answer walker::sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) {
  const auto answer = ask([&](auto& to) { return to.sequence(path(), size, empty_elements); });
  if (answer.size != size && !admits(limits, answer.size)) return {};
  return answer;
}

CAIRN_INLINE bool walker::admits(const size_limits& limits, std::uint64_t stored) {
  try {
    check_limits(limits, stored);
    return true;
  } catch (const error& cause) {
    reject(std::string(cause.sentence()));
    return false;
  }
}

CAIRN_INLINE cairn::purpose walker::current_purpose() const noexcept {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  if (!to) return cairn::purpose::describe;
  return (*to)->is_writing() ? cairn::purpose::apply : cairn::purpose::check;
}

CAIRN_INLINE bool walker::has_stored(std::string_view name) {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  if (!to) return false;
  enter(name);
  const bool has = (*to)->has_part(path());
  leave();
  return has;
}

CAIRN_INLINE void walker::require_check(std::string_view name) const {
  if (current_purpose() != cairn::purpose::check)
    fail(errc::invalid, {path(), ": its adapter passes a prototype of ", name, " when the part itself has to exist"});
}

CAIRN_INLINE const stored_leaf* walker::stored(std::uint64_t count) {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  return to ? (*to)->stored(path(), count) : nullptr;
}

CAIRN_INLINE bool walker::resizes(std::uint64_t from, std::uint64_t to, std::size_t width) {
  return load().resizes(path(), from, to, width);
}

CAIRN_INLINE void walker::frees(const void* container, const void* memory, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  load().frees({begin, begin + bytes, container, path_});
}

CAIRN_INLINE presence walker::optional(bool engaged) {
  return ask([&](auto& to) { return to.optional(path(), engaged); });
}

CAIRN_INLINE pointee_answer walker::pointee(const found_object& found) {
  if (auto* const* to = std::get_if<describer*>(&purpose_)) (*to)->visit(found.address, path_.size());
  return ask([&](auto& to) { return to.pointee(path(), found); });
}

CAIRN_INLINE shared_answer walker::shared(const found_object& found, std::shared_ptr<void> object) {
  return ask([&](auto& to) { return to.shared(path(), found, object); });
}

CAIRN_INLINE void walker::shared_end() {
  if (auto* const* to = std::get_if<describer*>(&purpose_)) (*to)->shared_end();
}

CAIRN_INLINE void walker::shared_made(std::shared_ptr<void> object, const std::type_info& type) {
  load().shared_made(path(), std::move(object), type);
}

CAIRN_INLINE std::size_t walker::left_out() const noexcept {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  return to ? (*to)->left_out() : 0;
}

CAIRN_INLINE void walker::require_whole(std::size_t left_out_before) {
  if (auto* const* to = std::get_if<matcher*>(&purpose_)) (*to)->require_whole(path(), left_out_before);
}

CAIRN_INLINE alternative_answer walker::alternative(std::uint64_t index, std::uint64_t count) {
  return ask([&](auto& to) { return to.alternative(path(), index, count); });
}

CAIRN_INLINE void walker::copy(void* object, const copy_operations& how) {
  const bool describes = std::holds_alternative<describer*>(purpose_);
  const auto made = [&] {
    try {
      return describes ? how.take(object) : how.make();
    } catch (const error& cause) {
      fail(cause.code(), {path(), ": ", cause.sentence()});
    }
  };
  const std::shared_ptr<void> copy(made(), how.destroy);
  begin_copy(copy);
  how.walk_copy(*this, copy.get());
  const auto answer = end_copy();
  if (answer == copy_answer::drop) return;
  with_path([&] {
    how.check(object, copy.get());
    if (answer == copy_answer::put)
      how.put(object, copy.get());
    else
      how.try_put(object, copy.get());
  });
}

CAIRN_INLINE void walker::begin_copy(std::shared_ptr<const void> object) {
  if (auto* const* to = std::get_if<describer*>(&purpose_))
    outer_copies_.push_back((*to)->own(std::move(object)));
  else
    load().begin_copy();
}

CAIRN_INLINE copy_answer walker::end_copy() {
  auto* const* to = std::get_if<describer*>(&purpose_);
  if (!to) return load().end_copy();
  (*to)->own(std::move(outer_copies_.back()));
  outer_copies_.pop_back();
  return copy_answer::drop;
}

CAIRN_INLINE std::uint64_t walker::saved_ranks(bool takes_all) {
  return ask([&](auto& to) { return to.ranks(path(), path_, here_.ranks, takes_all); });
}

CAIRN_INLINE void walker::reject(const std::string& problem) {
  load().reject(path(), problem);
  load().mark_used(path_);
}

}  // namespace cairn::detail
