// Definitions of matcher.hpp.
#pragma once

#include <algorithm>

#include "cairn/core/error.hpp"
#include "cairn/state/fetch_leaf.hpp"
#include "cairn/state/matcher.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::detail {

CAIRN_INLINE matcher::matcher(const catalog& from, const match_options& options)
    : from_(from), options_(options), used_leaves_(from.leaves.size()) {}
CAIRN_INLINE matcher::~matcher() = default;

CAIRN_INLINE void matcher::start_applying() {
  applying_ = true;
  objects_.clear();
  filled_objects_.clear();
}

CAIRN_INLINE void matcher::add(std::string path, memory_view view, const device_copies* device) {
  const std::string stored = stored_path(path);
  const std::size_t index = find_leaf(stored);
  if (probe_) {
    if (index != catalog::npos && !from_.leaves[index].shape.empty() && !*probe_ && accepts(stored))
      *probe_ = from_.leaves[index].shape.front();
    return;
  }
  if (!accepts(stored)) {
    if (index != catalog::npos) used_leaves_[index] = true;
    return skip();
  }
  if (index == catalog::npos) return report_missing(std::move(path));
  used_leaves_[index] = true;
  if (!fits(from_.leaves[index], stored, view)) return skip();
  if (!applying_) {
    report_.loaded.push_back(stored);
    if (from_.leaves[index].type != view.type) report_.converted.push_back(stored);
    check_values(index, view);
  }
  if (!is_writing()) return check_ties(index, view, device);
  if (prototypes_ > 0 && view.bytes() > 0 && copies_.empty())  // its memory is gone when the targets are read
    fail(errc::invalid, {path, " was not made by the load"});
  if (device) buffers_.emplace_back(path, view, *device);
  if (copies_.empty()) return targets_.push_back({index, std::move(view)});
  fetch_leaf(from_, index, view);
  if (!device) return;
  buffers_.back().write_device();
  buffers_.pop_back();
}

CAIRN_INLINE void matcher::write_devices() {
  for (const auto& each : buffers_) each.write_device();
  buffers_.clear();
}

CAIRN_INLINE size_answer matcher::sequence(const std::string& path, std::uint64_t size, bool empty_elements) {
  const auto* stored = find(path, structure_entry::kind::size);
  if (!stored) return {size};
  check_size(path, stored->number, empty_elements);
  return {stored->number, stored->number != size && resizes(path, size, stored->number, 0)};
}

CAIRN_INLINE presence matcher::optional(const std::string& path, bool engaged) {
  const auto* stored = find(path, structure_entry::kind::engaged);
  if (!stored) return engaged ? presence::walk : presence::keep;
  if (stored->what == structure_entry::kind::engaged && stored->number == 0)
    return is_writing() ? presence::clear : presence::keep;
  if (engaged) return presence::walk;
  return is_writing() ? presence::make : presence::prototype;
}

CAIRN_INLINE alternative_answer matcher::alternative(const std::string& path, std::uint64_t index,
                                                     std::uint64_t count) {
  const auto* stored = find(path, structure_entry::kind::index);
  if (!stored) return {presence::walk, index};
  if (stored->number >= count) {
    reject(path, "holds alternative " + std::to_string(stored->number) + " of a variant of " + std::to_string(count));
    return {};
  }
  if (index == stored->number) return {presence::walk, index};
  return {is_writing() ? presence::make : presence::prototype, stored->number};
}

CAIRN_INLINE const std::vector<std::string>* matcher::keys(const std::string& path) {
  const auto* stored = find(path, structure_entry::kind::keys);
  if (!stored) return nullptr;
  std::unordered_set<std::string_view> seen;
  for (const auto& each : stored->keys)
    if (!seen.insert(each).second)
      fail(errc::corrupt, {path, " in ", from_.origin, " has the key '", each, "', twice"});
  return &stored->keys;
}

