// SPDX-License-Identifier: MIT
// Files into and out of the kernel's page cache: without them there, a restore reads from the disk as after a crash of
// the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench {

/// Reads a file, or all files in a folder and its folders, so that they are in the page cache.
inline void read_into_cache(const std::filesystem::path& path) {
  const auto read = [](const std::filesystem::path& file) {
    std::vector<char> buffer(1 << 20);
    std::ifstream in(file, std::ios::binary);
    while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()))) {
    }
  };
  if (!std::filesystem::is_directory(path)) return read(path);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) read(entry.path());
}

/// Asks the kernel to drop all pages of the files in `folder` or its folders (POSIX_FADV_DONTNEED), which must be on
/// the disk already. Returns the part of their bytes that is cached all the same, 0 to 1.
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
