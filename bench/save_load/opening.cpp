// SPDX-License-Identifier: MIT
#include "save_load/opening.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "cairn/inspect.hpp"
#include "cairn/save.hpp"
#include "common/statistics.hpp"

namespace bench {
namespace {

struct layer {
  std::vector<float> weight = std::vector<float>(8), bias = std::vector<float>(1);
};
struct network {
  std::vector<std::vector<layer>> stages;  // of 200 layers, 12 KB: neither these nor their layers are joined
};

/// The JSON texts of a checkpoint: its index, and the headers of its shards.
std::vector<std::string> json_of(const std::filesystem::path& checkpoint) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoint)) {
    std::ifstream file(entry.path(), std::ios::binary);
    if (entry.path().extension() == ".json") {
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      continue;
    }
    std::uint64_t length = 0;
    file.read(reinterpret_cast<char*>(&length), sizeof length);
    file.read(texts.emplace_back(length, '\0').data(), static_cast<std::streamsize>(length));
  }
  return texts;
}

/// Parses as Cairn has RapidJSON do it.
void parse(const std::string& text) {
  rapidjson::BaseReaderHandler<> ignore;
  rapidjson::MemoryStream stream(text.data(), text.size());
  constexpr unsigned flags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  if (rapidjson::Reader reader; reader.Parse<flags>(stream, ignore).IsError())
    throw std::runtime_error("RapidJSON cannot parse a checkpoint's text");
}

}  // namespace

opening_result measure_opening(const std::string& dir, std::size_t tensors, std::size_t reps) {
  {
    network state;
    state.stages.resize(tensors / 400, std::vector<layer>(200));
    cairn::save(dir, state, {.durable = false, .codecs = {{"*", cairn::codecs::raw{}}}});
  }
  const auto texts = json_of(dir);
  opening_result result;
  for (const auto& text : texts) result.json_bytes += static_cast<double>(text.size());
  std::vector<double> opened, parsed;
  const auto open = [&] {
    opened.push_back(seconds_of([&] {
      if (cairn::open(dir).tensors().size() < tensors / 400 * 400) throw std::runtime_error("tensors are missing");
    }));
  };
  const auto parse_all = [&] {
    parsed.push_back(seconds_of([&] { std::for_each(texts.begin(), texts.end(), parse); }));
  };
  for (std::size_t i = 0; i < reps; ++i) {
    if (i % 2 == 0) open();
    parse_all();
    if (i % 2 != 0) open();
  }
  std::filesystem::remove_all(dir);
  result.seconds = median(opened);
  result.json_seconds = median(parsed);
  result.over_json = median_ratio(opened, parsed);
  return result;
}

}  // namespace bench
