// SPDX-License-Identifier: MIT
// Definitions of joined.hpp for a load.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/fetched_leaves.hpp"
#include "cairn/state/joined.hpp"
#include "cairn/state/walk_sequence.hpp"

namespace cairn::inline v0_1::detail {

template <class Action>
void column_matcher::with_rows(std::uint64_t rows, const Action& walk) {
  const std::uint64_t outer = std::exchange(rows_, rows);
  const std::size_t before = stored_;
  walk();
  if (rows > 0 && stored_ == before)
    reject("has " + std::to_string(rows) +
           " objects in the checkpoint, and no parts of them that the state has; leave it out with filter");
  rows_ = outer;
}

std::optional<joined_columns> column_matcher::match(const std::function<void(column_matcher&)>& walk_object) {
  with_rows(rows_, [&] { walk_object(*this); });
  if (refused_)
    reject(
        "is stored with the parts of its objects joined, and the type of these has pointers, variants, versions, or "
        "arrays of any shape; load it into the type that it had, or leave it out with filter");
  if (failed_) return std::nullopt;
  found_.all = std::move(columns_);
  return std::move(found_);
}

/// A key of a map, which is stored as its text.
inline void walk_key(walker& w, void* text) {
  contiguous_container<std::string>::walk_all(w, *static_cast<std::string*>(text));
}

void column_matcher::entry(void* value, const object_operations& how) {
  std::string key;
  ++copies_;  // the check reads it
  part("key", &key, walk_key);
  --copies_;
  const bool has_text = columns_.size() == 2 && (columns_[1].leaf != catalog::npos || columns_[1].rows == 0);
  if (!has_text && rows_ > 0)
    return reject(
        std::string("is another kind of object in the checkpoint").append(how_to_load_another_kind(at_.path)));
  inner_ = rows_;
  with_content(value, how);
}

void column_matcher::object(void* object, const object_operations& how) {
  object ? how.walk(*this, object) : prototype(how);
}

void column_matcher::reject(const std::string& problem) {
  failed_ = true;
  load_.reject(problem);
}

void column_matcher::changed_members(const object_members& of, std::span<const change> changes) {
  load_.note_removed(changes);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < of.all.size(); ++i) {
    const member_operations& each = of.all[i];
    names.push_back(each.walk ? load_.stored_name(each.name, changes) : std::string_view());
    if (!names.back().empty())
      part(names.back(), of.addresses[i], each.walk);
    else if (each.walk && !at_.is_migrated)
      with_name(each.name, [&] { load_.keep_default(); });
  }
  found_.names.push_back({at_.path, of.all.data(), std::move(names)});
}

bool column_matcher::is_stored(std::string_view name) {
  return with_name(name, [&] { return load_.load_.stored.is_stored(path()); });
}

void column_matcher::add(memory_view view, const device_copies* device) {
  if (device || at_.place) return refuse();
  if (!in_rows_) view.shape.insert(view.shape.begin(), rows_);
  view.memory = nullptr;
  view.strides.clear();
  match_column(kind::values, view);
}

std::size_t column_matcher::match_column(kind what, const memory_view& view) {
  const std::size_t added = columns_.size();
  joined_column& to = columns_.emplace_back();
  to = {.path = at_.path, .what = what, .type = view.type, .row = {view.shape.begin() + 1, view.shape.end()}};
  to.width = element_count(to.row) * size_of(to.type);
  to.rows = view.shape.front();
  to.is_copied = copies_ > 0;
  const auto look = [&] {
    const catalog& from = load_.load_.stored.contents();
    const std::string stored = load_.load_.stored.stored_path(path());
    const std::size_t leaf = load_.load_.stored.find_leaf(stored);
    if (leaf == catalog::npos && to.rows == 0) return;
    if (leaf != catalog::npos) {
      const extents& shape = from.leaves[leaf].shape;
      if (shape.empty() || shape.front() != to.rows)
        fail(errc::corrupt,
             {stored, " in ", load_.origin(), " has shape ", to_string(shape), ", and should have ", to.rows, " rows"});
      if (to.width > 0) ++stored_;
    }
    static_cast<void>(load_.note_resize(0, to.rows, to.width));
    if (load_.match_leaf(view) != leaf || leaf == catalog::npos) return;
    if (from.leaves[leaf].shape == view.shape)
      to.leaf = leaf;
    else
      reject("has shape " + to_string(view.shape) + " in the state and " + to_string(from.leaves[leaf].shape) +
             " in the checkpoint; the arrays of joined objects keep no shape of their own");
  };
  to.suffix().empty() ? look() : with_name(to.suffix(), look);
  columns_[added].next = 0;
  if (added > 0) columns_[added - 1].next = added;
  return added;
}

