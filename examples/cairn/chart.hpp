// SPDX-License-Identifier: MIT
// Plots as SVG, whose colours are the variables --text, --faint, --grid, --bad and --series0 to --series3 of the page.
#pragma once

#include <string>
#include <vector>

namespace program {

struct point {
  double x = 0, y = 0;
};

struct series {
  std::string name;  ///< in the legend, where there are several
  std::vector<point> points;
};

/// Text for HTML. Bytes that are no UTF-8 and control characters are replaced.
[[nodiscard]] std::string escaped(const std::string& text);

/// Lines through finite points, of any range of double. Points that are not finite are gaps, which a dashed line marks.
/// Empty where no series has a point. At most four series.
[[nodiscard]] std::string chart(const std::string& title, const std::vector<series>& all);

}  // namespace program
