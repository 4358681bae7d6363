// SPDX-License-Identifier: MIT
// The layout of the picture, in pixels.
#include "codecs/chart.hpp"

#include <algorithm>
#include <array>

#include "common/drawing.hpp"
#include "common/report.hpp"

namespace bench {
namespace {

constexpr double width = 980, margin = 24, row = 24, bar_height = 15, head = 76, panel_head = 58, panel_gap = 18;
constexpr double bars_begin = 236, bar_width = 150, bar_column = 212, error_right = width - margin;

struct column {
  const char* title;
  double (*value)(const result&);
  int digits;
};
using columns = std::array<column, 3>;

constexpr column compress{"compress, GB/s", [](const result& r) { return r.rate(r.compress); }, 2};
constexpr column decompress{"decompress, GB/s", [](const result& r) { return r.rate(r.decompress); }, 2};
constexpr columns lossless{{{"bytes saved, %", [](const result& r) { return r.saved(); }, 1}, compress, decompress}};
constexpr columns lossy{{{"ratio", [](const result& r) { return r.ratio(); }, 1}, compress, decompress}};

bool is_own(const result& r) { return r.method.starts_with("cairn"); }

void draw_row(drawing& picture, double y, const result& r, const columns& shown, const std::array<double, 3>& scales) {
  const auto* look = is_own(r) ? "own" : "";
  const double baseline = y + bar_height - 3;
  picture.text(margin, baseline, r.method, look);
  for (std::size_t c = 0; c < shown.size(); ++c) {
    const double value = shown[c].value(r), x = bars_begin + static_cast<double>(c) * bar_column;
    const double length = std::max(0.0, bar_width * value / scales[c]);
    picture.box(x, y, length, bar_height, is_own(r) ? "#2563c9" : "#b3bccb");
    picture.text(x + length + 5, baseline, text_of(value, shown[c].digits), look);
  }
  picture.text(error_right, baseline, error_text(r.max_error), "end");
}

double height_of(const panel& p) { return panel_head + row * static_cast<double>(p.results.size() - 1) + panel_gap; }

void draw_panel(drawing& picture, double y, const panel& p) {
  std::vector<result> rows;
  for (const auto& r : p.results)
    if (r.method != "memcpy") rows.push_back(r);
  const bool loses = std::any_of(rows.begin(), rows.end(), [](const result& r) { return r.max_error > 0; });
  const auto& shown = loses ? lossy : lossless;

  picture.box(margin, y, width - 2 * margin, 1, "#d8dde6");
  picture.text(margin, y + 25, p.title, "panel");
  if (const auto* copy = find(p.results, "memcpy"))
    picture.text(error_right, y + 25, "memcpy: " + text_of(copy->rate(copy->compress), 1) + " GB/s", "faint end");
  std::array<double, 3> scales{};
  for (std::size_t c = 0; c < shown.size(); ++c) {
    for (const auto& r : rows) scales[c] = std::max(scales[c], shown[c].value(r));
    picture.text(bars_begin + static_cast<double>(c) * bar_column, y + 46, shown[c].title, "faint");
  }
  picture.text(error_right, y + 46, "largest error", "faint end");
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_row(picture, y + panel_head + row * static_cast<double>(i), rows[i], shown, scales);
}

}  // namespace

void write_chart(const std::string& file, const std::string& title, const std::string& subtitle,
                 std::span<const panel> panels) {
  if (file.empty()) return;
  double y = head;
  for (const auto& p : panels) y += height_of(p);
  drawing picture(file, width, y + 6);
  picture.text(margin, 36, title, "title");
  picture.text(margin, 58, subtitle, "faint");
  y = head;
  for (const auto& p : panels) {
    draw_panel(picture, y, p);
    y += height_of(p);
  }
  picture.end();
}

}  // namespace bench
