// SPDX-License-Identifier: MIT
// A file open for reading, and a new file: written through the page cache, or past it with direct I/O to be durable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cairn/store/base.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores::detail {

class file_source final : public source {
 public:
  /// Opens `file` in an open directory (or AT_FDCWD); `where` is its path for messages.
  file_source(int directory, const std::string& file, std::string where) : where_(std::move(where)) {
    file_ = posix::open_at(directory, file, O_RDONLY | O_NONBLOCK);  // opening a pipe must not wait for a writer
    if (!file_ && (posix::is_gone(errno) || errno == ENOTDIR)) fail(errc::not_found, {"there is no file ", where_});
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

 private:
  posix::descriptor file_;
  std::string where_;
  std::uint64_t size_ = 0;
};

/// Opens any one file. errc::not_found, errc::io.
[[nodiscard]] inline std::unique_ptr<source> open_file(const std::string& path) {
  return std::make_unique<file_source>(AT_FDCWD, path, path);
}

/// How the bytes of a new file reach the disk.
enum class file_mode {
  cached,  ///< page cache; the system writes them back later
  synced,  ///< page cache, and on the disk when `finish` returns
  direct   ///< past the page cache, and on the disk when `finish` returns; `synced` where the file system cannot
};

/// A new file in an open directory.
class file_sink : public sink {
 public:
  /// `where` is the file's path for messages. Unless `cached`, reserves the space, so that a full disk is an error at
  /// once and parallel writes do not wait for each other to extend the file.
  file_sink(int directory, const std::string& file, std::string where, std::uint64_t bytes, file_mode mode)
      : where_(std::move(where)), write_(sentence({"write the ", bytes, " bytes of"})), bytes_(bytes), mode_(mode) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL;
    if (mode_ == file_mode::direct) file_ = posix::open_at(directory, file, flags | O_DIRECT);
    if (!file_ && mode_ == file_mode::direct && errno == EINVAL) {
      ::unlinkat(directory, file.c_str(), 0);  // some file systems create the file before they refuse O_DIRECT
      mode_ = file_mode::synced;
    }
    if (!file_ && mode_ != file_mode::direct) file_ = posix::open_at(directory, file, flags);
    if (!file_) fail_io("create", where_);
    if (mode_ == file_mode::cached || bytes == 0) return;
    const auto reserve = [&] { return ::fallocate(file_.get(), 0, 0, static_cast<off_t>(bytes_)); };
    if (posix::retried_write(reserve) == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;
    const int failure = errno;
    const auto free = [&] { return ::ftruncate(file_.get(), 0); };  // ext4 keeps what it has reserved
    static_cast<void>(posix::retried(free));
    fail_io(write_, where_, failure);
  }

  void write(std::uint64_t offset, std::span<const buffer> buffers) override {
    if (mode_ != file_mode::direct) return posix::write_all(file_.get(), buffers, offset, where_, write_);
    for (const auto& bytes : buffers) {
      write_direct(bytes, offset);
      offset += bytes.size();
    }
  }

  [[nodiscard]] std::size_t alignment() const noexcept override {
    return mode_ == file_mode::direct ? cairn::detail::page_bytes : 1;
  }
  [[nodiscard]] unsigned writers() const noexcept override { return mode_ == file_mode::direct ? 4 : 0; }

  /// Sets the file's exact size, waits for the disk unless `cached`, and closes the file. Nothing may be written then.
  void finish() {
    const auto cut = [&] { return ::ftruncate(file_.get(), static_cast<off_t>(bytes_)); };
    if (mode_ == file_mode::direct && posix::retried_write(cut) != 0) fail_io("write", where_);
    if (mode_ != file_mode::cached) posix::sync(file_.get(), where_);
    file_.close(where_);
  }

 private:
  /// Writes past the page cache; through it, if the file system says only now that it cannot, as for sectors of more
  /// than a page, or what is left of a write that came short.
  void write_pages(std::span<const std::byte> pages, std::uint64_t offset) {
    const auto write = [&] { return ::pwrite(file_.get(), pages.data(), pages.size(), static_cast<off_t>(offset)); };
    const auto done = posix::retried_write(write);
    if (done < 0 && errno != EINVAL) fail_io(write_, where_);
    if (done == static_cast<ssize_t>(pages.size())) return;
    if (::fcntl(file_.get(), F_SETFL, ::fcntl(file_.get(), F_GETFL) & ~O_DIRECT) != 0) fail_io("write", where_, EINVAL);
    const auto written = static_cast<std::size_t>(std::max<ssize_t>(done, 0));
    const buffer rest[] = {pages.subspan(written)};
    posix::write_all(file_.get(), rest, offset + written, where_, write_);
  }

  void write_direct(buffer bytes, std::uint64_t offset) {
    if (offset % cairn::detail::page_bytes != 0 ||
        reinterpret_cast<std::uintptr_t>(bytes.data()) % cairn::detail::page_bytes != 0)
      fail(errc::invalid, {"a direct write to ", where_, " is not aligned to 4096 bytes"});
    const std::size_t whole = bytes.size() / cairn::detail::page_bytes * cairn::detail::page_bytes;
    write_pages(bytes.first(whole), offset);
    if (whole == bytes.size()) return;
    // The file's last page: padded here, cut off by `finish`.
    alignas(cairn::detail::page_bytes) std::byte tail[cairn::detail::page_bytes] = {};
    std::memcpy(tail, bytes.data() + whole, bytes.size() - whole);
    write_pages(tail, offset + whole);
  }

  posix::descriptor file_;
  std::string where_;
  std::string write_;  // what it does, for messages
  std::uint64_t bytes_;
  file_mode mode_;
};

}  // namespace cairn::inline v0_1::stores::detail
