// SPDX-License-Identifier: MIT
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "printing.hpp"

namespace program {

namespace {

namespace frame {
constexpr double left = 88, right = 620, top = 34, bottom = 186;
}

/// A range of values. Its differences are long doubles: those of doubles near the ends of their range are not finite as
/// double.
struct range {
  double least = 0, most = 0;
  bool is_empty = true, is_whole = true;  ///< `is_whole`: all values are whole numbers

  void add(double value) {
    is_whole = is_whole && value == std::floor(value);
    least = is_empty ? value : std::min(least, value);
    most = is_empty ? value : std::max(most, value);
    is_empty = false;
  }
  [[nodiscard]] long double extent() const { return static_cast<long double>(most) - least; }
  /// Where a value is between `from` and `to`; in the middle if there is one value only.
  [[nodiscard]] double place(double value, double from, double to) const {
    if (!(extent() > 0)) return (from + to) / 2;
    return from + static_cast<double>((static_cast<long double>(value) - least) / extent()) * (to - from);
  }
};

/// Round values within the range, at most about `count`: multiples of 1, 2 or 5 times a power of ten; of whole values
/// whole ones.
std::vector<double> ticks_of(const range& of, int count) {
  const auto extent = of.extent();
  if (!(extent > 0)) return {of.least};
  auto step = std::pow(10.0L, std::floor(std::log10(extent / count)));
  if (of.is_whole && step < 1) step = 1;
  for (const auto factor : {1.0L, 2.0L, 5.0L, 10.0L})
    if (factor == 10.0L || extent / (step * factor) <= count) {
      step *= factor;
      break;
    }
  std::vector<double> ticks;
  for (auto number = std::ceil(of.least / step); number * step <= of.most && ticks.size() < 20; ++number)
    ticks.push_back(static_cast<double>(number * step));
  // Where all values round to one, the ends say more.
  if (ticks.size() < 2 || ticks[0] == ticks[1]) return {of.least, of.most};
  return ticks;
}

/// With as many digits as tell neighbouring ticks apart.
std::vector<std::string> labels_of(const std::vector<double>& ticks) {
  std::vector<std::string> labels;
  for (int digits = 4; digits <= 17; ++digits) {
    labels.clear();
    for (const double each : ticks) {
      char text[48];
      std::snprintf(text, sizeof text, "%.*g", digits, each == 0 ? 0.0 : each);
      labels.emplace_back(text);
    }
    if (std::adjacent_find(labels.begin(), labels.end()) == labels.end()) break;
  }
  return labels;
}

std::string at(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>";
}

bool is_finite(const point& each) { return std::isfinite(each.x) && std::isfinite(each.y); }

/// At most about 1,000 points: of each group of neighbours the first and those with the least and the largest value.
/// One that is not finite stays.
std::vector<point> thinned(const std::vector<point>& all) {
  constexpr std::size_t most = 1000;
  if (all.size() <= most) return all;
  const auto group = (all.size() + most / 2 - 1) / (most / 2);
  std::vector<point> made;
  for (std::size_t first = 0; first < all.size(); first += group) {
    const auto end = std::min(first + group, all.size());
    std::size_t least = first, largest = first, hole = end;
    for (std::size_t i = first; i < end; ++i) {
      if (!is_finite(all[i])) hole = i;
      if (all[i].y < all[least].y || !is_finite(all[least])) least = i;
      if (all[i].y > all[largest].y || !is_finite(all[largest])) largest = i;
    }
    std::vector<std::size_t> chosen{least, largest};
    if (hole != end) chosen.push_back(hole);
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const auto i : chosen) made.push_back(all[i]);
  }
  return made;
}

/// The line and the dots of one series.
std::string drawn(const series& one, std::size_t number, const range& x, const range& y) {
  constexpr std::size_t most_dots = 300;
  const auto points = thinned(one.points);
  std::string lines, dots, line;
  const auto end_line = [&] {
    if (!line.empty()) lines += "<polyline class=\"s" + std::to_string(number) + "\" points=\"" + line + "\"/>";
    line.clear();
  };
  for (const auto& each : points) {
    if (!std::isfinite(each.x)) continue;
    const auto across = at(x.place(each.x, frame::left, frame::right));
    if (!std::isfinite(each.y)) {
      end_line();
      dots += "<path class=\"gap\" d=\"M" + across + ' ' + at(frame::top) + 'V' + at(frame::bottom) +
              "\"><title>step " + number_text(each.x) + ": not finite</title></path>";
      continue;
    }
    const auto up = at(y.place(each.y, frame::bottom, frame::top));
    line += across + ',' + up + ' ';
    if (points.size() <= most_dots)
      dots += "<circle class=\"s" + std::to_string(number) + "\" cx=\"" + across + "\" cy=\"" + up +
              "\" r=\"2.5\"><title>step " + number_text(each.x) + ": " + number_text(each.y) + "</title></circle>";
  }
  end_line();
  return lines + dots;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string made;
  for (const char each : printable(text)) {
    if (each == '<')
      made += "&lt;";
    else if (each == '>')
      made += "&gt;";
    else if (each == '&')
      made += "&amp;";
    else if (each == '"')
      made += "&quot;";
    else
      made += each;
  }
  return made;
}

std::string chart(const std::string& title, const std::vector<series>& all) {
  range x, y;
  for (const auto& one : all)
    for (const auto& each : one.points) {
      if (std::isfinite(each.x)) x.add(each.x);
      if (is_finite(each)) y.add(each.y);
    }
  if (x.is_empty) return {};
  std::string made = "<figure><figcaption>" + escaped(title) +
                     "</figcaption>\n<svg viewBox=\"0 0 640 220\" role=\"img\" aria-label=\"" + escaped(title) + "\">";
  if (y.is_empty) {
    made += label((frame::left + frame::right) / 2, (frame::top + frame::bottom) / 2, "middle", "no value is finite");
  } else {
    const auto ticks = ticks_of(y, 4);
    const auto labels = labels_of(ticks);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const auto up = y.place(ticks[i], frame::bottom, frame::top);
      made += "<path class=\"grid\" d=\"M" + at(frame::left) + ' ' + at(up) + 'H' + at(frame::right) + "\"/>";
      made += label(frame::left - 8, up + 4, "end", labels[i]);
    }
  }
  const auto ticks = ticks_of(x, 6);
  const auto labels = labels_of(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i)
    made += label(x.place(ticks[i], frame::left, frame::right), frame::bottom + 18, "middle", labels[i]);
  made += "<path class=\"axis\" d=\"M" + at(frame::left) + ' ' + at(frame::top) + 'V' + at(frame::bottom) + 'H' +
          at(frame::right) + "\"/>";
  double across = frame::left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    made += drawn(all[i], i, x, y);
    if (all.size() < 2) continue;
    made += "<circle class=\"s" + std::to_string(i) + "\" cx=\"" + at(across + 4) + "\" cy=\"16\" r=\"4\"/>" +
            label(across + 14, 20, "start", all[i].name);
    across += 34 + 6.6 * static_cast<double>(all[i].name.size());
  }
  return made + "</svg></figure>\n";
}

}  // namespace program
