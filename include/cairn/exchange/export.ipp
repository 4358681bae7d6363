// SPDX-License-Identifier: MIT
// Definitions of export.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <utility>

#include "cairn/chain/reader.hpp"
#include "cairn/exchange/replaced_files.hpp"
#include "cairn/export.hpp"
#include "cairn/once/inspect.ipp"
#include "cairn/store/root_directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1 {
namespace detail {

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

/// Wide elements first, so that all are aligned in the file; then in the order of the checkpoint. Not std::stable_sort:
/// with libstdc++, clang warns of a deprecated function.
inline void place_arrays(exported_file_plan& plan) {
  std::vector<std::pair<tensor_entry, std::size_t>> all;
  for (std::size_t i = 0; i < plan.leaves.size(); ++i)
    all.emplace_back(std::move(plan.header.tensors[i]), plan.leaves[i]);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto a_width = size_of(a.first.type), b_width = size_of(b.first.type);
    return a_width != b_width ? a_width > b_width : a.second < b.second;
  });
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
    for (const auto& tensor : files[i].header.tensors) json.key(tensor.key).text(names[i]);
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
inline std::vector<std::string> exported_headers(const std::vector<exported_file_plan>& files, bool is_one_file) {
  std::vector<std::string> headers;
  for (const auto& file : files) {
    headers.push_back(write_safetensors_header(file.header));
    if (headers.back().size() > max_exported_header)
      fail(errc::invalid,
           {"the header of a file would have more than 25 MB, the limit of common readers: ",
            is_one_file ? "export to a directory, which can have more files" : "a name or the metadata is too long"});
  }
  return headers;
}

inline void write_at(stores::detail::file_sink& file, std::uint64_t at, std::span<const std::byte> bytes) {
  file.write(at, std::span(&bytes, 1));
}

/// Writes the header, and reads and writes the arrays in groups.
template <class OnBytes>
void write_exported(const chain_reader& from, const exported_file_plan& plan, std::string_view header,
                    const export_options& options, stores::detail::file_sink& file, const OnBytes& on_bytes) {
  constexpr std::uint64_t group_bytes = std::uint64_t{64} << 20U;
  write_at(file, 0, std::as_bytes(std::span(header)));
  const auto& tensors = plan.header.tensors;
  page_buffer memory;
  for (std::size_t first = 0, end = 0; first < tensors.size(); first = end) {
    const auto begin = tensors[first].begin;
    for (end = first + 1; end < tensors.size() && tensors[end].end - begin <= group_bytes;) ++end;
    const auto bytes = memory.first(tensors[end - 1].end - begin);
    std::vector<read_request> requests;
    for (std::size_t i = first; i < end; ++i) {
      const auto& tensor = tensors[i];
      requests.push_back({plan.leaves[i], {tensor.type, tensor.shape, bytes.data() + (tensor.begin - begin), {}}});
    }
    from.read(requests, {.threads = options.threads});
    write_at(file, header.size() + begin, bytes);
    on_bytes(bytes.size());
  }
  file.finish();
}

inline void write_exported_index(stores::detail::replaced_files& made, std::string_view text) {
  auto file = made.make(std::string(exported_index), text.size());
  write_at(file, 0, std::as_bytes(std::span(text)));
  file.finish();
}

/// Gives the files of a directory their names. Readers look for model.safetensors first, then for the index: with
/// several files both go before, so that no reader that begins finds parts of two exports.
inline void publish_exported(stores::detail::replaced_files& made, const std::vector<std::string>& names) {
  made.require_replaceable();
  const bool has_parts = names.size() > 1;
  if (has_parts) made.remove([](std::string_view name) { return name == exported_file || name == exported_index; });
  made.publish();
  made.remove([&](std::string_view name) {
    if (name == exported_index) return !has_parts;
    return is_exported_part(name) && std::find(names.begin(), names.end(), name) == names.end();
  });
}

/// errc::invalid if the export would replace or remove the file that it reads.
inline void refuse_source(const chain_reader& from, const stores::detail::replaced_files& made,
                          const std::vector<std::string>& names, bool is_one_file) {
  const auto& source = from.contents().origin;
  if (!is_file(source)) return;
  const auto is_source = [&](std::string_view name) {
    if (made.is_same(name, source))
      fail(errc::invalid, {made.path_of(name), " would be replaced by what is exported from it: choose another place"});
  };
  for (const auto& name : names) is_source(name);
  if (is_one_file) return;
  for (const auto& name : made.entries())
    if (name == exported_file || name == exported_index || is_exported_part(name)) is_source(name);
}

inline export_report export_safetensors(const chain_reader& from, const std::string& to,
                                        const export_options& options) {
  const auto path = absolute_path(to);
  const bool is_one_file = path.ends_with(exported_suffix);
  std::vector<exported_file_plan> files;
  std::vector<std::string> headers;
  try {
    files = plan_export(from.contents(), options, is_one_file);
    require_usable_names(files);
    headers = exported_headers(files, is_one_file);
  } catch (const error& failure) {
    fail(failure.code(), {path, ": ", failure.sentence()});
  }
  const auto [parent, name] = split_path(path);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i)
    names.push_back(is_one_file         ? name
                    : files.size() == 1 ? std::string(exported_file)
                                        : exported_name(i, files.size()));
  const auto& directory = is_one_file ? parent : path;
  if (is_one_file && is_directory(path))
    fail(errc::invalid,
         {path,
          " is a directory: choose another name, which ends in .safetensors for a file, and does not for a "
          "directory"});
  new_directories above(directory);
  posix::make_directories(directory);
  if (options.durable) posix::sync_ancestors(directory);

  stores::detail::replaced_files made(directory, options.durable);
  if (made.is_checkpoint())
    fail(errc::invalid,
         {path, ": ", directory, " is a checkpoint, which an export would damage: choose another place"});
  refuse_source(from, made, names, is_one_file);
  made.remove([&](std::string_view entry) {
    const auto of = stores::detail::hidden_checkpoint(entry);
    return is_one_file ? of == name : of == exported_file || of == exported_index || is_exported_part(of);
  });
  export_report report;
  std::uint64_t done = 0, total = 0;
  for (const auto& each : files) total += each.header.data_bytes;
  const auto on_bytes = [&](std::uint64_t bytes) {
    done += bytes;
    if (options.on_progress) options.on_progress(done, total);
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto file = made.make(names[i], headers[i].size() + files[i].header.data_bytes);
    write_exported(from, files[i], headers[i], options, file, on_bytes);
    report.files.push_back(made.path_of(names[i]));
    report.tensors += files[i].leaves.size();
    report.bytes += files[i].header.data_bytes;
  }
  if (files.size() > 1) {
    write_exported_index(made, exported_index_of(files, names, report.bytes));
    report.files.push_back(made.path_of(exported_index));
  }
  if (is_one_file)
    made.publish();
  else
    publish_exported(made, names);
  above.keep();
  return report;
}

}  // namespace detail

export_report export_safetensors(const checkpoint& from, const std::string& path, const export_options& options) {
  return detail::with_errors(sentence({from.path(), " cannot be exported to ", path}),
                             [&] { return detail::export_safetensors(detail::reader_of(from), path, options); });
}

}  // namespace cairn::inline v0_1
