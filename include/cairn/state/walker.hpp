// Walks a state: tracks the path and columns of the current object, and passes its parts to a describer or a matcher.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/answers.hpp"
#include "cairn/state/device_copies.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/rank_info.hpp"

namespace cairn::detail {

class describer;
class matcher;
class overlap_search;
struct stored_leaf;

/// Each type has one walk function, for saving, checking and loading. It passes the parts of an object to the walker and acts
/// on the result. Results come from a `describer`, which changes nothing, or from a `matcher`, which compares with a checkpoint
/// in a first walk and changes the object in a second one.
class walker {
 public:
  /// With a `search`, it visits all objects and arrays that are not in private copies.
  walker(describer& purpose, rank_info here, overlap_search* search = nullptr)
      : purpose_(&purpose), here_(here), search_(search) {}
  walker(matcher& purpose, rank_info here) : purpose_(&purpose), here_(here) {}

  /// The path of the current object; "value" for a state that is a single leaf.
  [[nodiscard]] std::string path() const;

  [[nodiscard]] rank_info here() const noexcept { return here_; }

  /// Walks a part of the current object unless the filter excludes it. errc::invalid: too deep.
  void part(std::string_view name, void* object, walk_function walk);
  void part(std::uint64_t index, void* object, walk_function walk);
  void parts(std::span<const named_part> all);
  /// The members of a class, which have changed since older checkpoints.
  void changed_parts(std::span<const named_part> all, std::span<const change> changes);
  /// Walks an object of a class that has a version; in columns, the one in the first row.
  void versioned(void* object, const version_operations& how);
  /// Walks a column of the current object in packed rows of `width` bytes.
  void stored_rows(std::string_view name, void* first, std::size_t width, walk_function walk);
  void prototype_part(std::string_view name, void (*walk_prototype)(walker&));

  /// Walks the content of the current object as its part `value`.
  void content(void* object, walk_function walk) { part(content_name(), object, walk); }
  void content_prototype(void (*walk_prototype)(walker&)) { prototype_part(content_name(), walk_prototype); }

  /// Walks a temporary object in place of one that the load will make, and destroys it.
  void prototype(void* object, walk_function walk, void (*destroy)(void*));

  /// An element of `type` at `memory`; in columns, the one in the first row.
  void element(dtype type, void* memory);

  /// The same for an enum whose values have these names. A load replaces stored numbers of other names at once.
  void enumerated(dtype type, void* memory, std::span<const enum_entry> names);

  /// A packed array of `shape` at `memory`. Each of its elements consists of `components` numbers.
  void array(dtype type, unsigned components, void* memory, const extents& shape) {
    array(type, components, memory, shape, {});
  }
  /// The same with strides, which count elements. Empty `strides`: packed. `device`: how to copy it if it is not on the host.
  void array(dtype type, unsigned components, void* memory, const extents& shape,
             const std::vector<std::int64_t>& strides, const device_copies* device = nullptr);

  /// `rows` objects of one fixed layout, `width` bytes apart. Only the first is walked; each of its leaves stands for all rows.
  void columns(std::uint64_t rows, std::size_t width, void* first, walk_function walk);

  /// Walks a container of `size` elements, the first at `first`, as columns.
  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how);

