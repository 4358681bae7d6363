// SPDX-License-Identifier: MIT
// Answers a walk from a checkpoint: what all walks of a load have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/fetched_leaves.hpp"
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

/// What the walkers of one load share.
struct load_progress {
  struct shared_object {
    const type_id* type;
    std::shared_ptr<void> object;  ///< null until it is made
  };

  stored_state stored;
  fetched_leaves fetched{};                                     ///< what both walks need
  std::map<std::string, shared_object, std::less<>> objects{};  ///< by the path in the checkpoint
  std::map<std::string, std::string, std::less<>>
      early{};                         ///< of these, those that were met before their first owner, and where
  std::vector<std::string> removed{};  ///< paths that the classes of the state have no more
  std::unordered_set<const void*> filled_objects{};  ///< shared objects that a path has loaded
  std::unordered_set<const void*> const_objects{};   ///< of the state, behind pointers to const
  bool is_const_written = false;                     ///< one of them was met by another pointer first
  std::unordered_set<std::string> kept_whole{};      ///< paths in the state
  std::size_t left_out = 0;                          ///< number of objects that could not be filled
  std::size_t kept =
      0;  ///< number of members and arrays that keep all or some of their values, as the class or the options allow
  std::vector<std::string> replaced{};              ///< lines for match_report::replaced
  std::unordered_set<std::string> partly_filled{};  ///< paths of columns in which elements keep a part
  std::unordered_set<std::string> kept_sizes{};     ///< paths of joined objects in which no container changes its size
};

struct joined_columns;  // joined.hpp
class column_matcher;
class column_splitter;

/// Structure comes from the checkpoint. What happens to arrays and problems is up to the derived classes: `checker`,
/// `applier`, and `copy_loader`, for the private copies of both.
class loader : public walker {
 public:
  [[nodiscard]] cairn::purpose purpose() const noexcept override { return purpose::apply; }
  void changed_members(const object_members& of, std::span<const change> changes) final;
  void versioned(void* object, const version_operations& how) final;
  void enumerated(dtype type, void* memory, std::span<const enum_entry> names) final;
  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                  const size_limits& limits) final;
  bool joined(void* sequence, std::uint64_t size, const size_limits& limits, const sequence_operations& how) final;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) final;
  bool fixed_array(std::uint64_t size) final;
  presence optional(bool engaged) final;
  pointee_answer pointee(const found_object& found) final;
  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  void shared_made(std::shared_ptr<void> object, const type_id& type) final;
  alternative_answer alternative(std::uint64_t index, std::uint64_t count) final;
  void heap(void* object, const heap_operations& how) final;
  void map(void* object, const map_operations& how) final;
  void entries(void* map, const entries_operations& how) final;
  std::uint64_t saved_ranks(bool takes_all) final;
  void copy(void* object, const copy_operations& how) final;
  loader& begin_copy() override = 0;
  void walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) final;
  [[nodiscard]] const stored_leaf* stored(const extents& now) final;
  [[nodiscard]] bool has_stored(std::string_view name) final;
  [[nodiscard]] std::size_t left_out() const noexcept final { return load_.left_out; }
  void require_whole(std::size_t left_out_before) final;
  [[nodiscard]] bool must_keep() final;
  [[nodiscard]] std::uint64_t stored_bytes() final { return load_.stored.bytes(); }
  void reject(const std::string& problem) final;

  bool note_resize(std::uint64_t /*from*/, std::uint64_t /*to*/, std::size_t /*width*/) override { return true; }

  /// The index of the stored leaf that is loaded into the array; npos if there is none, which is then recorded.
  virtual std::size_t match_leaf(const memory_view& view) = 0;
  /// Records that the checkpoint does not have the current object.
  virtual void missing() = 0;
  /// Records that the current object keeps its value, as its class allows it to be missing.
  virtual void keep_default() {}
  /// Records the elements of the current object that are freed when it gets the values of its private copy.
  virtual void note_put(void* /*object*/, const void* /*copy*/, const copy_operations& /*how*/) {}
  /// Arranges a heap when its elements have been loaded.
  virtual void arrange(void* /*object*/, const heap_operations& /*how*/) {}
  /// Records that this copy is not complete, so that the object keeps its value.
  virtual void drop_copy() {}
  virtual void record(std::string_view path, const std::string& problem) = 0;

 protected:
  /// `null`: the answer where the checkpoint has a null pointer or an empty optional. `fresh`: where the load needs a
  /// new object, since there is none, or one that is const, of another type, or filled by another path.
  loader(walk_position& at, load_progress& load, presence null, presence fresh) noexcept
      : walker(at), load_(load), null_(null), fresh_(fresh) {}

  bool is_selected() final;
  void enter_content() final { load_.stored.redirect_content(at_.path); }
  /// Resizes a container, and returns the place of its first element.
  virtual void* resize(void* container, std::uint64_t /*from*/, std::uint64_t to, const contiguous_operations& how) {
    return how.resize(container, to);
  }

  [[nodiscard]] const std::string& origin() const noexcept { return load_.stored.origin(); }
  /// What is stored at and below the current path is not reported as unexpected.
  void mark_used() { load_.stored.use_all(at_.path); }
  /// Whether the array takes the values of the stored leaf, which `stored` leads to.
  [[nodiscard]] bool takes_shape(const stored_leaf& leaf, std::string_view stored, const extents& now) const;
  /// Whether it then keeps its shape, as the options say.
  [[nodiscard]] bool is_reshaped(const stored_leaf& leaf, const extents& now) const;
  /// The elements of the array that are loaded from the leaf.
  [[nodiscard]] memory_view destination(const stored_leaf& leaf, memory_view view) const;
  /// Calls `action`; adds the path and the checkpoint to an error's sentence.
  template <class Action>
  void with_path(const Action& action);

  load_progress& load_;
  /// Walks the elements of a container; `first` is null if there are none.
  void fill_columns(std::uint64_t size, void* first, const contiguous_operations& how);
  unsigned prototypes_ = 0;  // in which the walk is

 private:
  friend column_matcher;
  friend column_splitter;

  /// A line for match_report::replaced, which goes on after the path.
  void note_replaced(const std::string& line) {
    if (prototypes_ == 0) load_.replaced.push_back(at_.path.empty() ? line : at_.path + '.' + line);
  }
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

  /// Whether an array of numbers takes the stored size also if it is not empty: as its class says, in the second walk,
  /// and in what the load makes.
  [[nodiscard]] bool takes_sizes() const noexcept { return at_.takes_sizes || prototypes_ > 0; }
  /// Whether an array or container that is not empty keeps its size, and not that of the `stored` one, which is
  /// another. `is_array`: of numbers.
  [[nodiscard]] bool keeps_size(std::string_view stored, bool is_array);
  /// The entry of that kind, which is used then; null if there is none: the object then keeps its structure. A missing
  /// entry is reported if Cairn wrote the checkpoint, and one of another kind is rejected.
  const structure_entry* take_entry(structure_entry::kind kind);
  /// The entry of that kind, which may be missing.
  const structure_entry* take_entry_if_stored(structure_entry::kind kind);
  /// The name under which the checkpoint has the member; empty: the member keeps its value.
  [[nodiscard]] std::string_view stored_name(std::string_view name, std::span<const change> changes);
  void note_removed(std::span<const change> changes);
  /// Loads an object of an older version at once, or all objects of a column; in the check, new ones.
  void migrate(void* object, const version_operations& how);
  void run_migration(void* object, const version_operations& how, std::uint64_t rows);
  /// Loads numbers of `stored_type` at once, and gives each element at `memory` what `now(number, problem)` returns.
  template <class Now>
  void renumber(dtype type, void* memory, dtype stored_type, const Now& now);
  /// Loads an object into a holder (an optional or a pointer), or what a holder has into an object. Redirects the path
  /// of the content, and returns an entry as the state's form has it; null if the forms do not differ so. `found`: the
  /// entry that is stored, or null.
  const structure_entry* find_other_form(structure_entry::kind kind, const structure_entry* found);
  /// Whether the checkpoint has elements of the current container.
  [[nodiscard]] bool has_elements() const;
  /// The stored keys of a map; null: it keeps its own.
  const std::vector<std::string>* find_keys();
  /// errc::corrupt: a key is there twice.
  void require_distinct(const std::vector<std::string>& keys) const;

  /// Whether a container can get the stored size. Else rejects the container.
  [[nodiscard]] bool admits(const size_limits& limits, std::uint64_t stored);
  /// How many objects a container in the checkpoint can have: as many as there are entries. Objects of an empty type
  /// have none; of these, 2^20 are allowed.
  [[nodiscard]] std::uint64_t most_objects(bool empty_elements) const noexcept;
  /// errc::corrupt: more objects than that.
  void check_size(std::uint64_t size, bool empty_elements) const;

  /// The type that the entry says; null, and a problem, if the pointer cannot point to it.
  const type_id* find_type(const found_object& found, const structure_entry& stored);
  /// Whether the pointer is to a const object that the checkpoint does not have.
  [[nodiscard]] bool keeps_const(const found_object& found) const;
  /// How to get the object that the checkpoint has; `is_there`: behind the pointer is one of its type.
  [[nodiscard]] presence take_over(const found_object& found, bool is_there) const noexcept {
    return is_there && !found.by->is_const ? presence::walk : fresh_;
  }

  presence null_;
  presence fresh_;
};

