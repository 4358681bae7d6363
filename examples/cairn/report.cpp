// SPDX-License-Identifier: MIT
// The command report: a page about a run, with plots, in one HTML file.
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cairn/inspect.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/exchange/replaced_files.hpp"
#include "cairn/system/posix.hpp"
#include "chart.hpp"
#include "commands.hpp"
#include "interrupts.hpp"
#include "json.hpp"
#include "place.hpp"
#include "printing.hpp"

namespace program {

namespace {

constexpr std::string_view beginning = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";

constexpr const char* style_sheet =
    ":root{color-scheme:light dark;--page:#ffffff;--text:#1d2433;--faint:#5b6472;--grid:#e4e7ec;--bad:#b42318;"
    "--series0:#2563c9;--series1:#c2570c;--series2:#0f7a55;--series3:#8b3fb8}"
    "@media(prefers-color-scheme:dark){:root{--page:#14171c;--text:#e6e8ec;--faint:#a3abb8;--grid:#2e343d;--bad:#"
    "ff8a7a;"
    "--series0:#7db0ff;--series1:#ffa25c;--series2:#5fd3a6;--series3:#d29bf5}}"
    "body{font:15px/1.5 system-ui,sans-serif;background:var(--page);color:var(--text);max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}h1{overflow-wrap:anywhere}p{overflow-wrap:anywhere}"
    "figure{margin:1.5rem 0}figcaption{font-weight:600}"
    "svg{width:100%;max-width:760px;display:block}svg text{font-size:12px;fill:var(--faint)}"
    ".axis{fill:none;stroke:var(--faint)}.grid{fill:none;stroke:var(--grid)}"
    ".gap{fill:none;stroke:var(--bad);stroke-dasharray:3 3}"
    "polyline{fill:none;stroke-width:1.5}polyline.s0{stroke:var(--series0)}polyline.s1{stroke:var(--series1)}"
    "polyline.s2{stroke:var(--series2)}polyline.s3{stroke:var(--series3)}"
    "circle.s0{fill:var(--series0)}circle.s1{fill:var(--series1)}circle.s2{fill:var(--series2)}circle.s3{fill:var(--"
    "series3)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}.problem{color:var(--bad)}.hint{color:var(--faint)}";

/// What the events of a run say, in the lines of observers::json_lines. Lines that are cut or of something else are
/// passed over.
struct told {
  struct failure {
    double step = 0;
    std::string place, message;
    bool is_copy = false;  ///< at another place than those of the saves
  };
  struct copies {
    std::size_t made = 0, lagging = 0, failed = 0;
    double bytes = 0, seconds = 0;
  };
  std::vector<point> copied, published,
      written;                ///< milliseconds that the copy took; seconds until a save was published; MiB
  std::vector<point> failed;  ///< how many have failed until then, copies left out
  std::vector<failure> failures;
  std::map<std::string, copies> copies_to;  ///< by place
};

/// Where the checkpoint of this path is; the path itself, if it is that of a place.
std::string place_of(const std::string& path) {
  const auto at = path.rfind('/');
  return at != path.npos && cairn::detail::parse_checkpoint_name(path.substr(at + 1)) ? path.substr(0, at) : path;
}

told read_events(const std::string& file) {
  std::ifstream in;
  if (cairn::detail::is_file(file)) in.open(file);
  if (!in.is_open())
    cairn::fail(cairn::errc::invalid,
                {"the events ", file, " cannot be read: give the file that observers::json_lines writes"});
  told made;
  std::map<double, double> started;
  std::set<std::string> near;  // where saves go
  bool is_any = false;
  for (std::string line; std::getline(in, line);) {
    const auto one = nlohmann::json::parse(line, nullptr, false);
    if (!one.is_object()) continue;
    const auto number = [&](const char* name, double missing = NAN) -> double {
      const auto at = one.find(name);
      return at != one.end() && at->is_number() ? at->get<double>() : missing;
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
    const auto place = place_of(text("checkpoint"));
    if (what == "started") {
      started[step] = number("time");
      near.insert(place);
    }
    if (what == "published") {
      if (started.contains(step)) made.published.push_back({step, number("time") - started[step]});
      made.written.push_back({step, number("bytes") / (1024 * 1024)});
    }
    if (what == "promoted") {
      auto& all = made.copies_to[place];
      ++all.made;
      all.bytes += number("bytes", 0);
      all.seconds += number("seconds", 0);
    }
    if (what == "lagging") ++made.copies_to[place].lagging;
    if (what == "failed") made.failures.push_back({step, place, text("message")});
  }
  for (auto& each : made.failures) {
    each.is_copy = !near.empty() && !each.place.empty() && !near.contains(each.place);
    if (each.is_copy)
      ++made.copies_to[each.place].failed;
    else
      made.failed.push_back({each.step, static_cast<double>(made.failed.size() + 1)});
  }
  if (!is_any)
    cairn::fail(cairn::errc::invalid,
                {file, " has no event of observers::json_lines: give the file that this observer writes"});
  return made;
}

/// What the policy had learned when each checkpoint was saved: the means, by name, and the failures of the job.
struct learned {
  std::map<std::string, std::vector<point>> means;
  std::vector<point> failures;
};

learned read_notes(const cairn::any_store& store, const std::vector<cairn::checkpoint_summary>& all) {
  learned made;
  for (const auto& each : all) {
    if (!each.problem.empty()) continue;
    try {
      const auto step = static_cast<double>(each.step);
      const auto index = cairn::detail::read_index(*store.open(each.name), cairn::detail::index_part::metadata);
      for (const auto& [name, values] : index.info.notes) {
        if (name == "failures" && !values.empty()) made.failures.push_back({step, values[0]});
        if (name == "interval" && values.size() == 1) made.means[name].push_back({step, values[0]});
        if (values.size() == 2 && values[0] > 0 && !name.ends_with("failures"))
          made.means[name].push_back({step, values[1]});
      }
    } catch (const cairn::error&) {  // it has gone since it was listed
    }
  }
  return made;
}

/// Those of the notes that there are, as series.
std::vector<series> chosen(const learned& from, const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<series> made;
  for (const auto& [name, words] : names)
    if (const auto at = from.means.find(name); at != from.means.end()) made.push_back({words, at->second});
  return made;
}

std::string charts_of_notes(const learned& from) {
  const auto of_kinds = [&](const std::string& quantity) {
    return chosen(from, {{"raw." + quantity, "raw"}, {"whole." + quantity, "whole"}, {"delta." + quantity, "delta"}});
  };
  std::string made;
  made += chart("iteration, as the policy has measured it, by step, in seconds",
                chosen(from, {{"iterations", "alone"}, {"iterations_beside_saves", "beside saves"}}));
  made += chart("stall of a save, as the policy has learned it, by step, in seconds", of_kinds("stall"));
  made += chart("background work of a save, as the policy has learned it, by step, in seconds", of_kinds("background"));
  made +=
      chart("interval between saves that the policy has chosen, by step, in seconds", chosen(from, {{"interval", ""}}));
  if (!from.failures.empty())
    made += chart("failures of the run that the policy has counted, by step", {{"", from.failures}});
  if (!made.empty()) return "<h2>What the policy has learned</h2>\n" + made;
  return "<h2>What the policy has learned</h2>\n<p class=\"hint\">The checkpoints have no notes of a policy.</p>\n";
}

std::string charts_of_events(const std::string& events) {
  std::string made = "<h2>Saves, stalls and failures</h2>\n";
  if (events.empty())
    return made +
           "<p class=\"hint\">With <code>--events</code> and the file of <code>observers::json_lines</code> the "
           "times of saves and their failures are here.</p>\n";
  const auto found = read_events(events);
  made +=
      chart("stall: copy of the state, for which the trainer waits, by step, in milliseconds", {{"", found.copied}});
  made += chart("save, from its start until it is published, by step, in seconds", {{"", found.published}});
  made += chart("bytes of a save, by step, in MiB", {{"", found.written}});
  made += chart("saves, merges and removals that have failed, by step", {{"", found.failed}});
  if (found.failed.empty()) made += "<p>No save has failed.</p>\n";
  for (const auto& each : found.failures)
    made += "<p class=\"problem\">step " + number_text(each.step) +
            (each.is_copy ? ", copy to " + escaped(each.place) : "") + ": " + escaped(each.message) + "</p>\n";
  if (found.copies_to.empty()) return made;
  made +=
      "<h2>Copies to other places</h2>\n<div class=\"wide\"><table><tr><th>place</th><th>copies</th><th>MiB</th>"
      "<th>seconds</th><th>lagging</th><th>failed</th></tr>\n";
  for (const auto& [place, all] : found.copies_to)
    made += "<tr><td>" + escaped(place) + "</td><td>" + std::to_string(all.made) + "</td><td>" +
            number_text(all.bytes / (1024 * 1024)) + "</td><td>" + number_text(all.seconds) + "</td><td>" +
            std::to_string(all.lagging) + "</td><td>" + std::to_string(all.failed) + "</td></tr>\n";
  return made + "</table></div>\n";
}

std::string table_of(const cairn::any_store& store, const std::vector<cairn::checkpoint_summary>& all,
                     const std::map<std::string, std::vector<point>>& metrics) {
  std::string made =
      "<h2>Checkpoints</h2>\n<div class=\"wide\"><table><tr><th>name</th><th>kind</th><th>built "
      "on</th><th>step</th><th>size</th><th>saved</th>";
  for (const auto& [name, points] : metrics) made += "<th>" + escaped(name) + "</th>";
  made += "</tr>\n";
  for (const auto& each : all) {
    made += "<tr><td>" + escaped(each.name) + "</td><td>" + kind_of(each) + "</td><td>" + escaped(each.parent) +
            "</td><td>" + std::to_string(each.step) + "</td><td>" + size_text(each.bytes) + "</td><td>" +
            time_text(time_of(store, each.name)) + "</td>";
    for (const auto& [name, points] : metrics) {
      const auto at = each.metrics.find(name);
      made += "<td>" + (at == each.metrics.end() ? std::string() : number_text(at->second)) + "</td>";
    }
    made += "</tr>\n";
  }
  made += "</table></div>\n";
  for (const auto& each : all)
    if (!each.problem.empty()) made += "<p class=\"problem\">" + escaped(without_prefix(each.problem)) + "</p>\n";
  return made;
}

std::string page_of(const std::string& run, const cairn::any_store& store,
                    const std::vector<cairn::checkpoint_summary>& all, const std::string& events) {
  std::map<std::string, std::vector<point>> metrics;
  series whole{"whole", {}}, deltas{"delta", {}};
  std::uint64_t bytes = 0;
  for (const auto& each : all) {
    const auto step = static_cast<double>(each.step);
    for (const auto& [name, value] : each.metrics) metrics[name].push_back({step, value});
    bytes += each.bytes;
    if (each.problem.empty())
      (each.parent.empty() ? whole : deltas).points.push_back({step, static_cast<double>(each.bytes) / 1024});
  }
  std::vector<series> sizes;
  for (auto* each : {&whole, &deltas})
    if (!each->points.empty()) sizes.push_back(std::move(*each));
  std::string page(beginning);
  page += "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\">";
  page += "<title>" + escaped(run) + "</title><style>" + style_sheet + "</style></head><body>\n";
  page +=
      "<h1>" + escaped(run) + "</h1>\n<p>" + count_text(all.size(), "checkpoint") + ", " + size_text(bytes) + "</p>\n";
  for (const auto& [name, points] : metrics) page += chart(name + " by step", {{"", points}});
  page += chart("size of a checkpoint by step, in KiB", sizes);
  page += charts_of_events(events);
  page += charts_of_notes(read_notes(store, all));
  return page + table_of(store, all, metrics) + "</body></html>\n";
}

/// Replaces a former report, and nothing else; after an error it stays.
void write_page(const std::string& file, const std::string& page) {
  if (cairn::detail::is_directory(file))
    cairn::fail(cairn::errc::invalid, {file, " is a directory: give the name of a file"});
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored) && !cairn::detail::is_file(file))
    cairn::fail(cairn::errc::invalid, {file, " is no file: choose another name, or - for the standard output"});
  std::ifstream before(file, std::ios::binary);
  std::string begins(beginning.size(), ' ');
  if (before && (!before.read(begins.data(), static_cast<std::streamsize>(begins.size())) || begins != beginning))
    cairn::fail(cairn::errc::invalid, {file, " is there, and is no report: choose another name"});
  const auto [directory, name] = cairn::detail::split_path(file);
  if (!cairn::detail::is_directory(directory))
    cairn::fail(cairn::errc::invalid, {"there is no directory ", directory, " for the page: make it first (mkdir -p)"});
  const interrupts signals;
  cairn::stores::detail::replaced_files files(directory, false);
  auto out = files.make(name, page.size());
  const std::span<const std::byte> bytes[] = {std::as_bytes(std::span(page))};
  out.write(0, bytes);
  out.finish();
  files.require_replaceable();
  interrupts::check();
  files.publish();
}

}  // namespace

int report(const std::string& run, const std::string& events, const std::string& output, bool json) {
  const auto store = run_at(run);
  const auto all = checkpoints_of(store);
  const bool is_printed = output == "-";
  if (is_printed && json) cairn::fail(cairn::errc::invalid, {"--json and -o - both print: choose a file for the page"});
  const auto page = page_of(run, store, all, events);
  if (is_printed) {
    std::cout << page;
    return 0;
  }
  write_page(output, page);
  if (json)
    print({{"file", output}, {"checkpoints", all.size()}, {"bytes", page.size()}});
  else
    std::cout << printable(output) << '\n';
  return 0;
}

}  // namespace program
