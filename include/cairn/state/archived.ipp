// SPDX-License-Identifier: MIT
// Definitions of archived.hpp.
#pragma once

#include <cstring>
#include <memory>

#include "cairn/state/archived.hpp"

namespace cairn::inline v0_1::detail {

/// Numbers as an array, or a single one.
struct archived_numbers {
  dtype type{};
  bool single = false;
  void* memory = nullptr;
  std::uint64_t count = 0;

  static void walk(walker& w, void* object) {
    const auto& numbers = *static_cast<archived_numbers*>(object);
    if (numbers.single) return w.element(numbers.type, numbers.memory);
    w.array(numbers.type, 1, numbers.memory, {numbers.count});
  }
};

/// Numbers in a checkpoint, whose count it decides.
struct stored_numbers {
  dtype type{};
  void* single = nullptr;
  std::vector<std::byte>* many = nullptr;

  static void walk(walker& w, void* object) {
    const auto& numbers = *static_cast<stored_numbers*>(object);
    const stored_leaf* const stored = w.stored({0});
    if (!stored || stored->shape.size() != 1 || stored->shape[0] == 0) return w.element(numbers.type, numbers.single);
    const extents shape = stored->shape;
    numbers.many->resize(shape[0] * size_of(numbers.type));
    w.array(numbers.type, 1, numbers.many->data(), shape);
  }
};

struct archived_base {
  void* object = nullptr;
  const archived_operations* how = nullptr;
  archived_values* derived = nullptr;

