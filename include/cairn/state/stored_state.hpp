// SPDX-License-Identifier: MIT
// What a checkpoint has at the paths of a state, as a load's options rename and filter it, and what of it the load
// uses; and the stored size of containers that are saved as columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/reshape.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

/// The path of the object that contains the one at `path`; empty if that is the whole state.
[[nodiscard]] constexpr std::string_view outer_path(std::string_view path) noexcept {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

/// `path` is a path in the state; `stored`, one in the checkpoint.
class stored_state {
 public:
  /// Both must outlive this object.
  stored_state(const catalog& from, const match_options& options)
      : from_(from), options_(options), used_leaves_(from.leaves.size()) {}

  [[nodiscard]] const catalog& contents() const noexcept { return from_; }
  [[nodiscard]] const match_options& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& origin() const noexcept { return from_.origin; }

  [[nodiscard]] std::string stored_path(std::string_view path) const;
  /// From now on the object at `path` is loaded from what is stored for `other`. Both are paths in the state.
  void redirect(std::string_view path, std::string_view other);
  /// The state has a holder (an optional or a pointer) at `path`, and the checkpoint has only its content, under the
  /// same path: notes that. If the walk then passes the content as the part `value` of the holder, `redirect_content`
  /// redirects that part to the content.
  void note_content(std::string_view path) { content_paths_.try_emplace(std::string(path), redirected(path)); }
  void redirect_content(std::string_view path);

  /// From now on the object at `path` is loaded from what is stored there, since it shares that object, and the walk
  /// comes to the other owner later, or never. Returns the entry there; null if a part of the state has loaded it, the
  /// filter leaves it out, or paths are renamed.
  const structure_entry* redirect_to_owner(std::string_view path, const std::string& stored);

  /// Whether the filter selects what is stored there.
  [[nodiscard]] bool accepts(std::string_view stored) const { return !options_.filter || options_.filter(stored); }
  /// Whether the filter selects the object or a part of it.
  [[nodiscard]] bool selects(std::string_view path) const;
  /// The filter selects only some of the leaves below the path. An empty path is that of the whole state.
  [[nodiscard]] bool selects_some(std::string_view path) const;

  /// The leaf, or the earlier leaf that a `same` entry names; npos if there is none.
  [[nodiscard]] std::size_t find_leaf(std::string_view stored) const;
  /// Looks at the object at `path`, then at those around it, for one that nothing has used yet and that is stored as a
  /// container, as null or as an object that another path has. Returns the path of the first; empty if there is none.
  [[nodiscard]] std::string_view find_holder(std::string_view path) const;
  /// The same for the objects around the one at `path`: one that is stored as an array.
  [[nodiscard]] std::string_view find_array(std::string_view path) const;
  /// Whether the checkpoint has another path of a shared object there, which is no array.
  [[nodiscard]] bool is_same_object(std::string_view path) const;
  /// The entry, or null.
  [[nodiscard]] const structure_entry* find_entry(std::string_view path) const;
  /// The stored leaf; null if there is none. Also null if another path has it, by a `same` entry, and it has `count`
  /// numbers: the array then keeps its shape.
  [[nodiscard]] const stored_leaf* leaf(std::string_view path, std::uint64_t count) const;
  /// The first leaf below the path that the filter selects, or null. An empty path is that of the whole state.
  [[nodiscard]] const stored_leaf* first_below(std::string_view path) const;
  /// Whether the checkpoint has a leaf or an entry at the path, or below it.
  [[nodiscard]] bool is_stored(std::string_view path) const;
  /// The same, if the filter selects it or a part of it.
  [[nodiscard]] bool has_part(std::string_view path) const { return is_stored(path) && selects(path); }

  /// Whether one object at both paths cannot be loaded: the checkpoint has other structure or values at them or below,
  /// as far as the filter selects them. Reads the values.
  [[nodiscard]] bool conflict(std::string_view path, std::string_view other) const;

  /// The bytes of all leaves.
  [[nodiscard]] std::uint64_t bytes();

  /// The load uses the leaf, so that `unexpected` does not list it. Returns the same as `find_leaf`.
  std::size_t use_leaf(std::string_view stored);
  /// Whether a leaf was used several times.
  [[nodiscard]] bool is_repeated() const noexcept { return is_repeated_; }
  void use_entry(const structure_entry& entry) { used_entries_.insert(&entry); }
  /// All at and below the path. An empty path is that of the whole state.
  void use_all(std::string_view path);
  /// The paths in the checkpoint of what the filter selects and nothing uses, sorted. An object of which nothing is
  /// used is there once, without its parts, if the checkpoint has an entry for it.
  [[nodiscard]] std::vector<std::string> unexpected() const;

 private:
  using entry_range = std::ranges::subrange<decltype(catalog::structure)::const_iterator>;

  [[nodiscard]] std::string redirected(std::string_view path) const;
  /// The leaves and the entries below a path in the checkpoint. O(log n).
  [[nodiscard]] std::span<const stored_leaf> leaves_below(std::string_view stored) const;
  [[nodiscard]] entry_range entries_below(std::string_view stored) const;
  /// The leaves below a path in the state. An empty path is that of the whole state.
  [[nodiscard]] std::span<const stored_leaf> leaves_in(std::string_view path) const;
  [[nodiscard]] bool has_all_of(const std::string& stored, const std::string& other) const;
  [[nodiscard]] std::size_t index_of(const stored_leaf& leaf) const noexcept {
    return static_cast<std::size_t>(&leaf - from_.leaves.data());
  }
  [[nodiscard]] bool is_used(const stored_leaf& leaf) const { return used_leaves_[index_of(leaf)]; }
  [[nodiscard]] bool has_used_leaf(std::string_view stored) const;
  [[nodiscard]] bool has_used_part(std::string_view stored) const;

  const catalog& from_;
  const match_options& options_;
  std::vector<bool> used_leaves_;  // per stored leaf
  bool is_repeated_ = false;
  std::unordered_set<const structure_entry*> used_entries_;
  std::map<std::string, std::string, std::less<>> redirects_;      // path -> path, before `rename`
  std::map<std::string, std::string, std::less<>> content_paths_;  // of `note_content`
  std::optional<std::uint64_t> bytes_;                             // once it is asked for
};

/// The size is the first dimension of the first stored column; 1 where that has no such dimension.
class size_probe final : public walker {
 public:
  size_probe(walk_position& at, stored_state& stored) noexcept : walker(at), stored_(stored) {}

  shared_answer shared(const found_object&, const std::shared_ptr<void>&) override { return {}; }
  void copy(void* /*object*/, const copy_operations& /*how*/) override {}
  /// Members may have former names in the checkpoint. If none is stored, as in an object of an older version, any part
  /// of the object has as many rows.
  void changed_members(const object_members& of, std::span<const change> changes) override {
    members(of);
    for (std::size_t i = 0; i < of.all.size(); ++i)
      for (const change& each : changes)
        if (of.all[i].walk && each.what == change::kind::renamed && each.name == of.all[i].name)
          part(each.former, of.addresses[i], of.all[i].walk);
    if (size_) return;
    if (const stored_leaf* const found = stored_.first_below(at_.path)) {
      size_ = found->shape.empty() ? 1 : found->shape.front();
      column_ = found->path;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }
  /// The path in the checkpoint of the column that has the size.
  [[nodiscard]] const std::string& column() const noexcept { return column_; }

 private:
  void add(memory_view view, const device_copies* /*device*/) override {
    if (size_) return;
    const std::string stored = stored_.stored_path(path());
    const std::size_t index = stored_.find_leaf(stored);
    if (index == catalog::npos || !stored_.accepts(stored)) return;
    const extents& shape = stored_.contents().leaves[index].shape;
    column_ = stored;
    if (differ_by_container(one_of(view.shape), shape))
      size_ = 1;
    else if (!shape.empty())
      size_ = shape.front();
  }

  static extents one_of(extents shape) {
    shape.front() = 1;
    return shape;
  }

  stored_state& stored_;
  std::optional<std::uint64_t> size_;
  std::string column_;
};

}  // namespace cairn::inline v0_1::detail
