// SPDX-License-Identifier: MIT
// Results as a picture: bars in an SVG file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codecs/contest.hpp"

namespace bench {

/// One contest. memcpy becomes a remark, all other methods a row of three bars: bytes saved (where a method loses, the
/// ratio), compress, decompress.
struct panel {
  std::string title;
  std::vector<result> results;
};

/// Writes all panels, one under the other; nothing when `file` is empty. Bars of one panel and column have one scale.
/// Methods of Cairn's own stand out. Throws std::runtime_error where it cannot write.
void write_chart(const std::string& file, const std::string& title, const std::string& subtitle,
                 std::span<const panel> panels);

}  // namespace bench
