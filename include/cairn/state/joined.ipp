// SPDX-License-Identifier: MIT
// Definitions of joined.hpp for a save.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cairn/core/strided.hpp"
#include "cairn/state/joined.hpp"
#include "cairn/state/walk_sequence.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

std::size_t column_walker::find(kind what) noexcept {
  const auto is_here = [&](std::size_t i) { return columns_[i].what == what && columns_[i].path == at_.path; };
  if (columns_.empty()) return catalog::npos;
  const std::size_t count = columns_.size(), expected = columns_[last_].next;
  for (std::size_t i = 0, at = expected; i < count; ++i, at = at + 1 == count ? 0 : at + 1) {
    if (!is_here(at)) continue;
    columns_[last_].next = at;
    return last_ = at;
  }
  return catalog::npos;
}

template <class Action>
void column_joiner::with_outer(std::size_t column, const Action& walk) {
  const std::size_t outer = std::exchange(outer_, column), inner = inner_;
  walk();
  outer_ = outer;
  inner_ = inner;
}

std::size_t column_joiner::find_or_add(kind what) {
  if (const std::size_t found = find(what); found != catalog::npos) return found;
  const std::size_t added = columns_.size();
  columns_.push_back({.path = at_.path, .what = what, .outer = outer_});
  if (added > 0) columns_[last_].next = added;
  return last_ = added;
}

void column_joiner::add_end(std::size_t column, std::uint64_t size) {
  auto& ends = columns_[column].ends;
  ends.push_back((ends.empty() ? 0 : ends.back()) + size);
  note_bytes(sizeof(std::uint64_t));
}

void column_joiner::add(memory_view view, const device_copies* device) {
  if (device || at_.place) return refuse();
  joined_column& to = columns_[find_or_add(kind::values)];
  const std::uint64_t rows = in_rows_ ? view.shape.front() : 1, bytes = view.bytes();
  const auto row = std::span(view.shape).subspan(in_rows_ ? 1 : 0);
  if (to.rows == 0) {
    to.type = view.type;
    to.row.assign(row.begin(), row.end());
    to.width = element_count(to.row) * size_of(to.type);
  } else if (to.type != view.type || !std::ranges::equal(to.row, row)) {
    return refuse();
  }
  note_bytes(bytes);
  if (refused_) return;
  to.rows += rows;
  if (view.contiguous()) {
    to.bytes.insert(to.bytes.end(), view.memory, view.memory + bytes);
  } else {
    to.bytes.resize(to.bytes.size() + bytes);
    gather(view, 0, std::span(to.bytes).last(bytes));
  }
}

void column_joiner::contiguous(void* /*container*/, std::uint64_t size, void* first, const contiguous_operations& how,
                               const size_limits& /*limits*/) {
  if (!how.resize) return refuse();
  const std::size_t ends = find_or_add(kind::ends);
  add_end(ends, size);
  if (size == 0) return;
  if (const std::size_t packed = columns_[ends].packed; packed != catalog::npos) {
    joined_column& to = columns_[last_ = packed];
    note_bytes(size * how.width);
    if (refused_) return;
    const auto* const from = static_cast<const std::byte*>(first);
    to.bytes.insert(to.bytes.end(), from, from + size * how.width);
    to.rows += size;
    return;
  }
  const std::size_t before = columns_.size();
  with_elements(how, [&] { with_outer(ends, [&] { columns(size, how.width, first, how.walk_element); }); });
  if (columns_.size() == before + 1 && columns_.back().width == how.width) columns_[ends].packed = before;
}

size_answer column_joiner::sequence(std::uint64_t size, const size_limits& /*limits*/, bool /*empty_elements*/) {
  inner_ = find_or_add(kind::ends);
  add_end(inner_, size);
  return {size};
}

void column_joiner::sequence_part(std::uint64_t /*index*/, void* object, const object_operations& how) {
  if (!how.make) return refuse();
  if (!refused_) with_outer(inner_, [&] { part("value", object, how.walk); });
}

presence column_joiner::optional(bool engaged) {
  joined_column& to = columns_[inner_ = find_or_add(kind::engaged)];
  to.bytes.push_back(std::byte{engaged});
  note_bytes(1);
  return engaged ? presence::walk : presence::keep;
}

void column_joiner::content(void* object, const content_operations& how) {
  if (!how.object.make) return refuse();
  with_outer(inner_, [&] { part("value", object, how.object.walk); });
}

