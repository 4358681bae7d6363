// SPDX-License-Identifier: MIT
// The commands for single checkpoints: show, export, import, plan.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fnmatch.h>

#include "cairn/export.hpp"
#include "cairn/import.hpp"
#include "cairn/inspect.hpp"
#include "cairn/plan/partition.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/posix.hpp"
#include "commands.hpp"
#include "interrupts.hpp"
#include "json.hpp"
#include "place.hpp"
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

/// What the structure says about the object at a path: "2 objects", "keys a, b".
std::string structure_text(const cairn::detail::structure_entry& entry) {
  using kind = cairn::detail::structure_entry::kind;
  const auto joined = [&] {
    std::string made;
    for (const auto& each : entry.keys) made += (made.empty() ? "" : ", ") + each;
    return made;
  };
  switch (entry.what) {
    case kind::size:
      return count_text(entry.number, "object");
    case kind::rows:
      return count_text(entry.number, "joined object");
    case kind::keys:
      return "keys " + joined();
    case kind::engaged:
      return entry.number != 0 ? "has a value" : "empty";
    case kind::index:
      return "alternative " + std::to_string(entry.number);
    case kind::type:
      return "type " + entry.text;
    case kind::same:
      return "same as " + entry.text;
    case kind::ranks:
      return count_text(entry.number, "rank");
    case kind::version:
      return "version " + std::to_string(entry.number);
    case kind::names:
      return "values " + joined();
  }
  return {};
}

/// Of a file of another program: none.
cairn::detail::structure structure_of(const std::optional<stored_checkpoint>& stored) {
  if (!stored) return {};
  return cairn::detail::read_index(*stored->run.open(stored->name), cairn::detail::index_part::all).structure;
}

}  // namespace

int show(const std::string& path, bool json) {
  const auto place = stored_at(path);
  const auto opened = place ? cairn::open(place->run, place->name) : open_at(path);
  const auto structure = structure_of(place);
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
    auto& parts = made["structure"] = json_value::object();
    for (const auto& [at, entry] : structure) parts[at] = structure_text(entry);
    print(made);
    return 0;
  }
  std::cout << printable(opened.path()) << ", step " << opened.step() << '\n';
  for (const auto& [name, value] : opened.metrics()) std::cout << printable(name) << ": " << number_text(value) << '\n';
  for (const auto& [name, text] : opened.metadata()) std::cout << printable(name) << ": " << printable(text) << '\n';
  table rows({"NAME", "TYPE", "SHAPE", "SIZE", "STORED", "CODEC", "LOST", "OF CHANGE"}, 3);
  std::uint64_t bytes = 0, stored = 0, restores = 0;
  for (const auto& each : opened.tensors()) {
    rows.row({each.name, std::string(cairn::name(each.type)), shape_text(each.shape), size_text(each.bytes),
              size_text(each.stored_bytes), each.codec.empty() ? "-" : each.codec + (each.is_delta ? ", delta" : ""),
              each.lost ? number_text(each.lost->relative_l2) : "",
              each.lost && each.lost->delta_l2 ? number_text(*each.lost->delta_l2) : ""});
    bytes += each.bytes;
    stored += each.stored_bytes;
    restores = std::max<std::uint64_t>(restores, each.restored.restores);
  }
  rows.print();
  if (!structure.empty()) {
    table parts({"STRUCTURE", "WHAT IS STORED"}, 2);
    for (const auto& [at, entry] : structure) parts.row({at.empty() ? "(the state)" : at, structure_text(entry)});
    parts.print();
  }
  std::cout << count_text(opened.tensors().size(), "array") << ", " << size_text(bytes) << ", stored in "
            << size_text(stored) << '\n';
  if (restores > 0) std::cout << "restored " << count_text(restores, "time") << " from a checkpoint with losses\n";
  return 0;
}