std::uint64_t column_matcher::match_ends(kind what) {
  const dtype type = what == kind::ends ? dtype::u64 : dtype::boolean;
  joined_column& to = columns_[match_column(what, {type, {rows_}, nullptr, {}})];
  if (to.leaf == catalog::npos) return 0;
  const catalog& from = load_.load_.stored.contents();
  to.ends.resize(to.rows);
  if (what == kind::ends) {
    fetch_leaf(load_.load_.fetched, from, to.leaf, {type, {to.rows}, reinterpret_cast<std::byte*>(to.ends.data()), {}});
  } else {
    std::vector<std::byte> engaged(to.rows);
    fetch_leaf(load_.load_.fetched, from, to.leaf, {type, {to.rows}, engaged.data(), {}});
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < engaged.size(); ++i) to.ends[i] = count += engaged[i] != std::byte{0};
  }
  if (!std::ranges::is_sorted(to.ends))
    fail(errc::corrupt,
         {from.leaves[to.leaf].path, " in ", load_.origin(), " are no ends of arrays: they do not ascend"});
  return to.ends.empty() ? 0 : to.ends.back();
}

void column_matcher::contiguous(void* /*container*/, std::uint64_t size, void* first, const contiguous_operations& how,
                                const size_limits& limits) {
  if (!how.resize) return refuse();
  const std::uint64_t total = match_ends(kind::ends);
  found_.needs_trial = found_.needs_trial || limits.least > 0 || limits.most < total;
  const std::size_t ends = columns_.size() - 1;
  if (columns_[ends].leaf == catalog::npos) return;
  with_elements(how, [&] {
    with_rows(total, [&] { columns(total, how.width, size > 0 ? first : how.sample(), how.walk_element); });
  });
  const joined_column& last = columns_.back();
  if (columns_.size() == ends + 2 && last.width == how.width && last.leaf != catalog::npos)
    columns_[ends].packed = ends + 1;
}

size_answer column_matcher::sequence(std::uint64_t /*size*/, const size_limits& limits, bool /*empty_elements*/) {
  inner_ = match_ends(kind::ends);
  found_.needs_trial = found_.needs_trial || limits.least > 0 || limits.most < inner_;
  return {columns_.back().leaf != catalog::npos && (inner_ > 0 || is_stored("value"))};
}

void column_matcher::sequence_part(std::uint64_t index, void* object, const object_operations& how) {
  if (index > 0) return;
  with_content(object, how);
}

presence column_matcher::optional(bool engaged) {
  inner_ = match_ends(kind::engaged);
  if (columns_.back().leaf == catalog::npos || (inner_ == 0 && !is_stored("value"))) return presence::keep;
  return engaged ? presence::walk : presence::prototype;
}

void column_matcher::content(void* object, const content_operations& how) { with_content(object, how.object); }

void column_matcher::with_content(void* object, const object_operations& how) {
  with_name("value", [&] { with_rows(inner_, [&] { this->object(how.make ? object : nullptr, how); }); });
}

void column_matcher::copy(void* /*object*/, const copy_operations& how) {
  const std::shared_ptr<void> copy(how.make(), how.destroy);
  ++copies_;
  how.walk_copy(*this, copy.get());
  --copies_;
  found_.needs_trial = true;
}

column_splitter::column_splitter(walk_position& at, loader& load, joined_columns from, bool fills)
    : column_walker(at, std::move(from.all)),
      load_(load),
      names_(std::move(from.names)),
      needs_trial_(from.needs_trial),
      fills_(fills) {
  fetched_leaves once(0);  // keeps nothing: the second walk reads most columns, and reads each once
  for (joined_column& each : columns_) {
    if (each.what != kind::values || each.leaf == catalog::npos || !(fills || each.is_copied)) continue;
    each.values.reset(new std::byte[each.rows * each.width]);
    extents shape{each.rows};
    shape.insert(shape.end(), each.row.begin(), each.row.end());
    fetched_leaves& by = load.load_.fetched;
    fetch_leaf(fills && !by.has(each.leaf) ? once : by, load.load_.stored.contents(), each.leaf,
               {each.type, std::move(shape), each.values.get(), {}});
  }
}

