// SPDX-License-Identifier: MIT
// Hostile bytes as a lone file, as a shard under an index that vouches for it, and as an index: the reader either gives
// leaves that fit the bytes, or throws cairn::error. All memory together is at most a multiple of the input's size.

#include "cairn/core/error.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/system/json.hpp"
#include "../write_checkpoint.hpp"
#include "live_memory.hpp"
#include "../standard.hpp"

namespace {

using cairn::stores::buffer;
using entry = cairn::detail::structure::mapped_type;

/// What opening and reading an input of that size may take: the promised multiple, and what is read; small ones have a
/// kilobyte.
std::size_t memory_for(std::size_t bytes) {
  const std::size_t counted = bytes < 1024 ? 1024 : bytes;
  return (cairn::detail::json_memory_factor + 4) * counted;
}

void put(cairn::any_store& store, const std::vector<std::pair<std::string, std::string>>& files) {
  const auto transaction = store.begin("c");
  for (const auto& [file, text] : files) {
    const buffer buffers[] = {std::as_bytes(std::span(text.data(), text.size()))};
    transaction->create(file, text.size()).write(0, buffers);
  }
  transaction->publish();
}

void require(bool held) {
  if (!held) std::abort();
}

/// Reads whatever `open` gives, all of it.
template <class Open>
void read_all(std::size_t bytes, const Open& open) {
  const fuzz::memory_bound guard(memory_for(bytes));
  try {
    const cairn::detail::stored_checkpoint reader = open();
    const auto& leaves = reader.contents.leaves;
    std::uint64_t total = 0;
    std::vector<cairn::detail::read_request> requests;
    std::vector<std::vector<std::byte>> memory;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (i > 0) require(leaves[i - 1].path < leaves[i].path);
      require(reader.contents.find(leaves[i].path) == i);
      std::uint64_t stored = 0;
      bool is_encoded = false;
      for (const auto& slice : reader.slices_of(i)) {
        stored += slice.bytes;
        is_encoded = is_encoded || slice.encoded != nullptr;
      }
      require(leaves[i].bytes() / cairn::detail::max_expansion <= stored);
      if (is_encoded) continue;  // chain_fuzz reads these
      total += leaves[i].bytes();
      require(total <= bytes);
      memory.emplace_back(leaves[i].bytes());
      requests.push_back({i, {leaves[i].type, leaves[i].shape, memory.back().data(), {}}});
    }
    cairn::detail::read_leaves(reader, requests, {.threads = 1, .verify = false});
    cairn::detail::read_leaves(reader, requests, {.threads = 1, .verify = true});
    cairn::detail::verify(reader, 1);
  } catch (const cairn::error& error) {
    require(std::strlen(error.what()) > 8);
  }
}

/// An index that says of the shard what is in it, as far as that can be told.
std::string index_for(const std::string& shard) {
  cairn::detail::checkpoint_index index;
  index.info.step = 3;
  std::uint64_t length = 0;
  if (shard.size() >= 8) std::memcpy(&length, shard.data(), 8);
  if (shard.size() < 8 || length > shard.size() - 8) length = 0;
  const auto bytes = std::as_bytes(std::span(shard.data(), shard.size()));
  const auto header = bytes.first(std::min<std::size_t>(8 + length, bytes.size()));
  index.shards.push_back({cairn::detail::shard_file(0, 1), shard.size(), cairn::detail::checksum(header), ""});
  cairn::any_store store = cairn::stores::memory();
  put(store, {{"index.json", shard}});
  try {
    auto opened = cairn::detail::open_checkpoint(store.open("c")->open("index.json"), "shard");
    index.total_size = opened.index.total_size;
    index.info.step = opened.index.info.step;
    index.leaves = std::move(opened.contents.leaves);
    index.storage = std::move(opened.index.storage);
    index.parent = cairn::detail::checkpoint_ref{"step-000000001", 1};
  } catch (const cairn::error&) {
    index.leaves.clear();
    index.storage.clear();
  }
  return cairn::detail::write_index(index);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  cairn::any_store store = cairn::stores::memory();
  const std::string shard = cairn::detail::shard_file(0, 1);
  switch (bytes[0] % 3) {
    case 0: {  // a lone file
      put(store, {{"index.json", input}});
      read_all(input.size(),
               [&] { return cairn::detail::open_checkpoint(store.open("c")->open("index.json"), "lone"); });
      break;
    }
    case 1: {  // a shard
      const auto index = index_for(input);
      put(store, {{"index.json", index}, {shard, input}});
      read_all(input.size() + index.size(), [&] { return cairn::detail::open_checkpoint(store, "c"); });
      break;
    }
    default: {  // an index, with a checksum that holds
      auto index = input;
      const auto at = cairn::detail::index_opening.size();
      index.replace(0, std::min(at, index.size()), cairn::detail::index_opening);
      if (index.size() >= at + 16) index.replace(at, 16, cairn::detail::to_hex(cairn::detail::index_checksum(index)));
      put(store, {{"index.json", index}});
      read_all(index.size(), [&] { return cairn::detail::open_checkpoint(store, "c"); });
    }
  }
  return 0;
}

