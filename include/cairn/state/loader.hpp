// SPDX-License-Identifier: MIT
// Answers the walks of a load from a checkpoint: the check, and the walk that gives the state its structure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/stored_state.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

/// Why an object that a checkpoint has at two paths is not loaded into two. `first`: the other path.
inline std::string only_pointers_share(const std::string& first) {
  return "is the object at " + first +
         " in the checkpoint, which only shared pointers can share; make both std::shared_ptr, or leave it out with "
         "filter";
}

/// What to do if the checkpoint has another kind of object at the path. Without the whole state, nothing is loaded.
inline std::string_view how_to_load_another_kind(std::string_view path) {
  return path.empty() ? "; load it into an object of that kind" : "; leave it out with filter";
}

/// Where stored leaf `index`, or a box of it, is loaded to; the destination has as many elements.
struct target {
  std::size_t index;
  memory_view destination;
  std::optional<box> region{};
};

/// A container to be resized after its memory has been prepared: `resize(container, size)`.
struct growth {
  void* container;
  std::uint64_t size;
  void* (*resize)(void*, std::uint64_t);
  std::byte* memory;
  std::uint64_t bytes;
};

struct joined_columns;  // joined.hpp
class column_matcher;
class column_splitter;

/// Compares a state with a checkpoint, then gives it the checkpoint's structure: two walks of one state. The first one,
/// the check, changes nothing, and collects the report and all problems. The second one, `begin_apply` to
/// `finish_apply`, clears, makes and resizes, and collects where the arrays are to be read. In both, private copies are
/// filled at once, from `begin_copy` to `end_copy`.
class loader final : public walker {
 public:
  /// `from` and `options` must outlive this object.
  loader(walk_position& at, const catalog& from, const match_options& options) : walker(at), stored_(from, options) {}

