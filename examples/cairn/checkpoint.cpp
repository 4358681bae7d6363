// SPDX-License-Identifier: MIT
// The commands for single checkpoints: show, export, import, plan.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fnmatch.h>

#include "cairn/export.hpp"
#include "cairn/inspect.hpp"
#include "cairn/plan/partition.hpp"
#if defined(CAIRN_PROGRAM_IMPORTS)
#include "cairn/import.hpp"
#endif
#include "commands.hpp"
#include "json.hpp"
#include "printing.hpp"

namespace program {

namespace {

std::string shape_text(const cairn::extents& shape) { return cairn::to_string(shape); }

/// Whether one of the patterns matches, or there is none.
bool is_chosen(const std::vector<std::string>& patterns, std::string_view name) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
         });
}

std::string without(const std::string& prefix, std::string_view name) {
  return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
}

}  // namespace

int show(const std::string& path, bool json) {
  const auto opened = cairn::open(path);
  if (json) {
    json_value made{{"path", opened.path()},
                    {"step", opened.step()},
                    {"metrics", numbers_json(opened.metrics())},
                    {"metadata", opened.metadata()}};
    auto& tensors = made["tensors"] = json_value::array();
    for (const auto& each : opened.tensors()) {
      json_value one{{"name", each.name},        {"type", cairn::name(each.type)},    {"shape", each.shape},
                     {"bytes", each.bytes},      {"stored_bytes", each.stored_bytes}, {"codec", each.codec},
                     {"is_delta", each.is_delta}};
      if (each.lost) one["relative_l2_lost"] = number_json(each.lost->relative_l2);
      if (each.lost && each.lost->delta_l2) one["delta_l2_lost"] = number_json(*each.lost->delta_l2);
      if (each.restored.restores != 0) one["lossy_restores"] = each.restored.restores;
      tensors.push_back(std::move(one));
    }
    print(made);
    return 0;
  }
  std::cout << printable(opened.path()) << ", step " << opened.step() << '\n';
  for (const auto& [name, value] : opened.metrics()) std::cout << printable(name) << ": " << number_text(value) << '\n';
  for (const auto& [name, text] : opened.metadata()) std::cout << printable(name) << ": " << printable(text) << '\n';
  table rows({"NAME", "TYPE", "SHAPE", "SIZE", "STORED", "CODEC", "LOST", "OF CHANGE"}, 3);
  std::uint64_t bytes = 0, stored = 0;
  for (const auto& each : opened.tensors()) {
    rows.row({printable(each.name), std::string(cairn::name(each.type)), shape_text(each.shape), size_text(each.bytes),
              size_text(each.stored_bytes), each.codec.empty() ? "-" : each.codec + (each.is_delta ? ", delta" : ""),
              each.lost ? number_text(each.lost->relative_l2) : "",
              each.lost && each.lost->delta_l2 ? number_text(*each.lost->delta_l2) : ""});
    bytes += each.bytes;
    stored += each.stored_bytes;
  }
  rows.print();
  std::cout << count_text(opened.tensors().size(), "array") << ", " << size_text(bytes) << ", stored in "
            << size_text(stored) << '\n';
  return 0;
}

int export_arrays(const std::string& checkpoint, const std::string& path, const std::vector<std::string>& patterns,
                  const std::string& prefix) {
  std::error_code ignored;
  if (std::filesystem::equivalent(checkpoint, path, ignored))
    cairn::fail(cairn::errc::invalid, {path, " would be replaced by what is exported from it"});
  cairn::export_options options;
  options.filter = [&](std::string_view name) { return is_chosen(patterns, name); };
  options.rename = [&](std::string_view name) { return without(prefix, name); };
  const auto report = cairn::export_safetensors(cairn::open(checkpoint), path, options);
  for (const auto& file : report.files) std::cout << printable(file) << '\n';
  std::cout << count_text(report.tensors, "array") << ", " << size_text(report.bytes) << '\n';
  return 0;
}

#if defined(CAIRN_PROGRAM_IMPORTS)
int import_arrays(const std::string& file, const std::string& checkpoint, const std::vector<std::string>& patterns,
                  const std::string& prefix, std::uint64_t step) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(checkpoint, ignored)))
    cairn::fail(cairn::errc::invalid, {checkpoint, " is there already: remove it, or choose another path"});
  cairn::import_options options;
  options.save.step = step;
  options.filter = [&](std::string_view name) { return is_chosen(patterns, name); };
  options.rename = [&](std::string_view name) { return without(prefix, name); };
  const auto report = cairn::import_file(file, checkpoint, options);
  std::cout << count_text(report.leaves, "array") << ", " << size_text(report.state_bytes) << ", stored in "
            << size_text(report.bytes) << '\n';
  for (const auto& each : report.skipped) std::cout << "left out, since it is no array: " << printable(each) << '\n';
  return 0;
}
#endif

int plan(const std::string& path, std::size_t ranks, bool json) {
  const auto opened = cairn::open(path);
  std::vector<cairn::plan::leaf_size> sizes;
  for (const auto& each : opened.tensors()) {
    const auto elements = each.bytes / cairn::size_of(each.type);
    sizes.push_back({.elements = elements,
                     .bytes = each.stored_bytes,
                     .row = each.shape.size() > 1 && elements > 0 ? elements / each.shape[0] : 1});
  }
  const cairn::plan::partition divided(sizes, std::vector<cairn::plan::rank_load>(ranks));
  auto made = json_value::array();
  table rows({"RANK", "SIZE", "PIECES"}, 0);
  std::uint64_t largest = 0, all = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto pieces = divided.pieces_of(rank);
    std::uint64_t bytes = 0;
    for (const auto& each : pieces) bytes += divided.bytes_of(each);
    made.push_back({{"rank", rank}, {"bytes", bytes}, {"pieces", pieces.size()}});
    rows.row({std::to_string(rank), size_text(bytes), std::to_string(pieces.size())});
    largest = std::max(largest, bytes);
    all += bytes;
  }
  if (json) {
    print(made);
    return 0;
  }
  rows.print();
  std::cout << size_text(all) << "; the largest share is "
            << number_text(
                   all == 0 ? 1 : static_cast<double>(largest) * static_cast<double>(ranks) / static_cast<double>(all))
            << " times the mean\n";
  return 0;
}

}  // namespace program
