// SPDX-License-Identifier: MIT
#include "cairn/store/index.hpp"

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include "cairn/core/checksum.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

const std::vector<std::string> odd_names{"workers",         "", "\"", "\\\"}]", "a b", "\n\t\x01", "\xc3\xa9t\xc3\xa9",
                                         "\xf0\x9f\x8f\x94"};

/// Any but NaN, which is not equal to itself.
double any_number(std::mt19937_64& random) {
  const double strange[] = {0,
                            -0.0,
                            1,
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            0.1};
  if (random() % 2) return strange[random() % std::size(strange)];
  const double number = std::bit_cast<double>(random());
  return std::isnan(number) ? 0 : number;
}

/// Adds a leaf of whole, cut, encoded or lossy elements. Path: above that of the leaf before.
void add_leaf(cairn::detail::checkpoint_index& index, std::string path, std::mt19937_64& random) {
  using namespace cairn::detail;
  auto& leaf = index.leaves.emplace_back(
      stored_leaf{std::move(path), static_cast<cairn::dtype>(random() % cairn::dtype_count), {4, random() % 6}});
  auto& storage = index.storage.emplace_back();
  const auto count = cairn::element_count(leaf.shape);
  std::vector<placed_piece> pieces{{0, 0, count, {}}};
  if (count > 0 && random() % 2) pieces = {{0, 0, 1, {}}, {0, 1, count - 1, {}}};
  if (count > 0 && random() % 3 == 0)
    pieces = {{0, 0, 0, box{{0, 0}, {1, leaf.shape[1]}}}, {0, 0, 0, box{{1, 0}, {3, leaf.shape[1]}}}};
  for (auto& piece : pieces)
    if (piece.region) piece.count = piece.region->count();
  REQUIRE(make_layout(pieces, leaf.shape, storage.layout).empty());
  if (random() % 2) {
    leaf_encoding how{"lc2", random() % 2 == 0 && index.parent, leaf.bytes(), {}};
    if (random() % 2) how.lost = cairn::loss{std::abs(any_number(random)), 0.1};
    storage.encoded = std::make_shared<const leaf_encoding>(how);
  }
  if (random() % 4 == 0)
    storage.restored =
        std::make_shared<const cairn::restored_loss>(cairn::restored_loss{{0.5, any_number(random)}, random() % 9 + 1});
}

cairn::detail::checkpoint_index random_index(std::mt19937_64& random) {
  cairn::detail::checkpoint_index index;
  index.info.step = random() >> (random() % 64);
  for (std::size_t i = random() % 4; i > 0; --i)
    index.info.metrics["m\"" + std::to_string(i)] = static_cast<double>(random()) / 3 - 1e18;
  if (random() % 2) index.info.metrics["inf"] = -std::numeric_limits<double>::infinity();
  for (std::size_t i = random() % 4; i > 0; --i) {
    auto& numbers = index.info.notes[odd_names[random() % odd_names.size()]];
    for (std::size_t n = random() % 4; n > 0; --n) numbers.push_back(any_number(random));
  }
  if (random() % 2) index.parent = cairn::detail::checkpoint_ref{"step-" + std::to_string(random()), random()};
  const std::size_t shards = random() % 4 + 2;
  for (std::size_t i = 0; i < shards; ++i)
    index.shards.push_back({cairn::detail::shard_file(i, shards), random() % 1'000'000 + 4096, random(), ""});
  if (random() % 2) index.info.metadata = {{"commit", "a\"b"}, {"", "\n"}};
  for (std::size_t i = random() % 20; i > 0; --i)
    add_leaf(index, "layer." + std::to_string(index.leaves.size() + 100), random);
  for (const auto& leaf : index.leaves) index.total_size += leaf.bytes();
  if (random() % 2) index.structure["layers"] = {cairn::detail::structure_entry::kind::size, random(), {}, {}};
  if (random() % 2) index.structure["moments"] = {cairn::detail::structure_entry::kind::keys, 0, {}, {"a", "bias"}};
  if (random() % 4 == 0) index.shards.back().role = "parity";
  if (random() % 2) index.id = random();
  return index;
}

