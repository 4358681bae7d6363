#include "cairn/store/stored_checkpoint.hpp"

#include <random>

#include "cairn/store/memory.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/core/checksum.hpp"
#include "catch.hpp"
#include "gate.hpp"
#include "store/sample.hpp"

namespace {

using files = std::map<std::string, std::string>;

struct written {
  cairn::any_store store = cairn::stores::memory();
  files all;

  explicit written(std::size_t shards = 2, std::uint64_t step = 3, std::string_view path = "layer.w") {
    std::mt19937_64 random(1);
    sample::leaves leaves;
    leaves.add(std::string(path), cairn::dtype::f32, {100, 7}, random);
    leaves.add("layer.b", cairn::dtype::f16, {33}, random);
    cairn::detail::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards =
        cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves.list, shards));
    spec.info.step = step;
    spec.structures.resize(shards);
    for (auto& structure : spec.structures)
      structure["layers"] = {cairn::detail::structure::mapped_type::kind::size, 2, {}, {}};
    cairn::detail::write_checkpoint(store, "c", spec);
    for (const auto& file : store.files("c")) all[file] = sample::get(store, "c", file);
  }
};

/// The shard's header with its JSON text edited and its length put right.
std::string with_header(const std::string& shard, std::string_view from, std::string_view to) {
  std::uint64_t length = 0;
  std::memcpy(&length, shard.data(), 8);
  auto header = shard.substr(8, length);
  const auto data = shard.substr(8 + length);
  header.replace(header.find(from), from.size(), to);
  length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + data;
}

/// What opening says of a checkpoint of these files; its index is made to vouch for them when `vouch`.
sample::failure opening(files all, bool vouch) {
  if (vouch) {
    auto index = cairn::detail::parse_index(all.at("index.json"), "index");
    for (auto& shard : index.shards) {
      const auto& text = all.at(shard.file);
      std::uint64_t length = 0;
      std::memcpy(&length, text.data(), 8);
      shard.bytes = text.size();
      shard.header_checksum = cairn::detail::checksum(sample::bytes_of(text).first(8 + length));
    }
    all["index.json"] = cairn::detail::write_index(index);
  }
  cairn::any_store store = cairn::stores::memory();
  sample::put(store, "c", {all.begin(), all.end()});
  return sample::failure_of([&] { static_cast<void>(cairn::detail::open_checkpoint(store, "c")); });
}

const std::string shard_0 = cairn::detail::shard_file(0, 2), shard_1 = cairn::detail::shard_file(1, 2);

}  // namespace

TEST_CASE("slices cover their leaves, whatever the division") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const auto leaves = sample::random_leaves(random, 12, 500);
    cairn::detail::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 5 + 1));
    std::shuffle(spec.shards.begin(), spec.shards.end(), random);
    cairn::any_store store = cairn::stores::memory();
    cairn::detail::write_checkpoint(store, "c", spec);
    const auto opened = cairn::detail::open_checkpoint(store, "c");
    REQUIRE(opened.leaves.size() == leaves.list.size());
    for (std::size_t i = 0; i < opened.leaves.size(); ++i) {
      const auto& stored = opened.leaves[i];
      const auto leaf =
          std::find_if(leaves.list.begin(), leaves.list.end(), [&](const auto& l) { return l.path == stored.path; });
      REQUIRE(leaf != leaves.list.end());
      CHECK(stored.type == leaf->type);
      CHECK(stored.shape == leaf->shape);
      std::uint64_t covered = 0;
      for (const auto& slice : opened.slices_of(i)) {
        CHECK(slice.first == covered);
        covered += slice.count;
      }
      CHECK(covered == leaf->count());
    }
  }
}

TEST_CASE("the untouched checkpoint opens, also under a new signature") {
  CHECK(opening(written().all, false).sentence.empty());
  CHECK(opening(written().all, true).sentence.empty());
}

