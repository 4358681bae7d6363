// SPDX-License-Identifier: MIT
// Tables as pictures: groups of bars, and lines, in SVG files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/drawing.hpp"

namespace bench {

/// One policy, say, in all groups of a panel.
struct bar_series {
  std::string name;
  std::vector<double> values;  ///< one per group; NaN: no bar
  bool is_own = false;         ///< stands out
};

struct bar_panel {
  std::string title;
  std::string unit;                   ///< of the values
  std::vector<std::string> groups{};  ///< named below the axis
  std::vector<bar_series> series{};
  bool is_logarithmic = false;  ///< values that are not positive have no bar then
};

struct line_series {
  std::string name;
  std::vector<place> points;  ///< x and y; x rising
  bool is_own = false;
};

struct line_panel {
  std::string title;
  std::string unit;    ///< of y
  std::string x_unit;  ///< of x
  std::vector<line_series> series{};
  bool is_logarithmic = false;    ///< in y
  bool is_logarithmic_x = false;  ///< in x
};

/// Write all panels, one under the other, each with an axis of its own and a legend; nothing when `file` is empty.
/// Series of the same place in the list have the same colour in all panels. Throw std::runtime_error where the file
/// cannot be written.
void write_bars(const std::string& file, const std::string& title, const std::string& subtitle,
                std::span<const bar_panel> panels);
void write_lines(const std::string& file, const std::string& title, const std::string& subtitle,
                 std::span<const line_panel> panels);

}  // namespace bench
