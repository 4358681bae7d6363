// A store in a directory: one subdirectory per checkpoint, published by renaming it into place.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::stores {

struct directory_options {
  bool durable = true;  ///< commit waits for the disk; new files are written with direct I/O
};

/// Checkpoints as subdirectories of `root`, which is created by the first save. A relative `root` is made absolute at once: a later chdir
/// does not change it, and messages have the absolute path. Each checkpoint is written under a temporary name, synced and
/// renamed. `flock` on the directories keeps other processes away; a crash releases the locks.
class directory {
 public:
  CAIRN_INLINE explicit directory(std::string root, directory_options options = {});

  [[nodiscard]] std::string location() const { return path_; }

  /// Also removes what crashed processes left unfinished.
  [[nodiscard]] CAIRN_INLINE ownership lock();
  [[nodiscard]] CAIRN_INLINE std::unique_ptr<transaction> begin(std::string_view name);
  [[nodiscard]] CAIRN_INLINE std::vector<std::string> list() const;
  [[nodiscard]] CAIRN_INLINE std::vector<std::string> files(std::string_view name) const;
  [[nodiscard]] CAIRN_INLINE std::unique_ptr<source> open(std::string_view name, std::string_view file) const;
  CAIRN_INLINE void remove(std::string_view name);

 private:
  std::string path_;
  directory_options options_;
};

}  // namespace cairn::stores

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/store/directory.ipp"  // IWYU pragma: keep
#endif
