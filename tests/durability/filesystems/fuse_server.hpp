// SPDX-License-Identifier: MIT
// A process that serves a FUSE file system, from the mount to the end of this object.
#pragma once

#include <sys/types.h>

#include <string>

#include "durability/filesystems/mounts.hpp"

struct fuse_lowlevel_ops;

namespace filesystems {

class fuse_server {
 public:
  /// Mounts on the empty directory `at`. The operations run one after the other in a process of their own, with
  /// `context` as it is now, and with memory that is shared. Throws `unavailable`.
  fuse_server(std::string at, const fuse_lowlevel_ops& operations, void* context);
  fuse_server(const fuse_server&) = delete;
  fuse_server& operator=(const fuse_server&) = delete;
  /// Unmounts.
  ~fuse_server();

  [[nodiscard]] const std::string& at() const noexcept { return at_; }

 private:
  std::string at_;
  pid_t mounted_by_;
  pid_t process_ = 0;
};

}  // namespace filesystems
