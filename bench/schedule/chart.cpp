// SPDX-License-Identifier: MIT
// The layout of the pictures, in pixels.
#include "schedule/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>

namespace bench {
namespace {

constexpr double width = 980, margin = 24, head = 76, axis = 62, right = width - margin;
constexpr double panel_head = 56, panel_height = 210, panel_foot = 52,
                 panel_all = panel_head + panel_height + panel_foot;

constexpr const char* own_colour = "#2563c9";
constexpr const char* colours[] = {"#b3bccb", "#7d8aa0", "#d9a441", "#7fa87f",
                                   "#b56576", "#6d597a", "#3d405b", "#4fa3a5"};

const char* colour_of(std::size_t series, bool is_own) {
  return is_own ? own_colour : colours[series % std::size(colours)];
}

/// A value with at most six digits.
std::string label_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

/// Values to pixels, and round values to mark.
class scale {
 public:
  /// From `low` to `high` pixels, for all of `values` that are numbers, and positive where it is logarithmic.
  scale(std::vector<double> values, bool is_logarithmic, bool from_zero, double low, double high)
      : is_logarithmic_(is_logarithmic), low_(low), high_(high) {
    std::erase_if(values, [&](double v) { return !shows(v); });
    const auto [least, most] = std::ranges::minmax_element(values);
    double first = values.empty() ? 1 : *least, last = values.empty() ? 10 : *most;
    if (is_logarithmic) {
      first = round_down(first), last = -round_down(-last);
      if (!(last > first)) last = 10 * first;
      begin_ = std::log10(first), end_ = std::log10(last);
    } else {
      if (from_zero) first = std::min(first, 0.0);
      if (!(last > first)) last = first + 1;
      step_ = step_of((last - first) / 4);
      begin_ = step_ * std::floor(first / step_), end_ = step_ * std::ceil(last / step_ - 1e-9);
    }
  }

  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!is_logarithmic_ || value > 0); }
  [[nodiscard]] double at(double value) const {
    const double v = is_logarithmic_ ? std::log10(value) : value;
    return low_ + (high_ - low_) * (v - begin_) / (end_ - begin_);
  }
  /// Where bars begin.
  [[nodiscard]] double base() const { return is_logarithmic_ ? low_ : at(std::clamp(0.0, begin_, end_)); }

  [[nodiscard]] std::vector<double> marks() const {
    std::vector<double> marks;
    if (!is_logarithmic_) {
      for (double v = begin_; v <= end_ + step_ / 2; v += step_) marks.push_back(std::abs(v) < step_ / 2 ? 0 : v);
      return marks;
    }
    const bool is_short = end_ - begin_ <= 2.01;
    for (double decade = std::floor(begin_ - 1e-9); decade <= end_ + 1e-9; ++decade)
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double at = decade + std::log10(digit);
        if ((digit == 1 || is_short) && at >= begin_ - 1e-9 && at <= end_ + 1e-9) marks.push_back(std::pow(10, at));
      }
    return marks;
  }

 private:
  /// 1, 2 or 5 times a power of ten, not below `least`.
  static double step_of(double least) {
    const double decade = std::pow(10, std::floor(std::log10(least)));
    for (const double digit : {1.0, 2.0, 5.0})
      if (digit * decade >= least * (1 - 1e-9)) return digit * decade;
    return 10 * decade;
  }
  /// The same, not above a positive value; of a negative one, not above it either.
  static double round_down(double value) {
    if (value < 0) return -step_of(-value);
    const double above = step_of(value);
    if (above <= value * (1 + 1e-9)) return above;
    const double decade = std::pow(10, std::floor(std::log10(value)));
    return value >= 5 * decade ? 5 * decade : value >= 2 * decade ? 2 * decade : decade;
  }

  bool is_logarithmic_;
  double low_, high_, begin_ = 0, end_ = 1, step_ = 1;
};

template <class Series>
void draw_legend(drawing& picture, double y, const std::vector<Series>& all) {
  double x = margin;
  for (std::size_t i = 0; i < all.size(); ++i) {
    picture.box(x, y - 10, 11, 11, colour_of(i, all[i].is_own));
    picture.text(x + 16, y, all[i].name, all[i].is_own ? "own" : "");
    x += 7.0 * static_cast<double>(all[i].name.size()) + 34;
  }
}

