// SPDX-License-Identifier: MIT
// Joins the arrays of many small objects into columns, and divides columns into the arrays of objects. Each array of an
// object is a column, which is found by its path in the object: its rows are those of all objects, in their order.
// Of a container in the object, the column `<path>.ends` has the number of elements up to the end of each, and the
// elements are the objects of further columns at `<path>.value` (of a string: `<path>.text`); of an optional,
// `<path>.engaged` tells which have a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/loader.hpp"
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
  [[nodiscard]] std::size_t find(kind what) noexcept;
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

/// A save: appends the arrays of each object to the columns.
class column_joiner final : public column_walker {
 public:
  /// `objects`: their number.
  column_joiner(walk_position& at, std::uint64_t objects)
      : column_walker(at), objects_(objects), most_bytes_(objects * most_joined_bytes) {}

  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) override;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) override;
  void sequence_part(std::uint64_t index, void* object, const object_operations& how) override;
  presence optional(bool engaged) override;
  void content(void* object, const content_operations& how) override;
  void copy(void* object, const copy_operations& how) override;

  void object(void* object, walk_function walk) {
    walk(*this, object);
    count_object();
  }
  /// An entry of a map.
  void entry(std::string_view key, void* value, walk_function walk);
  /// False: the objects cannot be joined.
  [[nodiscard]] bool fits() const noexcept { return !refused_; }
  /// After all objects: the columns; none if the objects cannot be joined.
  [[nodiscard]] std::vector<joined_column> take();

 private:
  void add(memory_view view, const device_copies* device) override;
  [[nodiscard]] std::size_t find_or_add(kind what);
  template <class Action>
  void with_outer(std::size_t column, const Action& walk);
  void add_end(std::size_t column, std::uint64_t size);
  void note_bytes(std::uint64_t bytes) noexcept {
    if (bytes > most_bytes_) return refuse();
    most_bytes_ -= bytes;
  }

  /// After the first ones, allocates memory for all objects, as these need it.
  void count_object();

  std::uint64_t objects_;
  std::uint64_t most_bytes_;  // that may follow
  std::uint64_t walked_ = 0;
  std::size_t outer_ = catalog::npos;  // the column of the container that the current object is in
  std::size_t inner_ = catalog::npos;  // that of the current object
};

/// A load: finds the columns for the parts of one object, which stands for all.
class column_matcher final : public column_walker {
 public:
  /// `objects`: their number in the checkpoint.
  column_matcher(walk_position& at, loader& load, std::uint64_t objects)
      : column_walker(at), load_(load), rows_(objects) {}

  /// The columns that `walk_object` finds; null, and a problem, if the objects cannot be loaded.
  [[nodiscard]] std::optional<joined_columns> match(const std::function<void(column_matcher&)>& walk_object);
  /// Walks the object; null: a new one.
  void object(void* object, const object_operations& how);
  /// The same for an entry of a map.
  void entry(void* value, const object_operations& how);

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return purpose::check; }
  void changed_members(const object_members& of, std::span<const change> changes) override;
  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) override;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) override;
  void sequence_part(std::uint64_t index, void* object, const object_operations& how) override;
  presence optional(bool engaged) override;
  void content(void* object, const content_operations& how) override;
  void copy(void* object, const copy_operations& how) override;
  bool has_stored(std::string_view name) override { return load_.has_stored(name); }
  void reject(const std::string& problem) override;

 private:
  void add(memory_view view, const device_copies* device) override;
  std::size_t match_column(kind what, const memory_view& view);
  /// The number of elements of all containers.
  [[nodiscard]] std::uint64_t match_ends(kind what);
  template <class Action>
  void with_rows(std::uint64_t rows, const Action& walk);
  void with_content(void* object, const object_operations& how);
  [[nodiscard]] bool is_stored(std::string_view part);

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
  column_splitter(walk_position& at, loader& load, joined_columns from, bool fills);

  /// Walks the object of a row.
  void object(std::uint64_t row, void* object, walk_function walk, bool is_temporary) {
    row_ = row;
    temporaries_ = is_temporary;
    walk(*this, object);
  }
  /// The keys of a map.
  [[nodiscard]] std::vector<std::string> keys(std::uint64_t count) const;
  /// Whether the size of a container changes, or an object is made or removed.
  [[nodiscard]] bool differs() const noexcept { return differs_; }
  [[nodiscard]] bool needs_trial() const noexcept { return needs_trial_; }
  /// From now on a size that changes is an error.
  void keep_sizes() noexcept { keeps_sizes_ = true; }

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return fills_ ? purpose::apply : purpose::check; }
  void changed_members(const object_members& of, std::span<const change> changes) override;
  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) override;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) override;
  void sequence_part(std::uint64_t index, void* object, const object_operations& how) override;
  presence optional(bool engaged) override;
  void content(void* object, const content_operations& how) override;
  void copy(void* object, const copy_operations& how) override;
  void walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) override;
  bool has_stored(std::string_view name) override { return load_.has_stored(name); }
  void reject(const std::string& problem) override { load_.reject(problem); }

 private:
  struct range {
    std::uint64_t first, size;
  };
  void add(memory_view view, const device_copies* device) override;
  /// The elements of the current object; false: it keeps those that it has. `now`: their number.
  [[nodiscard]] bool find_elements(kind what, std::uint64_t now, range& elements);
  template <class Action>
  void with_row(std::uint64_t row, const Action& walk);

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
