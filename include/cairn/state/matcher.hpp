// Compares a state with a checkpoint in a first walk, and gives the state the checkpoint's structure in a second walk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/answers.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/pointer_type.hpp"

namespace cairn::detail {

/// A container to be resized after its memory has been prepared: `resize(container, size)`.
struct growth {
  void* container;
  std::uint64_t size;
  void* (*resize)(void*, std::uint64_t);
  std::byte* memory;
  std::uint64_t bytes;
};

/// `path` is that of the current object, in the state. The first walk changes nothing but private copies; it collects
/// problems, which `finish_check` throws.
class matcher {
 public:
  /// Both must outlive this object.
  matcher(const catalog& from, const match_options& options);
  ~matcher();

  /// Ends the first walk: completes the report. Throws one errc::mismatch with all problems.
  void finish_check();
  /// Starts the second walk.
  void start_applying();

  [[nodiscard]] match_report& report() noexcept { return report_; }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return targets_; }
  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return growths_; }
  [[nodiscard]] const std::string& origin() const noexcept { return from_.origin; }

  /// An array of the state: checked in the first walk, a target in the second one. In a private copy it is filled at once. An array on a
  /// device is read into a buffer, which `write_devices` copies to it.
  void add(std::string path, memory_view view, const device_copies* device);
  void write_devices();

  size_answer sequence(const std::string& path, std::uint64_t size, bool empty_elements);
  presence optional(const std::string& path, bool engaged);
  pointee_answer pointee(const std::string& path, const found_object& found);
  shared_answer shared(const std::string& path, const found_object& found, const std::shared_ptr<void>& object);
  void shared_made(const std::string& path, std::shared_ptr<void> object, const std::type_info& type);
  alternative_answer alternative(const std::string& path, std::uint64_t index, std::uint64_t count);
  /// The stored keys of a map, each once; null: the map keeps its own.
  const std::vector<std::string>* keys(const std::string& path);
  /// The number of ranks that saved the object; 0: the checkpoint does not have it. Marks all leaves and entries below `known` as used;
  /// empty: all. With `takes_all`, another number of ranks than `ranks` is not an error.
  std::uint64_t ranks(const std::string& path, std::string_view known, std::uint64_t ranks, bool takes_all);

  /// Between these two calls `add` only looks up the first dimension of stored leaves; `end_probe` returns the first one found. This gives
  /// the stored size of a container that is saved as columns.
  void begin_probe() { probe_.emplace(); }
  [[nodiscard]] std::optional<std::uint64_t> end_probe() { return std::exchange(probe_, {}).value_or(std::nullopt); }

  [[nodiscard]] bool is_probing() const noexcept { return probe_.has_value(); }
  /// In a probe: looks up the first dimension of the leaves below the path.
  void probe_below(std::string_view path);

  /// The entry of that kind, which may be missing.
  const structure_entry* find_entry(const std::string& path, structure_entry::kind kind);
  [[nodiscard]] bool has_structure() const noexcept { return from_.has_structure; }
  /// Whether the checkpoint has a leaf or an entry at the path, or below it.
  [[nodiscard]] bool is_stored(const std::string& path) const;
  /// A member that its class allows to be missing.
  void keep_default(std::string path) {
    if (!applying_ && !probe_) defaulted_.push_back(std::move(path));
  }

  /// The stored leaf; null if there is none, or if it is one of another path that has `count` numbers.
  [[nodiscard]] const stored_leaf* stored(const std::string& path, std::uint64_t count) const;

  /// Whether the load takes a leaf or an entry at the path, or below it.
  [[nodiscard]] bool has_part(const std::string& path) const { return is_stored(path) && is_selected(path); }

  /// Whether the walk may change the current object: in the second walk, and in a private copy.
  [[nodiscard]] bool is_writing() const noexcept { return applying_ || !copies_.empty(); }

  /// See walker::resizes.
  [[nodiscard]] bool resizes(const std::string& path, std::uint64_t from, std::uint64_t to, std::size_t width);
  /// True if a container of `bytes` bytes is resized later, together with others; the caller reports it with `grow_later`.
  [[nodiscard]] bool may_grow_later(std::uint64_t bytes) const noexcept;
  void grow_later(const growth& what) { growths_.push_back(what); }

  /// In the first walk, records memory of the state that the second one frees or moves.
  void frees(freed_memory memory) {
    const bool is_in_state = copies_.empty() && prototypes_ == 0;
    if (!applying_ && is_in_state && memory.begin < memory.end) freed_.push_back(std::move(memory));
  }
  [[nodiscard]] const std::vector<freed_memory>& freed() const noexcept { return freed_; }

  /// Between these two calls the walk is in a prototype.
  void begin_prototype() noexcept { ++prototypes_; }
  void end_prototype() noexcept { --prototypes_; }

  /// Between these two calls the walk is in a private copy, which is filled at once. Returns `drop` unless the checkpoint
  /// has all of it.
  void begin_copy();
  [[nodiscard]] copy_answer end_copy();

  [[nodiscard]] bool is_applying() const noexcept { return applying_; }
  [[nodiscard]] bool is_in_copy() const noexcept { return !copies_.empty(); }

  /// See walker::keep_whole. All that the checkpoint has of the object counts as used.
  void keep_whole(std::string_view path);
  [[nodiscard]] bool must_keep(std::string_view path);
  [[nodiscard]] std::uint64_t stored_bytes();

  /// True if the filter selects the object or a part of it.
  [[nodiscard]] bool is_selected(const std::string& path) const;
  /// The object keeps its value.
  void skip() noexcept { ++incomplete_; }

  /// See walker::left_out and walker::require_whole.
  [[nodiscard]] std::size_t left_out() const noexcept { return incomplete_; }
  void require_whole(const std::string& path, std::size_t left_out_before);

  /// Records that the object cannot be loaded: "<path> <problem>".
  void reject(const std::string& path, const std::string& problem);
  /// What is stored at and below the path is not reported as unexpected. An empty path is that of the whole state.
  void mark_used(std::string_view path);

 private:
  struct shared_object {
    const std::type_info* type;
    std::shared_ptr<void> object;  // null until it is made
  };

  [[nodiscard]] std::string stored_path(std::string_view path) const;
  [[nodiscard]] bool accepts(std::string_view stored) const;

  /// The entry of that kind; null if there is none: the object then keeps its structure. A missing entry is reported if Cairn
  /// wrote the checkpoint.
  const structure_entry* find(const std::string& path, structure_entry::kind kind);

  /// The leaf at the path, or the earlier leaf that a `same` entry names.
  std::size_t find_leaf(const std::string& stored);

  /// errc::corrupt: more objects than the catalog has entries. Objects of an empty type have none; of these, 2^20 are allowed.
  void check_size(const std::string& path, std::uint64_t size, bool empty_elements) const;

  /// The type that the entry says; null, and a problem, if the pointer cannot point to it.
  const std::type_info* find_type(const std::string& path, const found_object& found, const structure_entry& stored);
  /// Whether the pointer is to a const object that the checkpoint does not have.
  [[nodiscard]] bool keeps_const(const std::string& path, const found_object& found) const;
  /// How to get the object that the checkpoint has; `is_there`: behind the pointer is one of its type.
  [[nodiscard]] presence take_over(const found_object& found, bool is_there) const noexcept;

  void report_missing(std::string path);

  bool fits(const stored_leaf& stored, const std::string& path, const memory_view& view);

  /// Checks, before anything is changed, that each bool is 0 or 1 and that each narrowed integer fits.
  void check_values(std::size_t index, const memory_view& view) const;

  /// Tied arrays (two paths, one buffer) must have equal values in the checkpoint.
  void check_ties(std::size_t index, const memory_view& view, const device_copies* device);

  const catalog& from_;
  const match_options& options_;
  match_report report_;
  bool applying_ = false;                              // in the second walk
  std::vector<std::size_t> copies_;                    // per open copy: `incomplete_` when it began
  unsigned prototypes_ = 0;                            // that are open
  std::size_t incomplete_ = 0;                         // number of objects that could not be filled
  std::optional<std::optional<std::uint64_t>> probe_;  // has a value during a probe: the dimension, once it is found
  std::vector<target> targets_;
  std::vector<growth> growths_;
  std::vector<freed_memory> freed_;
  std::vector<std::string> problems_;
  std::vector<std::string> defaulted_;                                    // missing in the checkpoint, but not required
  std::map<std::string, shared_object, std::less<>> objects_;             // stored path -> shared object
  std::unordered_set<const void*> filled_objects_;                        // shared objects that a path has loaded
  std::vector<bool> used_leaves_;                                         // per stored leaf; the others are unexpected
  std::unordered_set<const structure_entry*> used_entries_;               // the others are unexpected
  std::unordered_set<std::string> kept_whole_;                            // paths in the state
  std::optional<std::uint64_t> stored_bytes_;                             // once it is asked for
  std::uint64_t growing_ = 0;                                             // bytes of all containers that become larger
  std::unordered_map<memory_key, std::size_t, memory_key::hash> arrays_;  // memory -> stored leaf
  std::vector<host_buffer> buffers_;                                      // of targets on devices
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/matcher.ipp"           // IWYU pragma: keep
#include "cairn/state/matcher_lookup.ipp"    // IWYU pragma: keep
#include "cairn/state/matcher_pointers.ipp"  // IWYU pragma: keep
#include "cairn/state/matcher_whole.ipp"     // IWYU pragma: keep
#endif
