// SPDX-License-Identifier: MIT
#include "study/formats.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "codecs/trainer.hpp"
#include "common/page_cache.hpp"
#include "common/process.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"

namespace bench::study {
namespace {

namespace fs = std::filesystem;

struct setting {
  std::vector<std::size_t> ranks;
  std::size_t reps = 1;
  std::chrono::duration<double> wait{};
  std::string python;
};

/// What one format costs with some ranks: medians.
struct cost {
  double save = std::numeric_limits<double>::quiet_NaN();
  double load = std::numeric_limits<double>::quiet_NaN();
  double bytes = std::numeric_limits<double>::quiet_NaN();
};

struct row {
  std::string key, name;
  unsigned ranks = 0;  ///< 0: rank 0 writes, however many there are
  cost of;
};

/// 784-h-h-10 of about that many parameters: h^2 + 796 h + 10.
std::size_t width_of(double parameters) {
  return static_cast<std::size_t>(std::lround(std::sqrt(398.0 * 398.0 + parameters) - 398.0));
}

study_model train_model(std::size_t millions, const arguments& options) {
  const auto width = width_of(1e6 * static_cast<double>(millions));
  auto run = train({.steps = options.positive("training"),
                    .deltas = 0,
                    .folder = options.text("data"),
                    .widths = {784, width, width, 10},
                    .tested = 1000});
  std::printf("%zu million parameters: 784-%zu-%zu-10 after %zu steps on %s, loss %.4f, accuracy %.2f %%\n\n", millions,
              width, width, options.positive("training"), run.data.c_str(), run.loss, 100 * run.accuracy);
  study_model model;
  const auto move_into = [&](std::vector<model_array>& to, parameter_values& from) {
    for (std::size_t i = 0; i < from.size(); ++i)
      to.push_back({run.parameters[i].name, {run.parameters[i].rows, run.parameters[i].columns}, std::move(from[i])});
  };
  move_into(model.weights, run.weights);
  move_into(model.first_moment, run.first_moment);
  move_into(model.second_moment, run.second_moment);
  return model;
}

study_model zeros_like(const study_model& model) {
  study_model made;
  const auto copy = [](const std::vector<model_array>& from, std::vector<model_array>& to) {
    for (const auto& each : from) to.push_back({each.name, each.shape, std::vector<float>(each.values.size())});
  };
  copy(model.weights, made.weights);
  copy(model.first_moment, made.first_moment);
  copy(model.second_moment, made.second_moment);
  return made;
}

double bytes_of(const study_model& model) {
  double bytes = 0;
  for_each_array(model, [&](const std::string&, const model_array& each) {
    bytes += static_cast<double>(each.values.size()) * sizeof(float);
  });
  return bytes;
}

bool is_equal(const study_model& a, const study_model& b) {
  std::vector<const model_array*> others;
  for_each_array(b, [&](const std::string&, const model_array& each) { others.push_back(&each); });
  std::size_t index = 0;
  bool equal = true;
  for_each_array(a, [&](const std::string&, const model_array& each) {
    const auto& other = others[index++]->values;
    equal = equal && each.values.size() == other.size() &&
            std::memcmp(each.values.data(), other.data(), other.size() * sizeof(float)) == 0;
  });
  return equal;
}

double bytes_in(const fs::path& folder) {
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  return bytes;
}

cost measure(const format& how, const study_model& model, unsigned ranks, const fs::path& folder, const setting& by) {
  std::vector<double> saves, loads;
  cost result;
  for (std::size_t repetition = 0; repetition < by.reps; ++repetition) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    settle(0, by.wait);
    saves.push_back(how.save(folder.string(), model, ranks));
    result.bytes = bytes_in(folder);
    auto loaded = zeros_like(model);
    read_into_cache(folder);  // a durable save of Cairn bypasses the page cache
    if (by.wait.count() > 0) wait_until_idle(by.wait);
    loads.push_back(seconds_of([&] { how.load(folder.string(), loaded); }));
    if (!is_equal(model, loaded)) throw std::runtime_error(how.name + ": a load gave other values");
  }
  fs::remove_all(folder);
  result.save = median(saves);
  result.load = median(loads);
  return result;
}

/// npz and HDF5, by a Python process. Nothing where that cannot be run.
std::vector<row> measure_python(const study_model& model, const fs::path& folder, const setting& by) {
  std::vector<row> rows{{"npz", "npz", 0, {}},
                        {"npz_compressed", "npz, compressed", 0, {}},
                        {"hdf5", "HDF5", 0, {}},
                        {"hdf5_compressed", "HDF5, gzip", 0, {}}};
  if (by.python == "none") return rows;
  fs::create_directories(folder);
  std::ofstream manifest(folder / "manifest"), arrays(folder / "arrays", std::ios::binary);
  for_each_array(model, [&](const std::string& name, const model_array& each) {
    manifest << name;
    for (const auto n : each.shape) manifest << ' ' << n;
    manifest << '\n';
    arrays.write(reinterpret_cast<const char*>(each.values.data()),
                 static_cast<std::streamsize>(each.values.size() * sizeof(float)));
  });
  if (!manifest.flush() || !arrays.flush()) throw std::runtime_error("cannot write into " + folder.string());
  settle(0, by.wait);
  process_result done;
  try {
    done = bench::run({by.python, CAIRN_BENCH_STUDY "/peers.py", (folder / "manifest").string(),
                       (folder / "arrays").string(), folder.string(), std::to_string(by.reps)});
  } catch (const std::runtime_error& failure) {
    done.output = failure.what();
  }
  fs::remove_all(folder);
  if (done.status != 0) {
    std::printf("npz and HDF5 are not measured: %s\n", done.output.c_str());
    return rows;
  }
  std::istringstream lines(done.output);
  for (std::string key; lines >> key;) {
    if (key.empty() || key.back() != ':') throw std::runtime_error("peers.py printed " + done.output);
    key.pop_back();
    cost of;
    lines >> of.save >> of.load >> of.bytes;
    for (auto& each : rows)
      if (each.key == key) each.of = of;
  }
  return rows;
}

std::vector<row> measure_model(const study_model& model, const fs::path& folder, const setting& by) {
  std::vector<row> rows;
  auto formats = cairn_formats();
  for (auto& each : file_formats()) formats.push_back(each);
#ifdef CAIRN_BENCH_LIBTORCH
  formats.push_back(libtorch_format());
#else
  rows.push_back({"libtorch", "PyTorch zip", 0, {}});
#endif
  for (const auto& each : formats) {
    if (!each.is_shared) {
      rows.push_back({each.key, each.name, 0, measure(each, model, 1, folder / each.key, by)});
      continue;
    }
    for (const auto ranks : by.ranks)
      rows.push_back({each.key, each.name, static_cast<unsigned>(ranks),
                      measure(each, model, static_cast<unsigned>(ranks), folder / each.key, by)});
  }
  for (auto& each : measure_python(model, folder / "python", by)) rows.push_back(std::move(each));
  return rows;
}

/// The size of a model, as a part of names of numbers.
void report_model(const std::vector<row>& rows, std::size_t millions, double ideal, report& numbers) {
  const auto size = std::to_string(millions) + "m";
  table printed({"format", "ranks", "save s", "load s", "MB", "bytes over ideal"});
  for (const auto& each : rows) {
    const bool is_alone = each.ranks == 0;
    printed.row({each.name, is_alone ? "rank 0" : std::to_string(each.ranks), text_of(each.of.save, 3),
                 text_of(each.of.load, 3), text_of(each.of.bytes / 1e6, 1), text_of(each.of.bytes / ideal, 4)});
    const auto suffix = each.key + "." + size + (is_alone ? "" : "." + std::to_string(each.ranks));
    numbers.number("study.save_seconds." + suffix, each.of.save);
    numbers.number("study.load_seconds." + suffix, each.of.load);
    if (is_alone || each.ranks == 1)
      numbers.number("study.size_over_ideal." + each.key + "." + size, each.of.bytes / ideal);
  }
  printed.print();
  std::fflush(stdout);
}

}  // namespace

void measure_formats(const arguments& options, report& numbers) {
  const setting by{options.counts("ranks", 64), options.positive("reps"),
                   std::chrono::duration<double>(options.number("wait")), options.text("python")};
  const work_directory folder(options.text("directory"), "study");
  double largest = std::numeric_limits<double>::quiet_NaN();
  for (const auto millions : options.counts("sizes", 10'000)) {
    const auto model = train_model(millions, options);
    const double ideal = bytes_of(model);
    const auto rows = measure_model(model, folder.path(), by);
    report_model(rows, millions, ideal, numbers);
    for (const auto& each : rows)
      if (each.key == "cairn") largest = std::fmax(largest, each.of.bytes / ideal);
  }
  numbers.at_most("study.size_over_ideal.ours", largest, 0.9);
}

}  // namespace bench::study