void column_splitter::changed_members(const object_members& of, std::span<const change> /*changes*/) {
  const auto known = std::ranges::find_if(
      names_, [&](const joined_names& each) { return each.members == of.all.data() && each.path == at_.path; });
  if (known == names_.end()) return;
  for (std::size_t i = 0; i < of.all.size(); ++i)
    if (!known->names[i].empty()) part(known->names[i], of.addresses[i], of.all[i].walk);
}

template <class Action>
void column_splitter::with_row(std::uint64_t row, const Action& walk) {
  const std::uint64_t outer = std::exchange(row_, row), inner = inner_;
  walk();
  row_ = outer;
  inner_ = inner;
}

bool column_splitter::find_elements(kind what, std::uint64_t now, range& elements) {
  const std::size_t column = find(what);
  if (column == catalog::npos || columns_[column].leaf == catalog::npos) return false;
  const auto& ends = columns_[column].ends;
  elements.first = row_ == 0 ? 0 : ends[row_ - 1];
  elements.size = ends[row_] - elements.first;
  if (elements.size == now || copies_ > 0) return true;
  differs_ = true;
  if (fills_ && keeps_sizes_) reject("is in two parts of the state, to which the checkpoint gives different sizes");
  return true;
}

void column_splitter::add(memory_view view, const device_copies* /*device*/) {
  const std::size_t found = find(kind::values);
  if (found == catalog::npos || columns_[found].leaf == catalog::npos) return;
  joined_column& from = columns_[found];
  const auto row = std::span(view.shape).subspan(in_rows_ ? 1 : 0);
  if (!std::ranges::equal(from.row, row))
    return reject("has shape " + to_string({row.begin(), row.end()}) + " in the state and " + to_string(from.row) +
                  " in the checkpoint; leave it out with filter");
  if (!fills_ || view.count() == 0) return;
  scatter(view, 0, {from.values.get() + row_ * from.width, view.bytes()});
}

void column_splitter::contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                                 const size_limits& limits) {
  range elements{};
  if (!find_elements(kind::ends, size, elements)) return;
  const std::size_t packed = columns_[last_].packed;
  if (elements.size != size && !fills_ && !load_.admits(limits, elements.size)) return;
  if (!fills_) return;
  if (elements.size != size) first = how.resize(container, elements.size);
  if (elements.size == 0) return;
  if (packed != catalog::npos) {
    std::memcpy(first, columns_[last_ = packed].values.get() + elements.first * how.width, elements.size * how.width);
    return;
  }
  with_elements(how,
                [&] { with_row(elements.first, [&] { columns(elements.size, how.width, first, how.walk_element); }); });
}

size_answer column_splitter::sequence(std::uint64_t size, const size_limits& limits, bool /*empty_elements*/) {
  range elements{};
  if (!find_elements(kind::ends, size, elements)) return {};
  if (elements.size != size && !fills_ && !load_.admits(limits, elements.size)) return {};
  inner_ = elements.first;
  if (fills_) return {elements.size, elements.size != size};
  return {needs_trial_ ? elements.size : std::min(elements.size, size)};
}

void column_splitter::sequence_part(std::uint64_t index, void* object, const object_operations& how) {
  with_row(inner_ + index, [&] { object ? part("value", object, how.walk) : prototype_part("value", how); });
}

presence column_splitter::optional(bool engaged) {
  range elements{};
  if (!find_elements(kind::engaged, engaged, elements)) return presence::keep;
  inner_ = elements.first;
  if (elements.size == 0) return fills_ ? presence::clear : presence::keep;
  if (engaged) return presence::walk;
  return fills_ ? presence::make : needs_trial_ ? presence::prototype : presence::keep;
}

void column_splitter::content(void* object, const content_operations& how) {
  with_row(inner_, [&] { object ? part("value", object, how.object.walk) : prototype_part("value", how.object); });
}

void column_splitter::copy(void* object, const copy_operations& how) {
  const std::shared_ptr<void> copy(how.make(), how.destroy);
  const bool fills = std::exchange(fills_, true);
  ++copies_;
  how.walk_copy(*this, copy.get());
  --copies_;
  fills_ = fills;
  load_.with_path([&] {
    for (const auto& each : how.check(object, copy.get()))
      if (!fills_ && temporaries_ == 0) load_.note_replaced(each);
    if (fills_) return how.put(object, copy.get());
    if (temporaries_ == 0 && how.for_each_freed) {
      load_.note_owner(object, &how);
      load_.note_put(object, copy.get(), how);
    }
    how.try_put(object, copy.get());
  });
}

