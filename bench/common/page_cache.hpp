// SPDX-License-Identifier: MIT
// Files out of the kernel's page cache, so that a restore reads from the disk as after a crash of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench {

/// Asks the kernel to drop all pages of the files in `folder` or its folders (POSIX_FADV_DONTNEED), which must be on the disk already.
/// Returns the part of their bytes that is cached all the same, 0 to 1.
[[nodiscard]] inline double drop_cached(const std::filesystem::path& folder) {
  double cached = 0, all = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.file_size() == 0) continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw std::runtime_error("cannot open " + entry.path().string());
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    const auto bytes = static_cast<std::size_t>(entry.file_size());
    void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + entry.path().string());
    std::vector<unsigned char> pages((bytes + 4095) / 4096);
    ::mincore(memory, bytes, pages.data());
    ::munmap(memory, bytes);
    for (const auto page : pages) cached += page & 1U;
    all += static_cast<double>(pages.size());
  }
  return all > 0 ? cached / all : 0;
}

}  // namespace bench