  static void walk(walker& w, void* object);
};

archived_values::archived_values(walker& w, const void* object, std::size_t width, archived_values* derived)
    : walker_(w),
      loads_(w.purpose() != purpose::describe),
      begin_(derived ? derived->begin_ : static_cast<const std::byte*>(object)),
      end_(derived ? derived->end_ : begin_ + width),
      bases_(derived ? derived->bases_ : &own_bases_) {}

std::string archived_values::path_of(std::string_view name) {
  std::string path(name);
  if (name.empty()) {
    do path = "value" + std::to_string(unnamed_++);
    while (!names_.try_emplace(path, 1).second);
    return path;
  }
  unsigned& count = names_[path];
  if (++count == 1) return path;
  do path = std::string(name) + '_' + std::to_string(count++);
  while (!names_.try_emplace(path, 1).second);
  --count;
  return path;
}

void archived_values::stop(const std::string& problem) {
  if (!problem.empty()) walker_.reject(problem);
  stopped_ = true;
  throw load_stopped();
}

void archived_values::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

void archived_values::walk_part(const std::string& path, void* object, walk_function walk) {
  rethrow();
  if (stopped_) throw load_stopped();
  try {
    if (!loads_) return walker_.part(path, object, walk);
    walker_.begin_copy();
    walker_.part(path, object, walk);
    if (walker_.end_copy() != copy_answer::drop) return;
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  stop({});
}

void archived_values::part(std::string_view name, void* object, walk_function walk) {
  end_run();
  const bool temporary = !loads_ && !owns(object);
  if (temporary) walker_.begin_temporary();
  walk_part(path_of(name), object, walk);
  if (temporary) walker_.end_temporary();
}

void archived_values::array(std::string_view name, dtype type, void* memory, std::uint64_t count) {
  end_run();
  archived_numbers numbers{.type = type, .memory = memory, .count = count};
  const bool temporary = !loads_ && !owns(memory);
  if (temporary) walker_.begin_temporary();
  walk_part(path_of(name), &numbers, archived_numbers::walk);
  if (temporary) walker_.end_temporary();
}

void archived_values::number(std::string_view name, dtype type, void* at) {
  const std::size_t width = size_of(type);
  const bool follows = !run_.path.empty() && !name.empty() && run_.name == name && run_.type == type;
  const auto* const value = static_cast<const std::byte*>(at);
  if (!loads_) {
    if (!follows) {
      end_run();
      run_ = {std::string(name), path_of(name), type, {}, 0};
    }
    run_.bytes.insert(run_.bytes.end(), value, value + width);
    return;
  }
  if (!follows) {
    end_run();
    run_ = {std::string(name), path_of(name), type, {}, 0};
    stored_numbers numbers{type, at, &run_.bytes};
    walk_part(run_.path, &numbers, stored_numbers::walk);
    if (run_.bytes.empty()) return;
  }
  if (run_.at == run_.bytes.size())
    stop("has fewer numbers '" + run_.path + "' in the checkpoint than its load function reads");
  std::memcpy(at, run_.bytes.data() + run_.at, width);
  run_.at += width;
}

void archived_values::end_run() {
  if (run_.path.empty()) return;
  const run ended = std::exchange(run_, {});
  const std::size_t count = ended.bytes.size() / size_of(ended.type);
  if (loads_) {
    if (!stopped_ && ended.at < ended.bytes.size())
      stop("has " + std::to_string(count) + " numbers '" + ended.path +
           "' in the checkpoint, more than its load function reads");
    return;
  }
  archived_numbers numbers{ended.type, count == 1, const_cast<std::byte*>(ended.bytes.data()), count};
  walker_.begin_temporary();
  walk_part(ended.path, &numbers, archived_numbers::walk);
  walker_.end_temporary();
}

void archived_values::size(std::string_view name, std::uint64_t& count) {
  end_run();
  number(name.empty() ? "size" : name, dtype::u64, &count);
  end_run();
  constexpr std::uint64_t few = 1U << 20;  // elements without a value may be more than the bytes of the checkpoint
  if (loads_ && count > few && count > walker_.stored_bytes())
    stop("claims " + std::to_string(count) + " elements, more than the checkpoint has bytes");
}

void archived_values::base(std::string_view name, void* object, const archived_operations& how) {
  end_run();
  archived_base request{object, &how, this};
  walk_part(path_of(name), &request, archived_base::walk);
}

/// Runs the save or load function. Returns after a load that stopped, which the walker knows.
void run_archived(walker& w, void* object, const archived_operations& how, archived_values* derived) {
  archived_values values(w, object, how.width, derived);
  const bool saves = w.purpose() == purpose::describe;
  try {
    (saves ? how.save : how.load)(values, object);
    values.rethrow();
    if (!values.is_stopped()) values.finish();
  } catch (...) {
    values.rethrow();
    if (values.is_stopped()) return;
    if (saves)
      throw error(as_error(std::current_exception(), {w.path(), " cannot be saved, since its save function failed"}));
    const error cause = as_error(std::current_exception(), {"cannot be loaded, since its load function failed"});
    w.reject(std::string(cause.sentence()));
  }
}

void archived_base::walk(walker& w, void* object) {
  const auto& request = *static_cast<archived_base*>(object);
  run_archived(w, request.object, *request.how, request.derived);
}

void walk_archived_part(walker& w, void* object, const archived_operations& how) {
  run_archived(w, object, how, nullptr);
}

/// Loads into the object, or keeps it whole.
void load_archived(walker& w, void* object, const archived_operations& how) {
  w.begin_copy();
  run_archived(w, object, how, nullptr);
  if (w.end_copy() == copy_answer::drop) w.keep_whole();
}

void walk_archived(walker& w, void* object, const archived_operations& how) {
  if (!w.runs_archive_functions()) return;
  if (w.purpose() == purpose::describe) return run_archived(w, object, how, nullptr);
  if (w.purpose() == purpose::apply) {
    if (!w.must_keep()) load_archived(w, object, how);
    return;
  }
  try {
    const std::shared_ptr<void> trial(how.make(), how.destroy);
    object = nullptr;
    load_archived(w, trial.get(), how);
  } catch (const error&) {
    throw;
  } catch (...) {
    throw error(as_error(std::current_exception(), {w.path(), ": a new object, on which the load is tried"}));
  }
}

}  // namespace cairn::inline v0_1::detail
