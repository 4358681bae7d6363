// Definitions of copies.hpp.
#pragma once

#include <locale>
#include <sstream>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/copies.hpp"

namespace cairn::detail {

CAIRN_INLINE std::string streamed_text(const void* object, void (*write)(std::ostream& to, const void* object)) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  write(text, object);
  return std::move(text).str();
}

CAIRN_INLINE void read_streamed(const std::string& from, void* object, void (*read)(std::istream& from, void* object)) {
  std::istringstream text(from);
  text.imbue(std::locale::classic());
  read(text, object);
  if (!text) fail(errc::corrupt, {"the text of a random engine or distribution cannot be read back"});
}

CAIRN_INLINE void check_bits(std::size_t size, std::size_t stored) {
  if (size != stored) fail(errc::mismatch, {"a bitset of ", size, " bits cannot take ", stored});
}

}  // namespace cairn::detail