TEST_CASE("files that do not belong together are refused") {
  const auto expect = [](files all, bool vouch, std::string_view file, std::string_view cause) {
    INFO(cause);
    const auto failure = opening(std::move(all), vouch);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("memory/c/" + std::string(file)));
    CHECK(failure.says(cause));
  };
  const auto good = written().all;
  const auto change = [&](const std::string& file, auto action) {
    auto all = good;
    action(all[file]);
    return all;
  };
  expect(change(shard_0, [](auto& text) { text.pop_back(); }), false, shard_0, "its index says");
  expect(change(shard_0, [](auto& text) { text += 'x'; }), false, shard_0, "its index says");
  expect(change(shard_1, [](auto& text) { text[20] ^= 1; }), false, shard_1, "header does not match its checksum");
  expect(change(shard_1, [](auto& text) { text[7] = '\1'; }), false, shard_1, "header does not match its checksum");
  expect(change(shard_0, [](auto& text) { text += 'x'; }), true, shard_0, "end at byte");
  {
    auto all = good;
    all.erase(shard_1);
    expect(all, false, shard_1, "not there");
  }
  {
    auto all = good;
    all[shard_1] = written(2, 4).all[shard_1];
    expect(all, true, shard_1, "another step");
    all[shard_1] = written(2, 3, "other.w").all[shard_1];
    expect(all, true, shard_1, "which the index does not have there");
    all[shard_1] = good.at(shard_0);
    expect(all, true, shard_1, "which the index does not have there");
  }
  expect(change(shard_1, [](auto& t) { t = with_header(t, R"(\"shape\":[100,7])", R"(\"shape\":[7,100])"); }), true,
         shard_0, "disagree about its dtype or shape");
  expect(change(shard_1, [](auto& t) { t = with_header(t, R"({\"size\":2})", R"({\"size\":3})"); }), true, shard_1,
         "disagree about the structure at \"layers\"");
  expect(change(shard_1, [](auto& t) { t = with_header(t, "cairn.format", "other.format"); }), true, shard_1,
         "no cairn metadata");
  {
    auto all = good;
    auto index = cairn::detail::parse_index(all["index.json"], "index");
    index.weight_map["more"] = shard_0;
    all["index.json"] = cairn::detail::write_index(index);
    expect(all, false, "index.json", "no shard holds");
  }
}

TEST_CASE("slices with holes and overlaps are refused") {
  const auto good = written().all;
  const auto at = good.at(shard_1).find(R"(\"first\":)") + 10;
  const auto first = std::stoul(good.at(shard_1).substr(at));
  for (const auto& [moved, cause] : {std::pair{first + 1, "hole"}, std::pair{first - 1, "overlap"}}) {
    auto all = good;
    const auto from = R"(\"first\":)" + std::to_string(first), to = R"(\"first\":)" + std::to_string(moved);
    auto& text = all[shard_1];
    text = with_header(text, from, to);
    if (std::string_view(cause) == "hole")  // keep the slice inside its leaf
      text = with_header(text, R"(\"shape\":[100,7])", R"(\"shape\":[100,9])"),
      all[shard_0] = with_header(all[shard_0], R"(\"shape\":[100,7])", R"(\"shape\":[100,9])");
    const auto failure = opening(all, true);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says(cause));
    CHECK(failure.says("layer.w"));
  }
  auto all = good;
  for (const auto& shard : {shard_0, shard_1})
    all[shard] = with_header(all[shard], R"(\"shape\":[100,7])", R"(\"shape\":[100,9])");
  CHECK(opening(all, true).says("of the 900 elements of \"layer.w\" only 700 are there"));
}

TEST_CASE("a tensor that appears twice is refused") {
  for (const auto& [extent, bytes] : {std::pair("4", 8), std::pair("0", 0)}) {
    const auto tensor = [&](int begin, int end) {
      return R"("a":{"dtype":"U8","shape":[)" + std::string(extent) + R"(],"data_offsets":[)" + std::to_string(begin) +
             "," + std::to_string(end) + "]}";
    };
    const auto header = "{" + tensor(0, bytes / 2) + "," + tensor(bytes / 2, bytes) + "}";
    const auto text = with_header(
        std::string("\2\0\0\0\0\0\0\0{}", 10) + std::string(static_cast<unsigned>(bytes), 'x'), "{}", header);
    cairn::any_store store = cairn::stores::memory();
    sample::put(store, "c", {{"file", text}});
    const auto failure =
        sample::failure_of([&] { static_cast<void>(cairn::detail::open_checkpoint(store.open("c", "file"), "c")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("the key \"a\" appears twice"));
  }
}

TEST_CASE("one shard of several does not pass for the whole") {
  const auto all = written().all;
  cairn::any_store store = cairn::stores::memory();
  sample::put(store, "c", {{"index.json", all.at(shard_0)}});
  const auto failure = sample::failure_of(
      [&] { static_cast<void>(cairn::detail::open_checkpoint(store.open("c", "index.json"), "x/shard")); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says("x/shard"));
}

TEST_CASE("a checkpoint that is replaced while it is opened is the older one or the newer one") {
  for (const std::size_t times : {1U, 3U, 1000U}) {
    tests::gated_store store;
    std::uint64_t replaced = 0;
    const auto replace = [&] {
      const auto other = written(1 + replaced % 3, 3 + replaced);
      sample::put(store.inner, "c", {other.all.begin(), other.all.end()});
      ++replaced;
    };
    replace();
    store.opened = [&](std::string_view, std::string_view file) {
      if (file == cairn::detail::index_file && replaced <= times) replace();
    };
    const cairn::any_store hooked = store;
    if (times < 10) {
      const auto opened = cairn::detail::open_checkpoint(hooked, "c");
      CHECK(opened.index.info.step == 2 + replaced);
      CHECK(opened.shards.size() == opened.index.shards.size());
    } else {  // there is an end to it
      const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::open_checkpoint(hooked, "c")); });
      CHECK(failure.code == cairn::errc::corrupt);
    }
  }
}
