// Definitions of walk_versioned.hpp and stored_parts.hpp, and of the functions of the walker for them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "cairn/core/as_error.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/matcher.hpp"
#include "cairn/state/walk_versioned.hpp"

namespace cairn {

CAIRN_INLINE bool stored_parts::has(std::string_view name) const { return walker_->has_stored(name); }

CAIRN_INLINE void stored_parts::read(std::string_view name, void* part, void (*walk)(detail::walker&, void*),
                                     std::size_t width) {
  if (failure_) std::rethrow_exception(failure_);
  if (stopped_) throw detail::load_stopped();
  try {
    walker_->begin_copy(nullptr);
    if (is_column_)
      walker_->stored_rows(name, part, width, walk);
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

CAIRN_INLINE void* stored_parts::find_column(std::string_view name, std::type_index type) const {
  const auto at = columns_.find(name);
  return at == columns_.end() || at->second.type != type ? nullptr : at->second.rows.get();
}

CAIRN_INLINE void stored_parts::add_column(std::string_view name, std::type_index type, std::shared_ptr<void> rows) {
  columns_.insert_or_assign(std::string(name), column{type, std::move(rows)});
}

CAIRN_INLINE void stored_parts::fail_column(std::string_view name) {
  fail(errc::invalid, {"it reads ", name, " as a type that is not of fixed layout, which no element of a column has"});
}

namespace detail {

CAIRN_INLINE void walker::changed_parts(std::span<const named_part> all, std::span<const change> changes) {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  if (!to) return parts(all);
  for (const change& each : changes)
    if (each.what == change::kind::removed) with_name(each.name, [&] { (*to)->mark_used(path_); });
  for (const named_part& each : all) {
    const std::string_view name = stored_name(each.name, changes);
    if (!name.empty())
      part(name, each.object, each.walk);
    else if (!is_migrated_)
      with_name(each.name, [&] { (*to)->keep_default(path()); });
  }
}

CAIRN_INLINE std::string_view walker::stored_name(std::string_view name, std::span<const change> changes) {
  const auto is_stored = [&](std::string_view part) {
    bool found = false;
    with_name(part, [&] { found = load().is_stored(path()); });
    return found;
  };
  bool may_be_missing = false;
  std::string_view former;
  for (const change& each : changes) {
    if (each.name != name || each.what == change::kind::removed) continue;
    if (each.what == change::kind::since) {
      if (version_ < each.version) return {};
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

CAIRN_INLINE void walker::versioned(void* object, const version_operations& how) {
  std::uint64_t stored = how.version;
  const bool describes = std::holds_alternative<describer*>(purpose_);
  with_name("@version", [&] {
    const structure_entry own{structure_entry::kind::version, how.version, {}, {}};
    if (describes)
      std::get<describer*>(purpose_)->add_entry(path(), own);
    else if (const auto* const entry = load().find_entry(path(), own.what))
      stored = entry->number;
    else if (load().has_structure())
      stored = 0;
  });
  const bool is_older = stored < how.version && how.migrate;
  if (!describes && load().is_probing() && is_older) return load().probe_below(path_);
  if (stored > how.version) {
    if (load().is_probing()) return;
    return reject("has version " + std::to_string(stored) + " in the checkpoint, which is newer than version " +
                  std::to_string(how.version) + " of this program");
  }
  const auto outer = std::pair(version_, is_migrated_);
  version_ = stored;
  is_migrated_ = is_older;
  if (is_older)
    migrate(object, how);
  else
    how.walk_parts(*this, object);
  std::tie(version_, is_migrated_) = outer;
}

CAIRN_INLINE void walker::migrate(void* object, const version_operations& how) {
  const std::uint64_t rows = element_count(shape_);
  if (rows == 0) return load().mark_used(path_);
  const bool is_trial = purpose() != walk_purpose::apply && !is_in_copy();
  if (!is_trial && must_keep()) return;
  const auto strides = strides_;
  std::shared_ptr<void> trial;
  if (is_trial) {
    trial = std::shared_ptr<void>(how.make(rows), how.destroy);
    object = trial.get();
    strides_ = packed_strides(shape_, how.width);
  }
  begin_copy(nullptr);
  run_migration(object, how, rows);
  strides_ = strides;
  if (end_copy() != copy_answer::drop) return;
  if (purpose() == walk_purpose::apply)
    fail(errc::mismatch,
         {path(), ": its cairn_migrate reads other values than on a new object, and may have changed the state"});
  keep_whole();
}

CAIRN_INLINE void walker::run_migration(void* object, const version_operations& how, std::uint64_t rows) {
  const std::size_t before = left_out();
  how.walk_parts(*this, object);
  if (left_out() != before) return;
  stored_parts old(*this, version_, rows, !shape_.empty());
  try {
    for (; old.row_ < rows && !old.stopped_; ++old.row_) {
      std::uint64_t rest = old.row_;
      auto* at = static_cast<std::byte*>(object);
      for (std::size_t d = shape_.size(); d > 0; --d) {
        at += static_cast<std::int64_t>(rest % shape_[d - 1]) * strides_[d - 1];
        rest /= shape_[d - 1];
      }
      how.migrate(at, old);
      if (old.failure_) std::rethrow_exception(old.failure_);
    }
  } catch (...) {
    if (old.failure_) std::rethrow_exception(old.failure_);
    if (old.stopped_) return;
    const error cause = as_error(std::current_exception(), "cannot be loaded from version " + std::to_string(version_) +
                                                               ", since cairn_migrate failed");
    const std::string problem(cause.sentence());
    if (purpose() == walk_purpose::apply)
      fail(errc::mismatch, {path(), " ", problem, "; it did not fail on a new object, and may have changed the state"});
    reject(problem);
  }
}

CAIRN_INLINE void walker::stored_rows(std::string_view name, void* first, std::size_t width, walk_function walk) {
  const auto strides = std::exchange(strides_, packed_strides(shape_, width));
  part(name, first, walk);
  strides_ = strides;
}

}  // namespace detail
}  // namespace cairn
