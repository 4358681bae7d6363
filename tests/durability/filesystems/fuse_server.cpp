// SPDX-License-Identifier: MIT
#include "durability/filesystems/fuse_server.hpp"

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace filesystems {

namespace {

/// In the process of the server: writes one byte to `ready` when the file system is mounted.
void serve(const std::string& at, const fuse_lowlevel_ops& operations, void* context, int ready) {
  char program[] = "cairn", option[] = "-o", options[] = "fsname=cairn-test,default_permissions,allow_other";
  char* words[] = {program, option, options, nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, words);
  fuse_session* const session = fuse_session_new(&arguments, &operations, sizeof operations, context);
  if (session == nullptr || fuse_session_mount(session, at.c_str()) != 0) return;
  const bool is_told = ::write(ready, "", 1) == 1;
  ::close(ready);
  if (is_told) static_cast<void>(fuse_session_loop(session));
  fuse_session_unmount(session);
}

}  // namespace

fuse_server::fuse_server(std::string at, const fuse_lowlevel_ops& operations, void* context)
    : at_(std::move(at)), mounted_by_(::getpid()) {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) throw unavailable{"there is no /dev/fuse that may be used"};
  separate_mounts();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw unavailable{std::string("no pipe: ") + std::strerror(errno)};
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);  // signals to a test's group are not for it
    ::close(ends[0]);
    serve(at_, operations, context, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  const bool is_mounted = process_ > 0 && ::read(ends[0], &byte, 1) == 1;
  ::close(ends[0]);
  if (is_mounted) return;
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  throw unavailable{"FUSE file systems cannot be mounted here"};
}

fuse_server::~fuse_server() {
  if (::getpid() != mounted_by_) return;
  const bool is_unmounted = ::umount2(at_.c_str(), 0) == 0;
  if (!is_unmounted) {
    ::umount2(at_.c_str(), MNT_DETACH);
    ::kill(process_, SIGKILL);
  }
  ::waitpid(process_, nullptr, 0);
}

}  // namespace filesystems
