// SPDX-License-Identifier: MIT
// Walks objects by functions that pass their values, one by one, to an archive, as other serialization libraries do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

class archived_values;

/// A type that such functions save and load.
struct archived_operations {
  std::size_t width;  ///< bytes of the object
  void (*save)(archived_values& to, void* object);
  void (*load)(archived_values& from, void* object);
  void* (*make)();  ///< a new object, on which a load is tried
  void (*destroy)(void*);
};

/// What one call of a save or load function passes: the parts of one object. A part without a name is called "value0",
/// "value1", ...; a name that another part has is followed by _2, _3, ... Numbers that follow each other under the same
/// name are one array.
///
/// A save describes arrays and parts that lie in the object itself in place, and copies numbers, and the bytes of all
/// else, which may not outlive the function. A load gives each value at once; `load_stopped`: it has none.
class archived_values {
 public:
  /// `derived`: the values of an object of which this one is a base class.
  archived_values(walker& w, const void* object, std::size_t width, archived_values* derived);
  archived_values(const archived_values&) = delete;
  archived_values& operator=(const archived_values&) = delete;

  /// Any object.
  void part(std::string_view name, void* object, walk_function walk);
  /// A number, which is an element of `type`.
  void number(std::string_view name, dtype type, void* at);
  /// `count` elements of `type` at `memory`.
  void array(std::string_view name, dtype type, void* memory, std::uint64_t count);
  /// The size of a container whose elements follow. errc::mismatch: more than a checkpoint of that many bytes can have.
  void size(std::string_view name, std::uint64_t& count);
  /// A base class of the object.
  void base(std::string_view name, void* object, const archived_operations& how);

  /// True for the first call with that virtual base class.
  [[nodiscard]] bool is_new_base(const type_id& type, const void* object) {
    return bases_->emplace(type, object).second;
  }

  /// After the last value.
  void finish() { end_run(); }
  /// Throws the error of Cairn that a value caused, if the function has caught it.
  void rethrow() const;
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

 private:
  /// Numbers under one name.
  struct run {
    std::string name;
    std::string path;  ///< empty: no run is open
    dtype type{};
    std::vector<std::byte> bytes;  ///< of a load: empty for a single number
    std::size_t at = 0;            ///< of a load: the bytes that were given
  };

  [[nodiscard]] std::string path_of(std::string_view name);
  [[nodiscard]] bool owns(const void* at) const noexcept { return at >= begin_ && at < end_; }
  void walk_part(const std::string& path, void* object, walk_function walk);
  void end_run();
  [[noreturn]] void stop(const std::string& problem);

  walker& walker_;
  bool loads_;
  const std::byte* begin_;
  const std::byte* end_;
  std::uint64_t unnamed_ = 0;
  std::unordered_map<std::string, unsigned> names_;  // how often
  run run_;
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::set<std::pair<type_id, const void*>> own_bases_;
  std::set<std::pair<type_id, const void*>>* bases_;
};

/// Walks the object by its functions. The first walk of a load runs the load function on a new object, since the
/// function may do anything with the values that it reads; the second one runs it on the object. errc::invalid: the
/// save function failed. errc::mismatch: the load function failed.
void walk_archived(walker& w, void* object, const archived_operations& how);
/// The same for an object that exists only inside a save or load function, or is a base class of an object.
void walk_archived_part(walker& w, void* object, const archived_operations& how);

}  // namespace cairn::inline v0_1::detail
