// SPDX-License-Identifier: MIT
// Definitions of state/walk_record.hpp, and of the names of enums.
#pragma once

#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_record.hpp"

namespace cairn::inline v0_1 {

stored_parts::stored_parts(detail::walker& w, std::uint64_t version, std::uint64_t rows, bool is_column) noexcept
    : walker_(&w), version_(version), rows_(rows), is_column_(is_column) {}

bool stored_parts::has(std::string_view name) const { return walker_->has_stored(name); }

void stored_parts::read(std::string_view name, void* part, void (*walk)(detail::walker&, void*), std::size_t width) {
  if (failure_) std::rethrow_exception(failure_);
  if (stopped_) throw detail::load_stopped();
  try {
    walker_->begin_copy();
    if (is_column_)
      walker_->packed_rows(name, part, width, walk);
    else
      walker_->part(name, part, walk);
    if (walker_->end_copy() != detail::copy_answer::drop) return;
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  stopped_ = true;
  throw detail::load_stopped();
}

void* stored_parts::find_column(std::string_view name, const detail::type_id* type) const {
  const auto at = columns_.find(name);
  return at == columns_.end() || *at->second.type != *type ? nullptr : at->second.rows.get();
}

void stored_parts::add_column(std::string_view name, const detail::type_id* type, std::shared_ptr<void> rows) {
  columns_.insert_or_assign(std::string(name), column{type, std::move(rows)});
}

void stored_parts::fail_column(std::string_view name) {
  fail(errc::invalid, {"cairn_migrate reads ", name,
                       " as a type that is not of fixed layout; objects that are saved in columns have no such parts"});
}

namespace detail {

void walker::packed_rows(std::string_view name, void* first, std::size_t width, walk_function walk) {
  const auto strides = std::exchange(at_.strides, packed_strides(at_.shape, width));
  part(name, first, walk);
  at_.strides = strides;
}

void describer::versioned(void* object, const version_operations& how) {
  with_name("@version", [&] { note({.what = structure_entry::kind::version, .number = how.version}); });
  how.walk_parts(*this, object);
}

const structure_entry* loader::take_entry_if_stored(structure_entry::kind kind) {
  return stored_.find_entry(path()) ? take_entry(kind) : nullptr;
}

void loader::note_removed(std::span<const change> changes) {
  for (const change& each : changes)
    if (each.what == change::kind::removed) with_name(each.name, [&] { removed_.push_back(at_.path); });
}

void loader::changed_members(const object_members& of, std::span<const change> changes) {
  note_removed(changes);
  for (std::size_t i = 0; i < of.all.size(); ++i) {
    const member_operations& each = of.all[i];
    if (!each.walk) continue;
    const std::string_view name = stored_name(each.name, changes);
    const bool took_sizes = at_.takes_sizes;
    for (const change& how : changes)
      if (how.what == change::kind::resizable && how.name == each.name) at_.takes_sizes = true;
    if (!name.empty())
      part(name, of.addresses[i], each.walk);
    else if (at_.migrated_length != at_.path.size())
      with_name(each.name, [&] { keep_default(); });
    at_.takes_sizes = took_sizes;
  }
}

std::string_view loader::stored_name(std::string_view name, std::span<const change> changes) {
  const auto is_stored = [&](std::string_view part) {
    return with_name(part, [&] { return stored_.is_stored(path()); });
  };
  bool may_be_missing = false;
  std::string_view former;
  for (const change& each : changes) {
    if (each.name != name || each.what == change::kind::removed || each.what == change::kind::resizable) continue;
    if (each.what == change::kind::since) {
      if (at_.version < each.version) return {};
    } else if (is_stored(name)) {
      return name;
    } else if (each.what == change::kind::added) {
      may_be_missing = true;
    } else if (former.empty() && is_stored(each.former)) {
      former = each.former;
    }
  }
  return !former.empty() || may_be_missing ? former : name;
}

void loader::versioned(void* object, const version_operations& how) {
  const std::uint64_t stored = with_name("@version", [&]() -> std::uint64_t {
    if (const auto* const entry = take_entry_if_stored(structure_entry::kind::version)) return entry->number;
    return stored_.contents().has_structure ? 0 : how.version;
  });
  if (stored > how.version)
    return reject("has version " + std::to_string(stored) + " in the checkpoint, which is newer than version " +
                  std::to_string(how.version) +
                  " of this program; load it with a program of that version, or leave it out with filter");
  if (how.migrate && at_.shape.empty()) note_owner(object, &how);
  const auto outer = std::pair(at_.version, at_.migrated_length);
  at_.version = stored;
  at_.migrated_length.reset();
  if (stored < how.version && how.migrate) at_.migrated_length = at_.path.size();
  if (at_.migrated_length)
    migrate(object, how);
  else
    how.walk_parts(*this, object);
  std::tie(at_.version, at_.migrated_length) = outer;
}

void loader::migrate(void* object, const version_operations& how) {
  const std::uint64_t rows = element_count(at_.shape);
  if (rows == 0) return mark_used();
  const bool is_trial = purpose() == purpose::check;
  if (!is_trial && must_keep()) return;
  const auto strides = at_.strides;
  std::shared_ptr<void> trial;
  if (is_trial) {
    if (at_.shape.empty()) note_destroyed(object, how.walk_parts);  // it may free or move all arrays
    trial = std::shared_ptr<void>(how.make(rows), how.destroy);
    object = trial.get();
    at_.strides = packed_strides(at_.shape, how.width);
  }
  begin_copy();
  run_migration(object, how, rows);
  at_.strides = strides;
  if (end_copy() == copy_answer::drop) keep_whole();
}

void loader::run_migration(void* object, const version_operations& how, std::uint64_t rows) {
  const std::size_t before = left_out();
  how.walk_parts(*this, object);
  if (left_out() != before) return;
  stored_parts old(*this, at_.version, rows, !at_.shape.empty());
  try {
    for (; old.row_ < rows && !old.stopped_; ++old.row_) {
      std::uint64_t rest = old.row_;
      auto* row = static_cast<std::byte*>(object);
      for (std::size_t d = at_.shape.size(); d > 0; --d) {
        row += static_cast<std::int64_t>(rest % at_.shape[d - 1]) * at_.strides[d - 1];
        rest /= at_.shape[d - 1];
      }
      how.migrate(row, old);
      if (old.failure_) std::rethrow_exception(old.failure_);
    }
  } catch (...) {
    if (old.failure_) std::rethrow_exception(old.failure_);
    if (old.stopped_) return;
    const error cause = as_error(std::current_exception(),
                                 {"cannot be loaded from version ", at_.version, ", since cairn_migrate failed"});
    reject(std::string(cause.sentence()));
  }
}

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

}  // namespace detail
}  // namespace cairn::inline v0_1