CAIRN_INLINE std::uint64_t matcher::ranks(const std::string& path, std::string_view known, std::uint64_t ranks,
                                          bool takes_all) {
  const auto* stored = find(path, structure_entry::kind::ranks);
  if (!stored) return 0;
  mark_used(known);
  if (stored->number == 0) reject(path, "is per-rank state saved by no rank");
  if (takes_all && stored->number != ranks) check_size(path, stored->number, false);
  return stored->number;
}

CAIRN_INLINE bool matcher::resizes(const std::string& path, std::uint64_t from, std::uint64_t to, std::size_t width) {
  if (!is_writing()) report_.resized.push_back(path);
  if (to > from && width > 0 && !applying_) {
    static const std::uint64_t most = machine_memory();
    if (to > (most - growing_) / width)
      fail(errc::no_memory, {path, " in ", from_.origin, " has ", to, " elements of ", width,
                             " bytes: more than the memory of this machine"});
    growing_ += to * width;
  }
  return is_writing();
}

CAIRN_INLINE bool matcher::may_grow_later(std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t large =
      64 * 1024;  // memory of this size is prepared in large pages, for all containers at once
  return copies_.empty() && bytes >= large;
}

CAIRN_INLINE void matcher::begin_copy() { copies_.push_back(incomplete_); }

CAIRN_INLINE copy_answer matcher::end_copy() {
  const bool complete = copies_.back() == incomplete_;
  copies_.pop_back();
  if (!complete) return copy_answer::drop;
  return is_writing() ? copy_answer::put : copy_answer::check;
}

CAIRN_INLINE void matcher::reject(const std::string& path, const std::string& problem) {
  problems_.push_back(path + ' ' + problem);
  ++incomplete_;
}

CAIRN_INLINE void matcher::finish_check() {
  for (std::size_t i = 0; i < used_leaves_.size(); ++i)
    if (!used_leaves_[i] && accepts(from_.leaves[i].path)) report_.unexpected.push_back(from_.leaves[i].path);
  for (const auto& [path, entry] : from_.structure)
    if (!used_entries_.contains(&entry) && accepts(path)) report_.unexpected.push_back(path);
  const bool differ = options_.strict && report_.missing.size() + report_.unexpected.size() > 0;
  if (differ) {
    for (const auto& path : report_.missing) problems_.push_back(path + " is missing in the checkpoint");
    for (const auto& path : report_.unexpected)
      problems_.push_back(path + " is in the checkpoint but not in the state");
  }
  report_.missing.insert(report_.missing.end(), defaulted_.begin(), defaulted_.end());
  if (problems_.empty()) return;
  constexpr std::size_t shown = 8;
  std::string text = from_.origin + " does not fit the state: ";
  for (std::size_t i = 0; i < std::min(shown, problems_.size()); ++i) text += (i ? "; " : "") + problems_[i];
  if (problems_.size() > shown) text += "; and " + std::to_string(problems_.size() - shown) + " more";
  fail(errc::mismatch,
       {text, ". Nothing was changed", differ ? "; load with strict = false to leave out what only one side has" : ""});
}

CAIRN_INLINE std::string matcher::stored_path(std::string_view path) const {
  return options_.rename ? options_.rename(path) : std::string(path);
}

CAIRN_INLINE bool matcher::accepts(std::string_view stored) const {
  return !options_.filter || options_.filter(stored);
}

CAIRN_INLINE const structure_entry* matcher::find(const std::string& path, structure_entry::kind kind) {
  using enum structure_entry::kind;
  const auto at = from_.structure.find(stored_path(path));
  if (at == from_.structure.end()) {
    if (from_.has_structure && !probe_) report_missing(path);
    return nullptr;
  }
  const structure_entry& found = at->second;
  used_entries_.insert(&found);
  const auto is_of_pointer = [](structure_entry::kind what) { return what == engaged || what == type; };
  if (found.what == kind || (is_of_pointer(kind) && (is_of_pointer(found.what) || found.what == same))) return &found;
  reject(path, "is another kind of object in the checkpoint");
  return nullptr;
}

