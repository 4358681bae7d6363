// Definitions of walker.hpp.
#pragma once

#include "cairn/core/strided.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

CAIRN_INLINE std::string walker::path() const { return path_.empty() ? "value" : path_; }

CAIRN_INLINE void walker::enter(std::string_view name) {
  if (lengths_.size() == max_nesting)
    fail(errc::invalid, {"the state is nested more than ", std::to_string(max_nesting), " deep at ",
                         std::string_view(path_).substr(0, 200), "...; keep long chains of objects in a vector"});
  lengths_.push_back(path_.size());
  if (!path_.empty()) path_ += '.';
  path_ += name;
}

CAIRN_INLINE void walker::enter(std::uint64_t index) { enter(std::to_string(index)); }

CAIRN_INLINE void walker::leave() {
  path_.resize(lengths_.back());
  lengths_.pop_back();
}

CAIRN_INLINE void walker::begin_batch(std::uint64_t count, std::size_t stride) {
  shape_.push_back(count);
  strides_.push_back(static_cast<std::int64_t>(stride));
}

CAIRN_INLINE void walker::end_batch() {
  shape_.pop_back();
  strides_.pop_back();
}

CAIRN_INLINE void walker::begin_probe() {
  matching_->probe = {.active = true, .rows = {}};
  begin_batch(0, 0);
}

CAIRN_INLINE std::optional<std::uint64_t> walker::end_probe() {
  end_batch();
  return std::exchange(matching_->probe, {}).rows;
}

CAIRN_INLINE void walker::element(dtype type, void* memory) { array(type, memory, {}, {}); }

CAIRN_INLINE void walker::array(dtype type, void* memory, const extents& shape,
                                const std::vector<std::int64_t>& strides) {
  memory_view view{type, shape_, static_cast<std::byte*>(memory), {}};
  view.shape.insert(view.shape.end(), shape.begin(), shape.end());
  auto steps = strides_;
  const auto inner = strides.empty() ? packed_strides(shape, size_of(type)) : strides;
  steps.insert(steps.end(), inner.begin(), inner.end());
  if (!is_packed(view.shape, steps, size_of(type))) view.strides = std::move(steps);
  if (describing_)
    describing_->add(path(), std::move(view));
  else
    matching_->add(path(), std::move(view));
}

CAIRN_INLINE void walker::begin_copy(std::shared_ptr<const void> object) {
  copies_.emplace_back();
  if (describing_) {
    copies_.back().outer_owner = std::exchange(describing_->owner, std::move(object));
  } else {
    copies_.back().incomplete = matching_->incomplete;
    ++matching_->immediate;
  }
}

CAIRN_INLINE bool walker::end_copy() {
  const auto ended = std::move(copies_.back());
  copies_.pop_back();
  if (describing_) {
    describing_->owner = ended.outer_owner;
    return true;
  }
  --matching_->immediate;
  return matching_->incomplete == ended.incomplete;
}

CAIRN_INLINE void walker::state(fact what) { describing_->state(path(), std::move(what)); }

CAIRN_INLINE void walker::state(fact::kind what, std::uint64_t number) { state({.what = what, .number = number}); }

CAIRN_INLINE const fact* walker::stored(fact::kind kind) { return matching_->find_fact(path(), kind); }

CAIRN_INLINE bool walker::is_filtered() const { return matching_ && !path_.empty() && !matching_->wants(path_); }

CAIRN_INLINE void walker::claim() { matching_->claim(path_); }

CAIRN_INLINE void walker::refuse(const std::string& problem) {
  matching_->problems.push_back(path() + ' ' + problem);
  ++matching_->incomplete;
}

}  // namespace cairn::detail
