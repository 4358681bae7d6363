// Which arrays of a checkpoint go into which file of an export, the files' names, their headers and their index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"
#include "cairn/export.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/system/json.hpp"

namespace cairn::detail {

inline constexpr std::string_view exported_suffix = ".safetensors", exported_file = "model.safetensors",
                                  exported_index = "model.safetensors.index.json";
inline constexpr std::uint64_t max_exported_header = 25'000'000;

/// The arrays of one file, as leaves of the checkpoint, and their header.
struct exported_file_plan {
  std::vector<std::size_t> leaves;
  safetensors_header header;
};

/// At least the bytes of an array in a header: each character of a name can take six.
inline std::uint64_t most_header_bytes(const tensor_entry& of) {
  return 6 * of.key.size() + 21 * of.shape.size() + 100;
}

/// Wide elements first, so that all are aligned in the file; then by name.
inline void place_arrays(exported_file_plan& plan) {
  std::vector<std::pair<tensor_entry, std::size_t>> all;
  for (std::size_t i = 0; i < plan.leaves.size(); ++i)
    all.emplace_back(std::move(plan.header.tensors[i]), plan.leaves[i]);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return size_of(a.first.type) > size_of(b.first.type); });
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& [tensor, leaf] = all[i];
    const auto bytes = tensor.end;
    tensor.begin = end;
    tensor.end = end += bytes;
    plan.header.tensors[i] = std::move(tensor);
    plan.leaves[i] = leaf;
  }
  plan.header.data_bytes = end;
}

/// Divides the arrays into files, in the order of their names.
inline std::vector<exported_file_plan> plan_export(const catalog& contents, const export_options& options,
                                                   bool is_one_file) {
  std::vector<exported_file_plan> files(1);
  std::uint64_t bytes = 0, header_bytes = 0;
  for (std::size_t i = 0; i < contents.leaves.size(); ++i) {
    const auto& leaf = contents.leaves[i];
    if (options.filter && !options.filter(leaf.path)) continue;
    tensor_entry tensor{options.rename ? options.rename(leaf.path) : leaf.path, leaf.type, leaf.shape, 0, leaf.bytes()};
    const auto added = most_header_bytes(tensor);
    const bool is_full = bytes + leaf.bytes() > options.file_bytes || header_bytes + added > max_exported_header / 2;
    if (!is_one_file && is_full && !files.back().leaves.empty()) {
      files.emplace_back();
      bytes = header_bytes = 0;
    }
    bytes += leaf.bytes();
    header_bytes += added;
    files.back().leaves.push_back(i);
    files.back().header.tensors.push_back(std::move(tensor));
  }
  for (auto& file : files) {
    file.header.metadata.insert(options.metadata.begin(), options.metadata.end());
    place_arrays(file);
  }
  return files;
}

inline void require_usable_names(const std::vector<exported_file_plan>& files) {
  std::vector<std::string_view> names;
  for (const auto& file : files)
    for (const auto& tensor : file.header.tensors) names.push_back(tensor.key);
  if (names.empty()) fail(errc::invalid, {"no array is chosen"});
  std::sort(names.begin(), names.end());
  if (names.front().empty()) fail(errc::invalid, {"an array would have no name"});
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    fail(errc::invalid, {"two arrays would have the name \"", *twice, "\""});
}

inline std::string exported_index_of(const std::vector<exported_file_plan>& files,
                                     const std::vector<std::string>& names, std::uint64_t bytes) {
  json_writer json;
  json.begin_object().key("metadata").begin_object().key("total_size").natural(bytes).end_object();
  json.key("weight_map").begin_object();
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const auto& tensor : files[i].header.tensors) json.key(tensor.key, "the name").text(names[i]);
  return json.end_object().end_object().take();
}

/// model-00001-of-00002.safetensors
inline std::string exported_name(std::size_t number, std::size_t of) {
  char text[64];
  std::snprintf(text, sizeof text, "model-%05zu-of-%05zu.safetensors", number + 1, of);
  return text;
}

inline bool is_exported_part(std::string_view name) {
  constexpr std::string_view pattern = "model-00000-of-00000.safetensors";
  if (name.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (pattern[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != pattern[i]) return false;
  return true;
}

/// The headers as they stand in the files.
inline std::vector<std::string> exported_headers(const std::vector<exported_file_plan>& files) {
  std::vector<std::string> headers;
  for (const auto& file : files) {
    headers.push_back(write_safetensors_header(file.header));
    if (headers.back().size() > max_exported_header)
      fail(errc::invalid, {"the header of one file with ", file.leaves.size(),
                           " arrays has more than 25 MB, at which common readers stop: export to a directory, which "
                           "can have more files"});
  }
  return headers;
}

}  // namespace cairn::detail
