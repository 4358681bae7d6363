// SPDX-License-Identifier: MIT
// A store in memory: for fast rollback and for tests. Its contents end with the process.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {
struct memory_contents;
}

/// Checkpoints in the memory of this process; copies of the store share them. Thread-safe.
class memory {
 public:
  CAIRN_INLINE memory();

  [[nodiscard]] std::string location() const { return "memory"; }
  [[nodiscard]] CAIRN_INLINE ownership lock();
  [[nodiscard]] CAIRN_INLINE std::unique_ptr<transaction> begin(std::string_view name);
  [[nodiscard]] CAIRN_INLINE std::unique_ptr<transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] CAIRN_INLINE std::vector<std::string> list() const;
  [[nodiscard]] CAIRN_INLINE std::vector<std::string> files(std::string_view name) const;
  [[nodiscard]] CAIRN_INLINE std::unique_ptr<source> open(std::string_view name, std::string_view file) const;
  CAIRN_INLINE void remove(std::string_view name);

 private:
  std::shared_ptr<detail::memory_contents> contents_;
};

}  // namespace cairn::inline v0_1::stores

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/store/memory.ipp"  // IWYU pragma: keep
#endif
