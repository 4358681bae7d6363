// SPDX-License-Identifier: MIT
// A file open for reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cairn/store/base.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores::detail {

class file_source final : public source {
 public:
  /// Opens `file` in an open directory (or AT_FDCWD); `where` is its path for messages.
  file_source(int directory, const std::string& file, std::string where) : where_(std::move(where)) {
    file_ = posix::open_at(directory, file, O_RDONLY | O_NONBLOCK);  // opening a pipe must not wait for a writer
    if (!file_ && (errno == ENOENT || errno == ENOTDIR)) fail(errc::not_found, {"there is no file ", where_});
    struct stat about{};
    if (!file_ || ::fstat(file_.get(), &about) != 0) fail_io("open", where_);
    if (!S_ISREG(about.st_mode)) fail(errc::corrupt, {where_, " is not a regular file"});
    size_ = static_cast<std::uint64_t>(about.st_size);
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    check_range(where_, size_, offset, into);
    posix::read_all(file_.get(), into, offset, where_);
  }

  /// A disk takes several requests at a time; what is in the page cache keeps the processor busy.
  [[nodiscard]] unsigned readers(std::uint64_t offset) const override {
    constexpr unsigned for_disk = 8;
    std::byte first{};
    const iovec into{&first, 1};
    const bool is_cached = ::preadv2(file_.get(), &into, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0;
    return !is_cached && errno == EAGAIN ? for_disk : 0;
  }

 private:
  posix::descriptor file_;
  std::string where_;
  std::uint64_t size_ = 0;
};

/// Opens any one file. errc::not_found, errc::io.
[[nodiscard]] inline std::unique_ptr<source> open_file(const std::string& path) {
  return std::make_unique<file_source>(AT_FDCWD, path, path);
}

}  // namespace cairn::inline v0_1::stores::detail
