// SPDX-License-Identifier: MIT
// Joins the arrays of many small objects into columns, and divides columns into the arrays of objects. Each array of an
// object is a column, which is found by its path in the object: its rows are those of all objects, in their order.
// Of a container in the object, the column `<path>.ends` has the number of elements up to the end of each, and the
// elements are the objects of further columns at `<path>.value` (of a string: `<path>.text`); of an optional,
// `<path>.engaged` tells which have a value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/walk_container.hpp"
#include "cairn/state/walker.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// Containers of fewer objects are not joined: an object has a path of its own.
inline constexpr std::uint64_t fewest_joined = 256;
/// Nor are objects that have more bytes, on average.
inline constexpr std::uint64_t most_joined_bytes = 8192;

struct joined_column {
  enum class kind : unsigned char { values, ends, engaged };

  std::string path{};  ///< in the state, of the array or of the holder
  kind what{};
  dtype type{};
  extents row{};          ///< the shape of one
  std::size_t width = 0;  ///< bytes of one
  std::uint64_t rows = 0;
  std::vector<std::byte> bytes{};         ///< in a save, of `values` and `engaged`
  std::unique_ptr<std::byte[]> values{};  ///< in a load
  std::vector<std::uint64_t> ends{};      ///< the end of the elements of each row; of `engaged`: in a load only
  std::size_t outer = catalog::npos;      ///< in a save: the column of the containers that it is in
  std::size_t next = 0;                   ///< the column that came after this one the last time
  std::size_t packed = catalog::npos;     ///< of `ends`: the only column of the elements, which are numbers
  walk_function packed_by = nullptr;      ///< then: the walk of an element
  std::size_t leaf = catalog::npos;       ///< in a load: the stored leaf; npos: the parts keep their values
  bool is_copied = false;                 ///< in a load: of objects that are loaded as copies

  void pack(std::size_t values_of_elements, walk_function walk_element) noexcept {
    packed = values_of_elements;
    packed_by = walk_element;
  }
  /// Whether elements that are walked by this are copied to, or from, `packed` as they are.
  [[nodiscard]] bool is_packed_by(walk_function walk_element) const noexcept {
    return packed != catalog::npos && packed_by == walk_element;
  }
  /// What its name adds to the path.
  [[nodiscard]] std::string_view suffix() const noexcept {
    return what == kind::values ? "" : what == kind::ends ? "ends" : "engaged";
  }
};

/// The members of a class that has changed, under their names in the checkpoint; empty: they keep their values.
struct joined_names {
  std::string path;
  const member_operations* members;
  std::vector<std::string_view> names;
};

/// What a load has found for the objects of a container.
struct joined_columns {
  std::vector<joined_column> all{};
  std::vector<joined_names> names{};
  bool needs_trial = false;  ///< a value, or a size, may not fit the objects
};

/// Walks objects whose arrays are in columns. Refuses those that need more: an entry, or an array of any shape.
class column_walker : public walker {
 public:
  void versioned(void* /*object*/, const version_operations& /*how*/) final { refuse(); }
  void enumerated(dtype /*type*/, void* /*memory*/, std::span<const enum_entry> /*names*/) final { refuse(); }
  pointee_answer pointee(const found_object& /*found*/) final { return refuse(), pointee_answer{}; }
  shared_answer shared(const found_object& /*found*/, const std::shared_ptr<void>& /*object*/) final {
    return refuse(), shared_answer{};
  }

  void heap(void* /*object*/, const heap_operations& /*how*/) final { refuse(); }
  alternative_answer alternative(std::uint64_t /*index*/, std::uint64_t /*count*/) final {
    return refuse(), alternative_answer{};
  }

  void map(void* /*object*/, const map_operations& /*how*/) final { refuse(); }
  void entries(void* /*map*/, const entries_operations& /*how*/) final { refuse(); }
  std::uint64_t saved_ranks(bool /*takes_all*/) final { return refuse(), 0; }
  const stored_leaf* stored(const extents& /*now*/) final { return refuse(), nullptr; }
  bool runs_archive_functions() const noexcept final { return refuse(), false; }

 protected:
  using kind = joined_column::kind;

  column_walker(walk_position& at, std::vector<joined_column> columns = {})
      : walker(at), columns_(std::move(columns)) {}

  void refuse() const noexcept { refused_ = true; }
  /// The index of the column of the current object; npos if there is none.
  [[nodiscard]] std::size_t find(kind what) noexcept {
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

  /// Calls `action` with the elements of a container as the current objects, `columns` the number of their rows.
  template <class Action>
  void with_elements(const contiguous_operations& how, const Action& action) {
    with_name(how.holds == contiguous_operations::content::text ? "text" : "value", [&] {
      in_rows_ = true;
      action();
      in_rows_ = false;
    });
  }

  std::vector<joined_column> columns_;
  std::size_t last_ = 0;  // the column that was found last
  bool in_rows_ = false;  // the first dimension of an array are rows
  unsigned copies_ = 0;   // that are open
  mutable bool refused_ = false;
};

class column_joiner final : public column_walker {
 public:
  /// `objects`: their number.
  column_joiner(walk_position& at, std::uint64_t objects)
      : column_walker(at), objects_(objects), most_bytes_(objects * most_joined_bytes) {}