/// Puts the checksum right after an edit, as a hostile writer would.
std::string signed_again(std::string text) {
  const auto at = cairn::detail::index_opening.size();
  return text.replace(at, 16, cairn::detail::to_hex(cairn::detail::index_checksum(text)));
}

std::string edited(std::string text, std::string_view from, std::string_view to) {
  return signed_again(text.replace(text.find(from), from.size(), to));
}

}  // namespace

TEST_CASE("any index is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto index = random_index(random);
    const auto text = cairn::detail::write_index(index);
    const auto read = cairn::detail::parse_index(text, "here");
    CHECK(read.info.step == index.info.step);
    CHECK(read.total_size == index.total_size);
    CHECK(read.info.metrics == index.info.metrics);
    CHECK(read.info.notes == index.info.notes);
    CHECK(read.info.metadata == index.info.metadata);
    CHECK(read.structure == index.structure);
    REQUIRE(read.leaves.size() == index.leaves.size());
    for (std::size_t i = 0; i < read.leaves.size(); ++i) {
      CHECK(read.leaves[i].path == index.leaves[i].path);
      CHECK(read.leaves[i].type == index.leaves[i].type);
      CHECK(read.leaves[i].shape == index.leaves[i].shape);
      const auto &a = read.storage[i], &b = index.storage[i];
      CHECK(sample::pieces_of(a.layout, read.leaves[i].shape) == sample::pieces_of(b.layout, index.leaves[i].shape));
      REQUIRE((a.encoded == nullptr) == (b.encoded == nullptr));
      if (a.encoded) CHECK(*a.encoded == *b.encoded);
      REQUIRE((a.restored == nullptr) == (b.restored == nullptr));
      if (a.restored) CHECK(*a.restored == *b.restored);
    }
    const auto listed = cairn::detail::parse_index(text, "here", cairn::detail::index_part::metadata);
    CHECK(listed.leaves.empty());
    CHECK(listed.info.metrics == index.info.metrics);
    CHECK(read.parent == index.parent);
    CHECK(read.id == index.id);
    CHECK(cairn::detail::checkpoint_id(read) == cairn::detail::checkpoint_id(index));
    REQUIRE(read.shards.size() == index.shards.size());
    for (std::size_t i = 0; i < read.shards.size(); ++i) {
      CHECK(read.shards[i].file == index.shards[i].file);
      CHECK(read.shards[i].bytes == index.shards[i].bytes);
      CHECK(read.shards[i].header_checksum == index.shards[i].header_checksum);
    }
    CHECK(cairn::detail::write_index(read) == text);
  }
}

TEST_CASE("for lists of checkpoints only the metadata are parsed") {
  using cairn::detail::index_part;
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const auto index = random_index(random);
    auto text = cairn::detail::write_index(index);
    text.insert(text.find("\"weight_map\""), "\"others\":[1, tru");  // not JSON
    text.replace(cairn::detail::index_opening.size(), cairn::detail::checksum_digits,
                 cairn::detail::to_hex(cairn::detail::index_checksum(text)));
    CHECK(cairn::detail::parse_index(text, "here", index_part::metadata).info.metrics == index.info.metrics);
    CHECK_THROWS_WITH(cairn::detail::parse_index(text, "here"), Catch::Contains("malformed index"));
    text.back() = ' ';  // under the checksum all the same
    CHECK_THROWS_WITH(cairn::detail::parse_index(text, "here", index_part::metadata),
                      Catch::Contains("its checksum does not match"));
  }
}

TEST_CASE("notes are kept to the bit, with infinities, NaN and empty lists") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  cairn::detail::checkpoint_index index;
  index.info.notes = {{"empty", {}},
                      {"numbers", {-0.0, 0.1, 1e-300, 18446744073709551615.0, -infinite}},
                      {"none", {1, std::numeric_limits<double>::quiet_NaN(), infinite}}};
  const auto read = cairn::detail::parse_index(cairn::detail::write_index(index), "here").info.notes;
  REQUIRE(read.size() == 3);
  CHECK(read.at("empty").empty());
  CHECK(read.at("numbers") == index.info.notes["numbers"]);
  CHECK(std::signbit(read.at("numbers")[0]));
  REQUIRE(read.at("none").size() == 3);
  CHECK(read.at("none")[0] == 1);
  CHECK(std::isnan(read.at("none")[1]));
  CHECK(read.at("none")[2] == infinite);
}