void column_joiner::copy(void* object, const copy_operations& how) {
  const std::shared_ptr<void> copy(how.take(object), how.destroy);
  how.walk_copy(*this, copy.get());
}

void column_joiner::count_object() {
  if (++walked_ != fewest_joined) return;
  const auto all = [&](std::size_t size) { return size / fewest_joined * objects_ * 17 / 16; };
  std::uint64_t bytes = 0;
  for (const joined_column& each : columns_)
    bytes += all(each.bytes.size()) + all(each.ends.size()) * sizeof(std::uint64_t);
  call_adapter(*this, [&] { require_memory_to_copy(bytes); });
  for (joined_column& each : columns_) {
    each.bytes.reserve(all(each.bytes.size()));
    each.ends.reserve(all(each.ends.size()));
  }
}

void column_joiner::entry(std::string_view key, void* value, walk_function walk) {
  with_name("key", [&] {
    contiguous(nullptr, key.size(), const_cast<char*>(key.data()), contiguous_container<std::string>::operations, {});
  });
  part("value", value, walk);
  count_object();
}

std::vector<joined_column> column_joiner::take() {
  const std::size_t count = columns_.size();
  std::vector<std::uint64_t> objects(count + 1);  // in the containers of a column; at the end: all
  std::vector<bool> has_values(count + 1);
  objects[count] = walked_;
  for (std::size_t i = 0; i < count; ++i) {
    joined_column& each = columns_[i];
    if (each.what == kind::ends) {
      each.type = dtype::u64;
      each.rows = each.ends.size();
      objects[i] = each.ends.back();
    } else if (each.what == kind::engaged) {
      each.type = dtype::boolean;
      each.rows = each.bytes.size();
      objects[i] = static_cast<std::uint64_t>(std::ranges::count(each.bytes, std::byte{1}));
    }
  }
  for (const joined_column& each : columns_) {
    const std::size_t outer = std::min(each.outer, count);
    if (each.rows != objects[outer]) refuse();  // some objects do not have it
    has_values[outer] = has_values[outer] || each.what != kind::values || each.width > 0;
  }
  if (walked_ != objects_) refuse();
  for (std::size_t i = 0; i <= count; ++i)
    if (objects[i] > 0 && !has_values[i]) refuse();
  return refused_ ? std::vector<joined_column>() : std::move(columns_);
}

bool describer::add_joined(std::uint64_t count, const std::function<void(column_joiner&)>& walk_objects) {
  if (count < fewest_joined || !at_.shape.empty()) return false;
  const std::size_t depth = at_.lengths.size(), path_size = at_.path.size();
  column_joiner joiner(at_, count);
  const auto all = std::make_shared<std::vector<joined_column>>();
  const auto give_up = [&] {  // the walk of each object throws it again, and knows the path
    at_.path.resize(path_size);
    at_.lengths.resize(depth);
    at_.shape.clear();
    at_.strides.clear();
  };
  try {
    walk_objects(joiner);
    *all = joiner.take();
  } catch (const error& cause) {
    if (cause.code() == errc::no_memory) throw;
    give_up();
  } catch (...) {
    give_up();
  }
  at_.common_dimensions = 0;
  if (all->empty()) return false;
  note({.what = structure_entry::kind::rows, .number = count});
  owners_.push_back(all);
  const std::string path = std::exchange(at_.path, {});
  for (joined_column& each : *all) {
    extents shape{each.rows};
    shape.insert(shape.end(), each.row.begin(), each.row.end());
    auto* const memory =
        each.what == joined_column::kind::ends ? reinterpret_cast<std::byte*>(each.ends.data()) : each.bytes.data();
    at_.path = each.path;
    const auto add_column = [&] { add({each.type, std::move(shape), memory, {}}, nullptr); };
    each.suffix().empty() ? add_column() : with_name(each.suffix(), add_column);
  }
  at_.path = path;
  owners_.pop_back();
  return true;
}

bool describer::joined(void* sequence, std::uint64_t size, const size_limits& /*limits*/,
                       const sequence_operations& how) {
  if (!how.element.make) return false;
  return add_joined(size, [&](column_joiner& joiner) {
    for_each_element(sequence, how, [&](void* element) {
      if (joiner.fits()) joiner.object(element, how.element.walk);
    });
  });
}

}  // namespace cairn::inline v0_1::detail
