// SPDX-License-Identifier: MIT
// Mounts of real file systems for tests: images of disks as loop devices, and tmpfs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace filesystems {

/// What cannot be done here (no /dev/fuse, no right to mount, no program that makes a file system): the test is skipped
/// with the reason.
struct unavailable {
  std::string reason;
};

/// From the first call on, this process and those that it starts have mounts of their own, which end with them. Throws
/// `unavailable`.
void separate_mounts();

/// The file systems of images of disks.
inline const std::vector<std::string> disk_types{"ext4", "xfs", "btrfs"};

/// Makes a file system in `image`, which becomes a sparse file of the least size that the type has. Throws
/// `unavailable`.
void make_disk(const std::string& image, const std::string& type);

/// A mount on the directory `at`, made if it is not there, until this object ends.
class mounted {
 public:
  /// `source`: an image or, for tmpfs, nothing. Throws `unavailable` where that cannot be mounted, for an image only if
  /// there are no loop devices, and std::runtime_error where the image is not a file system that can be mounted.
  mounted(const std::string& type, const std::string& source, std::string at, const char* options = nullptr);
  mounted(const mounted&) = delete;
  mounted& operator=(const mounted&) = delete;
  ~mounted();

  [[nodiscard]] const std::string& at() const noexcept { return at_; }
  /// Throws std::runtime_error if it is in use.
  void unmount();

 private:
  std::string at_;
  pid_t mounted_by_;
  bool is_mounted_ = false;
};

}  // namespace filesystems