TEST_CASE("a note of many numbers takes no more memory than they need") {
  cairn::detail::checkpoint_index index;
  for (const std::size_t count : {1U, 5U, 1025U, 4097U}) index.info.notes[std::to_string(count)].assign(count, 7);
  const auto read = cairn::detail::parse_index(cairn::detail::write_index(index), "here").info.notes;
  CHECK(read == index.info.notes);
  for (const auto& [name, numbers] : read) CHECK(numbers.capacity() == numbers.size());
}

TEST_CASE("without notes an index has no word of them") {
  cairn::detail::checkpoint_index index;
  index.info.metrics["loss"] = 0.5;
  const auto text = cairn::detail::write_index(index);
  CHECK(text.find("notes") == std::string::npos);
  CHECK(cairn::detail::parse_index(text, "here").info.notes.empty());
  index.info.notes["a"] = {1};
  CHECK(edited(cairn::detail::write_index(index), ",\"notes\":{\"a\":[1]}", "") == text);
}

TEST_CASE("a note whose name is no text cannot be written") {
  cairn::detail::checkpoint_index index;
  index.info.notes["\xff"] = {1};
  const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::write_index(index)); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("notes: \""));
}

TEST_CASE("notes that are not named lists of numbers are refused") {
  cairn::detail::checkpoint_index index;
  index.info.notes = {{"a", {1, 2.5}}, {"b", {}}};
  const auto text = cairn::detail::write_index(index);
  const std::string good = "{\"a\":[1,2.5],\"b\":[]}";
  REQUIRE(text.find("\"notes\":" + good) != std::string::npos);
  const auto read = [&](const std::string& notes) {
    return cairn::detail::parse_index(edited(text, good, notes), "here").info.notes;
  };
  CHECK(read("{}").empty());
  CHECK(read("{\"a\": [ -3, \"inf\" ]}").at("a").size() == 2);
  for (const std::string bad : {"[]",
                                "7",
                                "null",
                                "\"text\"",
                                "{\"a\":1}",
                                "{\"a\":\"nan\"}",
                                "{\"a\":{}}",
                                "{\"a\":{\"b\":1}}",
                                "{\"a\":null}",
                                "{\"a\":true}",
                                "{\"a\":[[1]]}",
                                "{\"a\":[[]]}",
                                "{\"a\":[{}]}",
                                "{\"a\":[{\"b\":1}]}",
                                "{\"a\":[null]}",
                                "{\"a\":[false]}",
                                "{\"a\":[\"1\"]}",
                                "{\"a\":[\"NaN\"]}",
                                "{\"a\":[1e999]}",
                                "{\"a\":[1,]}",
                                "{\"a\":[1],\"a\":[2]}",
                                "[[1]]",
                                "[{\"a\":[1]}]",
                                "{\"a\":[1]},\"notes\":{}"}) {
    INFO(bad);
    const auto failure = sample::failure_of([&] { static_cast<void>(read(bad)); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("every flipped bit and every cut is noticed") {
  std::mt19937_64 random(2);
  const auto text = cairn::detail::write_index(random_index(random));
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
    CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::parse_index(flipped, "here")); }).code ==
          cairn::errc::corrupt);
    CHECK(sample::failure_of([&] {
            static_cast<void>(cairn::detail::parse_index(text.substr(0, at), "here"));
          }).says("here"));
  }
}

