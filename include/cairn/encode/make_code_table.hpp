// From code lengths to a table that payloads can name.
#pragma once

#include <span>

#include "cairn/core/checksum.hpp"
#include "cairn/encode/code_tables.hpp"

namespace cairn {

/// The table of these lengths, with its id.
[[nodiscard]] inline code_table make_code_table(const code_lengths& lengths) noexcept {
  return {checksum(std::as_bytes(std::span(lengths))), lengths};
}

}  // namespace cairn
