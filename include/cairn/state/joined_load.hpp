// SPDX-License-Identifier: MIT
// A load of joined objects: finds the columns, and gives each object its rows of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/stored_state.hpp"
#include "cairn/state/joined.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_container.hpp"

namespace cairn::inline v0_1::detail {

/// A key of a map, which is stored as its text.
inline void walk_key(walker& w, void* text) {
  contiguous_container<std::string>::walk_all(w, *static_cast<std::string*>(text));
}

/// A load: finds the columns for the parts of one object, which stands for all.
class column_matcher final : public column_walker {
 public:
  /// `objects`: their number in the checkpoint.
  column_matcher(walk_position& at, loader& load, std::uint64_t objects)
      : column_walker(at), load_(load), rows_(objects) {}

  /// The columns that `walk_object` finds; null, and a problem, if the objects cannot be loaded.
  [[nodiscard]] std::optional<joined_columns> match(const std::function<void(column_matcher&)>& walk_object) {
    with_rows(rows_, [&] { walk_object(*this); });
    if (refused_)
      reject(
          "is stored with the parts of its objects joined, and the type of these has pointers, variants, versions, or "
          "arrays of any shape; load it into the type that it had, or leave it out with filter");
    if (failed_) return std::nullopt;
    found_.all = std::move(columns_);
    return std::move(found_);
  }

  /// Walks the object; null: a new one.
  void object(void* object, const object_operations& how) { object ? how.walk(*this, object) : prototype(how); }

  /// The same for an entry of a map.
  void entry(void* value, const object_operations& how) {
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

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return purpose::check; }
  void changed_members(const object_members& of, std::span<const change> changes) override {
    load_.note_removed(changes);
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < of.all.size(); ++i) {
      const member_operations& each = of.all[i];
      names.push_back(each.walk ? load_.stored_name(each.name, changes) : std::string_view());
      if (!names.back().empty())
        part(names.back(), of.addresses[i], each.walk);
      else if (each.walk && at_.migrated_length != at_.path.size())
        with_name(each.name, [&] { load_.keep_default(); });
    }
    found_.names.push_back({at_.path, of.all.data(), std::move(names)});
  }

  void contiguous(void* /*container*/, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) override {
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
      columns_[ends].pack(ends + 1, how.walk_element);
  }

  size_answer sequence(std::uint64_t /*size*/, const size_limits& limits, bool /*empty_elements*/) override {
    inner_ = match_ends(kind::ends);
    found_.needs_trial = found_.needs_trial || limits.least > 0 || limits.most < inner_;
    return {columns_.back().leaf != catalog::npos && (inner_ > 0 || is_stored("value"))};
  }

  void sequence_part(std::uint64_t index, void* object, const object_operations& how) override {
    if (index > 0) return;
    with_content(object, how);
  }

  presence optional(bool engaged) override {
    inner_ = match_ends(kind::engaged);
    if (columns_.back().leaf == catalog::npos || (inner_ == 0 && !is_stored("value"))) return presence::keep;
    return engaged ? presence::walk : presence::prototype;
  }

  void content(void* object, const content_operations& how) override { with_content(object, how.object); }
  void copy(void* /*object*/, const copy_operations& how) override {
    const std::shared_ptr<void> copy(how.make(), how.destroy);
    ++copies_;
    how.walk_copy(*this, copy.get());
    --copies_;
    found_.needs_trial = true;
  }

  bool has_stored(std::string_view name) override { return load_.has_stored(name); }
  void reject(const std::string& problem) override {
    failed_ = true;
    load_.reject(problem);
  }

 private:
  void add(memory_view view, const device_copies* device) override {
    if (device || at_.place) return refuse();
    if (!in_rows_) view.shape.insert(view.shape.begin(), rows_);
    view.memory = nullptr;
    view.strides.clear();
    match_column(kind::values, view);
  }

