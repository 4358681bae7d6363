// SPDX-License-Identifier: MIT
// A process that is a host of its own: with another name, and another boot of the kernel. Cairn then takes its locks
// for those of another machine.
#pragma once

#include <string>

#include "durability/filesystems/mounts.hpp"

namespace filesystems {

/// For a child process that has made no store yet: a process reads the id of its boot once. `scratch` is a directory
/// for a file. Throws `unavailable`.
void become_host(const std::string& name, const std::string& scratch);

}  // namespace filesystems
