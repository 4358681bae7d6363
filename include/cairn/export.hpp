// SPDX-License-Identifier: MIT
// Exports a checkpoint for other programs: arrays decoded, in safetensors files named as Hugging Face's readers expect.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/inspect.hpp"

namespace cairn::inline v0_1 {

/// What is exported, under which names, and how.
struct export_options {
  /// True for the arrays to export, by their name in the checkpoint. Not set: all.
  std::function<bool(std::string_view name)> filter{};
  /// Gives the name in the files for a name in the checkpoint. Not set: the same name.
  std::function<std::string(std::string_view name)> rename{};
  /// Texts in the header of each file. Hugging Face's transformers read only files that name a format.
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  /// At most this many bytes of arrays are in one file of a directory; a larger array has a file of its own.
  std::uint64_t file_bytes = 5'000'000'000;
  bool durable = true;   ///< a crash of the machine afterwards cannot lose the files
  unsigned threads = 0;  ///< for reading and decoding
  /// Called after each written part, with the bytes of arrays that are done and of all. What it throws ends the export.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
};

/// What an export wrote.
struct export_report {
  std::vector<std::string> files;  ///< their paths; of a directory with several files the index is the last one
  std::uint64_t tensors = 0;       ///< arrays exported
  std::uint64_t bytes = 0;         ///< of the arrays
};

/// Exports `from`. A `path` that ends in ".safetensors" becomes one file. Any other path becomes a directory with
/// `model.safetensors`, or, above `options.file_bytes`, with `model-00001-of-00002.safetensors`, ... and
/// `model.safetensors.index.json`. Headers stay below 25 MB, the limit of huggingface_hub: a directory gets more files
/// instead. In a directory the export replaces the model that is there: these three kinds of files. Other files stay. A
/// reader that begins finds the former model, none or the new one; one that has read a former index may find new parts.
///
/// Errors: invalid for two arrays of one name, for no array at all, for a header of 25 MB, for a directory that is a
/// checkpoint or whose name ends in ".safetensors", and if the export would replace or remove the file that it reads;
/// those of checkpoint::read; io. After an error no file has changed, and directories that the export has made are
/// gone, unless it came while the new files were given their names: then readers of a directory may find no model.
/// Takes memory for 64 MiB of arrays, or the largest one, and what decoding needs. Do not call it twice at the same
/// time for one path.
export_report export_safetensors(const checkpoint& from, const std::string& path, const export_options& options = {});

}  // namespace cairn::inline v0_1
