// A file open for reading, any range of which can be mapped into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cairn/store/base.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::stores::detail {

/// Maps windows of a file. The file must not be truncated while it is read: a read from a mapping would then raise SIGBUS. Cairn never
/// truncates; it replaces checkpoints by renaming.
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

  [[nodiscard]] window view(std::uint64_t offset, std::uint64_t length) const override {
    if (offset > size_ || length > size_ - offset)
      fail(errc::corrupt,
           {where_, " ends at byte ", size_, ", but bytes up to ", offset, " + ", length, " are needed"});
    if (length == 0) return {};
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t before = offset % page;
    const std::size_t mapped = static_cast<std::size_t>(length + before);
    void* start = ::mmap(nullptr, mapped, PROT_READ, MAP_SHARED, file_.get(), static_cast<off_t>(offset - before));
    if (start == MAP_FAILED) fail_io("map", where_);
    std::shared_ptr<const void> owner(start, [mapped](const void* p) { ::munmap(const_cast<void*>(p), mapped); });
    const std::span bytes(static_cast<const std::byte*>(start) + before, static_cast<std::size_t>(length));
    return {bytes, std::move(owner)};
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

}  // namespace cairn::stores::detail
