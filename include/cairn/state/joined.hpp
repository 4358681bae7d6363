// SPDX-License-Identifier: MIT
// Joins the arrays of many small objects into columns, and divides columns into the arrays of objects. Each array of an
// object is a column, which is found by its path in the object: its rows are those of all objects, in their order.
// Of a container in the object, the column `<path>.ends` has the number of elements up to the end of each, and the
// elements are the objects of further columns at `<path>.value` (of a string: `<path>.text`); of an optional,
// `<path>.engaged` tells which have a value.
#pragma once

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
#include "cairn/state/operations.hpp"
#include "cairn/state/walker.hpp"

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
  std::size_t leaf = catalog::npos;       ///< in a load: the stored leaf; npos: the parts keep their values
  bool is_copied = false;                 ///< in a load: of objects that are loaded as copies

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

}  // namespace cairn::inline v0_1::detail
