// SPDX-License-Identifier: MIT
// The command report: a page about a run, with plots, in one HTML file.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cairn/inspect.hpp"
#include "cairn/store/replaced_files.hpp"
#include "cairn/system/paths.hpp"
#include "commands.hpp"
#include "printing.hpp"

namespace program {

namespace {

/// Text for HTML. Bytes that are no UTF-8 and control characters are replaced.
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

struct point {
  double x = 0, y = 0;
};

/// A line through finite points, with the least and the largest values at its axes.
std::string chart(const std::string& title, const std::vector<point>& all) {
  constexpr double width = 640, height = 200, left = 80, right = 20, top = 30, bottom = 30;
  std::vector<point> points;
  std::copy_if(all.begin(), all.end(), std::back_inserter(points),
               [](const point& each) { return std::isfinite(each.x) && std::isfinite(each.y); });
  if (points.empty()) return {};
  const auto [x_least, x_most] =
      std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  const auto [y_least, y_most] =
      std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  const auto place = [](double value, double least, double most, double from, double to) {
    return most > least ? from + (value - least) / (most - least) * (to - from) : (from + to) / 2;
  };
  std::string line, dots;
  for (const auto& each : points) {
    const auto x = number_text(place(each.x, x_least->x, x_most->x, left, width - right)),
               y = number_text(place(each.y, y_least->y, y_most->y, height - bottom, top));
    line += x + ',' + y + ' ';
    dots += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"2.5\"><title>step " + number_text(each.x) + ": " +
            number_text(each.y) + "</title></circle>";
  }
  const auto text = [](double x, double y, const char* anchor, const std::string& words) {
    return "<text x=\"" + number_text(x) + "\" y=\"" + number_text(y) + "\" text-anchor=\"" + anchor + "\">" +
           escaped(words) + "</text>";
  };
  std::string made = "<svg viewBox=\"0 0 640 200\" role=\"img\" aria-label=\"" + escaped(title) + "\">";
  made += "<text class=\"title\" x=\"80\" y=\"18\">" + escaped(title) + "</text>";
  made += "<path class=\"axis\" d=\"M80 30V170H620\"/>";
  made += text(left - 6, top + 4, "end", number_text(y_most->y));
  if (y_most->y > y_least->y) made += text(left - 6, height - bottom, "end", number_text(y_least->y));
  made += text(left, height - 10, "start", number_text(x_least->x));
  if (x_most->x > x_least->x) made += text(width - right, height - 10, "end", number_text(x_most->x));
  return made + "<polyline points=\"" + line + "\"/>" + dots + "</svg>\n";
}

/// What the events of a run say, in the lines of observers::json_lines. Lines that are cut or of something else are passed over.
struct told {
  std::vector<point> copied, published;  ///< milliseconds that the copy took; seconds until a save was published
  std::vector<std::pair<double, std::string>> failures;
};

told read_events(const std::string& file) {
  if (!cairn::detail::is_file(file)) cairn::fail(cairn::errc::not_found, {"there is no file ", file, " with events"});
  std::ifstream in(file);
  told made;
  std::map<double, double> started;
  bool is_any = false;
  for (std::string line; std::getline(in, line);) {
    const auto one = nlohmann::json::parse(line, nullptr, false);
    if (!one.is_object()) continue;
    const auto number = [&](const char* name) -> double {
      const auto at = one.find(name);
      return at != one.end() && at->is_number() ? at->get<double>() : NAN;
    };
    const auto text = [&](const char* name) -> std::string {
      const auto at = one.find(name);
      return at != one.end() && at->is_string() ? at->get<std::string>() : "";
    };
    const auto what = text("event");
    const auto step = number("step");
    if (what.empty() || std::isnan(step)) continue;
    is_any = true;
    if (what == "copied") made.copied.push_back({step, 1e3 * number("seconds")});
    if (what == "started") started[step] = number("time");
    if (what == "published" && started.contains(step)) made.published.push_back({step, number("time") - started[step]});
    if (what == "failed") made.failures.emplace_back(step, text("message"));
  }
  if (!is_any) cairn::fail(cairn::errc::invalid, {file, " has no event of observers::json_lines"});
  return made;
}

constexpr std::string_view beginning = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";

/// Replaces a former report, and nothing else; after an error it stays.
void write_page(const std::string& file, const std::string& page) {
  std::ifstream before(file, std::ios::binary);
  std::string begins(beginning.size(), ' ');
  if (before && (!before.read(begins.data(), static_cast<std::streamsize>(begins.size())) || begins != beginning))
    cairn::fail(cairn::errc::invalid, {file, " is there, and is no report: choose another name"});
  const auto [directory, name] = cairn::detail::split_path(file);
  cairn::stores::detail::replaced_files files(directory, false);
  auto out = files.make(name, page.size());
  const std::span<const std::byte> bytes[] = {std::as_bytes(std::span(page))};
  out.write(0, bytes);
  out.finish();
  files.require_replaceable();
  files.publish();
}

constexpr const char* style =
    "body{font:15px/1.5 system-ui,sans-serif;color:#1d2433;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "svg{width:100%;max-width:640px;display:block;margin:1rem 0}svg text{font-size:12px;fill:#667085}"
    "svg .title{font-size:14px;font-weight:600;fill:#1d2433}svg .axis{fill:none;stroke:#d0d5dd}"
    "polyline{fill:none;stroke:#2a6fdb;stroke-width:1.5}circle{fill:#2a6fdb}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #eaecf0}"
    "td:first-child,th:first-child{text-align:left}.problem{color:#b42318}";

}  // namespace

int report(const std::string& run, const std::string& events, const std::string& output) {
  const auto all = cairn::list_checkpoints(run);
  if (all.empty()) cairn::fail(cairn::errc::not_found, {"there is no checkpoint in ", run});
  std::map<std::string, std::vector<point>> metrics;
  std::vector<point> sizes;
  std::uint64_t bytes = 0;
  for (const auto& each : all) {
    const auto step = static_cast<double>(each.step);
    for (const auto& [name, value] : each.metrics) metrics[name].push_back({step, value});
    if (each.problem.empty()) sizes.push_back({step, static_cast<double>(each.bytes) / 1024});
    bytes += each.bytes;
  }
  std::string page(beginning);
  page += "<meta name=\"viewport\" content=\"width=device-width\">";
  page += "<title>" + escaped(run) + "</title><style>" + style + "</style></head><body>\n";
  page +=
      "<h1>" + escaped(run) + "</h1>\n<p>" + count_text(all.size(), "checkpoint") + ", " + size_text(bytes) + "</p>\n";
  for (const auto& [name, points] : metrics) page += chart(name + " by step", points);
  page += chart("size of a checkpoint by step, in KiB", sizes);
  if (!events.empty()) {
    const auto found = read_events(events);
    page += chart("copy of the state, for which the trainer waits, by step, in milliseconds", found.copied);
    page += chart("from the start of a save until it is published, by step, in seconds", found.published);
    page += "<h2>Failures</h2>\n";
    if (found.failures.empty()) page += "<p>none</p>\n";
    for (const auto& [step, message] : found.failures)
      page += "<p class=\"problem\">step " + number_text(step) + ": " + escaped(message) + "</p>\n";
  }
  page += "<h2>Checkpoints</h2>\n<table><tr><th>name</th><th>kind</th><th>step</th><th>size</th>";
  for (const auto& [name, points] : metrics) page += "<th>" + escaped(name) + "</th>";
  page += "</tr>\n";
  for (const auto& each : all) {
    page += "<tr><td>" + escaped(each.name) + "</td><td>" +
            (!each.problem.empty() ? "unreadable"
             : each.parent.empty() ? "whole"
                                   : "delta") +
            "</td><td>" + std::to_string(each.step) + "</td><td>" + size_text(each.bytes) + "</td>";
    for (const auto& [name, points] : metrics) {
      const auto at = each.metrics.find(name);
      page += "<td>" + (at == each.metrics.end() ? std::string() : number_text(at->second)) + "</td>";
    }
    page += "</tr>\n";
  }
  page += "</table>\n";
  for (const auto& each : all)
    if (!each.problem.empty()) page += "<p class=\"problem\">" + escaped(without_prefix(each.problem)) + "</p>\n";
  page += "</body></html>\n";
  write_page(output, page);
  std::cout << printable(output) << '\n';
  return 0;
}

}  // namespace program