  std::size_t match_column(kind what, const memory_view& view) {
    const std::size_t added = columns_.size();
    joined_column& to = columns_.emplace_back();
    to = {.path = at_.path, .what = what, .type = view.type, .row = {view.shape.begin() + 1, view.shape.end()}};
    to.width = element_count(to.row) * size_of(to.type);
    to.rows = view.shape.front();
    to.is_copied = copies_ > 0;
    const auto look = [&] {
      const catalog& from = load_.stored_.contents();
      const std::string stored = load_.stored_.stored_path(path());
      const std::size_t leaf = load_.stored_.find_leaf(stored);
      if (leaf == catalog::npos && to.rows == 0) return;
      if (leaf != catalog::npos) {
        const extents& shape = from.leaves[leaf].shape;
        if (shape.empty() || shape.front() != to.rows)
          fail(errc::corrupt, {stored, " in ", load_.origin(), " has shape ", to_string(shape), ", and should have ",
                               to.rows, " rows"});
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

  /// The number of elements of all containers.
  [[nodiscard]] std::uint64_t match_ends(kind what) {
    const dtype type = what == kind::ends ? dtype::u64 : dtype::boolean;
    joined_column& to = columns_[match_column(what, {type, {rows_}, nullptr, {}})];
    if (to.leaf == catalog::npos) return 0;
    const catalog& from = load_.stored_.contents();
    to.ends.resize(to.rows);
    if (what == kind::ends) {
      fetch_leaf(load_.fetched_, from, to.leaf, {type, {to.rows}, reinterpret_cast<std::byte*>(to.ends.data()), {}});
    } else {
      std::vector<std::byte> engaged(to.rows);
      fetch_leaf(load_.fetched_, from, to.leaf, {type, {to.rows}, engaged.data(), {}});
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < engaged.size(); ++i) to.ends[i] = count += engaged[i] != std::byte{0};
    }
    if (!std::ranges::is_sorted(to.ends))
      fail(errc::corrupt,
           {from.leaves[to.leaf].path, " in ", load_.origin(), " are no ends of arrays: they do not ascend"});
    return to.ends.empty() ? 0 : to.ends.back();
  }

  template <class Action>
  void with_rows(std::uint64_t rows, const Action& walk) {
    const std::uint64_t outer = std::exchange(rows_, rows);
    const std::size_t before = stored_;
    walk();
    if (rows > 0 && stored_ == before)
      reject("has " + std::to_string(rows) +
             " objects in the checkpoint, and no parts of them that the state has; leave it out with filter");
    rows_ = outer;
  }

  void with_content(void* object, const object_operations& how) {
    with_name("value", [&] { with_rows(inner_, [&] { this->object(how.make ? object : nullptr, how); }); });
  }

  [[nodiscard]] bool is_stored(std::string_view name) {
    return with_name(name, [&] { return load_.stored_.is_stored(path()); });
  }

  loader& load_;
  std::uint64_t rows_;       // for which the current object stands
  std::uint64_t inner_ = 0;  // the same for the elements of the current container
  std::size_t stored_ = 0;   // number of columns that the checkpoint has
  bool failed_ = false;
  joined_columns found_;
};

/// A load: gives each object the rows of the columns that are its own. Or, in the check, compares sizes.
class column_splitter final : public column_walker {
 public:
  column_splitter(walk_position& at, loader& load, joined_columns from, bool fills)
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
      fetched_leaves& by = load.fetched_;
      fetch_leaf(fills && !by.has(each.leaf) ? once : by, load.stored_.contents(), each.leaf,
                 {each.type, std::move(shape), each.values.get(), {}});
    }
  }

  /// Walks the object of a row.
  void object(std::uint64_t row, void* object, walk_function walk, bool is_temporary) {
    row_ = row;
    temporaries_ = is_temporary;
    walk(*this, object);
  }

  /// The keys of a map.
  [[nodiscard]] std::vector<std::string> keys(std::uint64_t count) const {
    std::vector<std::string> all(count);
    const joined_column &ends = columns_[0], &text = columns_[1];  // as `column_matcher::entry` has found them
    for (std::uint64_t row = 0, first = 0; row < count; first = ends.ends[row++])
      all[row].assign(reinterpret_cast<const char*>(text.values.get()) + first, ends.ends[row] - first);
    return all;
  }

