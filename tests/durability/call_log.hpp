// SPDX-License-Identifier: MIT
// What a program did to a directory tree, as a list of operations on inodes, and the recorder that makes it.
#pragma once

namespace lost_writes {

/// Inodes are numbered in the order in which they were made; number 0 is the directory that is recorded.

#include "standard.hpp"
using inode = std::size_t;

/// One call that succeeded, or a mark of the program that made the calls.
struct operation {
  enum class kind : std::uint8_t {
    write,    ///< `bytes` at `offset` of a file
    resize,   ///< a file has `offset` bytes now
    entries,  ///< names in a directory lead somewhere else: all of them at once, as renaming does
    sync,     ///< all that was done to the inode is on the disk
    failure,  ///< a sync that failed: the bytes of the file that were not on the disk never will be
    mark      ///< `text` and `number` are the program's
  };

  kind what{};
  inode of = 0;
  std::uint64_t offset = 0;
  std::string bytes{};
  std::vector<std::pair<std::string, std::optional<inode>>> names{};  // nothing: the name is gone
  std::string text{};
  std::uint64_t number = 0;
};

struct call_log {
  std::vector<operation> operations;
  std::vector<bool> is_directory{true};  // by inode
};

/// Records, from now on until it goes, what this program does below `base`, an empty directory, through the calls that
/// call_log.cpp has put before those of the C library. One recorder at a time. Thread-safe.
class recorder {
 public:
  /// The `failing_sync`-th sync below `base`, from 1, gives EIO; 0: none.
  explicit recorder(const std::string& base, std::size_t failing_sync = 0);
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  ~recorder();

  static void mark(std::string text, std::uint64_t number = 0);

  /// Ends the recording.
  [[nodiscard]] call_log finish();
};

}  // namespace lost_writes
