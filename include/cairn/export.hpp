// Exports a checkpoint for other programs: all arrays decoded, in safetensors files with the names that Hugging Face's readers expect.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/event.hpp"
#include "cairn/inspect.hpp"

namespace cairn {

struct export_options {
  /// True for the arrays to export, by their name in the checkpoint. Not set: all.
  std::function<bool(std::string_view name)> filter{};
  /// Gives the name in the files for a name in the checkpoint. Not set: the same name.
  std::function<std::string(std::string_view name)> rename{};
  /// Of the header of each file. Hugging Face's transformers read only files with a format.
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  /// Bytes of arrays per file of a directory; an array of more has a file of its own.
  std::uint64_t file_bytes = 5'000'000'000;
  bool durable = true;   ///< a crash of the machine afterwards cannot lose the files
  unsigned threads = 0;  ///< for reading and decoding
};

struct export_report {
  std::vector<std::string> files;  ///< their paths; of a directory with several files the index is the last one
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;  ///< of the arrays
};

/// Exports `from`. A `path` that ends in ".safetensors" becomes one file. Any other path becomes a directory with `model.safetensors`, or, above
/// `options.file_bytes`, with `model-00001-of-00002.safetensors`, ... and `model.safetensors.index.json`. No header has 25 MB, at which common
/// readers stop: there are more files instead. Other files in the directory stay. Readers find the export that was there before, none, or the
/// new one whole. Errors: invalid for two arrays of one name, for no array at all, and for one file with a header of 25 MB; those of checkpoint::read;
/// io. After an error no file has changed, unless it came while the new files were given their names: then readers of a directory may find none.
/// Arrays are read in groups of 64 MiB, or one by one where they are larger: that is the memory it takes. Not for two calls at a time with one path.
CAIRN_INLINE export_report export_safetensors(const checkpoint& from, const std::string& path,
                                              const export_options& options = {});

namespace observers {

struct exporter_options {
  std::string directory;
  /// Not set: `directory` always has the newest checkpoint. Else those at multiples of n steps, above 0, are in it, each in a directory of the name of its
  /// checkpoint, such as step-000000120.
  std::optional<std::uint64_t> every_steps{};
  export_options how{};
};

/// Exports checkpoints when they are published, in the thread that saved them: in the background where saves are asynchronous, and the next save
/// waits for it. Passes all events on to `next`, and reports `exported` or `failed` to it. For places on a file system; with a group, for
/// one of the ranks.
class exporter {
 public:
  /// errc::invalid for an empty directory and for 0 steps.
  CAIRN_INLINE explicit exporter(exporter_options options, observer next = {});

  CAIRN_INLINE void operator()(const event& what) const;

 private:
  exporter_options options_;
  observer next_;
};

}  // namespace observers

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/run/export.ipp"  // IWYU pragma: keep
#endif
