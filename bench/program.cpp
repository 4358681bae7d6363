// SPDX-License-Identifier: MIT
// The program cairn: a list of many checkpoints against reading their indexes, and `verify` against a load of the same
// checkpoint.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/encode/raw.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "common/arguments.hpp"
#include "common/process.hpp"
#include "common/report.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "program --program CAIRN [--checkpoints 1000] [--mib 1024] [--reps 11] [--wait 5] [--directory .] [--json FILE]\n"
    "  Lists and verifies checkpoints, in a new directory in --directory that is deleted afterwards.\n";

struct model {
  std::vector<std::vector<float>> layers;
};

struct trainer {
  std::vector<std::vector<float>> weights = std::vector<std::vector<float>>(40, std::vector<float>(16));
  std::uint64_t step = 0;
};

/// Seconds that a command line of the shell takes, which must succeed.
double seconds_of_command(const std::string& line) {
  const auto done = run({"sh", "-c", line});
  if (done.status != 0) throw std::runtime_error(line + ": " + done.output);
  return done.seconds;
}

void make_run(const std::filesystem::path& place, std::size_t checkpoints) {
  trainer state;
  for (state.step = 1; state.step <= checkpoints; ++state.step) {
    char name[32];
    std::snprintf(name, sizeof name, "step-%09llu", static_cast<unsigned long long>(state.step));
    cairn::save(place / name, state,
                {.durable = false, .step = state.step, .metrics = {{"loss", 1.0 / static_cast<double>(state.step)}}});
  }
}

model random_model(std::size_t mib) {
  std::mt19937_64 random(1);
  model made;
  for (std::size_t i = 0; i < mib / 8; ++i) {
    auto& layer = made.layers.emplace_back(std::size_t{2} << 20U);
    for (auto& each : layer) each = static_cast<float>(random() >> 40U);
  }
  return made;
}

void measure(const arguments& given) {
  const work_directory work(given.text("directory"), "program");
  const auto& program = given.text("program");
  if (program.empty()) throw std::invalid_argument("--program is missing");
  const auto repetitions = given.count("reps");
  const std::chrono::duration<double> wait(static_cast<double>(given.count("wait")));
  report out;

  const auto place = work.path() / "run";
  make_run(place, given.count("checkpoints"));
  std::vector<double> ls, cat, verify, load;
  for (std::size_t i = 0; i < repetitions + 1; ++i) {
    wait_until_idle(wait);
    const auto listed =
        seconds_of_command("'" + program + "' ls '" + place.string() + "' > '" + (work.path() / "list").string() + "'");
    const auto read = seconds_of_command("cat '" + place.string() + "'/*/index.json > /dev/null");
    if (i == 0) continue;  // files that are not in the page cache
    ls.push_back(listed);
    cat.push_back(read);
  }

  auto state = random_model(given.count("mib"));
  const auto checkpoint = work.path() / "checkpoint";
  cairn::save_options raw;
  raw.durable = false;
  raw.codecs = {{"*", cairn::codecs::raw{}}};
  const auto saved = cairn::save(checkpoint, state, raw);
  for (std::size_t i = 0; i < repetitions + 1; ++i) {
    settle(0, wait);
    const auto verified = seconds_of_command("'" + program + "' verify '" + checkpoint.string() + "' > /dev/null");
    const auto loaded = seconds_of([&] { cairn::load(checkpoint, state, {.verify_first = false}); });
    if (i == 0) continue;
    verify.push_back(verified);
    load.push_back(loaded);
  }

  const auto gigabytes = static_cast<double>(saved.bytes) / 1e9;
  table rows({"what", "seconds", "GB/s"});
  rows.row({"cairn ls of " + given.text("checkpoints") + " checkpoints", text_of(median(ls), 4), "-"});
  rows.row({"cat of their indexes", text_of(median(cat), 4), "-"});
  rows.row({"cairn verify, warm", text_of(median(verify), 3), text_of(gigabytes / median(verify))});
  rows.row({"load in one pass, warm", text_of(median(load), 3), text_of(gigabytes / median(load))});
  rows.print();
  out.number("ls.seconds", median(ls));
  out.number("verify.gb_per_s", gigabytes / median(verify));
  out.at_most("ls.over_cat", median_ratio(ls, cat), 2);
  out.at_least("verify.over_load", median_ratio(load, verify), 0.9);
  out.print_figures();
  out.write_json(given.text("json"));
}

}  // namespace

int main(int argc, char** argv) {
  const arguments given(argc, argv,
                        {{"program", ""},
                         {"checkpoints", "1000"},
                         {"mib", "1024"},
                         {"reps", "11"},
                         {"wait", "5"},
                         {"directory", "."},
                         {"json", ""}},
                        usage);
  try {
    measure(given);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
