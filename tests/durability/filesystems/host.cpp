// SPDX-License-Identifier: MIT
#include "durability/filesystems/host.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "cairn/core/checksum.hpp"
#include "cairn/store/place_lock.hpp"
#include "store/sample.hpp"
#include "standard.hpp"

namespace filesystems {

void become_host(const std::string& name, const std::string& scratch) {
  const auto digits = cairn::detail::to_hex(std::hash<std::string>()(name));
  const auto boot = digits.substr(0, 8) + "-0000-4000-8000-" + digits.substr(4);
  const auto file = scratch + "/boot-of-" + name + "-" + std::to_string(::getpid());
  sample::spill(file, boot + "\n");
  const bool is_host = ::unshare(CLONE_NEWNS | CLONE_NEWUTS) == 0 &&
                       ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount(file.c_str(), "/proc/sys/kernel/random/boot_id", nullptr, MS_BIND, nullptr) == 0 &&
                       ::sethostname(name.c_str(), name.size()) == 0;
  if (!is_host) throw unavailable{std::string("a process cannot be a host of its own: ") + std::strerror(errno)};
  const auto digits_of_machine = cairn::detail::to_hex(cairn::detail::checksum(sample::bytes_of(boot + " 0")));
  if (!digits_of_machine.starts_with(cairn::stores::detail::machine_id(0)))
    throw std::logic_error("the id of another boot has been read before");
}

}  // namespace filesystems
