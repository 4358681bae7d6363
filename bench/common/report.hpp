// SPDX-License-Identifier: MIT
// What a bench program reports: a table for people, figures against their bounds, one flat JSON object of
// numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Rows of text, printed in columns as wide as their widest cell: the first to the left, the others to the
/// right.
class table {
 public:
  explicit table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::FILE* out = stdout) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t c = 0; c < rows_[r].size(); ++c) {
        const std::string gap(widths[c] - rows_[r][c].size(), ' ');
        line += c == 0 ? rows_[r][c] + gap : "  " + gap + rows_[r][c];
      }
      std::fprintf(out, "%s\n", line.c_str());
      if (r != 0) continue;
      std::size_t total = 0;
      for (const auto width : widths) total += width + 2;
      std::fprintf(out, "%s\n", std::string(total - 2, '-').c_str());
    }
    std::fprintf(out, "\n");
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A number with `digits` decimals; "-" where nothing was measured.
[[nodiscard]] inline std::string text_of(double value, int digits = 2) {
  if (!std::isfinite(value)) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

/// The named numbers of one run.
class report {
 public:
  /// A number without a bound.
  void number(std::string name, double value) { numbers_.emplace_back(std::move(name), value); }

  /// A figure that should not be below `bound`.
  void at_least(std::string name, double value, double bound) { add(std::move(name), value, bound, false); }

  /// A figure that should not be above `bound`.
  void at_most(std::string name, double value, double bound) { add(std::move(name), value, bound, true); }

  /// Prints figure | value | bound | met. A value is compared as measured, not as rounded for print.
  void print_figures() const {
    table figures({"figure", "value", "bound", "met"});
    for (const auto& f : figures_) {
      const bool met = f.upper ? f.value <= f.bound : f.value >= f.bound;
      figures.row({f.name, text_of(f.value, 3), (f.upper ? "<= " : ">= ") + text_of(f.bound),
                   !std::isfinite(f.value) ? "not measured"
                   : met                   ? "yes"
                                           : "NO"});
    }
    figures.print();
  }

  /// Writes all numbers that were measured into `file`, and the bound of each figure as `bound.at_most.<figure>` or
  /// `bound.at_least.<figure>`, also of a figure that was not measured; nothing when `file` is empty. Names are plain:
  /// letters, digits, dots, underscores and hyphens.
  void write_json(const std::string& file) const {
    if (file.empty()) return;
    std::ofstream out(file);
    out << std::setprecision(17) << '{';
    const char* separator = "\n";
    for (const auto& [name, value] : numbers_) {
      if (!std::isfinite(value)) continue;
      out << separator << "  \"" << name << "\": " << value;
      separator = ",\n";
    }
    out << "\n}\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
  }

 private:
  struct figure {
    std::string name;
    double value;
    double bound;
    bool upper;
  };

  void add(std::string name, double value, double bound, bool upper) {
    numbers_.emplace_back(name, value);
    numbers_.emplace_back((upper ? "bound.at_most." : "bound.at_least.") + name, bound);
    figures_.push_back({std::move(name), value, bound, upper});
  }

  std::vector<std::pair<std::string, double>> numbers_;
  std::vector<figure> figures_;
};

}  // namespace bench
