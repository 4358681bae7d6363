// SPDX-License-Identifier: MIT
// The lines by which a class says how its members have changed since older checkpoints.
#pragma once

#include <concepts>
#include <type_traits>

#include "cairn/state/name_text.hpp"

namespace cairn::inline v0_1 {

/// A member that had other names: where a checkpoint does not have `Name`, it is loaded from the first of the `Former`
/// names that it has.
template <detail::name_text Name, detail::name_text... Former>
struct renamed {};

/// Members that a checkpoint may lack: they then keep their value.
template <detail::name_text... Names>
struct added {};

/// Members that are what they are since that version of the class: from a checkpoint of an older version they are not
/// loaded, but keep their value, unless `cairn_migrate` sets them. In newer checkpoints they must not be missing.
template <unsigned Version, detail::name_text... Names>
struct since {};

/// Names that the class has no more: what a checkpoint has there, and below, is ignored.
template <detail::name_text... Names>
struct removed {};

/// Members whose size is data, such as a replay buffer or a history: the arrays of numbers in them get the size of the
/// checkpoint. Without it, an array that is not empty has to have that size.
template <detail::name_text... Names>
struct resizable {};

/// How the members of a class have changed, as a public line: `using cairn_changes =
/// cairn::changes<cairn::renamed<"weight", "w">, cairn::added<"bias">>;`. Members are named as in the paths of a
/// checkpoint, so without a trailing underscore. A single change needs no `changes`.
///
/// Two more public lines of a class: `static constexpr unsigned cairn_version = 2;` is stored with each object. A
/// checkpoint of a newer version is refused; one that has no version has version 0. And `void
/// cairn_migrate(cairn::stored_parts& old)` is called after an object of an older version has been loaded: it sets the
/// members that are new `since` then. See `stored_parts`.
template <class... Changes>
struct changes {};

class stored_parts;

namespace detail {

template <class T>
concept has_changes = requires { typename T::cairn_changes; };

template <class T>
concept declares_version = requires { T::cairn_version; };

template <class T>
concept declares_migration = requires { &T::cairn_migrate; };

template <class T>
concept has_migration = requires(T& object, stored_parts& old) {
  { object.cairn_migrate(old) } -> std::same_as<void>;
};

}  // namespace detail
}  // namespace cairn::inline v0_1