  // The walk of an object.
  [[nodiscard]] cairn::purpose purpose() const noexcept override { return checks() ? purpose::check : purpose::apply; }
  void changed_members(const object_members& of, std::span<const change> changes) override;
  void versioned(void* object, const version_operations& how) override;
  void enumerated(dtype type, void* memory, std::span<const enum_entry> names) override;
  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) override;
  bool joined(void* sequence, std::uint64_t size, const size_limits& limits, const sequence_operations& how) override;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) override;
  bool fixed_array(std::uint64_t size) override;
  presence optional(bool engaged) override;
  pointee_answer pointee(const found_object& found) override;
  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  void shared_made(std::shared_ptr<void> object, const type_id& type) override;
  alternative_answer alternative(std::uint64_t index, std::uint64_t count) override;
  void heap(void* object, const heap_operations& how) override;
  void map(void* object, const map_operations& how) override;
  void entries(void* map, const entries_operations& how) override;
  std::uint64_t saved_ranks(bool takes_all) override;
  void copy(void* object, const copy_operations& how) override;
  void begin_copy() override;
  copy_answer end_copy() override;
  void walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) override;

  // What the checkpoint has.
  [[nodiscard]] const stored_leaf* stored(const extents& now) override;
  [[nodiscard]] bool has_stored(std::string_view name) override;
  [[nodiscard]] std::uint64_t stored_bytes() override { return stored_.bytes(); }

  // What cannot be loaded, and what keeps its value.
  void reject(const std::string& problem) override;
  void note_refusal(std::string_view why) override { refusal_ = {at_.path, std::string(why)}; }
  [[nodiscard]] std::size_t left_out() const noexcept override { return left_out_; }
  void require_whole(std::size_t left_out_before) override;
  void keep_whole() override;
  [[nodiscard]] bool must_keep() override;

  // What the load does with memory of the state: noted in the check.
  bool note_resize(std::uint64_t from, std::uint64_t to, std::size_t width) override;
  void note_owner(const void* object, const void* type, const void* content = nullptr) override;
  void note_freed(const void* memory, std::uint64_t bytes) override;
  void note_destroyed(void* object, walk_function walk) override;
  void note_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk) override;

  /// Completes the report. Throws one errc::mismatch with all problems.
  void finish_check();
  void begin_apply();
  /// After the targets were read: copies those for arrays on devices to them, and arranges heaps.
  void finish_apply();

  [[nodiscard]] const std::string& origin() const noexcept { return stored_.origin(); }
  [[nodiscard]] match_report& report() noexcept { return report_; }
  /// The boxes of stored leaves that are loaded, by index of the leaf; the other leaves are loaded whole.
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return regions_; }
  [[nodiscard]] fetched_leaves& fetched() noexcept { return fetched_; }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return targets_; }
  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return growths_; }

 private:
  friend column_matcher;
  friend column_splitter;

  bool is_selected() override;
  void enter_content() override { stored_.redirect_content(at_.path); }
  void add(memory_view view, const device_copies* device) override;

  /// In the check, and not in a private copy: nothing may be changed.
  [[nodiscard]] bool checks() const noexcept { return in_check_ && copies_.empty(); }
  /// Where the checkpoint has a null pointer or an empty optional.
  [[nodiscard]] presence when_null() const noexcept { return checks() ? presence::keep : presence::clear; }
  /// Where the load needs a new object: there is none, or one that is const, of another type, or filled by another
  /// path.
  [[nodiscard]] presence when_new() const noexcept { return checks() ? presence::prototype : presence::make; }

  // Arrays.

  /// The index of the stored leaf that is loaded into the array; npos if there is none, which is then recorded.
  std::size_t match_leaf(const memory_view& view);
  std::size_t check_leaf(const memory_view& view);
  void check_array(const memory_view& view, const device_copies* device);
  void apply_array(memory_view view, const device_copies* device);
  /// Reads the array at once.
  void fill_array(memory_view view, const device_copies* device);
  bool fits(const stored_leaf& stored, const std::string& path, const memory_view& view);
  /// Checks, before anything is changed, that each bool is 0 or 1 and that each narrowed integer fits.
  void check_values(std::size_t index, const memory_view& view);
  /// Whether the array takes the values of the stored leaf, which `stored` leads to.
  [[nodiscard]] bool takes_shape(const stored_leaf& leaf, std::string_view stored, const extents& now) const;
  /// Whether it then keeps its shape, as the options say.
  [[nodiscard]] bool is_reshaped(const stored_leaf& leaf, const extents& now) const;
  /// The elements of the array that are loaded from the leaf.
  [[nodiscard]] memory_view destination(const stored_leaf& leaf, memory_view view) const;

  // Containers.

  /// Walks the elements of a container; `first` is null if there are none.
  void fill_columns(std::uint64_t size, void* first, const contiguous_operations& how);
  /// Resizes a container, and returns the place of its first element. A large one only gets its memory here, so that
  /// its address is known: `growths` tells the caller to resize it, after touching the pages of all such memory in
  /// parallel; the memory does not move by that.
  void* resize(void* container, std::uint64_t from, std::uint64_t to, const contiguous_operations& how);
  /// Whether an array of numbers takes the stored size also if it is not empty: as its class says, in the second walk,
  /// and in what the load makes.
  [[nodiscard]] bool takes_sizes() const noexcept { return at_.takes_sizes || prototypes_ > 0; }
  /// Whether an array or container that is not empty keeps its size, and not that of the `stored` one, which is
  /// another. `is_array`: of numbers.
  [[nodiscard]] bool keeps_size(std::string_view stored, bool is_array);
  /// Whether the checkpoint has elements of the current container.
  [[nodiscard]] bool has_elements() const;
  /// Whether a container can get the stored size. Else rejects the container.
  [[nodiscard]] bool admits(const size_limits& limits, std::uint64_t stored);
  /// How many objects a container in the checkpoint can have: as many as there are entries. Objects of an empty type
  /// have none; of these, 2^20 are allowed.
  [[nodiscard]] std::uint64_t most_objects(bool empty_elements) const noexcept;
  /// errc::corrupt: more objects than that.
  void check_size(std::uint64_t size, bool empty_elements) const;
  /// The stored keys of a map; null: it keeps its own.
  const std::vector<std::string>* find_keys();
  /// errc::corrupt: a key is there twice.
  void require_distinct(const std::vector<std::string>& keys) const;
  /// Records the elements of the current object that are freed when it gets the values of its private copy.
  void note_put(void* object, const void* copy, const copy_operations& how);
  /// errc::no_memory: the machine has no memory for `to` elements of `width` bytes.
  void require_memory(std::uint64_t from, std::uint64_t to, std::size_t width);

  // Joined objects.

  /// The entry of joined objects; null if there is none.
  const structure_entry* find_rows();
  /// The columns of `count` objects, as `walk_object` finds them; null, and a problem, if they cannot be loaded.
  std::optional<joined_columns> match_joined(std::uint64_t count,
                                             const std::function<void(column_matcher&)>& walk_object);
  struct joined_container {
    const void* object;
    const void* type;               ///< of `note_owner`
    std::span<void* const> before;  ///< its objects before the load
    bool resizes;                   ///< or other keys
    std::string_view inside;        ///< the path of its objects; may be empty
  };
  /// Fills the object of each row. In the check, compares it, and a new one where that is null; then notes what the
  /// load frees.
  void fill_joined(column_splitter& splitter, std::span<void* const> objects, const object_operations& how,
                   const joined_container& of);

  // Entries of the structure, and objects behind pointers.

  /// The entry of that kind, which is used then; null if there is none: the object then keeps its structure. A missing
  /// entry is reported if Cairn wrote the checkpoint, and one of another kind is rejected.
  const structure_entry* take_entry(structure_entry::kind kind);
  /// The entry of that kind, which may be missing.
  const structure_entry* take_entry_if_stored(structure_entry::kind kind);
  /// Loads an object into a holder (an optional or a pointer), or what a holder has into an object. Redirects the path
  /// of the content, and returns an entry as the state's form has it; null if the forms do not differ so. `found`: the
  /// entry that is stored, or null.
  const structure_entry* find_other_form(structure_entry::kind kind, const structure_entry* found);
  /// The type that the entry says; null, and a problem, if the pointer cannot point to it.
  const type_id* find_type(const found_object& found, const structure_entry& stored);
  /// Whether the pointer is to a const object that the checkpoint does not have.
  [[nodiscard]] bool keeps_const(const found_object& found) const;
  /// How to get the object that the checkpoint has; `is_there`: behind the pointer is one of its type.
  [[nodiscard]] presence take_over(const found_object& found, bool is_there) const noexcept {
    return is_there && !found.by->is_const ? presence::walk : when_new();
  }

  // Classes that have changed.

  /// The name under which the checkpoint has the member; empty: the member keeps its value.
  [[nodiscard]] std::string_view stored_name(std::string_view name, std::span<const change> changes);
  void note_removed(std::span<const change> changes);
  /// Loads an object of an older version at once, or all objects of a column; in the check, new ones.
  void migrate(void* object, const version_operations& how);
  void run_migration(void* object, const version_operations& how, std::uint64_t rows);
  /// Loads numbers of `stored_type` at once, and gives each element at `memory` what `now(number, problem)` returns.
  template <class Now>
  void renumber(dtype type, void* memory, dtype stored_type, const Now& now);

  // Problems.

  /// Records that the checkpoint does not have the current object.
  void missing();
  /// Records that the current object keeps its value, as its class allows it to be missing.
  void keep_default();
  /// errc::mismatch: the check did not find the problem.
  void record(std::string_view path, const std::string& problem);
  /// Keeps the first few problems, for the message, and counts the others: a checkpoint may have millions.
  void add_problem(const std::string& problem);
  /// Rejects the owner at `path`, which is also at `other`, if the checkpoint has two of them.
  void check_tie(const std::string& other, const std::string& path);
  /// A line for match_report::replaced, which goes on after the path.
  void note_replaced(const std::string& line) {
    if (in_check_ && prototypes_ == 0) report_.replaced.push_back(at_.path.empty() ? line : at_.path + '.' + line);
  }
  /// What is stored at and below the current path is not reported as unexpected.
  void mark_used() { stored_.use_all(at_.path); }
  [[nodiscard]] std::array<std::vector<std::string>*, 4> array_lists() noexcept {
    return {&report_.loaded, &report_.converted, &report_.reshaped, &report_.resized};
  }
  /// Calls `action`; adds the path and the checkpoint to an error's sentence.
  template <class Action>
  void with_path(const Action& action);

  /// A private copy that is being filled, and what was before it.
  struct open_copy {
    std::size_t left_out;
    unsigned prototypes;
    bool takes_sizes;
    std::array<std::size_t, 4> listed{};  ///< the sizes of `array_lists`
  };
  struct shared_object {
    const type_id* type;
    std::shared_ptr<void> object;  ///< null until it is made
  };
  struct read_heap {
    void* object;
    void (*arrange)(void*);
    std::string path;
  };

  // Of both walks.
  stored_state stored_;
  bool in_check_ = true;
  unsigned prototypes_ = 0;  // in which the walk is
  std::vector<open_copy> copies_;
  fetched_leaves fetched_;                                     // what both need
  std::map<std::string, shared_object, std::less<>> objects_;  // by the path in the checkpoint
  /// Of these, those that were met before their first owner, and where.
  std::map<std::string, std::string, std::less<>> early_;
  std::unordered_set<const void*> filled_objects_;  // shared objects that a path has loaded
  std::unordered_set<std::string> kept_whole_;      // paths in the state
  std::unordered_set<std::string> partly_filled_;   // paths of columns in which elements keep a part
  std::unordered_set<std::string> kept_sizes_;      // paths of joined objects in which no container changes its size
  std::size_t left_out_ = 0;                        // objects that could not be filled
  std::size_t kept_ = 0;  // members and arrays that keep all or some of their values, as the class or the options allow

  // Of the check.
  match_report report_;
  std::vector<std::string> problems_;  // the first ones
  std::size_t more_problems_ = 0;
  std::pair<std::string, std::string> refusal_;   // the last array whose type refuses the stored shape, and why
  std::vector<std::string> defaulted_;            // missing in the checkpoint, but not required
  std::vector<std::string> removed_;              // paths that the classes of the state have no more
  std::set<std::string, std::less<>> explained_;  // paths of what is missing; their parts are not reported
  freed_memory freed_;
  std::uint64_t growing_ = 0;  // bytes of all containers that become larger
  tied_arrays arrays_;
  std::map<std::size_t, box> regions_;
  owner_paths owners_;
  owner owner_{};               // the one that was noted last
  std::string tied_, tied_to_;  // the paths of the owner that was last met again, and where it was met before

  // Of the second walk.
  std::vector<target> targets_;
  std::vector<growth> growths_;
  std::vector<host_buffer> buffers_;  // of targets on devices
  std::vector<read_heap> heaps_;
};

