// Collects the leaves and the structure of a state during a walk. A shared object is described once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/answers.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/shared_objects.hpp"

namespace cairn::detail {

/// `path` is that of the current object. No object is changed.
class describer {
 public:
  /// Adds a leaf; or a `same` entry, if it is the same memory as an earlier leaf. An array on a device is copied to the host.
  void add(std::string path, memory_view view, const device_copies* device);

  size_answer sequence(std::string path, std::uint64_t size, bool empty_elements);
  presence optional(std::string path, bool engaged);
  pointee_answer pointee(std::string path, const found_object& found);
  shared_answer shared(std::string path, const found_object& found, const std::shared_ptr<void>& object);
  void shared_end() { shared_.end(result_.leaves.size()); }
  /// A part of the state, whose path has `path_size` characters.
  void visit(const void* object, std::size_t path_size) {
    if (!owner_ && temporaries_ == 0) shared_.visit(object, path_size);
  }
  alternative_answer alternative(std::string path, std::uint64_t index, std::uint64_t count);
  void keys(std::string path, std::vector<std::string> keys);
  std::uint64_t ranks(std::string path, std::string_view known, std::uint64_t ranks, bool takes_all);
  void add_entry(std::string path, structure_entry entry) { note(std::move(path), std::move(entry)); }

  /// Sets the owner of the memory of the next leaves: a private copy, or null for the state. Returns the previous owner.
  std::shared_ptr<const void> own(std::shared_ptr<const void> copy) noexcept { return std::exchange(owner_, copy); }

  /// See walker::begin_temporary.
  void begin_temporary() noexcept { ++temporaries_; }
  void end_temporary() noexcept { --temporaries_; }

  /// The description of the whole state. errc::invalid: a part of a shared object is elsewhere in the state, too.
  [[nodiscard]] description take();

 private:
  void add_bytes_of(std::string path, const memory_view& view);
  void note(std::string path, structure_entry entry);

  /// The name of the object's type. errc::invalid: the type is not listed.
  [[nodiscard]] static std::string stored_name(const std::string& path, const found_object& found);

  [[noreturn]] static void fail_twice(const std::string& path);

  description result_;
  std::shared_ptr<const void> owner_;
  unsigned temporaries_ = 0;                               // that are open
  std::vector<std::shared_ptr<void>> shared_temporaries_;  // kept, so that no other object gets their address
  std::unordered_set<std::string> paths_;                  // of leaves
  std::unordered_map<memory_key, std::size_t, memory_key::hash> arrays_;  // memory -> leaf
  shared_objects shared_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/describer.ipp"  // IWYU pragma: keep
#endif
