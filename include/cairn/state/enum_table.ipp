// SPDX-License-Identifier: MIT
// Definitions of enum_table.hpp, and of the walker for enums whose values have names.
#pragma once

#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/enum_table.hpp"

namespace cairn::inline v0_1::detail {

std::string_view name_of_value(std::span<const enum_entry> names, std::int64_t number) {
  for (const auto& each : names)
    if (each.number == number && !each.is_former) return each.name;
  return {};
}

const enum_entry* find_name(std::span<const enum_entry> names, std::string_view name) {
  for (const auto& each : names)
    if (each.name == name) return &each;
  return nullptr;
}

/// Stored number -> its name.
using stored_names = std::map<std::int64_t, std::string_view>;

/// "0 relu". errc::corrupt.
inline stored_names parse_names(const std::vector<std::string>& texts, const std::string& where) {
  stored_names all;
  for (const std::string& text : texts) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool has_name = failure == std::errc{} && end + 1 < text.data() + text.size() && *end == ' ';
    if (!has_name || !all.emplace(number, std::string_view(end + 1, text.data() + text.size())).second)
      fail(errc::corrupt, {where, " has '", text, "' among the names of an enum, which is no number and name"});
  }
  return all;
}

/// Whether each number has the same name now as when it was saved.
inline bool same_names(const stored_names& stored, std::span<const enum_entry> now) {
  std::size_t present = 0;
  for (const auto& each : now) present += each.is_former ? 0 : 1;
  if (present != stored.size()) return false;
  for (const auto& [number, name] : stored)
    if (const auto* const found = find_name(now, name); !found || found->number != number) return false;
  return true;
}

inline std::int64_t read_number(dtype type, const std::byte* from) {
  std::uint64_t bits = 0;
  const std::size_t width = size_of(type);
  std::memcpy(&bits, from, width);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(width);
  if (is_signed_integer(type)) return static_cast<std::int64_t>(bits << unused) >> unused;
  return static_cast<std::int64_t>(bits);
}

/// The number that `stored` has now. `problem` gets what is wrong with it.
inline std::int64_t current_number(std::int64_t stored, const stored_names& names, std::span<const enum_entry> now,
                                   std::string& problem) {
  if (const auto at = names.find(stored); at != names.end()) {
    if (const auto* const found = find_name(now, at->second)) return found->number;
    problem = "is '" + std::string(at->second) +
              "' in the checkpoint, which cairn::by_name does not list for this enum: list it, or make it a former "
              "name: cairn::enumerator<\"name\", value, \"" +
              std::string(at->second) + "\">";
  } else if (const auto name = name_of_value(now, stored); !name.empty()) {
    problem = "is " + std::to_string(stored) + " in the checkpoint, a value that had no name there and is '" +
              std::string(name) + "' now; give that name another value, or leave it out with filter";
  }
  return stored;
}

void describer::enumerated(dtype type, void* memory, std::span<const enum_entry> names) {
  structure_entry entry{.what = structure_entry::kind::names};
  for (const auto& each : names)
    if (!each.is_former) entry.keys.push_back(std::to_string(each.number) + ' ' + std::string(each.name));
  with_name("@names", [&] { note(std::move(entry)); });
  element(type, memory);
}

void loader::enumerated(dtype type, void* memory, std::span<const enum_entry> names) {
  const auto* const entry = with_name("@names", [&] { return take_entry_if_stored(structure_entry::kind::names); });
  if (!entry) return element(type, memory);
  const stored_names stored = parse_names(entry->keys, sentence({path(), " in ", origin()}));
  const stored_leaf* const leaf = this->stored(at_.shape);
  const dtype stored_type = leaf && !is_floating(leaf->type) ? leaf->type : type;
  if (stored_type == type && same_names(stored, names)) return element(type, memory);
  renumber(type, memory, stored_type,
           [&](std::int64_t number, std::string& problem) { return current_number(number, stored, names, problem); });
}

template <class Now>
void loader::renumber(dtype type, void* memory, dtype stored_type, const Now& now) {
  const std::uint64_t count = element_count(at_.shape);
  std::vector<std::byte> numbers(count * size_of(stored_type));
  const auto strides = std::exchange(at_.strides, packed_strides(at_.shape, size_of(stored_type)));
  begin_copy();
  element(stored_type, numbers.data());
  at_.strides = strides;
  const auto answer = end_copy();
  if (answer == copy_answer::drop) return;
  std::vector<std::byte> current(count * size_of(type));
  std::string problem;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t number = now(read_number(stored_type, numbers.data() + i * size_of(stored_type)), problem);
    if (!problem.empty()) return reject(problem);
    std::byte* const to = current.data() + i * size_of(type);
    std::memcpy(to, &number, size_of(type));
    if (read_number(type, to) != number)
      return reject("is " + std::to_string(number) + " in the checkpoint, which does not fit into " +
                    std::string(name(type)) + "; give the enum a wider type, or leave it out with filter");
  }
  if (answer == copy_answer::put) scatter({type, at_.shape, static_cast<std::byte*>(memory), strides}, 0, current);
}

}  // namespace cairn::inline v0_1::detail
