#include "cairn/chain/leaf_encoder.hpp"

#include <random>

#include "catch.hpp"
#include "chain.hpp"

namespace codecs = cairn::codecs;

namespace {

cairn::detail::encode_summary encode(const std::vector<cairn::leaf>& leaves, cairn::division& shards,
                                     const cairn::codec_rules& rules, cairn::delta_base* chain = nullptr,
                                     bool as_delta = false, unsigned threads = 1) {
  cairn::detail::leaf_encoder encoder(leaves, rules, chain, as_delta, threads);
  encoder.encode(shards);
  return encoder.finish();
}

std::vector<std::byte> decoded(const cairn::leaf& whole, const cairn::piece& piece,
                               std::span<const std::byte> parent = {}) {
  const auto bytes = piece.count * cairn::size_of(whole.type);
  std::vector<std::byte> values(bytes);
  if (!parent.empty()) std::memcpy(values.data(), parent.data(), bytes);
  const auto& stored = piece.encoded->payload;
  cairn::codec_named(piece.encoded->how.codec, {}, "here")
      .decode({.where = "here",
               .path = whole.path,
               .type = whole.type,
               .payload = {stored.memory, stored.bytes()},
               .values = values});
  return values;
}

}  // namespace

TEST_CASE("pieces without a rule are encoded without loss, strided or not, in any number of shards") {
  std::mt19937 random(1);
  auto state = chain::start(random, 5000);
  auto leaves = cairn::describe(state).leaves;
  cairn::leaf every_other;  // of the weights
  every_other.path = "strided";
  every_other.type = cairn::dtype::f32;
  every_other.shape = {2500};
  every_other.strides = {8};
  every_other.memory = reinterpret_cast<std::byte*>(state.net.weight.data());
  leaves.push_back(every_other);
  for (const std::size_t count : {1U, 3U}) {
    auto shards = cairn::divide_evenly(leaves, count);
    const auto done = encode(leaves, shards, {});
    CHECK_FALSE(done.is_delta);
    CHECK(done.lost.empty());
    std::size_t encoded = 0;
    for (const auto& shard : shards)
      for (const auto& piece : shard) {
        if (!piece.encoded) continue;
        ++encoded;
        const auto& whole = leaves[piece.leaf];
        CHECK(piece.encoded->how.codec == "lossless");
        CHECK(piece.encoded->how.type == whole.type);
        CHECK(piece.encoded->payload.bytes() < piece.count * cairn::size_of(whole.type));
        std::vector<std::byte> real(piece.count * cairn::size_of(whole.type));
        cairn::gather(whole, piece.first, real);
        CHECK(decoded(whole, piece) == real);
      }
    CHECK(encoded >= 5);
  }
}

TEST_CASE("small pieces and those under raw are left as they are") {
  std::mt19937 random(2);
  const auto state = chain::start(random, 5000);
  const auto leaves = cairn::describe(state).leaves;
  auto shards = cairn::divide_evenly(leaves, 1);
  encode(leaves, shards, {{"net.*", codecs::raw{}}});
  for (const auto& piece : shards[0]) {
    const auto& path = leaves[piece.leaf].path;
    INFO(path);
    CHECK((piece.encoded == nullptr) == (path == "step" || path.starts_with("net.")));
  }
}

TEST_CASE("the chain keeps what a reader will have, whatever the cuts and threads") {
  for (const unsigned threads : {1U, 3U}) {
    std::mt19937 random(3);
    auto state = chain::start(random, 4000);
    cairn::delta_base chain;
    std::map<std::string, std::vector<std::byte>> reader;
    for (int save = 0; save < 6; ++save) {
      chain::train(state, random);
      const auto leaves = cairn::describe(state).leaves;
      auto shards = cairn::divide_evenly(leaves, 1 + static_cast<std::size_t>(save) % 3);
      const auto done = encode(leaves, shards, chain::mixed_rules(), &chain, save > 0, threads);
      CHECK(done.is_delta == (save > 0));
      CHECK(done.lost.empty() == (save == 0));
      for (const auto& shard : shards)
        for (const auto& piece : shard) {
          const auto& whole = leaves[piece.leaf];
          const auto width = cairn::size_of(whole.type);
          auto& values = reader[whole.path];
          values.resize(whole.bytes());
          const std::span part(values.data() + piece.first * width, piece.count * width);
          if (piece.encoded) {
            const auto now = decoded(whole, piece, part);
            std::memcpy(part.data(), now.data(), now.size());
          } else {
            std::memcpy(part.data(), whole.memory + piece.first * width, part.size());
          }
        }
      for (const auto& leaf : leaves)
        if (const auto* kept = chain.find(leaf.path, leaf.type, leaf.shape)) {
          INFO(leaf.path << " in save " << save);
          const auto bytes = kept->values.bytes();
          CHECK(std::equal(bytes.begin(), bytes.end(), reader[leaf.path].begin()));
        }
      CHECK(chain.find("net.weight", cairn::dtype::f32, {4000}) != nullptr);
      CHECK(chain.find("adam.m", cairn::dtype::f32, {4000}) != nullptr);
      CHECK(chain.find("adam.v", cairn::dtype::f32, {4000}) == nullptr);
    }
  }
}

TEST_CASE("a leaf that changes its shape is stored whole in a delta") {
  std::mt19937 random(4);
  auto state = chain::start(random, 4000);
  cairn::delta_base chain;
  for (int save = 0; save < 2; ++save) {
    const auto leaves = cairn::describe(state).leaves;
    auto shards = cairn::divide_evenly(leaves, 1);
    const auto done = encode(leaves, shards, chain::mixed_rules(), &chain, save > 0);
    CHECK(done.is_delta == (save > 0));
    for (const auto& piece : shards[0])
      if (piece.encoded && leaves[piece.leaf].path == "net.bias") CHECK_FALSE(piece.encoded->how.relative);
    chain::train(state, random);
    state.net.bias.resize(777);
  }
}
