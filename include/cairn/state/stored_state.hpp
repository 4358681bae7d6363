// SPDX-License-Identifier: MIT
// What a checkpoint has at the paths of a state, as a load's options rename and filter it, and what of it the load
// uses; and the stored size of containers that are saved as columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/convert.hpp"
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

  [[nodiscard]] std::string stored_path(std::string_view path) const {
    if (redirects_.empty()) return options_.rename ? options_.rename(path) : std::string(path);
    const std::string other = redirected(path);
    return options_.rename ? options_.rename(other) : other;
  }

  /// From now on the object at `path` is loaded from what is stored for `other`. Both are paths in the state.
  void redirect(std::string_view path, std::string_view other) {
    if (!redirects_.contains(path)) redirects_.emplace(path, redirected(other));
  }

  /// The state has a holder (an optional or a pointer) at `path`, and the checkpoint has only its content, under the
  /// same path: notes that. If the walk then passes the content as the part `value` of the holder, `redirect_content`
  /// redirects that part to the content.
  void note_content(std::string_view path) { content_paths_.try_emplace(std::string(path), redirected(path)); }
  void redirect_content(std::string_view path) {
    if (const auto at = content_paths_.find(path); at != content_paths_.end())
      redirects_.try_emplace(std::string(path) + ".value", at->second);
  }

  /// From now on the object at `path` is loaded from what is stored there, since it shares that object, and the walk
  /// comes to the other owner later, or never. Returns the entry there; null if a part of the state has loaded it, the
  /// filter leaves it out, or paths are renamed.
  const structure_entry* redirect_to_owner(std::string_view path, const std::string& stored) {
    const auto owner = from_.structure.find(stored);
    if (options_.rename || owner == from_.structure.end() || used_entries_.contains(&owner->second)) return nullptr;
    redirects_.insert_or_assign(std::string(path), stored);
    return selects(path) ? &owner->second : nullptr;
  }

  /// Whether the filter selects what is stored there.
  [[nodiscard]] bool accepts(std::string_view stored) const { return !options_.filter || options_.filter(stored); }
  /// Whether the filter selects the object or a part of it.
  [[nodiscard]] bool selects(std::string_view path) const {
    if (!options_.filter) return true;
    const std::string stored = stored_path(path);
    return options_.filter(stored) || std::ranges::any_of(leaves_below(stored), options_.filter, &stored_leaf::path);
  }

  /// The filter selects only some of the leaves below the path. An empty path is that of the whole state.
  [[nodiscard]] bool selects_some(std::string_view path) const {
    const auto parts = leaves_in(path);
    const auto selected = std::ranges::count_if(parts, [&](const stored_leaf& each) { return accepts(each.path); });
    return selected > 0 && static_cast<std::size_t>(selected) < parts.size();
  }

  /// The leaf, or the earlier leaf that a `same` entry names; npos if there is none.
  [[nodiscard]] std::size_t find_leaf(std::string_view stored) const {
    const std::size_t index = from_.find(stored);
    if (index != catalog::npos) return index;
    const auto entry = from_.structure.find(stored);
    if (entry == from_.structure.end() || entry->second.what != structure_entry::kind::same) return catalog::npos;
    return from_.find(entry->second.text);
  }

  /// Looks at the object at `path`, then at those around it, for one that nothing has used yet and that is stored as a
  /// container, as null or as an object that another path has. Returns the path of the first; empty if there is none.
  [[nodiscard]] std::string_view find_holder(std::string_view path) const {
    using enum structure_entry::kind;
    if (!from_.has_structure) return {};
    for (auto outer = path; !outer.empty(); outer = outer_path(outer)) {
      const auto* const entry = find_entry(outer);
      if (!entry || used_entries_.contains(entry)) continue;
      if (entry->what == size || entry->what == rows || (entry->what == engaged && entry->number == 0) ||
          is_same_object(outer))
        return outer;
    }
    return {};
  }

  /// The same for the objects around the one at `path`: one that is stored as an array.
  [[nodiscard]] std::string_view find_array(std::string_view path) const {
    for (auto outer = outer_path(path); !outer.empty(); outer = outer_path(outer))
      if (const std::size_t leaf = from_.find(stored_path(outer)); leaf != catalog::npos && !used_leaves_[leaf])
        return outer;
    return {};
  }

  /// Whether the checkpoint has another path of a shared object there, which is no array.
  [[nodiscard]] bool is_same_object(std::string_view path) const {
    const auto* const entry = find_entry(path);
    return entry && entry->what == structure_entry::kind::same && find_leaf(stored_path(path)) == catalog::npos;
  }

  /// The entry, or null.
  [[nodiscard]] const structure_entry* find_entry(std::string_view path) const {
    const auto at = from_.structure.find(stored_path(path));
    return at == from_.structure.end() ? nullptr : &at->second;
  }

  /// The stored leaf; null if there is none. Also null if another path has it, by a `same` entry, and it has `count`
  /// numbers: the array then keeps its shape.
  [[nodiscard]] const stored_leaf* leaf(std::string_view path, std::uint64_t count) const {
    const std::string stored = stored_path(path);
    const std::size_t index = find_leaf(stored);
    if (index == catalog::npos) return nullptr;
    const stored_leaf& found = from_.leaves[index];
    return found.path != stored && element_count(found.shape) == count ? nullptr : &found;
  }

  /// The first leaf below the path that the filter selects, or null. An empty path is that of the whole state.
  [[nodiscard]] const stored_leaf* first_below(std::string_view path) const {
    const auto parts = leaves_in(path);
    const auto found = std::ranges::find_if(parts, [&](const stored_leaf& each) { return accepts(each.path); });
    return found == parts.end() ? nullptr : &*found;
  }

  /// Whether the checkpoint has a leaf or an entry at the path, or below it.
  [[nodiscard]] bool is_stored(std::string_view path) const {
    const std::string stored = stored_path(path);
    return from_.find(stored) != catalog::npos || from_.structure.contains(stored) || !leaves_below(stored).empty() ||
           !entries_below(stored).empty();
  }

  /// The same, if the filter selects it or a part of it.
  [[nodiscard]] bool has_part(std::string_view path) const { return is_stored(path) && selects(path); }

  /// Whether one object at both paths cannot be loaded: the checkpoint has other structure or values at them or below,
  /// as far as the filter selects them. Reads the values.
  [[nodiscard]] bool conflict(std::string_view path, std::string_view other) const {
    if (!is_stored(path) || !is_stored(other)) return false;
    const std::string a = stored_path(path), b = stored_path(other);
    return !has_all_of(a, b) || !has_all_of(b, a);
  }

  /// The bytes of all leaves.
  [[nodiscard]] std::uint64_t bytes() {
    if (!bytes_) {
      bytes_ = 0;
      for (const auto& leaf : from_.leaves) *bytes_ += leaf.bytes();
    }
    return *bytes_;
  }

  /// The load uses the leaf, so that `unexpected` does not list it. Returns the same as `find_leaf`.
  std::size_t use_leaf(std::string_view stored) {
    const std::size_t index = find_leaf(stored);
    if (index != catalog::npos) {
      is_repeated_ = is_repeated_ || used_leaves_[index];
      used_leaves_[index] = true;
    }
    if (index != catalog::npos && from_.leaves[index].path == stored) return index;
    const auto entry = from_.structure.find(stored);
    if (entry != from_.structure.end() && entry->second.what == structure_entry::kind::same) use_entry(entry->second);
    return index;
  }

  /// Whether a leaf was used several times.
  [[nodiscard]] bool is_repeated() const noexcept { return is_repeated_; }
  void use_entry(const structure_entry& entry) { used_entries_.insert(&entry); }
  /// All at and below the path. An empty path is that of the whole state.
  void use_all(std::string_view path) {
    for (const stored_leaf& each : leaves_in(path)) used_leaves_[index_of(each)] = true;
    if (path.empty()) {
      for (const auto& [name, entry] : from_.structure) use_entry(entry);
      return;
    }
    const std::string stored = stored_path(path);
    if (const std::size_t index = from_.find(stored); index != catalog::npos) used_leaves_[index] = true;
    if (const auto entry = from_.structure.find(stored); entry != from_.structure.end()) use_entry(entry->second);
    for (const auto& [name, entry] : entries_below(stored)) use_entry(entry);
  }

  /// The paths in the checkpoint of what the filter selects and nothing uses, sorted. An object of which nothing is
  /// used is there once, without its parts, if the checkpoint has an entry for it.
  [[nodiscard]] std::vector<std::string> unexpected() const {
    using enum structure_entry::kind;
    std::vector<std::string> all;
    std::set<std::string, std::less<>> unused_objects;
    const auto is_part = [&](std::string_view path) {
      for (auto outer = outer_path(path); !outer.empty(); outer = outer_path(outer))
        if (unused_objects.contains(outer)) return true;
      return false;
    };
    for (const auto& [path, entry] : from_.structure) {
      if (used_entries_.contains(&entry) || !accepts(path)) continue;
      const bool holds_used = entry.what == engaged && entry.number == 1 && has_used_leaf(path);
      if (holds_used) continue;
      const std::string_view outer =
          entry.what == version || entry.what == names ? outer_path(path) : std::string_view();
      const std::string_view object = outer.empty() ? path : outer;  // of which the entry tells something
      if (is_part(object)) continue;
      const bool is_unused = !has_used_part(object);
      if (is_unused) unused_objects.emplace(object);
      all.emplace_back(is_unused ? object : std::string_view(path));
    }
    for (const stored_leaf& each : from_.leaves)
      if (!is_used(each) && accepts(each.path)) all.push_back(each.path);
    std::erase_if(all, is_part);
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

 private:
  using entry_range = std::ranges::subrange<decltype(catalog::structure)::const_iterator>;

  [[nodiscard]] std::string redirected(std::string_view path) const {
    for (auto outer = path; !outer.empty(); outer = outer_path(outer))
      if (const auto at = redirects_.find(outer); at != redirects_.end())
        return at->second + std::string(path.substr(outer.size()));
    return std::string(path);
  }

  /// The leaves and the entries below a path in the checkpoint. O(log n).
  [[nodiscard]] std::span<const stored_leaf> leaves_below(std::string_view stored) const {
    const auto first_from = [&](char after) {
      return std::ranges::lower_bound(from_.leaves, std::string(stored) + after, {}, &stored_leaf::path);
    };
    return {first_from('.'), first_from('.' + 1)};
  }

  [[nodiscard]] entry_range entries_below(std::string_view stored) const {
    const auto first_from = [&](char after) { return from_.structure.lower_bound(std::string(stored) + after); };
    return {first_from('.'), first_from('.' + 1)};
  }

  /// The leaves below a path in the state. An empty path is that of the whole state.
  [[nodiscard]] std::span<const stored_leaf> leaves_in(std::string_view path) const {
    return path.empty() ? std::span<const stored_leaf>(from_.leaves) : leaves_below(stored_path(path));
  }

  [[nodiscard]] bool has_all_of(const std::string& stored, const std::string& other) const {
    const auto in_other = [&](const std::string& at) { return other + at.substr(stored.size()); };
    const auto is_left_out = [&](const std::string& at) { return !accepts(at) || !accepts(in_other(at)); };
    const auto has_leaf = [&](std::size_t index, const std::string& at) {
      if (is_left_out(at)) return true;
      const std::size_t twin = find_leaf(in_other(at));
      if (twin == catalog::npos || twin == index) return twin == index;
      const stored_leaf &one = from_.leaves[index], &two = from_.leaves[twin];
      if (one.type != two.type || one.shape != two.shape) return false;
      std::vector<std::byte> left(one.bytes()), right(two.bytes());
      from_.fetch(index, left);
      from_.fetch(twin, right);
      return left == right;
    };
    const auto has_entry = [&](const std::string& at, const structure_entry& entry) {
      if (is_left_out(at)) return true;
      if (entry.what == structure_entry::kind::same)
        if (const std::size_t index = find_leaf(at); index != catalog::npos) return has_leaf(index, at);
      const auto twin = from_.structure.find(in_other(at));
      const bool is_holder = (entry.what == structure_entry::kind::engaged && entry.number == 1) ||
                             entry.what == structure_entry::kind::type || entry.what == structure_entry::kind::index;
      if (twin == from_.structure.end()) return at == stored && is_holder;  // the other path is that of its content
      return twin->second == entry || twin->second.what == structure_entry::kind::same ||
             entry.what == structure_entry::kind::same;
    };
    if (const std::size_t index = from_.find(stored); index != catalog::npos && !has_leaf(index, stored)) return false;
    if (const auto entry = from_.structure.find(stored);
        entry != from_.structure.end() && !has_entry(stored, entry->second))
      return false;
    return std::ranges::all_of(leaves_below(stored),
                               [&](const stored_leaf& each) { return has_leaf(index_of(each), each.path); }) &&
           std::ranges::all_of(entries_below(stored),
                               [&](const auto& each) { return has_entry(each.first, each.second); });
  }

  [[nodiscard]] std::size_t index_of(const stored_leaf& leaf) const noexcept {
    return static_cast<std::size_t>(&leaf - from_.leaves.data());
  }

  [[nodiscard]] bool is_used(const stored_leaf& leaf) const { return used_leaves_[index_of(leaf)]; }
  [[nodiscard]] bool has_used_leaf(std::string_view stored) const {
    const std::size_t index = from_.find(stored);
    return (index != catalog::npos && used_leaves_[index]) ||
           std::ranges::any_of(leaves_below(stored), [&](const stored_leaf& each) { return is_used(each); });
  }

  [[nodiscard]] bool has_used_part(std::string_view stored) const {
    const auto entry = from_.structure.find(stored);
    return has_used_leaf(stored) || (entry != from_.structure.end() && used_entries_.contains(&entry->second)) ||
           std::ranges::any_of(entries_below(stored),
                               [&](const auto& each) { return used_entries_.contains(&each.second); });
  }

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

/// Reads a catalog's leaves, and keeps their bytes, at most `most_bytes` in all. What does not fit is read each time.
class fetched_leaves {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;

  explicit fetched_leaves(std::uint64_t most = most_bytes) : room_(most) {}

  [[nodiscard]] bool has(std::size_t index) const { return kept_.contains(index); }

  /// As catalog::fetch.
  void fetch(const catalog& from, std::size_t index, std::span<std::byte> out) {
    const auto at = kept_.find(index);
    if (at != kept_.end()) {
      std::copy(at->second.begin(), at->second.end(), out.begin());
      return;
    }
    from.fetch(index, out);
    if (out.size() > room_) return;
    kept_.emplace(index, std::vector<std::byte>(out.begin(), out.end()));
    room_ -= out.size();
  }

 private:
  std::map<std::size_t, std::vector<std::byte>> kept_;
  std::uint64_t room_;
};

/// Fetches leaf `index` by `by` into `to`, which has as many elements; or fewer in some of as many dimensions: these
/// get the first ones. Converts and scatters as needed. errc::mismatch: a value does not fit the dtype of `to`.
inline void fetch_leaf(fetched_leaves& by, const catalog& from, std::size_t index, const memory_view& to) {
  const stored_leaf& stored = from.leaves[index];
  const bool crops = element_count(stored.shape) != to.count();
  if (stored.type == to.type && to.contiguous() && !crops) return by.fetch(from, index, {to.memory, to.bytes()});
  std::vector<std::byte> bytes(stored.bytes());
  by.fetch(from, index, bytes);
  if (stored.type != to.type) {
    std::vector<std::byte> converted(element_count(stored.shape) * size_of(to.type));
    if (!convert(stored.type, bytes, to.type, converted))
      fail(errc::mismatch, {stored.path, " in ", from.origin, " has values that do not fit into ", name(to.type),
                            "; give it a wider type, or leave it out with filter"});
    bytes.swap(converted);
  }
  if (crops) {
    std::vector<std::byte> cropped(to.bytes());
    gather(overlap_of({to.type, stored.shape, bytes.data(), {}}, to.shape), 0, cropped);
    bytes.swap(cropped);
  }
  scatter(to, 0, bytes);
}

}  // namespace cairn::inline v0_1::detail
