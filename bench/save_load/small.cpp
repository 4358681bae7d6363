// SPDX-License-Identifier: MIT
// Many small objects: Cairn joins their arrays, cereal writes one after the other. And many random engines.
#include "save_load/small.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "common/clock.hpp"
#include "common/statistics.hpp"
#include "save_load/method.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct transition {
  std::vector<float> observation, action;
  std::vector<std::int64_t> legal;
  friend bool operator==(const transition&, const transition&) = default;
};

template <class Archive>
void serialize(Archive& archive, transition& t) {
  archive(t.observation, t.action, t.legal);
}

/// CPU seconds of all threads of this process that `work()` takes.
template <class Work>
double cpu_seconds_of(const Work& work) {
  const double begin = process_cpu_seconds();
  work();
  return process_cpu_seconds() - begin;
}

double bytes_of(const fs::path& path) {
  if (!fs::is_directory(path)) return static_cast<double>(fs::file_size(path));
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  return bytes;
}

template <class Stream, class Archive, class State>
void pass(const fs::path& path, State& state) {
  std::vector<char> buffer(stream_buffer_bytes);
  Stream file;
  file.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  file.open(path, std::ios::binary);
  Archive archive(file);
  archive(state);
  if (!file) throw std::runtime_error("cereal: " + path.string());
}

/// CPU seconds of one save by Cairn, whose files are not durable and not encoded.
template <class State>
double save_seconds(const fs::path& path, const State& state) {
  fs::remove_all(path);
  return cpu_seconds_of(
      [&] { cairn::save(path.string(), state, {.durable = false, .codecs = {{"*", cairn::codecs::raw{}}}}); });
}

/// The same of a load.
template <class State>
double load_seconds(const fs::path& path, State& state) {
  return cpu_seconds_of([&] { cairn::load(path.string(), state, {.verify_first = false}); });
}

template <class State>
small_result measure(const std::string& name, const State& state, const fs::path& dir, std::size_t reps) {
  const fs::path ours = dir / "small", theirs = dir / "small.cereal";
  std::vector<double> saves, loads, cereal_saves, cereal_loads;
  small_result result{.state = name};
  for (std::size_t i = 0; i < reps; ++i) {
    fs::remove_all(theirs);
    const auto save = [&] { saves.push_back(save_seconds(ours, state)); };
    const auto cereal_save = [&] {
      cereal_saves.push_back(cpu_seconds_of([&] { pass<std::ofstream, cereal::BinaryOutputArchive>(theirs, state); }));
    };
    State loaded, cereal_loaded;
    const auto load = [&] { loads.push_back(load_seconds(ours, loaded)); };
    const auto cereal_load = [&] {
      cereal_loads.push_back(
          cpu_seconds_of([&] { pass<std::ifstream, cereal::BinaryInputArchive>(theirs, cereal_loaded); }));
    };
    // In turn, as the second one finds the objects in the caches.
    if (i % 2 == 0)
      save(), cereal_save(), load(), cereal_load();
    else
      cereal_save(), save(), cereal_load(), load();
    result.bytes_over_cereal = bytes_of(ours) / bytes_of(theirs);
    if (loaded != state || cereal_loaded != state) throw std::runtime_error("small objects came back different");
  }
  fs::remove_all(ours);
  fs::remove_all(theirs);
  result.save_over_cereal = median_ratio(saves, cereal_saves);
  result.load_over_cereal = median_ratio(loads, cereal_loads);
  result.save_seconds = median(saves);
  result.load_seconds = median(loads);
  return result;
}

}  // namespace

std::vector<small_result> measure_small(const fs::path& dir, std::size_t reps) {
  std::vector<transition> records(30'000);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i] = {std::vector<float>(16, static_cast<float>(i)), std::vector<float>(4),
                  std::vector<std::int64_t>(i % 8, static_cast<std::int64_t>(i))};
  std::vector<std::vector<float>> vectors(100'000);
  std::map<std::string, std::vector<float>> words;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors[i].assign(20, static_cast<float>(i));
    words["word" + std::to_string(i * 7919)] = vectors[i];
  }
  return {measure("30,000 records", records, dir, reps), measure("100,000 vectors", vectors, dir, reps),
          measure("100,000 words", words, dir, reps)};
}

engines_result measure_engines(const fs::path& dir, std::size_t reps) {
  std::vector<std::mt19937> engines;
  for (unsigned i = 0; i < 4096; ++i) engines.emplace_back(i);
  std::vector<std::uint64_t> words(engines.size() * sizeof engines[0] / 8);
  std::iota(words.begin(), words.end(), 0U);
  std::vector<double> saves, loads, word_saves, word_loads;
  const fs::path of_engines = dir / "engines", of_words = dir / "words";
  for (std::size_t i = 0; i < reps; ++i) {
    std::vector<std::mt19937> loaded;
    std::vector<std::uint64_t> loaded_words;
    const auto pass_engines = [&] {
      saves.push_back(save_seconds(of_engines, engines));
      loads.push_back(load_seconds(of_engines, loaded));
    };
    const auto pass_words = [&] {
      word_saves.push_back(save_seconds(of_words, words));
      word_loads.push_back(load_seconds(of_words, loaded_words));
    };
    if (i % 2 == 0)
      pass_engines(), pass_words();
    else
      pass_words(), pass_engines();
    if (loaded != engines || loaded_words != words) throw std::runtime_error("engines came back different");
  }
  fs::remove_all(of_engines);
  fs::remove_all(of_words);
  return {median_ratio(saves, word_saves), median_ratio(loads, word_loads), median(saves), median(loads)};
}

}  // namespace bench
