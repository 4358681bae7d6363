// SPDX-License-Identifier: MIT
// The disks of the hosts of a group. A unit of its own: of the static library, only programs that include
// cairn/each_host.hpp link it.
#include "cairn/levels/each_host.ipp"
