// Collects the leaves and the structure of a state during a walk. A shared object is described once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/answers.hpp"
#include "cairn/state/host_buffer.hpp"

namespace cairn::detail {

/// `path` is that of the current object. No object is changed.
class describer {
 public:
  /// Adds a leaf; or a `same` entry, if it is the same memory as an earlier leaf. An array on a device is copied to the host.
  void add(std::string path, memory_view view, const device_copies* device);

  size_answer sequence(std::string path, std::uint64_t size, bool empty_elements);
  presence optional(std::string path, bool engaged);
  pointee_answer polymorphic(std::string path, bool engaged, std::string_view type, std::string_view base);
  shared_answer shared(std::string path, const std::shared_ptr<void>& object, std::type_index pointee,
                       std::string_view type, std::string_view base);
  alternative_answer alternative(std::string path, std::uint64_t index, std::uint64_t count);
  void keys(std::string path, std::vector<std::string> keys);
  std::uint64_t ranks(std::string path, std::string_view known, std::uint64_t ranks, bool takes_all);

  /// Sets the owner of the memory of the next leaves: a private copy, or null for the state. Returns the previous owner.
  std::shared_ptr<const void> own(std::shared_ptr<const void> copy) noexcept { return std::exchange(owner_, copy); }

  [[nodiscard]] description take() { return std::move(result_); }

 private:
  void note(std::string path, structure_entry entry);

  [[noreturn]] static void fail_twice(const std::string& path);

  description result_;
  std::shared_ptr<const void> owner_;
  std::unordered_set<std::string> paths_;                                   // of leaves
  std::unordered_map<memory_key, std::size_t, memory_key::hash> arrays_;    // memory -> leaf
  std::map<std::pair<const void*, std::type_index>, std::string> objects_;  // shared object -> its first path
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/describer.ipp"  // IWYU pragma: keep
#endif