  void contiguous(void* /*container*/, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& /*limits*/) override {
    if (!how.resize) return refuse();
    const std::size_t ends = find_or_add(kind::ends);
    add_end(ends, size);
    if (size == 0) return;
    if (columns_[ends].is_packed_by(how.walk_element)) {
      joined_column& to = columns_[last_ = columns_[ends].packed];
      note_bytes(size * how.width);
      if (refused_) return;
      const auto* const from = static_cast<const std::byte*>(first);
      to.bytes.insert(to.bytes.end(), from, from + size * how.width);
      to.rows += size;
      return;
    }
    const std::size_t before = columns_.size();
    with_elements(how, [&] { with_outer(ends, [&] { columns(size, how.width, first, how.walk_element); }); });
    if (columns_.size() == before + 1 && columns_.back().width == how.width)
      columns_[ends].pack(before, how.walk_element);
  }

  size_answer sequence(std::uint64_t size, const size_limits& /*limits*/, bool /*empty_elements*/) override {
    inner_ = find_or_add(kind::ends);
    add_end(inner_, size);
    return {size};
  }

  void sequence_part(std::uint64_t /*index*/, void* object, const object_operations& how) override {
    if (!how.make) return refuse();
    if (!refused_) with_outer(inner_, [&] { part("value", object, how.walk); });
  }

  presence optional(bool engaged) override {
    joined_column& to = columns_[inner_ = find_or_add(kind::engaged)];
    to.bytes.push_back(std::byte{engaged});
    note_bytes(1);
    return engaged ? presence::walk : presence::keep;
  }

  void content(void* object, const content_operations& how) override {
    if (!how.object.make) return refuse();
    with_outer(inner_, [&] { part("value", object, how.object.walk); });
  }

  void copy(void* object, const copy_operations& how) override {
    const std::shared_ptr<void> copy(how.take(object), how.destroy);
    how.walk_copy(*this, copy.get());
  }

  void object(void* object, walk_function walk) {
    walk(*this, object);
    count_object();
  }

  /// An entry of a map.
  void entry(std::string_view key, void* value, walk_function walk) {
    with_name("key", [&] {
      contiguous(nullptr, key.size(), const_cast<char*>(key.data()), contiguous_container<std::string>::operations, {});
    });
    part("value", value, walk);
    count_object();
  }

  /// False: the objects cannot be joined.
  [[nodiscard]] bool fits() const noexcept { return !refused_; }
  /// After all objects: the columns; none if the objects cannot be joined.
  [[nodiscard]] std::vector<joined_column> take() {
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

 private:
  void add(memory_view view, const device_copies* device) override {
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

  [[nodiscard]] std::size_t find_or_add(kind what) {
    if (const std::size_t found = find(what); found != catalog::npos) return found;
    const std::size_t added = columns_.size();
    columns_.push_back({.path = at_.path, .what = what, .outer = outer_});
    if (added > 0) columns_[last_].next = added;
    return last_ = added;
  }

  template <class Action>
  void with_outer(std::size_t column, const Action& walk) {
    const std::size_t outer = std::exchange(outer_, column), inner = inner_;
    walk();
    outer_ = outer;
    inner_ = inner;
  }

  void add_end(std::size_t column, std::uint64_t size) {
    auto& ends = columns_[column].ends;
    ends.push_back((ends.empty() ? 0 : ends.back()) + size);
    note_bytes(sizeof(std::uint64_t));
  }

  void note_bytes(std::uint64_t bytes) noexcept {
    if (bytes > most_bytes_) return refuse();
    most_bytes_ -= bytes;
  }

  /// Each time that the number of objects has doubled: allocates memory for all of them, as those until now need it, or
  /// asks for as much again. Large objects that have none are not joined.
  void count_object() {
    if (++walked_ < fewest_joined || !std::has_single_bit(walked_) || walked_ == objects_ || refused_) return;
    std::uint64_t bytes = 0;
    for (const joined_column& each : columns_) bytes += each.bytes.size() + each.ends.size() * sizeof(std::uint64_t);
    const double times = static_cast<double>(objects_) / static_cast<double>(walked_);
    const auto of_all = [&](std::uint64_t now) { return static_cast<std::uint64_t>(static_cast<double>(now) * times); };
    const auto reserve = [&](auto& column) {
      const auto wanted = of_all(column.size());
      if (column.capacity() < wanted) column.reserve(wanted + wanted / 16);
    };
    if (has_memory_to_copy(of_all(bytes + bytes / 16) - bytes)) {
      for (joined_column& each : columns_) {
        reserve(each.bytes);
        reserve(each.ends);
      }
    } else if (bytes / walked_ <= most_joined_bytes) {
      call_adapter(*this, [&] { require_memory_to_copy(bytes); });
    } else if (!has_memory_to_copy(bytes)) {
      refuse();
    }
  }

  std::uint64_t objects_;
  std::uint64_t most_bytes_;  // that may follow
  std::uint64_t walked_ = 0;
  std::size_t outer_ = catalog::npos;  // the column of the container that the current object is in
  std::size_t inner_ = catalog::npos;  // that of the current object
};

}  // namespace cairn::inline v0_1::detail
