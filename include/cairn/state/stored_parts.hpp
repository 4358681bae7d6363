// SPDX-License-Identifier: MIT
// What a class's `cairn_migrate` reads: the parts of an object as an older version of the class stored them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

namespace detail {
class loader;
class walker;
struct type_id;
}  // namespace detail

/// The stored parts of the object that `cairn_migrate` changes. All members but those that are new `since` a later
/// version have been loaded before. A load calls `cairn_migrate` twice: first on a new object, before it changes the
/// state, and then on the object of the state. An exception is a mismatch, and leaves the state as it was.
class stored_parts {
 public:
  /// The version of the class that stored the object; 0: it had none.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  /// Whether the checkpoint has the part `name`, or parts of it.
  [[nodiscard]] bool has(std::string_view name) const;

  /// The stored part `name` as a `P`, of any type that Cairn can load. In a sequence of objects of fixed layout, a P of
  /// fixed layout. If the checkpoint does not have it, or has something else there, the load fails as for a member.
  template <class P>
  [[nodiscard]] P get(std::string_view name);

  /// The same into `part`.
  template <class P>
  void load(std::string_view name, P& part);

 private:
  friend class detail::loader;

  struct column {
    const detail::type_id* type;
    std::shared_ptr<void> rows;
  };

  stored_parts(detail::walker& w, std::uint64_t version, std::uint64_t rows, bool is_column) noexcept
      : walker_(&w), version_(version), rows_(rows), is_column_(is_column) {}

  template <class P>
  void load_as(std::string_view name, P& part, void (*walk)(detail::walker&, void*));
  /// Reads a part, or its column of elements of `width` bytes.
  void read(std::string_view name, void* part, void (*walk)(detail::walker&, void*), std::size_t width);
  /// The rows that an earlier call has read; null if none has.
  [[nodiscard]] void* find_column(std::string_view name, const detail::type_id* type) const;
  void add_column(std::string_view name, const detail::type_id* type, std::shared_ptr<void> rows);
  [[noreturn]] void fail_column(std::string_view name);

  detail::walker* walker_;
  std::uint64_t version_;
  std::uint64_t rows_;  // of the columns that the object is in
  bool is_column_;
  std::uint64_t row_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::map<std::string, column, std::less<>> columns_;
};

}  // namespace cairn::inline v0_1