TEST_CASE("an index with a right checksum and wrong contents is refused") {
  cairn::detail::checkpoint_index index;
  index.info.metrics["loss"] = 0.5;
  index.shards.push_back({cairn::detail::shard_file(0, 1), 4096, 5, ""});
  index.leaves = {{"v", cairn::dtype::f32, {2}}, {"w", cairn::dtype::f32, {2, 3}}};
  index.storage.resize(2);
  index.storage[1].encoded = std::make_shared<const cairn::detail::leaf_encoding>(
      cairn::detail::leaf_encoding{"lc2", false, 7, cairn::loss{0.25, 0.125}});
  index.total_size = 99;
  index.structure["layers"] = {cairn::detail::structure_entry::kind::size, 3, {}, {}};
  const auto text = cairn::detail::write_index(index);
  const auto code = [&](std::string_view from, std::string_view to) {
    return sample::failure_of([&] { static_cast<void>(cairn::detail::parse_index(edited(text, from, to), "here")); })
        .code;
  };
  for (const std::string_view version : {"1", "3", ""}) {
    const auto other = edited(text, "\"version\":\"2\"", "\"version\":\"" + std::string(version) + "\"");
    const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::parse_index(other, "here")); });
    CHECK(failure.code == cairn::errc::unsupported);
    CHECK(failure.says("here: format version \"" + std::string(version) + "\" is not 2"));
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"step\":0", "\"step\":-1"},
           {"\"step\":0", "\"step\":[0]"},
           {"0.5", "\"half\""},
           {"0.5", "[0.5]"},
           {"\"bytes\":4096", "\"bytes\":\"4096\""},
           {"\"bytes\":4096", "\"sizes\":4096"},
           {"\"header_xxh3\":\"0", "\"header_xxh3\":\"G"},
           {"shard-00000-of-00001", "../../../etc/passwd"},
           {"shard-00000-of-00001.safetensors", "index.json"},
           {"shard-00000-of-00001", "shard-00000-of-00001/shard-00000-of-00001"},
           {"[\n{\"file\"", "[{},{},{\"file\""},
           {"\"version\":\"2\",", ""},
           {"\"format\":\"cairn\"", "\"format\":\"other\""},
           {"\"shard\":0", "\"shard\":1"},
           {"\"shard\":0", "\"runs\":[0]"},
           {"\"path\":\"v\"", "\"path\":\"w\""},
           {"\"path\":\"v\"", "\"path\":\"x\""},
           {"\"dtype\":\"F32\"", "\"dtype\":\"F33\""},
           {"[2,3]", "[2,-3]"},
           {"[2,3]", "[4294967296,4294967296]"},
           {"[2,3]", "[2,3000000]"},
           {"\"codec\":\"lc2\",", ""},
           {"\"codec\":\"lc2\"", "\"codec\":\"\""},
           {"\"stored\":7", "\"stored\":100"},
           {"\"stored\":7", "\"stored\":7,\"relative\":1"},
           {"\"stored\":7", "\"stored\":7,\"relative\":2"},
           {"[0.25,0.125]", "[0.25]"},
           {"[0.25,0.125]", "[0.25,0.125],\"restored\":[0,0,0]"},
           {"[0.25,0.125]", "[0.25,0.125],\"restored\":[0,0]"},
           {"[0.25,0.125]", "[0.25,0.125],\"more\":0"},
           {"\"header_xxh3\":\"0000000000000005\"", "\"header_xxh3\":\"0000000000000005\",\"role\":\"parity\""},
           {"{\"size\":3}", "{\"sizes\":3}"},
           {"\"leaves\"", "\"leafs\""},
           {"\"structure\"", "\"structures\""},
           {"\"weight_map\"", "\"others\""}}) {
    INFO(from << " -> " << to);
    CHECK(code(from, to) == cairn::errc::corrupt);
  }
}

TEST_CASE("the index of a checkpoint is found through its store") {
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::checkpoint_index index;
  index.info.step = 7;
  sample::put(store, "a", {{"index.json", cairn::detail::write_index(index)}});
  sample::put(store, "b", {{"index.json", "{}"}});
  CHECK(cairn::detail::read_index(*store.open("a")).info.step == 7);
  CHECK(sample::failure_of([&] {
          static_cast<void>(cairn::detail::read_index(*store.open("b")));
        }).says("memory/b/index.json"));
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::read_index(*store.open("c"))); }).code ==
        cairn::errc::not_found);
}

