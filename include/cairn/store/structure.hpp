// SPDX-License-Identifier: MIT
// The structure of a state as JSON text, and back from untrusted text.
#pragma once

#include <cstdint>
#include <string>

#include "cairn/core/catalog.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// {"layers":{"size":3},"moments":{"keys":["bias","weight"]}}: one member per path, which has the kind's name as its only key.
[[nodiscard]] std::string write_structure(const structure& all);

/// As above, as the next value of `json`.
void write_structure(json_writer& json, const structure& all);

/// The form of a structure, which is read into `all`, from a file of `file_bytes` bytes.
[[nodiscard]] json_form structure_form(structure& all, std::uint64_t file_bytes);

}  // namespace cairn::inline v0_1::detail
