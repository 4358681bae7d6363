// SPDX-License-Identifier: MIT
// Loads of parts of a checkpoint from a store that counts.
#include "save_load/reads.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "common/counting_store.hpp"

namespace bench {
namespace {

/// One in ten paths, others for each draw.
bool is_drawn(std::string_view path, unsigned draw) {
  std::uint64_t hash = 14695981039346656037U + draw;  // FNV-1a
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return (hash >> 32U) % 10 == 0;
}

}  // namespace

reads_result measure_reads(const std::string& dir, training_state& state) {
  const counting_store files{cairn::stores::directory(dir, {.durable = false})};
  {
    cairn::any_store store = files;
    cairn::save(store, "c", state, {.codecs = {{"*", cairn::codecs::raw{}}}});
  }
  const auto read_over_needed = [&](const auto& filter) {
    cairn::load_options options;
    options.strict = false;
    options.verify_first = false;
    options.filter = filter;
    static_cast<void>(files.take_bytes());
    const auto loaded = cairn::load(cairn::any_store(files), "c", state, options);
    return static_cast<double>(files.take_bytes()) / static_cast<double>(loaded.bytes);
  };
  reads_result result;
  result.subtree = read_over_needed([](std::string_view path) { return path.starts_with("weights."); });
  constexpr unsigned draws = 5;
  for (unsigned draw = 0; draw < draws; ++draw)
    result.tenth += read_over_needed([draw](std::string_view path) { return is_drawn(path, draw); }) / draws;
  std::filesystem::remove_all(dir);
  return result;
}

}  // namespace bench
