// SPDX-License-Identifier: MIT
#include "durability/filesystems/mounts.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cairn/system/posix.hpp"
#include "standard.hpp"

namespace filesystems {

namespace {

namespace fs = std::filesystem;
using cairn::posix::descriptor;
using cairn::posix::open_at;

std::string because(std::string_view what) { return std::string(what) + ": " + std::strerror(errno); }

/// Runs a program without its output. Throws `unavailable` where it is missing or fails.
void run(const std::vector<std::string>& words) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const auto& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(nothing, 1);
    ::dup2(nothing, 2);
    ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
    throw unavailable{words.front() + (WEXITSTATUS(status) == 127 ? " is not installed" : " fails")};
}

/// A free loop device for `image`, which is detached when nothing uses it any more. Keep the descriptor until it is
/// mounted.
std::pair<descriptor, std::string> attach(const std::string& image) {
  const auto file = open_at(AT_FDCWD, image, O_RDWR);
  if (!file) throw std::runtime_error(because(image));
  const auto control = open_at(AT_FDCWD, "/dev/loop-control", O_RDWR);
  if (!control) throw unavailable{because("/dev/loop-control")};
  constexpr int most = 100;  // other tests take free devices, too
  for (int tries = 0; tries < most; ++tries) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) throw unavailable{because("no loop device is free")};
    auto path = "/dev/loop" + std::to_string(number);
    auto device = open_at(AT_FDCWD, path, O_RDWR);
    if (!device) throw unavailable{because(path)};
    loop_config how{};
    how.fd = static_cast<std::uint32_t>(file.get());
    how.block_size = 512;
    how.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device.get(), LOOP_CONFIGURE, &how) == 0) return {std::move(device), std::move(path)};
    if (errno != EBUSY) throw unavailable{because(path)};
  }
  throw unavailable{"other programs take all loop devices"};
}

}  // namespace

void separate_mounts() {
  static pid_t done_by = 0;
  if (done_by != 0) return;
  if (::geteuid() != 0) throw unavailable{"only root mounts file systems"};
  if (::unshare(CLONE_NEWNS) != 0) throw unavailable{because("no mounts of its own")};
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    throw unavailable{because("no private mounts")};
  done_by = ::getpid();
}

void make_disk(const std::string& image, const std::string& type) {
  const bool is_xfs = type == "xfs", is_btrfs = type == "btrfs";
  constexpr off_t mebibyte = 1 << 20;
  const auto file = open_at(AT_FDCWD, image, O_RDWR | O_CREAT | O_EXCL);
  if (!file || ::ftruncate(file.get(), (is_xfs ? 300 : is_btrfs ? 128 : 32) * mebibyte) != 0)
    throw std::runtime_error(because(image));
  if (is_xfs)
    run({"mkfs.xfs", "-q", "-K", "-l", "size=64m", image});
  else if (is_btrfs)
    run({"mkfs.btrfs", "-q", "-K", image});
  else
    run({"mkfs." + type, "-q", "-E", "nodiscard", image});
}

mounted::mounted(const std::string& type, const std::string& source, std::string at, const char* options)
    : at_(std::move(at)), mounted_by_(::getpid()) {
  separate_mounts();
  fs::create_directories(at_);
  if (source.empty()) {
    if (::mount(type.c_str(), at_.c_str(), type.c_str(), 0, options) != 0) throw unavailable{because(type)};
  } else {
    const auto [device, path] = attach(source);
    if (::mount(path.c_str(), at_.c_str(), type.c_str(), MS_NOATIME, options) != 0) {
      if (errno == ENODEV) throw unavailable{"the kernel has no " + type};
      throw std::runtime_error(because(type + " cannot be mounted"));
    }
  }
  is_mounted_ = true;
}

mounted::~mounted() {
  if (!is_mounted_ || ::getpid() != mounted_by_) return;
  if (::umount2(at_.c_str(), 0) != 0) ::umount2(at_.c_str(), MNT_DETACH);
}

void mounted::unmount() {
  if (::umount2(at_.c_str(), 0) != 0) throw std::runtime_error(because(at_ + " cannot be unmounted"));
  is_mounted_ = false;
}

}  // namespace filesystems
