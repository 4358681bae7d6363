// A scratch directory in memory, for tests that write much and wait for no disk.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <unistd.h>

namespace durability {

/// A fresh directory on tmpfs, where there is one, that goes with its owner.
class memory_scratch {
 public:
  memory_scratch() {
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string pattern = (has_memory ? memory : std::filesystem::temp_directory_path()) / "cairn-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  memory_scratch(const memory_scratch&) = delete;
  memory_scratch& operator=(const memory_scratch&) = delete;
  ~memory_scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& below = "") const {
    return below.empty() ? path_ : path_ + "/" + below;
  }

 private:
  std::string path_;
};

}  // namespace durability
