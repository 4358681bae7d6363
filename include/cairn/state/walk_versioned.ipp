// SPDX-License-Identifier: MIT
// Definitions of walk_versioned.hpp and stored_parts.hpp, and of the functions of the walker for them.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_versioned.hpp"

namespace cairn::inline v0_1 {

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

}  // namespace detail
}  // namespace cairn::inline v0_1
