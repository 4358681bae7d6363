// SPDX-License-Identifier: MIT
// The name of a type as a checkpoint stores it: the same for all compilers.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

namespace cairn::inline v0_1::detail {

/// The name of the type in C++, for messages.
[[nodiscard]] std::string readable_name(const std::type_info& type);

/// The name in the same spelling, whether g++ or clang spelled it: "box<unsigned long>" for "box<long unsigned int>",
/// and "box<std::basic_string<char>>" for "box<std::__cxx11::basic_string<char> >". Other names stay as they are.
[[nodiscard]] std::string portable_name(std::string_view spelled);

/// `portable_name(spelled)` with the inline namespaces clang omits. `full`: with all namespaces and template arguments.
[[nodiscard]] std::string with_inline_namespaces(std::string_view spelled, std::string_view full);

/// The stored name of a type that the compiler spells like that.
[[nodiscard]] inline std::string stable_name(const std::type_info& type, std::string_view spelled) {
  return with_inline_namespaces(spelled, readable_name(type));
}

/// False for a name that compilers spell in ways no rule makes equal: with an object or literal as template argument.
[[nodiscard]] consteval bool has_portable_name(std::string_view spelled) {
  constexpr std::string_view anonymous = "{anonymous}";
  for (std::size_t i = 0; i < spelled.size(); ++i) {
    const std::string_view rest = spelled.substr(i);
    if (rest.starts_with(anonymous))
      i += anonymous.size() - 1;
    else if (rest[0] == '{' || rest[0] == '"' || rest[0] == '\'' || rest.starts_with("lambda"))
      return false;
  }
  return true;
}

}  // namespace cairn::inline v0_1::detail