/// Seeds made by the code itself, so that they always fit the format: the first mutations begin with valid files.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> made;
    static float values[60] = {1, 2, 3};
    for (const std::size_t shards : {1U, 2U}) {
      std::vector<cairn::detail::leaf> leaves(3);
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        leaves[i].path = "layers." + std::to_string(i) + ".weight";
        leaves[i].type = i == 1 ? cairn::dtype::u8 : cairn::dtype::f32;
        leaves[i].shape = {i + 1, 10};
        leaves[i].memory = reinterpret_cast<std::byte*>(values);
      }
      sample::checkpoint_spec spec;
      spec.leaves = leaves;
      spec.shards =
          cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves, shards));
      spec.info.step = 3;
      spec.info.metrics["loss"] = 0.5;
      spec.info.notes = {{"workers", {4}}, {"stall", {12, 0.5}}, {"none", {}}};
      spec.structure["layers"] = {entry::kind::size, 3, {}, {}};
      spec.structure["moments"] = {entry::kind::keys, 0, {}, {"a", "b"}};
      spec.structure["tied"] = {entry::kind::same, 0, "layers.0.weight", {}};
      spec.info.metadata = {{"k", "v"}};
      spec.restored = {{"layers.0.weight", {{1, 2}, 3}}};
      for (std::uint64_t row = 0; row < 2; ++row) {  // an array in boxes
        leaves.push_back(leaves[0]);
        leaves.back().path = "boxes";
        leaves.back().place =
            std::make_shared<const cairn::detail::box_place>(cairn::detail::box_place{{2, 10}, {row, 0}});
        spec.shards[row % shards].push_back({{leaves.size() - 1, 0, leaves.back().count()}});
      }
      spec.leaves = leaves;
      cairn::any_store store = cairn::stores::memory();
      sample::write_checkpoint(store, "c", spec);
      for (const auto& file : store.open("c")->files()) {
        const auto source = store.open("c")->open(file);
        const auto text = cairn::stores::read_text(*source, 0, source->size());
        for (const char kind : {'\0', '\1', '\2'}) made.push_back(kind + text);
      }
    }
    // Files of others, whose headers are not padded: small enough for mutations to hit what matters.
    const std::string header =
        R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[1,3],"data_offsets":[8,11]}})";
    std::string lone(9, '\0');
    lone[1] = static_cast<char>(header.size());
    made.push_back(lone + header + "12345678abc");
    return made;
  }();
  if (seed % 64 == 0) {
    const auto& chosen = seeds[seed / 64 % seeds.size()];
    if (chosen.size() <= most) {
      std::memcpy(bytes, chosen.data(), chosen.size());
      size = chosen.size();
      if (seed / 4096 % 2 == 0) return size;
    }
  }
  return LLVMFuzzerMutate(bytes, size, most);
}