namespace {

/// A publication with an index of zeros, of which only the beginning can be read.
struct zeros final : cairn::stores::publication {
  struct file final : cairn::stores::source {
    [[nodiscard]] std::uint64_t size() const override { return std::uint64_t{900} << 20U; }
    void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
      for (const auto& each : into) {
        if (offset + each.size() > 4096) cairn::fail(cairn::errc::io, {"all of it is read"});
        std::fill(each.begin(), each.end(), std::byte{0});
      }
    }
  };
  [[nodiscard]] std::string location() const override { return "zeros"; }
  [[nodiscard]] std::vector<std::string> files() const override { return {"index.json"}; }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view) const override {
    return std::make_unique<file>();
  }
};

}  // namespace

TEST_CASE("a large file that is no index is not read") {
  const auto failure = sample::failure_of([] { static_cast<void>(cairn::detail::read_index(zeros())); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says("not the index of a cairn checkpoint"));
}

TEST_CASE("a checkpoint's id is that of its headers, unless another one is written") {
  cairn::detail::checkpoint_index index;
  index.shards = {{cairn::detail::shard_file(0, 2), 1, 2, ""}, {cairn::detail::shard_file(1, 2), 3, 4, ""}};
  const auto id = cairn::detail::checkpoint_id(index);
  index.shards[0].bytes = 9;
  index.info.step = 9;
  CHECK(cairn::detail::checkpoint_id(index) == id);
  index.shards[1].header_checksum = 5;
  CHECK(cairn::detail::checkpoint_id(index) != id);
  index.id = id;
  CHECK(cairn::detail::checkpoint_id(index) == id);
}

TEST_CASE("a malformed parent or id is refused") {
  cairn::detail::checkpoint_index index;
  index.parent = cairn::detail::checkpoint_ref{"step-000000001", 2};
  index.id = 3;
  const auto text = cairn::detail::write_index(index);
  CHECK(text.find(R"("parent":{"name":"step-000000001","id":"0000000000000002"})") != std::string::npos);
  CHECK(cairn::detail::parse_index(text, "here").parent == index.parent);
  for (const auto& bad :
       {edited(text, "\"step-000000001\"", "\"../etc\""), edited(text, "\"step-000000001\"", "7"),
        edited(text, "{\"name\":\"step-000000001\",\"id\":\"0000000000000002\"}", "{}"),
        edited(text, "\"step-000000001\"", "\"\""), edited(text, "\"step-000000001\"", "{}"),
        edited(text, "\"name\":\"step-000000001\",", ""), edited(text, ",\"id\":\"0000000000000002\"", ""),
        edited(text, ",\"id\":\"0000000000000002\"", ",\"id\":\"0000000000000002\",\"more\":1"),
        edited(text, "0000000000000002", "2"), edited(text, "\"id\":\"0000000000000003\"", "\"id\":3"),
        edited(text, "0000000000000003", "x")}) {
    const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::parse_index(bad, "here")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("the id of a delta depends on its parent") {
  cairn::detail::checkpoint_index index;
  index.shards = {{cairn::detail::shard_file(0, 1), 1, 2, ""}};
  const auto id = cairn::detail::checkpoint_id(index);
  index.parent = cairn::detail::checkpoint_ref{"step-000000001", 2};
  CHECK(cairn::detail::checkpoint_id(index) != id);
}

TEST_CASE("the leaves of 16,384 ranks take a few megabytes") {
  constexpr std::size_t ranks = 16'384, leaves = 1'200;
  cairn::detail::checkpoint_index index;
  for (std::size_t i = 0; i < ranks; ++i)
    index.shards.push_back({cairn::detail::shard_file(i, ranks), 1 << 20, i * 7919, ""});
  for (std::size_t i = 0; i < leaves; ++i) {
    index.leaves.push_back({"model.layers." + std::to_string(10'000 + i) + ".weight", cairn::dtype::f32, {4096, 4096}});
    cairn::detail::grid_layout grid{{{32}, {32}}, {{0, ranks, 1}}};
    index.storage.emplace_back().layout.cuts = std::make_shared<const cairn::detail::leaf_cuts>(grid);
    index.total_size += index.leaves.back().bytes();
  }
  const auto text = cairn::detail::write_index(index);
  CHECK(text.size() < 4'000'000);
  const auto read = cairn::detail::parse_index(text, "here");
  REQUIRE(read.leaves.size() == leaves);
  const auto pieces = sample::pieces_of(read.storage[7].layout, read.leaves[7].shape);
  REQUIRE(pieces.size() == ranks);
  CHECK(pieces[300] == cairn::detail::placed_piece{300, 0, 1024, cairn::detail::box{{64, 1408}, {32, 32}}});
}

TEST_CASE("shards have the names that the index gives them, each another one") {
  cairn::detail::checkpoint_index index;
  for (const auto& [number, of] : {std::pair(7U, 9U), std::pair(0U, 1U)})
    index.shards.push_back({cairn::detail::shard_file(number, of), 4096, 5, ""});
  index.shards.push_back({"of a later version", 4096, 5, "parity"});
  CHECK(cairn::detail::parse_index(cairn::detail::write_index(index), "here").shards == index.shards);
  index.shards[1].file = index.shards[0].file;
  const auto failure = sample::failure_of(
      [&] { static_cast<void>(cairn::detail::parse_index(cairn::detail::write_index(index), "here")); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says("here: \"" + index.shards[0].file + "\" is not the name of a shard, or that of two"));
}

TEST_CASE("leaves are in no shard of another role") {
  cairn::detail::checkpoint_index index;
  index.shards = {{cairn::detail::shard_file(0, 2), 4096, 5, ""}, {cairn::detail::shard_file(1, 2), 4096, 5, "parity"}};
  index.leaves = {{"v", cairn::dtype::f32, {2}}};
  index.storage.resize(1);
  index.total_size = 8;
  CHECK(cairn::detail::parse_index(cairn::detail::write_index(index), "here").shards == index.shards);
  index.storage[0].layout.shard = 1;
  const auto refused = [&] {
    return sample::failure_of(
        [&] { static_cast<void>(cairn::detail::parse_index(cairn::detail::write_index(index), "here")); });
  };
  CHECK(refused().says("is in a shard that is not listed"));
  index.storage[0].layout.shard = 0;
  std::swap(index.shards[0].role, index.shards[1].role);
  CHECK(refused().says("not the last ones"));
}

TEST_CASE("a checkpoint is published as long as the index of each link can be read and has its id") {
  cairn::any_store store = cairn::stores::memory();
  const auto put = [&](const std::string& name, std::uint64_t step,
                       std::optional<cairn::detail::checkpoint_ref> parent) {
    cairn::detail::checkpoint_index index;
    index.info.step = step;
    index.id = step + 10;
    index.parent = std::move(parent);
    sample::put(store, name, {{std::string(cairn::detail::index_file), cairn::detail::write_index(index)}});
  };
  const cairn::detail::checkpoint_ref first{"a", 11}, second{"b", 12}, third{"c", 13};
  CHECK_FALSE(cairn::detail::has_whole_chain(store, first));
  put("a", 1, {});
  CHECK(cairn::detail::has_whole_chain(store, first));
  CHECK_FALSE(cairn::detail::has_whole_chain(store, {"a", 12}));
  put("b", 2, first);
  put("c", 3, second);
  CHECK(cairn::detail::has_whole_chain(store, third));
  put("a", 0, {});  // has another id
  CHECK_FALSE(cairn::detail::has_whole_chain(store, third));
  put("a", 1, third);  // a circle
  CHECK_FALSE(cairn::detail::has_whole_chain(store, third));
  sample::put(store, "a", {{std::string(cairn::detail::index_file), "damaged"}});
  CHECK_FALSE(cairn::detail::has_whole_chain(store, third));
  store.remove("a");
  CHECK_FALSE(cairn::detail::has_whole_chain(store, third));
}
