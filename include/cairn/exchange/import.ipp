// SPDX-License-Identifier: MIT
// Definitions of import.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cairn/arrays.hpp"
#include "cairn/import.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1 {
namespace detail {

/// The file of each array, by the name of the array, as an index of safetensors files tells it.
inline std::map<std::string, std::string> read_import_index(const std::string& index) {
  const auto source = stores::detail::open_file(index);
  if (source->size() > 64U << 20U) fail(errc::unsupported, {index, " has more than 64 MiB"});
  const auto text = stores::read_text(*source, 0, source->size());
  std::map<std::string, std::string> file_of;
  json_reader io(text, index);
  io.object([&] {
    io.field("weight_map", file_of);
    io.ignore_others();
  });
  io.end();
  for (const auto& [name, file] : file_of)
    if (file.empty() || file == "." || file == ".." || file.find('/') != file.npos || file.find('\0') != file.npos)
      fail(errc::corrupt,
           {index, ": \"", name, "\" is in \"", file, "\", which is no name of a file beside the index"});
  return file_of;
}

/// errc::unsupported for files that `python -m cairn.convert` reads.
inline void refuse_other_formats(const std::string& file) {
  const auto source = stores::detail::open_file(file);
  const auto begin = stores::read_text(*source, 0, std::min<std::uint64_t>(source->size(), 6));
  if (begin == "\x93NUMPY" || begin.starts_with("PK") || begin.starts_with('\x80'))
    fail(errc::unsupported, {file, " is a file of PyTorch or numpy: convert it with `python -m cairn.convert ", file,
                             " OUT.safetensors`, and import that"});
}

inline save_report import_arrays(const std::string& file, const std::string& path, const import_options& options) {
  std::vector<named_array> arrays;
  std::vector<std::unique_ptr<std::byte[]>> memory;
  std::uint64_t bytes = 0;
  const auto add = [&](const checkpoint& from, const tensor_info& tensor) {
    if (options.filter && !options.filter(tensor.name)) return;
    if (options.save.check) options.save.check();
    require_memory(bytes += tensor.bytes, file);
    const auto size = static_cast<std::size_t>(tensor.bytes);
    const auto made = memory.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
    from.read(tensor.name, {made, size});
    arrays.push_back({options.rename ? options.rename(tensor.name) : tensor.name, tensor.type, tensor.shape, made});
  };
  if (file.ends_with(".safetensors.index.json")) {
    std::map<std::string_view, std::vector<std::string_view>> arrays_of;  // of each file
    const auto file_of = read_import_index(file);
    for (const auto& [name, in] : file_of) arrays_of[in].push_back(name);
    for (const auto& [name, names] : arrays_of) {
      const auto from = open(file.substr(0, file.rfind('/') + 1).append(name));
      for (const auto each : names) add(from, from.tensor(each));
    }
  } else {
    refuse_other_formats(file);
    const auto from = open(file);
    for (const auto& tensor : from.tensors()) add(from, tensor);
  }
  if (arrays.empty()) fail(errc::invalid, {file, ": no array is chosen"});
  new_directories above(split_path(path).directory);
  auto report = save_arrays(path, arrays, options.save);
  above.keep();
  return report;
}

}  // namespace detail

save_report import_file(const std::string& file, const std::string& path, const import_options& options) {
  return detail::with_errors(file + " cannot be imported", [&]() -> save_report {
    if (!detail::is_directory(file)) return detail::import_arrays(file, path, options);
    for (const char* name : {"/model.safetensors.index.json", "/model.safetensors"})
      if (detail::is_file(file + name)) return detail::import_arrays(file + name, path, options);
    fail(errc::not_found, {"the directory ", file, " has neither model.safetensors nor model.safetensors.index.json"});
  });
}

}  // namespace cairn::inline v0_1
