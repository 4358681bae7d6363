// SPDX-License-Identifier: MIT
// Runs a program of tests on a file system: on_filesystem <file system> <program> [argument...]
//
// The program gets the place in CAIRN_TEST_PLACE. The file system is tmpfs, ext4, xfs or btrfs, or `lying:` and the
// names of lies (lying.hpp). The exit status is the program's, or 77 with the reason if the file system cannot be
// mounted here.
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "durability/filesystems/lying.hpp"
#include "store/sample.hpp"
#include "standard.hpp"

namespace {

namespace fs = std::filesystem;

int run(char** words) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(words[0], words);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run_on(const std::string& name, char** words) {
  filesystems::separate_mounts();
  const sample::scratch scratch(sample::in_memory());
  const auto at = scratch.path("mount");
  fs::create_directory(at);
  ::setenv("CAIRN_TEST_PLACE", at.c_str(), 1);
  constexpr std::string_view lying = "lying:";
  if (name.starts_with(lying)) {
    const char* const shared = std::getenv("CAIRN_TEST_BACKING");
    const auto backing = shared != nullptr ? std::string(shared) : scratch.path("backing");
    fs::create_directories(backing);
    const filesystems::lying_mount mount(backing, at);
    filesystems::tell(mount.how(), name.substr(lying.size()));
    const int status = run(words);
    std::cout << mount.how().requests << " requests" << std::endl;
    return status;
  }
  const bool is_disk =
      std::find(filesystems::disk_types.begin(), filesystems::disk_types.end(), name) != filesystems::disk_types.end();
  if (is_disk) filesystems::make_disk(scratch.path("disk"), name);
  const filesystems::mounted mount(name, is_disk ? scratch.path("disk") : "", at);
  return run(words);
}

}  // namespace

int main(int count, char** words) {
  constexpr int is_skipped = 77;
  if (count < 3) {
    std::cerr << "usage: on_filesystem <file system> <program> [argument...]\n";
    return 2;
  }
  try {
    std::cout << "on " << words[1] << ":" << std::endl;
    return run_on(words[1], words + 2);
  } catch (const filesystems::unavailable& cause) {
    std::cout << "skipped: " << cause.reason << std::endl;
    return is_skipped;
  } catch (const std::exception& cause) {
    std::cerr << cause.what() << std::endl;
    return 1;
  }
}
