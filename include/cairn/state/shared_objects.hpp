// SPDX-License-Identifier: MIT
// The objects of a state to which several pointers lead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

[[noreturn]] inline void fail_overlap(const std::string& path, std::string_view other) {
  fail(errc::invalid,
       {"the object behind the shared pointer ", path, " is also at ", other,
        " or a part of it, which a load could not share again; leave one of them out of the state, or point to the "
        "whole object"});
}

/// Whether an element of the strided view, of the dimensions from `d` on, begins in [begin, end).
inline bool has_element_in(const memory_view& view, std::size_t d, const std::byte* at, const std::byte* begin,
                           const std::byte* end) {
  if (d == view.shape.size()) return begin <= at && at < end;
  for (std::uint64_t i = 0; i < view.shape[d]; ++i, at += view.strides[d])
    if (has_element_in(view, d + 1, at, begin, end)) return true;
  return false;
}

/// The shared objects of a state. Two pointers share one if they lead to the same whole object: to one address and to
/// one type. A load could not share memory in other ways.
class shared_objects {
 public:
  struct shared {
    std::string path;  ///< of the pointer that led to it first
    const type_id* type = nullptr;
    std::shared_ptr<void> object{};  ///< kept, so that no other object takes its address
  };
  using map = std::map<const std::byte*, shared>;

  /// The path of the pointer that led to the object first; empty if it is this one. errc::invalid: another object is at
  /// its address.
  std::string_view add(const std::string& path, const found_object& found, std::shared_ptr<void> object) {
    const auto [at, first] = all_.try_emplace(static_cast<const std::byte*>(found.address));
    if (!first && *at->second.type != *found.type) fail_overlap(path, at->second.path);
    if (!first) return at->second.path;
    at->second = {path, found.type, std::move(object)};
    return {};
  }

  [[nodiscard]] const map& all() const noexcept { return all_; }

 private:
  map all_;
};

/// Walks a state that has shared objects once more, and throws errc::invalid if one of them is also part of another
/// object. It does not look into containers that are saved as copies, such as sets and vectors of strings.
class shared_part_search final : public walker {
 public:
  shared_part_search(walk_position& at, const shared_objects::map& all) : walker(at), all_(all) {
    const shared_objects::shared* before = nullptr;
    const std::byte* end = nullptr;
    for (const auto& [address, object] : all_) {
      if (before && address < end) fail_overlap(object.path, before->path);
      before = &object;
      end = address + object.type->size;
    }
  }

  shared_answer shared(const found_object& found, const std::shared_ptr<void>& /*object*/) override {
    const auto at = all_.find(static_cast<const std::byte*>(found.address));
    if (at == all_.end() || !visited_.insert(found.address).second) return {};
    open_.push_back(&at->second);
    return {.what = presence::walk, .type = found.type};
  }

  void shared_end() override { open_.pop_back(); }
  pointee_answer pointee(const found_object& found) override {
    visit(found.address);
    return walker::pointee(found);
  }

  void copy(void* /*object*/, const copy_operations& /*how*/) override {}
  void begin_temporary() noexcept override { ++temporaries_; }
  void end_temporary() noexcept override { --temporaries_; }

 private:
  void add(memory_view view, const device_copies* device) override {
    if (device || temporaries_ > 0 || view.bytes() == 0) return;
    // A view of memory in a shared object is not a part of it, so only an array around the object is refused.
    const auto [lowest, highest] = address_range(view);
    for (auto at = all_.lower_bound(lowest); at != all_.end() && at->first < highest; ++at) {
      const auto& [first, object] = *at;
      const std::byte* const last = first + object.type->size;
      const bool around = last <= highest && (lowest < first || last < highest);
      if (!around || is_open(object)) continue;
      if (view.contiguous() || has_element_in(view, 0, view.memory, first, last)) fail_overlap(object.path, path());
    }
  }

  void visit(const void* object) override {
    const auto* const address = static_cast<const std::byte*>(object);
    const auto behind = all_.upper_bound(address);
    if (temporaries_ > 0 || behind == all_.begin()) return;
    const auto& [first, around] = *std::prev(behind);
    if (address < first + around.type->size && !is_open(around)) fail_overlap(around.path, path());
  }

  [[nodiscard]] bool is_open(const shared_objects::shared& object) const {
    return std::find(open_.begin(), open_.end(), &object) != open_.end();
  }

  const shared_objects::map& all_;
  std::vector<const shared_objects::shared*> open_;  // in which the walk is
  std::set<const void*> visited_;
  unsigned temporaries_ = 0;  // objects that exist only for the moment
};

}  // namespace cairn::inline v0_1::detail
