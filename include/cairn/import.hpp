// SPDX-License-Identifier: MIT
// Makes a checkpoint of the arrays in files of other programs: numpy's .npy and .npz, PyTorch's zip files, safetensors. Programs that include it link
// libzip.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/arrays.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/core/error.hpp"
#include "cairn/import/array_importer.hpp"
#include "cairn/report.hpp"
#include "cairn/save.hpp"
#include "cairn/system/new_directories.hpp"
#include "cairn/system/paths.hpp"

namespace cairn::inline v0_1 {

/// What is imported, under which names, and how.
struct import_options {
  /// True for the arrays to import, by their name in the file. Not set: all.
  std::function<bool(std::string_view name)> filter{};
  /// Gives the name in the checkpoint, which is the path in a state, for a name in the file. Not set: the same name.
  std::function<std::string(std::string_view name)> rename{};
  save_options save{};  ///< of the checkpoint; its `check` is called while the file is read, too
};

/// What an import saved, and what it left out.
struct import_report : save_report {
  std::vector<std::string> skipped;  ///< the names of values that are not arrays: texts, None, objects of classes
};

/// Saves the arrays of `file` as the checkpoint `path`. A state with members of the same paths, types and shapes loads it. The names are those of the file: of
/// .npz those that `savez` got; of PyTorch the keys of dicts and the places in lists, joined by dots, as in "model.0.weight" of `torch.save({"model":
/// net.state_dict()})`; of a file with one array "array". Numbers become arrays without dimensions. A directory is read by its
/// model.safetensors.index.json or model.safetensors.
///
/// No code of a file is run: of objects other than tensors only the names are reported. All arrays are in memory at
/// once, and encoded, too. Errors: not_found; io; corrupt; unsupported for elements of other types, TorchScript, and
/// PyTorch before 1.6; invalid if no array is chosen, or two would have one name; no_memory, also for what would need
/// more than 256 MiB and 24 times the bytes of the file; those of `save`.
inline import_report import_file(const std::string& file, const std::string& path, const import_options& options = {}) {
  return detail::with_errors(file + " cannot be imported", [&]() -> import_report {
    detail::array_importer from(options.filter, options.rename, options.save.check);
    from.read(file);
    if (from.arrays().empty()) {
      const bool has_others = !from.skipped().empty();
      fail(errc::invalid,
           {file, ": no array is chosen", has_others ? "; the file has other values, such as \"" : "",
            has_others ? from.skipped().front() : "", has_others ? "\": of a module, save its state_dict()" : ""});
    }
    detail::new_directories above(detail::split_path(path).directory);
    import_report report{save_arrays(path, from.arrays(), options.save), std::move(from.skipped())};
    above.keep();
    return report;
  });
}

}  // namespace cairn::inline v0_1