  /// A sequence of `size` objects, each with its own path. `empty_elements`: their type is empty, so they add no leaf.
  [[nodiscard]] size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements);

  /// See adapter_field.
  [[nodiscard]] cairn::purpose current_purpose() const noexcept;
  [[nodiscard]] bool has_stored(std::string_view name);
  void require_check(std::string_view name) const;

  /// The stored array of the current object, which has `count` numbers now; null in a save, and if the checkpoint has none.
  [[nodiscard]] const stored_leaf* stored(std::uint64_t count);
  /// Records that the current object changes its size from `from` to `to` elements of `width` bytes. Returns true if it has
  /// to be resized now (second walk). errc::no_memory: more than the machine's memory.
  [[nodiscard]] bool resizes(std::uint64_t from, std::uint64_t to, std::size_t width);
  /// Records that the load frees or moves `bytes` bytes at `memory`, elements of `container`, which is the current object.
  void frees(const void* container, const void* memory, std::uint64_t bytes);

  /// An object that may be absent.
  [[nodiscard]] presence optional(bool engaged);

  /// An object behind a pointer that owns it alone.
  [[nodiscard]] pointee_answer pointee(const found_object& found);

  /// An object that several pointers may share. `object`: the whole object, null if there is none. Where a save walks it, call `shared_end`
  /// after the walk.
  [[nodiscard]] shared_answer shared(const found_object& found, std::shared_ptr<void> object);
  void shared_end();
  /// Passes the object that was made for the answer `make`. Call it before the object is walked.
  void shared_made(std::shared_ptr<void> object, const std::type_info& type);

  /// The number of objects that the load could not fill until now; 0 in a save.
  [[nodiscard]] std::size_t left_out() const noexcept;
  /// A const object was replaced: records a problem if a part of it was left out since `left_out` returned that number.
  void require_whole(std::size_t left_out_before);

  /// A variant that holds alternative `index` of `count`.
  [[nodiscard]] alternative_answer alternative(std::uint64_t index, std::uint64_t count);

  void map(void* object, const map_operations& how);
  void entries(void* map, const entries_operations& how);

  void copy(void* object, const copy_operations& how);

  /// Between these two calls the walk is in a private copy. A save keeps the copy as long as the description; a load fills
  /// it at once.
  void begin_copy(std::shared_ptr<const void> object);
  [[nodiscard]] copy_answer end_copy();

  [[nodiscard]] walk_purpose purpose() const noexcept;
  /// Whether a load is in a private copy.
  [[nodiscard]] bool is_in_copy() const noexcept;

  /// Only in a save. Between these two calls the walk is in objects that exist only for the moment: the bytes of their leaves are copied.
  void begin_temporary();
  void end_temporary();

  /// Only in the first walk of a load: the current object cannot be loaded whole, so it keeps its value in the second walk, too.
  void keep_whole();
  /// Only in a load: true after `keep_whole`. Whatever contains the object keeps its value, too.
  [[nodiscard]] bool must_keep();
  /// The bytes of all leaves of the checkpoint. Only in a load.
  [[nodiscard]] std::uint64_t stored_bytes();

  /// The number of ranks that saved the current per-rank object; 0: keep it. With `takes_all`, another number of ranks than
  /// now is not an error.
  [[nodiscard]] std::uint64_t saved_ranks(bool takes_all);

  [[nodiscard]] bool is_loading() const noexcept { return std::holds_alternative<matcher*>(purpose_); }
  /// Records that the current object cannot be loaded: "<path> <problem>". Only in a load.
  void reject(const std::string& problem);

 private:
  /// Calls `question` with the describer or the matcher.
  template <class Question>
  decltype(auto) ask(const Question& question);

  /// The path of the whole state is printed as "value", so its content is "value.value".
  [[nodiscard]] std::string_view content_name() const noexcept { return path_.empty() ? "value.value" : "value"; }

  void enter(std::string_view name);
  void leave();
  /// Calls `action` with the path of a part.
  template <class Action>
  void with_name(std::string_view name, const Action& action) {
    enter(name);
    action();
    leave();
  }
  /// The name under which the checkpoint has the member; empty: the member keeps its value.
  [[nodiscard]] std::string_view stored_name(std::string_view name, std::span<const change> changes);
  /// Loads an object of an older version, or the first of a column, at once; in the first walk a new one.
  void migrate(void* object, const version_operations& how);
  /// Loads numbers of `stored_type` at once, and gives each element at `memory` what `now(number, problem)` makes of its number.
  template <class Now>
  void renumber(dtype type, void* memory, dtype stored_type, const Now& now);
  void run_migration(void* object, const version_operations& how, std::uint64_t rows);
  /// Whether the filter excludes the current object. Tells the matcher so.
  [[nodiscard]] bool is_filtered();
  /// Whether a container can get the stored size. Else records the problem; the container is then not walked.
  [[nodiscard]] bool admits(const size_limits& limits, std::uint64_t stored);
  /// Calls `action`; adds the path and the checkpoint to an error's sentence.
  template <class Action>
  void with_path(const Action& action);
  /// Only in a load.
  [[nodiscard]] matcher& load() { return *std::get<matcher*>(purpose_); }

  std::variant<describer*, matcher*> purpose_;
  rank_info here_;
  overlap_search* search_ = nullptr;
  std::string path_;
  std::vector<std::size_t> lengths_;  // of the path of each object that contains the current one
  extents shape_;                     // of the columns that the current object stands for
  std::vector<std::int64_t> strides_;
  std::vector<std::shared_ptr<const void>> outer_copies_;
  std::uint64_t version_ = 0;  // of the current object in the checkpoint
  bool is_migrated_ = false;   // the current object will be, after its members
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/walker.ipp"  // IWYU pragma: keep
#endif
