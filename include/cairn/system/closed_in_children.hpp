// SPDX-License-Identifier: MIT
// Closes locked files in forked children, which would otherwise keep the locks after the end of their parent.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::posix {

/// For as long as it lives, a forked child closes its copy of a file, which is not open there then. Not noticed: `vfork`, `_Fork` and raw
/// system calls.
class CAIRN_ONE_PER_PROCESS closed_in_children {
 public:
  /// `file` outlives this object.
  explicit closed_in_children(descriptor& file) : file_(&file) {
    auto& all = files();
    const std::lock_guard lock(all.changing);
    all.open.push_back(file_);
  }
  ~closed_in_children() {
    auto& all = files();
    const std::lock_guard lock(all.changing);
    std::erase(all.open, file_);
  }
  closed_in_children(const closed_in_children&) = delete;
  closed_in_children& operator=(const closed_in_children&) = delete;

 private:
  struct open_files {
    std::mutex changing;  // held during a fork
    std::vector<descriptor*> open;
  };

  /// Never destroyed: threads may fork while the process ends.
  static open_files& files() {
    static open_files& all = *[] {
      auto* made = new open_files;
      ::pthread_atfork([] { files().changing.lock(); }, [] { files().changing.unlock(); }, &close_all);
      return made;
    }();
    return all;
  }

  static void close_all() {
    for (descriptor* each : files().open) *each = descriptor();
    files().open.clear();
    files().changing.unlock();
  }

  descriptor* file_;
};

}  // namespace cairn::inline v0_1::posix