int export_arrays(const std::string& checkpoint, const std::string& path, const array_names& names, bool json) {
  const auto opened = open_at(checkpoint);
  const auto& all = opened.tensors();
  if (std::none_of(all.begin(), all.end(), [&](const auto& each) { return is_chosen(names.patterns, each.name); }))
    cairn::fail(cairn::errc::invalid,
                {opened.path(), " has no array that --filter matches: `cairn show ", opened.path(), "` lists them"});
  cairn::export_options options;
  options.filter = [&](std::string_view name) { return is_chosen(names.patterns, name); };
  options.rename = [&](std::string_view name) { return without(names.prefix, name); };
  options.on_progress = [](std::uint64_t, std::uint64_t) { interrupts::check(); };
  std::uint64_t bytes = 0;
  for (const auto& each : opened.tensors()) bytes += is_chosen(names.patterns, each.name) ? each.bytes : 0;
  const auto report = [&] {
    const interrupts signals;
    const progress shown(bytes_at(opened.path()) + bytes, json);
    return cairn::export_safetensors(opened, path, options);
  }();
  if (json) {
    print({{"files", report.files}, {"arrays", report.tensors}, {"bytes", report.bytes}});
    return 0;
  }
  for (const auto& file : report.files) std::cout << printable(file) << '\n';
  std::cout << count_text(report.tensors, "array") << ", " << size_text(report.bytes) << '\n';
  return 0;
}

namespace {

/// As import_file, with advice in its errors: that for checkpoints does not help here.
cairn::save_report read_foreign(const std::string& file, const std::string& checkpoint,
                                const cairn::import_options& options) {
  using cairn::errc;
  try {
    return cairn::import_file(file, checkpoint, options);
  } catch (const cairn::error& cause) {
    const auto code = cause.code();
    const bool says_how = cause.sentence().find("cairn.convert") != std::string::npos;
    if (code == errc::no_memory || says_how) cairn::fail(errc::invalid, {cause.sentence()});
    if (code == errc::unsupported)
      cairn::fail(errc::invalid, {cause.sentence(), "; leave the array out with --filter, or convert it first"});
    if (code == errc::invalid)
      cairn::fail(errc::invalid, {cause.sentence(), "; --filter chooses arrays, and --strip shortens their names"});
    if (code == errc::corrupt || code == errc::unreadable || code == errc::not_found)
      cairn::fail(errc::invalid, {cause.sentence(), "; give a safetensors file"});
    throw;
  }
}

}  // namespace

int import_arrays(const std::string& file, const std::string& checkpoint, const array_names& names, std::uint64_t step,
                  bool json) {
  if (is_address(checkpoint))
    cairn::fail(cairn::errc::invalid,
                {"import makes a directory: choose one, and then `cairn copy` it to ", checkpoint});
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(checkpoint, ignored)))
    cairn::fail(cairn::errc::invalid, {checkpoint, " is there already: remove it, or choose another path"});
  const auto named = cairn::detail::parse_checkpoint_name(cairn::detail::split_path(checkpoint).name);
  if (named && *named != step)
    cairn::fail(cairn::errc::invalid,
                {checkpoint, " is the name of step ", *named, ": import it with --step ", *named});
  cairn::import_options options;
  options.save.step = step;
  options.save.check = [] { interrupts::check(); };
  options.filter = [&](std::string_view name) { return is_chosen(names.patterns, name); };
  options.rename = [&](std::string_view name) { return without(names.prefix, name); };
  const auto report = [&] {
    const interrupts signals;
    const progress shown(2 * bytes_at(file), json);
    return read_foreign(file, checkpoint, options);
  }();
  if (json) {
    print({{"path", checkpoint},
           {"arrays", report.leaves},
           {"bytes", report.state_bytes},
           {"stored_bytes", report.bytes}});
    return 0;
  }
  std::cout << count_text(report.leaves, "array") << ", " << size_text(report.state_bytes) << ", stored in "
            << size_text(report.bytes) << '\n';
  return 0;
}

int plan(const std::string& path, std::size_t ranks, bool json) {
  const auto opened = open_at(path);
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
