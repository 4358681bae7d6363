// SPDX-License-Identifier: MIT
// JSON for scripts.
#pragma once

#include <cmath>
#include <iostream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace program {

using json_value = nlohmann::ordered_json;

/// A number; "nan", "inf" and "-inf" are texts, as in the index of a checkpoint.
[[nodiscard]] inline json_value number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

[[nodiscard]] inline json_value numbers_json(const std::map<std::string, double>& numbers) {
  auto made = json_value::object();
  for (const auto& [name, value] : numbers) made[name] = number_json(value);
  return made;
}

/// In ASCII: a terminal obeys nothing of it. Bytes that are no UTF-8 become U+FFFD.
inline void print(const json_value& value) {
  std::cout << value.dump(1, ' ', true, json_value::error_handler_t::replace) << '\n';
}

}  // namespace program
