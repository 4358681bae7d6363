// SPDX-License-Identifier: MIT
// An image of a disk behind a FUSE mount that records what the kernel writes to it and when it flushes, as
// dm-log-writes does; and the disks that a crash of the machine can leave.
#pragma once

#include "durability/filesystems/fuse_server.hpp"
#include "standard.hpp"

namespace filesystems {

/// A write; a flush if there are no bytes: what was written before it is on the disk.
struct disk_request {
  std::uint64_t offset = 0;
  std::string bytes{};
};

/// A mount on `at` with one file, the image `backing`, which is to become a loop device. Throws `unavailable`.
class recorded_disk {
 public:
  recorded_disk(const std::string& backing, const std::string& log, const std::string& at);
  recorded_disk(const recorded_disk&) = delete;
  recorded_disk& operator=(const recorded_disk&) = delete;
  ~recorded_disk();

  [[nodiscard]] std::string image() const { return server_->at() + "/disk"; }
  /// The number of requests until now. What was flushed before a call is counted.
  [[nodiscard]] std::size_t requests() const { return *requests_; }
  [[nodiscard]] std::vector<disk_request> log() const;

 private:
  std::string log_;
  std::atomic<std::size_t>* requests_;
  std::unique_ptr<fuse_server> server_;
};

/// What becomes of writes that were not flushed.
enum class lost : std::uint8_t { all, some, pages };

/// The bytes of a disk that are not zero.
class disk_image {
 public:
  explicit disk_image(const std::string& file);

  /// The disk after the first `count` requests: of those after the last flush none, any, or any pages of 4 KiB, which
  /// are written whole: file systems rely on that.
  [[nodiscard]] disk_image crashed(const std::vector<disk_request>& log, std::size_t count, lost how,
                                   std::mt19937_64& random) const;
  /// Writes a sparse file.
  void write(const std::string& file) const;

 private:
  static constexpr std::uint64_t page = 4096;

  void apply(std::uint64_t offset, const char* bytes, std::size_t count);

  std::uint64_t size_ = 0;
  std::map<std::uint64_t, std::string> pages_;  // by number
};

}  // namespace filesystems
