// SPDX-License-Identifier: MIT
// An SVG document that grows: text, boxes, lines and dots in the look of all charts.
#pragma once

#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace bench {

/// Pixels from the upper left corner.
struct place {
  double x = 0, y = 0;
};

class drawing {
 public:
  drawing(const std::string& file, double width, double height) : file_(file), out_(file) {
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height << "\" width=\""
         << width << "\" height=\"" << height << "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
         << "<style>.title{font-size:19px;font-weight:600}.panel{font-size:15px;font-weight:600}.faint{fill:#667085;"
            "font-size:12px}"
            ".own{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}</style>\n";
    box(0, 0, width, height, "#ffffff");
  }

  /// `look`: any of the classes title, panel, faint, own, end (right-aligned) and middle.
  void text(double x, double y, const std::string& words, const char* look = "") {
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" class=\"" << look << "\" fill=\"#1d2433\">";
    for (const char c : words) {
      if (c == '<' || c == '&')
        out_ << (c == '<' ? "&lt;" : "&amp;");
      else
        out_ << c;
    }
    out_ << "</text>\n";
  }
  void box(double x, double y, double w, double h, const char* colour) {
    out_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << w << "\" height=\"" << h << "\" fill=\"" << colour
         << "\"/>\n";
  }
  void line(std::span<const place> through, const char* colour, double thickness) {
    out_ << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"" << thickness << "\" points=\"";
    for (const auto& at : through) out_ << at.x << ',' << at.y << ' ';
    out_ << "\"/>\n";
  }
  void dot(place at, double radius, const char* colour) {
    out_ << "<circle cx=\"" << at.x << "\" cy=\"" << at.y << "\" r=\"" << radius << "\" fill=\"" << colour << "\"/>\n";
  }

  /// Throws std::runtime_error where the file cannot be written.
  void end() {
    out_ << "</svg>\n";
    if (!out_.flush()) throw std::runtime_error("cannot write " + file_);
  }

 private:
  std::string file_;
  std::ofstream out_;
};

}  // namespace bench