/// Title, unit, legend, and lines at round values of y.
template <class Panel>
void draw_frame(drawing& picture, double y, const Panel& p, const scale& values) {
  picture.box(margin, y, width - 2 * margin, 1, "#d8dde6");
  picture.text(margin, y + 25, p.title, "panel");
  picture.text(right, y + 25, p.unit, "faint end");
  draw_legend(picture, y + 46, p.series);
  for (const double mark : values.marks()) {
    const double at = values.at(mark);
    picture.box(axis + margin, at, right - axis - margin, 1, "#edf0f5");
    picture.text(axis + margin - 8, at + 4, label_of(mark), "faint end");
  }
}

void draw_panel(drawing& picture, double y, const bar_panel& p) {
  std::vector<double> values;
  for (const auto& s : p.series) values.insert(values.end(), s.values.begin(), s.values.end());
  const double bottom = y + panel_head + panel_height;
  const scale up(values, p.is_logarithmic, true, bottom, y + panel_head + 8);
  draw_frame(picture, y, p, up);
  const double group_width = (right - axis - margin) / static_cast<double>(std::max<std::size_t>(p.groups.size(), 1));
  const double bar_width =
      std::min(34.0, 0.82 * group_width / static_cast<double>(std::max<std::size_t>(p.series.size(), 1)));
  for (std::size_t g = 0; g < p.groups.size(); ++g) {
    const double middle = axis + margin + group_width * (static_cast<double>(g) + 0.5);
    picture.text(middle, bottom + 20, p.groups[g], "faint middle");
    for (std::size_t s = 0; s < p.series.size(); ++s) {
      const auto& series = p.series[s];
      if (g >= series.values.size() || !up.shows(series.values[g])) continue;
      const double x = middle + bar_width * (static_cast<double>(s) - static_cast<double>(p.series.size()) / 2);
      const double top = up.at(series.values[g]), base = up.base();
      picture.box(x, std::min(top, base), bar_width - 2, std::max(std::abs(base - top), 1.0),
                  colour_of(s, series.is_own));
    }
  }
  picture.box(axis + margin, up.base(), right - axis - margin, 1, "#667085");
}

void draw_panel(drawing& picture, double y, const line_panel& p) {
  std::vector<double> xs, ys;
  for (const auto& s : p.series)
    for (const auto& point : s.points) xs.push_back(point.x), ys.push_back(point.y);
  const double bottom = y + panel_head + panel_height;
  const scale up(ys, p.is_logarithmic, true, bottom, y + panel_head + 8);
  const scale along(xs, p.is_logarithmic_x, false, axis + margin, right - 12);
  draw_frame(picture, y, p, up);
  for (const double mark : along.marks()) {
    picture.box(along.at(mark), bottom, 1, 5, "#667085");
    picture.text(along.at(mark), bottom + 20, label_of(mark), "faint middle");
  }
  picture.text(right, bottom + 38, p.x_unit, "faint end");
  picture.box(axis + margin, bottom, right - axis - margin, 1, "#667085");
  for (std::size_t s = 0; s < p.series.size(); ++s) {
    std::vector<place> shown;
    for (const auto& point : p.series[s].points)
      if (along.shows(point.x) && up.shows(point.y)) shown.push_back({along.at(point.x), up.at(point.y)});
    const auto* colour = colour_of(s, p.series[s].is_own);
    picture.line(shown, colour, p.series[s].is_own ? 2.5 : 1.5);
    if (shown.size() <= 30)
      for (const auto& at : shown) picture.dot(at, p.series[s].is_own ? 3.5 : 2.5, colour);
  }
}

template <class Panel>
void write(const std::string& file, const std::string& title, const std::string& subtitle,
           std::span<const Panel> panels) {
  if (file.empty()) return;
  drawing picture(file, width, head + panel_all * static_cast<double>(panels.size()));
  picture.text(margin, 36, title, "title");
  picture.text(margin, 58, subtitle, "faint");
  double y = head;
  for (const auto& p : panels) {
    draw_panel(picture, y, p);
    y += panel_all;
  }
  picture.end();
}

}  // namespace

void write_bars(const std::string& file, const std::string& title, const std::string& subtitle,
                std::span<const bar_panel> panels) {
  write(file, title, subtitle, panels);
}

void write_lines(const std::string& file, const std::string& title, const std::string& subtitle,
                 std::span<const line_panel> panels) {
  write(file, title, subtitle, panels);
}

}  // namespace bench
