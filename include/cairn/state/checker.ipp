// Definitions of checker.hpp.
#pragma once

#include <algorithm>

#include "cairn/core/convert.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/checker.hpp"
#include "cairn/state/fetch_leaf.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::detail {

CAIRN_INLINE void checker::add(memory_view view, const device_copies* device) {
  if (const std::size_t index = take(view); index != catalog::npos) check_ties(index, view, device);
}

CAIRN_INLINE std::size_t checker::take(const memory_view& view) {
  const std::string stored = load_.stored.stored_path(path());
  const std::size_t index = load_.stored.use_leaf(stored);
  const bool is_accepted = load_.stored.accepts(stored);
  if (is_accepted && index == catalog::npos) {
    missing();
    return catalog::npos;
  }
  if (!is_accepted || !fits(load_.stored.contents().leaves[index], stored, view)) {
    ++load_.left_out;
    return catalog::npos;
  }
  report_.loaded.push_back(stored);
  if (load_.stored.contents().leaves[index].type != view.type) report_.converted.push_back(stored);
  check_values(index, view);
  return index;
}

CAIRN_INLINE shared_answer checker::shared(const found_object& found, const std::shared_ptr<void>& object) {
  auto answer = loader::shared(found, object);
  answer.same = nullptr;
  return answer;
}

CAIRN_INLINE void checker::record(std::string_view path, const std::string& problem) {
  problems_.push_back(std::string(path) + ' ' + problem);
  ++load_.left_out;
}

CAIRN_INLINE void checker::missing() {
  report_.missing.emplace_back(path());
  ++load_.left_out;
}

CAIRN_INLINE void checker::keep_whole() {
  load_.kept_whole.insert(at_.path);
  mark_used();
  if (load_.stored.selects_some(at_.path))
    reject("can only be loaded as a whole; let the filter select all of it, or nothing");
}

CAIRN_INLINE bool checker::resizes(std::uint64_t from, std::uint64_t to, std::size_t width) {
  report_.resized.emplace_back(path());
  require_memory(from, to, width);
  return false;
}

CAIRN_INLINE void checker::frees(const void* container, const void* memory, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if (prototypes_ == 0 && bytes > 0) freed_.push_back({begin, begin + bytes, container, at_.path});
}

CAIRN_INLINE void checker::require_memory(std::uint64_t from, std::uint64_t to, std::size_t width) {
  if (to <= from || width == 0) return;
  static const std::uint64_t most = machine_memory();
  if (to > (most - growing_) / width)
    fail(errc::no_memory, {path(), " in ", origin(), " has ", to, " elements of ", width,
                           " bytes: more than the memory of this machine"});
  growing_ += to * width;
}

CAIRN_INLINE void checker::finish() {
  report_.unexpected = load_.stored.unexpected();
  const bool differ = load_.stored.options().strict && report_.missing.size() + report_.unexpected.size() > 0;
  if (differ) {
    for (const auto& path : report_.missing) problems_.push_back(path + " is missing in the checkpoint");
    for (const auto& path : report_.unexpected)
      problems_.push_back(path + " is in the checkpoint but not in the state");
  }
  report_.missing.insert(report_.missing.end(), defaulted_.begin(), defaulted_.end());
  if (problems_.empty()) return;
  constexpr std::size_t shown = 8;
  std::string text = origin() + " does not fit the state: ";
  for (std::size_t i = 0; i < std::min(shown, problems_.size()); ++i) text += (i ? "; " : "") + problems_[i];
  if (problems_.size() > shown) text += "; and " + std::to_string(problems_.size() - shown) + " more";
  fail(errc::mismatch,
       {text, ". Nothing was changed", differ ? "; load with strict = false to leave out what only one side has" : ""});
}

CAIRN_INLINE bool checker::fits(const stored_leaf& stored, const std::string& path, const memory_view& view) {
  const bool tied = stored.path != path;  // one buffer may be seen in two shapes
  const bool same_shape = tied ? element_count(stored.shape) == view.count() : stored.shape == view.shape;
  if (!same_shape)
    problems_.push_back(path + " has shape " + to_string(stored.shape) + " in the checkpoint and " +
                        to_string(view.shape) + " in the state");
  const bool convertible = is_convertible(stored.type, view.type, load_.stored.options().convert);
  if (!convertible)
    problems_.push_back(path + " is " + std::string(name(stored.type)) + " in the checkpoint and " +
                        std::string(name(view.type)) + " in the state" +
                        std::string(conversion_advice(stored.type, view.type)));
  return same_shape && convertible;
}

CAIRN_INLINE void checker::check_values(std::size_t index, const memory_view& view) const {
  const catalog& from = load_.stored.contents();
  const stored_leaf& stored = from.leaves[index];
  const bool may_not_fit = !is_floating(view.type) && !is_widening(stored.type, view.type);
  if (view.type != dtype::boolean && !may_not_fit) return;
  std::vector<std::byte> values(element_count(stored.shape) * size_of(view.type));
  fetch_leaf(from, index, {view.type, stored.shape, values.data(), {}});
  if (view.type != dtype::boolean) return;
  for (const std::byte value : values)
    if (std::to_integer<unsigned>(value) > 1)
      fail(errc::corrupt, {stored.path, " in ", from.origin, " is BOOL but has a byte that is neither 0 nor 1"});
}

CAIRN_INLINE void checker::check_ties(std::size_t index, const memory_view& view, const device_copies* device) {
  if (prototypes_ > 0 || !view.memory || view.shape.empty() || !view.contiguous() || view.bytes() == 0) return;
  const catalog& from = load_.stored.contents();
  const std::size_t first = arrays_.find_or_add({view.memory, device}, index);
  const stored_leaf& other = from.leaves[first];
  const stored_leaf& stored = from.leaves[index];
  if (first == index || other.bytes() != stored.bytes()) return;
  std::vector<std::byte> left(stored.bytes()), right(other.bytes());
  from.fetch(index, left);
  from.fetch(first, right);
  if (left != right)
    problems_.push_back(other.path + " and " + stored.path + " share memory in the state but differ in the checkpoint");
}

}  // namespace cairn::detail
