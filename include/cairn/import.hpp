// SPDX-License-Identifier: MIT
// Makes a checkpoint of arrays in safetensors files. `python -m cairn.convert` converts files of PyTorch and numpy to
// safetensors.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cairn/core/config.hpp"
#include "cairn/report.hpp"
#include "cairn/save.hpp"

namespace cairn::inline v0_1 {

/// What is imported, under which names, and how.
struct import_options {
  /// True for the arrays to import, by their name in the file. Not set: all.
  std::function<bool(std::string_view name)> filter{};
  /// Gives the name in the checkpoint, which is the path in a state, for a name in the file. Not set: the same name.
  std::function<std::string(std::string_view name)> rename{};
  save_options save{};  ///< of the checkpoint; its `check` is called while the file is read, too
};

/// Saves the arrays of `file` as the checkpoint `path`. A state with members of the same paths, types and shapes loads
/// it. `file` is a safetensors file, an index of several (`model.safetensors.index.json`), or a directory with
/// model.safetensors or that index.
///
/// All arrays are in memory at once, encoded too. Errors: not_found; io; corrupt; unsupported for PyTorch's and numpy's
/// files, and other element types; invalid if no array is chosen, or two have one name; no_memory; those of `save`.
save_report import_file(const std::string& file, const std::string& path, const import_options& options = {});

}  // namespace cairn::inline v0_1
