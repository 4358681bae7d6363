// Definitions of walk_map.hpp.
#pragma once

#include <charconv>

#include "cairn/state/walk_map.hpp"

namespace cairn::detail {

template <class Number>
bool parse_whole(const std::string& from, Number& number) {
  const auto [end, failure] = std::from_chars(from.data(), from.data() + from.size(), number);
  return failure == std::errc{} && end == from.data() + from.size();
}

CAIRN_INLINE bool parse_number(const std::string& from, std::int64_t& number) { return parse_whole(from, number); }
CAIRN_INLINE bool parse_number(const std::string& from, std::uint64_t& number) { return parse_whole(from, number); }

}  // namespace cairn::detail
