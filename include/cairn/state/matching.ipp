// Definitions of matching.hpp.
#pragma once

#include <algorithm>

#include "cairn/core/error.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/matching.hpp"

namespace cairn::detail {

CAIRN_INLINE void fetch_leaf(const catalog& from, std::size_t index, const memory_view& to) {
  const stored_leaf& stored = from.leaves[index];
  if (stored.type == to.type && to.contiguous()) return from.fetch(index, {to.memory, to.bytes()});
  std::vector<std::byte> bytes(stored.bytes());
  from.fetch(index, bytes);
  if (stored.type != to.type) {
    std::vector<std::byte> converted(to.bytes());
    if (!convert(stored.type, bytes, to.type, converted))
      fail(errc::mismatch, {stored.path, " in ", from.origin, " has values that do not fit into ", name(to.type)});
    bytes.swap(converted);
  }
  scatter(to, 0, bytes);
}

CAIRN_INLINE matching::matching(const catalog& source, const match_options& how)
    : from(source), options(how), used_(source.leaves.size()) {}

CAIRN_INLINE matching::~matching() = default;

CAIRN_INLINE std::string matching::stored_path(std::string_view path) const {
  return options.rename ? options.rename(path) : std::string(path);
}

CAIRN_INLINE void matching::add(std::string path, memory_view view) {
  const std::string stored = stored_path(path);
  const std::size_t index = find_leaf(stored);
  if (probe.active) {
    if (index != catalog::npos && !from.leaves[index].shape.empty() && !probe.rows && accepts(stored))
      probe.rows = from.leaves[index].shape.front();
    return;
  }
  if (!accepts(stored)) {
    if (index != catalog::npos) used_[index] = true;
    ++incomplete;
    return;
  }
  if (index == catalog::npos) return miss(std::move(path));
  used_[index] = true;
  if (!fits(from.leaves[index], stored, view)) {
    ++incomplete;
    return;
  }
  if (!applying) {
    report.loaded.push_back(stored);
    if (from.leaves[index].type != view.type) report.converted.push_back(stored);
    check_values(index, view);
  }
  if (immediate > 0)
    fetch_leaf(from, index, view);
  else if (applying)
    targets.push_back({index, std::move(view)});
  else
    check_ties(index, view);
}

CAIRN_INLINE const fact* matching::find_fact(const std::string& path, fact::kind kind) {
  const auto at = from.facts.find(stored_path(path));
  if (at == from.facts.end()) {
    if (from.has_structure && !probe.active) miss(path);
    return nullptr;
  }
  known_facts_.insert(&at->second);
  const bool of_pointer = at->second.what == fact::kind::engaged || at->second.what == fact::kind::same;
  if (at->second.what == kind || (kind == fact::kind::type && of_pointer)) return &at->second;
  if (at->second.what == fact::kind::same && kind == fact::kind::engaged) return &at->second;
  problems.push_back(path + " is another kind of object in the checkpoint");
  ++incomplete;
  return nullptr;
}

CAIRN_INLINE std::uint64_t matching::checked_size(const std::string& path, std::uint64_t size, bool empty_elements) {
  const std::uint64_t bound = empty_elements ? 1U << 20 : from.leaves.size() + from.facts.size();
  if (size <= bound) return size;
  fail(errc::corrupt, {path, " in ", from.origin, " claims ", std::to_string(size), " objects, which it cannot hold"});
}

CAIRN_INLINE void matching::miss(std::string path) {
  ++incomplete;
  if (!applying && !probe.active) report.missing.push_back(std::move(path));
}

CAIRN_INLINE void matching::resized(const std::string& path) {
  if (!applying && immediate == 0) report.resized.push_back(path);
}

CAIRN_INLINE void matching::grows(const std::string& path, std::uint64_t count, std::size_t width) {
  if (applying) return;
  static const std::uint64_t most = machine_memory();
  if (count > (most - growing_) / width)
    fail(errc::io, {path, " in ", from.origin, " has ", std::to_string(count), " elements of ", std::to_string(width),
                    " bytes: more than the memory of this machine"});
  growing_ += count * width;
}

CAIRN_INLINE bool matching::accepts(std::string_view stored) const { return !options.filter || options.filter(stored); }

CAIRN_INLINE const extents* matching::stored_shape(const std::string& path) const {
  const std::size_t index = from.find(stored_path(path));
  return index == catalog::npos ? nullptr : &from.leaves[index].shape;
}

CAIRN_INLINE bool matching::wants(const std::string& path) const {
  if (!options.filter) return true;
  const std::string stored = stored_path(path);
  if (options.filter(stored)) return true;
  const std::string inside = stored + '.';
  auto at = std::lower_bound(from.leaves.begin(), from.leaves.end(), inside,
                             [](const stored_leaf& l, const std::string& p) { return l.path < p; });
  for (; at != from.leaves.end() && at->path.starts_with(inside); ++at)
    if (options.filter(at->path)) return true;
  return false;
}

CAIRN_INLINE void matching::claim(const std::string& path) {
  const std::string inside = path.empty() ? "" : stored_path(path) + '.';
  for (std::size_t i = 0; i < from.leaves.size(); ++i)
    if ((from.leaves[i].path + '.').starts_with(inside)) used_[i] = true;
  for (const auto& [at, what] : from.facts)
    if ((at + '.').starts_with(inside)) known_facts_.insert(&what);
}

CAIRN_INLINE void matching::finish_check() {
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (!used_[i] && accepts(from.leaves[i].path)) report.unexpected.push_back(from.leaves[i].path);
  for (const auto& [path, what] : from.facts)
    if (!known_facts_.contains(&what) && wants_fact(path)) report.unexpected.push_back(path);
  if (options.strict) {
    for (const auto& path : report.missing) problems.push_back(path + " is missing in the checkpoint");
    for (const auto& path : report.unexpected) problems.push_back(path + " is in the checkpoint but not in the state");
  }
  if (problems.empty()) return;
  constexpr std::size_t shown = 8;
  std::string text = from.origin + " does not fit the state: ";
  for (std::size_t i = 0; i < std::min(shown, problems.size()); ++i) text += (i ? "; " : "") + problems[i];
  if (problems.size() > shown) text += "; and " + std::to_string(problems.size() - shown) + " more";
  fail(errc::mismatch, {text, ". Nothing was changed",
                        options.strict ? "; load with strict = false to leave out what only one side has" : ""});
}

CAIRN_INLINE bool matching::wants_fact(const std::string& path) const {
  return !options.filter || options.filter(path);
}

CAIRN_INLINE std::size_t matching::find_leaf(const std::string& stored) {
  const std::size_t index = from.find(stored);
  if (index != catalog::npos) return index;
  const auto same = from.facts.find(stored);
  if (same == from.facts.end() || same->second.what != fact::kind::same) return catalog::npos;
  known_facts_.insert(&same->second);
  return from.find(same->second.text);
}

CAIRN_INLINE bool matching::fits(const stored_leaf& stored, const std::string& path, const memory_view& view) {
  const bool tied = stored.path != path;  // one buffer may be seen in two shapes
  const bool same_shape = tied ? element_count(stored.shape) == view.count() : stored.shape == view.shape;
  if (!same_shape)
    problems.push_back(path + " has shape " + to_string(stored.shape) + " in the checkpoint and " +
                       to_string(view.shape) + " in the state");
  if (!is_convertible(stored.type, view.type, options.convert))
    problems.push_back(path + " is " + std::string(name(stored.type)) + " in the checkpoint and " +
                       std::string(name(view.type)) + " in the state");
  return same_shape && is_convertible(stored.type, view.type, options.convert);
}

CAIRN_INLINE void matching::check_values(std::size_t index, const memory_view& view) {
  const stored_leaf& stored = from.leaves[index];
  const bool may_not_fit = !is_floating(view.type) && !is_widening(stored.type, view.type);
  if (view.type != dtype::boolean && !may_not_fit) return;
  std::vector<std::byte> scratch(element_count(stored.shape) * size_of(view.type));
  fetch_leaf(from, index, {view.type, stored.shape, scratch.data(), {}});
  if (view.type != dtype::boolean) return;
  for (const std::byte value : scratch)
    if (std::to_integer<unsigned>(value) > 1)
      fail(errc::corrupt, {stored.path, " in ", from.origin, " is BOOL but has a byte that is neither 0 nor 1"});
}

CAIRN_INLINE void matching::check_ties(std::size_t index, const memory_view& view) {
  if (prototypes > 0 || !view.memory || view.shape.empty() || !view.contiguous() || view.bytes() == 0) return;
  const auto [at, first] = arrays_.try_emplace(view.memory, index);
  const stored_leaf& other = from.leaves[at->second];
  const stored_leaf& stored = from.leaves[index];
  if (first || at->second == index || other.bytes() != stored.bytes()) return;
  std::vector<std::byte> left(stored.bytes());
  std::vector<std::byte> right(other.bytes());
  from.fetch(index, left);
  from.fetch(at->second, right);
  if (left != right)
    problems.push_back(other.path + " and " + stored.path + " share memory in the state but differ in the checkpoint");
}

}  // namespace cairn::detail