CAIRN_INLINE std::size_t matcher::find_leaf(const std::string& stored) {
  const std::size_t index = from_.find(stored);
  if (index != catalog::npos) return index;
  const auto entry = from_.structure.find(stored);
  if (entry == from_.structure.end() || entry->second.what != structure_entry::kind::same) return catalog::npos;
  used_entries_.insert(&entry->second);
  return from_.find(entry->second.text);
}

CAIRN_INLINE void matcher::check_size(const std::string& path, std::uint64_t size, bool empty_elements) const {
  const std::uint64_t most = empty_elements ? 1U << 20 : from_.leaves.size() + from_.structure.size();
  if (size > most)
    fail(errc::corrupt, {path, " in ", from_.origin, " claims ", size, " objects, which it cannot hold"});
}

CAIRN_INLINE void matcher::report_missing(std::string path) {
  ++incomplete_;
  if (!applying_ && !probe_) report_.missing.push_back(std::move(path));
}

CAIRN_INLINE void matcher::mark_used(std::string_view path) {
  const std::string at = path.empty() ? "" : stored_path(path);
  auto leaf = std::ranges::lower_bound(from_.leaves, at, {}, &stored_leaf::path);
  for (; leaf != from_.leaves.end() && leaf->path.starts_with(at); ++leaf)
    if (is_within(leaf->path, at)) used_leaves_[static_cast<std::size_t>(leaf - from_.leaves.begin())] = true;
  auto entry = from_.structure.lower_bound(at);
  for (; entry != from_.structure.end() && entry->first.starts_with(at); ++entry)
    if (is_within(entry->first, at)) used_entries_.insert(&entry->second);
}

CAIRN_INLINE bool matcher::fits(const stored_leaf& stored, const std::string& path, const memory_view& view) {
  const bool tied = stored.path != path;  // one buffer may be seen in two shapes
  const bool same_shape = tied ? element_count(stored.shape) == view.count() : stored.shape == view.shape;
  if (!same_shape)
    problems_.push_back(path + " has shape " + to_string(stored.shape) + " in the checkpoint and " +
                        to_string(view.shape) + " in the state");
  const bool convertible = is_convertible(stored.type, view.type, options_.convert);
  if (!convertible)
    problems_.push_back(path + " is " + std::string(name(stored.type)) + " in the checkpoint and " +
                        std::string(name(view.type)) + " in the state" +
                        std::string(conversion_advice(stored.type, view.type)));
  return same_shape && convertible;
}

CAIRN_INLINE void matcher::check_values(std::size_t index, const memory_view& view) const {
  const stored_leaf& stored = from_.leaves[index];
  const bool may_not_fit = !is_floating(view.type) && !is_widening(stored.type, view.type);
  if (view.type != dtype::boolean && !may_not_fit) return;
  std::vector<std::byte> values(element_count(stored.shape) * size_of(view.type));
  fetch_leaf(from_, index, {view.type, stored.shape, values.data(), {}});
  if (view.type != dtype::boolean) return;
  for (const std::byte value : values)
    if (std::to_integer<unsigned>(value) > 1)
      fail(errc::corrupt, {stored.path, " in ", from_.origin, " is BOOL but has a byte that is neither 0 nor 1"});
}

CAIRN_INLINE void matcher::check_ties(std::size_t index, const memory_view& view, const device_copies* device) {
  if (prototypes_ > 0 || !view.memory || view.shape.empty() || !view.contiguous() || view.bytes() == 0) return;
  const auto [at, first] = arrays_.try_emplace(memory_key(view.memory, device), index);
  const stored_leaf& other = from_.leaves[at->second];
  const stored_leaf& stored = from_.leaves[index];
  if (first || at->second == index || other.bytes() != stored.bytes()) return;
  std::vector<std::byte> left(stored.bytes()), right(other.bytes());
  from_.fetch(index, left);
  from_.fetch(at->second, right);
  if (left != right)
    problems_.push_back(other.path + " and " + stored.path + " share memory in the state but differ in the checkpoint");
}

}  // namespace cairn::detail
