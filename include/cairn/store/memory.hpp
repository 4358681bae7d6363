// SPDX-License-Identifier: MIT
// A store in memory: for fast rollback and for tests. Its contents end with the process.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {
struct memory_contents;
}

/// Checkpoints in the memory of this process; copies of the store share them. Open files of a removed checkpoint stay
/// readable. Thread-safe.
class memory {
 public:
  memory();

  [[nodiscard]] std::string location() const { return "memory"; }
  [[nodiscard]] ownership lock();
  [[nodiscard]] std::unique_ptr<transaction> begin(std::string_view name);
  [[nodiscard]] std::unique_ptr<transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] std::vector<std::string> list() const;
  [[nodiscard]] std::shared_ptr<const publication> open(std::string_view name) const;
  void remove(std::string_view name);

 private:
  std::shared_ptr<detail::memory_contents> contents_;
};

}  // namespace cairn::inline v0_1::stores
