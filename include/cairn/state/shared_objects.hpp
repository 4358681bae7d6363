// SPDX-License-Identifier: MIT
// Finds the objects of a state that several pointers share, and those that a save could not keep shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/state/path_list.hpp"
#include "cairn/state/pointer_type.hpp"

namespace cairn::inline v0_1::detail {

/// Collects the shared objects of a state while it is described, in the order of the walk. Two pointers share an object if they lead to the same
/// whole object: to one address and one type. A load could not share memory in other ways: `refuse_overlaps` finds pointers to a part of a
/// shared object, and pointers to a part of the state. It does not look into containers that are saved as copies, such as sets and vectors
/// of strings.
class shared_objects {
 public:
  /// `paths`: those of the leaves and entries so far, in the order of the walk.
  explicit shared_objects(const path_list& paths) noexcept : paths_(paths) {}

  /// A part of the state, which is at a path of `path_size` characters. Its leaves and entries follow.
  void visit(const void* object, std::size_t path_size) {
    visits_.push_back({object, static_cast<std::uint32_t>(paths_.size()), static_cast<std::uint32_t>(path_size)});
  }

  /// The path that led to the object first; empty if it is this one. The walk of the object then follows, with `leaves` leaves before it,
  /// and ends with `end`. Keeps the object.
  std::string_view begin(const std::string& path, const found_object& found, std::shared_ptr<void> object,
                         std::size_t leaves);
  void end(std::size_t leaves);

  /// errc::invalid: a shared object is also a part of another object, with both paths. O(n log m) for n parts and m shared objects.
  void refuse_overlaps(const std::vector<leaf>& leaves) const;

 private:
  struct visited {
    const void* object;
    std::uint32_t first_path;  // index in `paths_` of the first path in it
    std::uint32_t path_size;
  };
  struct shared {
    std::string path;
    const type_id* type = nullptr;
    std::size_t first_visit = 0, last_visit = 0;  // of its walk: [first, last)
    std::size_t first_leaf = 0, last_leaf = 0;
    std::shared_ptr<void> object{};  // kept, so that no other object takes its address
  };
  using shared_map = std::map<const std::byte*, shared>;

  [[nodiscard]] std::string path_of(const visited& part) const;
  [[noreturn]] static void fail_overlap(const std::string& path, std::string_view other);

  const path_list& paths_;
  std::vector<visited> visits_;
  shared_map objects_;
  std::vector<shared*> open_;  // whose walks have not ended
};

}  // namespace cairn::inline v0_1::detail