void column_splitter::walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) {
  ++temporaries_;
  walker::walk_temporary(object, walk, destroy);
  --temporaries_;
}

std::vector<std::string> column_splitter::keys(std::uint64_t count) const {
  std::vector<std::string> all(count);
  const joined_column &ends = columns_[0], &text = columns_[1];  // as `column_matcher::entry` has found them
  for (std::uint64_t row = 0, first = 0; row < count; first = ends.ends[row++])
    all[row].assign(reinterpret_cast<const char*>(text.values.get()) + first, ends.ends[row] - first);
  return all;
}

const structure_entry* loader::find_rows() {
  const structure_entry* found = load_.stored.find_entry(path());
  if (found && found->what == structure_entry::kind::engaged && !at_.path.empty())
    found = find_other_form(structure_entry::kind::rows, found);
  if (!found || found->what != structure_entry::kind::rows) return nullptr;
  load_.stored.use_entry(*found);
  return found;
}

std::optional<joined_columns> loader::match_joined(std::uint64_t count,
                                                   const std::function<void(column_matcher&)>& walk_object) {
  if (load_.stored.selects_some(at_.path)) {
    reject("can only be loaded as a whole; let the filter select all of it, or nothing");
    return std::nullopt;
  }
  const std::string at = load_.stored.stored_path(path());
  if (load_.stored.options().filter && !load_.stored.first_below(at_.path) &&
      !(load_.stored.accepts(at) && load_.stored.find_leaf(at) != catalog::npos)) {
    ++load_.left_out;
    return std::nullopt;
  }
  column_matcher matcher(at_, *this, count);
  return matcher.match(walk_object);
}

void loader::fill_joined(column_splitter& splitter, std::span<void* const> objects, const object_operations& how,
                         const joined_container& of) {
  const bool fills = purpose() == purpose::apply;
  if (fills && load_.kept_sizes.contains(at_.path)) splitter.keep_sizes();
  std::shared_ptr<void> trial;
  const auto walk_objects = [&] {
    for (std::size_t row = 0; row < objects.size(); ++row) {
      if (!objects[row] && !splitter.needs_trial()) continue;
      if (!objects[row] && !trial) trial.reset(how.make(), how.destroy);
      splitter.object(row, objects[row] ? objects[row] : trial.get(), how.walk, !objects[row]);
    }
  };
  of.inside.empty() ? walk_objects() : with_name(of.inside, walk_objects);
  if (fills) return;
  if (!of.resizes && !splitter.differs()) {
    load_.kept_sizes.insert(at_.path);
  } else if (!of.before.empty()) {
    if (!of.resizes) static_cast<void>(note_resize(of.before.size(), of.before.size(), 0));
    note_owner(of.object, of.type);
    for (void* const each : of.before) note_destroyed(each, how.walk);
  }
}

bool loader::joined(void* sequence, std::uint64_t size, const size_limits& limits, const sequence_operations& how) {
  const structure_entry* const stored = find_rows();
  if (!stored) return false;
  const std::uint64_t count = stored->number;
  std::vector<void*> objects;
  for_each_element(sequence, how, [&](void* element) { objects.push_back(element); });
  auto columns = match_joined(
      count, [&](column_matcher& matcher) { matcher.object(size > 0 ? objects.front() : nullptr, how.element); });
  if (!columns) return true;
  const bool resizes = size != count;
  if (resizes) static_cast<void>(note_resize(size, count, how.width));
  if (resizes && !admits(limits, count)) return true;
  const bool fills = purpose() == purpose::apply;
  if (fills && prototypes_ > 0) return true;
  column_splitter splitter(at_, *this, std::move(*columns), fills);
  if (resizes && !fills)
    for (std::uint64_t i = how.elements_move ? 0 : count; i < size; ++i) note_freed(objects[i], how.width);
  if (resizes && fills) {
    how.resize(sequence, count);
    objects.clear();
    for_each_element(sequence, how, [&](void* element) { objects.push_back(element); });
  }
  objects.resize(std::max(size, count));  // null: the load will make it
  const std::span<void* const> all = objects;
  fill_joined(splitter, all.first(count), how.element, {sequence, &how, all.first(size), resizes, {}});
  return true;
}

}  // namespace cairn::inline v0_1::detail