  /// Whether the size of a container changes, or an object is made or removed.
  [[nodiscard]] bool differs() const noexcept { return differs_; }
  [[nodiscard]] bool needs_trial() const noexcept { return needs_trial_; }
  /// From now on a size that changes is an error.
  void keep_sizes() noexcept { keeps_sizes_ = true; }

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return fills_ ? purpose::apply : purpose::check; }
  void changed_members(const object_members& of, std::span<const change> /*changes*/) override {
    const auto known = std::ranges::find_if(
        names_, [&](const joined_names& each) { return each.members == of.all.data() && each.path == at_.path; });
    if (known == names_.end()) return;
    for (std::size_t i = 0; i < of.all.size(); ++i)
      if (!known->names[i].empty()) part(known->names[i], of.addresses[i], of.all[i].walk);
  }

  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) override {
    range elements{};
    if (!find_elements(kind::ends, size, elements)) return;
    const joined_column& ends = columns_[last_];
    if (ends.packed != catalog::npos && !ends.is_packed_by(how.walk_element)) return reject_other_type();
    if (elements.size != size && !fills_ && !load_.admits(limits, elements.size)) return;
    if (!fills_) return;
    if (elements.size != size) first = how.resize(container, elements.size);
    if (elements.size == 0) return;
    if (ends.packed != catalog::npos) {
      const joined_column& from = columns_[last_ = ends.packed];
      std::memcpy(first, from.values.get() + elements.first * how.width, elements.size * how.width);
      return;
    }
    with_elements(
        how, [&] { with_row(elements.first, [&] { columns(elements.size, how.width, first, how.walk_element); }); });
  }

  size_answer sequence(std::uint64_t size, const size_limits& limits, bool /*empty_elements*/) override {
    range elements{};
    if (!find_elements(kind::ends, size, elements)) return {};
    if (elements.size != size && !fills_ && !load_.admits(limits, elements.size)) return {};
    inner_ = elements.first;
    if (fills_) return {elements.size, elements.size != size};
    return {needs_trial_ ? elements.size : std::min(elements.size, size)};
  }

  void sequence_part(std::uint64_t index, void* object, const object_operations& how) override {
    with_row(inner_ + index, [&] { object ? part("value", object, how.walk) : prototype_part("value", how); });
  }

  presence optional(bool engaged) override {
    range elements{};
    if (!find_elements(kind::engaged, engaged, elements)) return presence::keep;
    inner_ = elements.first;
    if (elements.size == 0) return fills_ ? presence::clear : presence::keep;
    if (engaged) return presence::walk;
    return fills_ ? presence::make : needs_trial_ ? presence::prototype : presence::keep;
  }

  void content(void* object, const content_operations& how) override {
    with_row(inner_, [&] { object ? part("value", object, how.object.walk) : prototype_part("value", how.object); });
  }

  void copy(void* object, const copy_operations& how) override {
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

  void walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) override {
    ++temporaries_;
    walker::walk_temporary(object, walk, destroy);
    --temporaries_;
  }

  bool has_stored(std::string_view name) override { return load_.has_stored(name); }
  void reject(const std::string& problem) override { load_.reject(problem); }

 private:
  struct range {
    std::uint64_t first, size;
  };
  void add(memory_view view, const device_copies* /*device*/) override {
    const std::size_t found = find(kind::values);
    if (found == catalog::npos || columns_[found].leaf == catalog::npos) return;
    joined_column& from = columns_[found];
    const auto row = std::span(view.shape).subspan(in_rows_ ? 1 : 0);
    if (from.type != view.type) return reject_other_type();
    if (!std::ranges::equal(from.row, row))
      return reject("has shape " + to_string({row.begin(), row.end()}) + " in the state and " + to_string(from.row) +
                    " in the checkpoint; leave it out with filter");
    if (!fills_ || view.count() == 0) return;
    scatter(view, 0, {from.values.get() + row_ * from.width, view.bytes()});
  }

  void reject_other_type() {
    reject("is of another type than that of other objects of its container; leave it out with filter");
  }

  /// The elements of the current object; false: it keeps those that it has. `now`: their number.
  [[nodiscard]] bool find_elements(kind what, std::uint64_t now, range& elements) {
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

  template <class Action>
  void with_row(std::uint64_t row, const Action& walk) {
    const std::uint64_t outer = std::exchange(row_, row), inner = inner_;
    walk();
    row_ = outer;
    inner_ = inner;
  }

  loader& load_;
  std::vector<joined_names> names_;
  bool needs_trial_;
  bool fills_;
  bool differs_ = false;
  bool keeps_sizes_ = false;
  unsigned temporaries_ = 0;  // objects that are no part of the state
  std::uint64_t row_ = 0;     // of the current object
  std::uint64_t inner_ = 0;   // of the first element of the current container
};

}  // namespace cairn::inline v0_1::detail