/// Fills the private copies of a load, whose values are put into the state afterwards. Changes them at once, in both
/// walks. Reports problems and arrays to the walker of the state.
class copy_loader final : public loader {
 public:
  /// `whole`: the answer for a copy of which the checkpoint has all, if it is not inside another copy.
  copy_loader(walk_position& at, load_progress& load, loader& state, copy_answer whole) noexcept
      : loader(at, load, presence::clear, presence::make), state_(state), whole_(whole) {}

  loader& begin_copy() override {
    before_.push_back({left_out(), std::exchange(at_.takes_sizes, true)});
    return *this;
  }
  [[nodiscard]] copy_answer end_copy() override;

  void keep_whole() override { state_.keep_whole(); }
  std::size_t match_leaf(const memory_view& view) override { return state_.match_leaf(view); }
  void missing() override { state_.missing(); }
  void arrange(void* object, const heap_operations& how) override { how.arrange(object); }
  void keep_default() override { state_.keep_default(); }
  void record(std::string_view path, const std::string& problem) override { state_.record(path, problem); }
  bool note_resize(std::uint64_t from, std::uint64_t to, std::size_t width) override {
    state_.note_resize(from, to, width);
    return true;
  }
  void note_refusal(std::string_view why) override { state_.note_refusal(why); }

 private:
  void add(memory_view view, const device_copies* device) override;

  loader& state_;
  copy_answer whole_;
  struct before_copy {
    std::size_t left_out;
    bool takes_sizes;
  };
  std::vector<before_copy> before_;  // per open copy
};

template <class Action>
void loader::with_path(const Action& action) {
  try {
    action();
  } catch (const error& cause) {
    fail(cause.code(), {path(), " in ", origin(), ": ", cause.sentence()});
  }
}

}  // namespace cairn::inline v0_1::detail
