// SPDX-License-Identifier: MIT
// The version of the library. That of the format is in store/.
#pragma once

#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0
#define CAIRN_VERSION "0.1.0"