template <class Action>
void loader::with_path(const Action& action) {
  try {
    action();
  } catch (const error& cause) {
    fail(cause.code(), {path(), " in ", origin(), ": ", cause.sentence()});
  }
}

/// The constructor compares everything and changes nothing. `apply` changes sizes, keys and pointees, and lists where
/// to read the arrays.
class load_plan {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have,
  /// `errc::invalid` for an exception of a user's code. `from` and `options` must outlive this object.
  load_plan(any_mutable_state state, const catalog& from, const match_options& options, rank_info here = {})
      : state_(state), at_{here}, loader_(at_, from, options) {
    walk();
    loader_.finish_check();
  }
  load_plan(const load_plan&) = delete;
  load_plan& operator=(const load_plan&) = delete;

  [[nodiscard]] match_report& report() noexcept { return loader_.report(); }
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return loader_.regions(); }

  /// Gives the state the checkpoint's structure. Then prepare and run `growths()`, read `targets()`, and call `finish`.
  void apply() {
    loader_.begin_apply();
    walk();
  }

  /// Copies what was read to the devices where it belongs.
  void finish() { loader_.finish_apply(); }

  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return loader_.growths(); }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return loader_.targets(); }
  /// What the check has read already.
  [[nodiscard]] fetched_leaves& fetched() noexcept { return loader_.fetched(); }

 private:
  void walk() {
    try {
      state_.walk(loader_, const_cast<void*>(state_.object));  // not const: any_mutable_state
    } catch (...) {
      throw error(as_error(std::current_exception(), {loader_.origin(), " cannot be loaded: ", loader_.path()}));
    }
  }

  any_mutable_state state_;
  walk_position at_;
  loader loader_;
};

}  // namespace cairn::inline v0_1::detail
