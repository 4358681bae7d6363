// SPDX-License-Identifier: MIT
// What a person needs to know beside the system's own words when a file cannot be opened, read or written.
#pragma once

#include <string>

namespace cairn::inline v0_1::detail {

/// "; /data/rnus is not there": the highest directory of an absolute path that is missing. Empty if the path is there, and for the location of
/// a store that is no directory.
[[nodiscard]] std::string missing_advice(std::string path);

/// A text for an errno value that `path` has given: the owner of the path that denies access, how many bytes a full disk has free or that it has no
/// inodes, a quota, which limit is too low, what is in the way of a directory. Begins with "; ", and is empty where there is nothing to say.
[[nodiscard]] std::string io_advice(std::string path, int number);

}  // namespace cairn::inline v0_1::detail
