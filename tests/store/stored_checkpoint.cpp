// SPDX-License-Identifier: MIT
#include "cairn/store/stored_checkpoint.hpp"

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "cairn/core/checksum.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/reader.hpp"
#include "catch.hpp"
#include "gate.hpp"
#include "hooked_store.hpp"
#include "store/sample.hpp"
#include "write_checkpoint.hpp"

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
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards =
        cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves.list, shards));
    spec.info.step = step;
    spec.structure["layers"] = {cairn::detail::structure::mapped_type::kind::size, 2, {}, {}};
    sample::write_checkpoint(store, "c", spec);
    for (const auto& file : store.open("c")->files()) all[file] = sample::get(store, "c", file);
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

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The index with the sizes and checksums that the shards have now.
std::string vouching(const files& all) {
  const auto with_checksum = [](std::string index) {
    return index.replace(cairn::detail::index_opening.size(), 16,
                         cairn::detail::to_hex(cairn::detail::index_checksum(index)));
  };
  auto text = with_checksum(all.at("index.json"));
  for (const auto& shard : cairn::detail::parse_index(text, "index").shards) {
    const auto at = all.find(shard.file);
    if (at == all.end()) continue;
    const auto& bytes = at->second;
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    const auto entry = [&](std::uint64_t size, std::uint64_t checksum) {
      return "\"" + shard.file + "\",\"bytes\":" + std::to_string(size) + ",\"header_xxh3\":\"" +
             cairn::detail::to_hex(checksum);
    };
    text = replaced(text, entry(shard.bytes, shard.header_checksum),
                    entry(bytes.size(), cairn::detail::checksum(sample::bytes_of(bytes).first(8 + length))));
  }
  return with_checksum(text);
}

/// What opening a checkpoint of these files, and then its leaves, says; its index is made to vouch for them when
/// `vouch`.
sample::failure opening(files all, bool vouch) {
  if (vouch) all["index.json"] = vouching(all);
  cairn::any_store store = cairn::stores::memory();
  sample::put(store, "c", {all.begin(), all.end()});
  return sample::failure_of([&] {
    const auto opened = cairn::detail::open_checkpoint(store, "c");
    for (std::size_t i = 0; i < opened.contents.leaves.size(); ++i) static_cast<void>(opened.slices_of(i));
  });
}

const std::string shard_0 = cairn::detail::shard_file(0, 2), shard_1 = cairn::detail::shard_file(1, 2);

}  // namespace

TEST_CASE("slices cover their leaves, whatever the division") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const auto leaves = sample::random_leaves(random, 12, 500);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 5 + 1));
    std::shuffle(spec.shards.begin(), spec.shards.end(), random);
    cairn::any_store store = cairn::stores::memory();
    sample::write_checkpoint(store, "c", spec);
    const auto opened = cairn::detail::open_checkpoint(store, "c");
    REQUIRE(opened.contents.leaves.size() == leaves.list.size());
    for (std::size_t i = 0; i < opened.contents.leaves.size(); ++i) {
      const auto& stored = opened.contents.leaves[i];
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
    expect(all, true, shard_1, "which the index has there");
    all[shard_1] = good.at(shard_0);
    expect(all, true, shard_1, "which the index has there");
  }
  const auto index_says = [&](std::string_view from, std::string_view to) {
    return change("index.json", [&](auto& text) { text = replaced(text, from, to); });
  };
  expect(index_says(R"("dtype":"F32")", R"("dtype":"I32")"), true, "shard-0000", "another dtype or shape");
  expect(index_says(R"("shape":[33])", R"("shape":[34])"), true, "shard-0000", "another dtype or shape");
  expect(change(shard_1, [](auto& t) { t = with_header(t, "cairn.format", "other.format"); }), true, shard_1,
         "no cairn metadata");
}

TEST_CASE("a shard does not have another encoding than its index says") {
  std::mt19937_64 random(3);
  sample::leaves leaves;
  leaves.add("w", cairn::dtype::f32, {10}, random);
  const std::vector<std::byte> payload(9);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  spec.parent = cairn::detail::checkpoint_ref{"step-000000001", 7};
  const cairn::detail::encoding_info how{"mine", cairn::dtype::f32, {10}, true, {}};
  spec.shards = {{{{0, 0, 10}, payload, &how}}};
  cairn::any_store store = cairn::stores::memory();
  sample::write_checkpoint(store, "c", spec);
  files all;
  for (const auto& file : store.open("c")->files()) all[file] = sample::get(store, "c", file);
  CHECK(opening(all, true).sentence.empty());
  auto forged = all;
  forged["index.json"] = replaced(all["index.json"], R"(,"relative":1)", "");
  const auto failure = opening(forged, true);
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says("another encoding than the index"));
}

TEST_CASE("the slices in a single file cover their leaf, without holes and overlaps") {
  std::mt19937_64 random(4);
  sample::leaves leaves;
  leaves.add("w", cairn::dtype::f32, {50, 20}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  spec.shards = {{{{0, 0, 400}}, {{0, 400, 600}}}};
  cairn::any_store store = cairn::stores::memory();
  sample::write_checkpoint(store, "c", spec);
  const auto good = sample::get(store, "c", cairn::detail::shard_file(0, 1));
  const auto opening_file = [&](const std::string& text) {
    sample::put(store, "c", {{"file", text}});
    return sample::failure_of([&] {
      const auto opened = cairn::detail::open_checkpoint(store.open("c")->open("file"), "x/file");
      CHECK(opened.slices_of(0).size() == 2);
    });
  };
  CHECK(opening_file(good).sentence.empty());
  const auto moved = [](std::string text, const std::string& first) {
    const std::string key = "w[400:1000]", other = "w[" + first + ":" + std::to_string(std::stoul(first) + 600) + "]";
    text = with_header(text, R"(\"first\":400)", R"(\"first\":)" + first);
    text = with_header(text, '"' + key + "\\\"", '"' + other + "\\\"");  // in cairn.slices
    return with_header(text, '"' + key + "\":{\"dtype", '"' + other + "\":{\"dtype");
  };
  const auto with_shape = [](std::string text, std::string_view first, std::string_view second) {
    constexpr std::string_view shape = R"("shape\":[50,20])", mark = R"("shape\":[@])";
    text = with_header(with_header(text, shape, mark), shape, second);
    return with_header(text, mark, first);
  };
  constexpr std::string_view wider = R"("shape\":[50,30])", turned = R"("shape\":[20,50])",
                             same = R"("shape\":[50,20])";
  for (const auto& [text, cause] :
       {std::pair{moved(with_shape(good, wider, wider), "401"), "has a hole at element 400"},
        {with_shape(good, wider, wider), "has a hole at element 1000"},
        {moved(good, "399"), "overlap"},
        {with_shape(good, same, turned), "disagree about its dtype or shape"},
        {with_header(good, R"(\"first\":400)", R"(\"first\":399)"), "is not the key of the slice"}}) {
    INFO(cause);
    const auto failure = opening_file(text);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("x/file"));
    CHECK(failure.says(cause));
  }
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
    const auto failure = sample::failure_of(
        [&] { static_cast<void>(cairn::detail::open_checkpoint(store.open("c")->open("file"), "c")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("the key \"a\" appears twice"));
  }
}

TEST_CASE("a file that is opened again when it is needed says how much one call should read") {
  struct bucket_file final : cairn::stores::source {
    [[nodiscard]] std::uint64_t size() const override { return 7; }
    [[nodiscard]] std::uint64_t preferred_read() const noexcept override { return std::uint64_t{8} << 20U; }
    void read(std::uint64_t /*offset*/, std::span<const std::span<std::byte>> /*into*/) const override {}
  };
  const cairn::detail::pooled_file file(std::make_shared<cairn::detail::file_pool>(),
                                        [] { return std::make_unique<bucket_file>(); });
  CHECK(file.preferred_read() == std::uint64_t{8} << 20U);
}

TEST_CASE("one shard of several does not pass for the whole") {
  const auto all = written().all;
  cairn::any_store store = cairn::stores::memory();
  sample::put(store, "c", {{"index.json", all.at(shard_0)}});
  const auto failure = sample::failure_of(
      [&] { static_cast<void>(cairn::detail::open_checkpoint(store.open("c")->open("index.json"), "x/shard")); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says("x/shard"));
}

TEST_CASE("the file of a shard that is opened again is of the same publication, or an error") {
  const bool is_in_memory = GENERATE(true, false);
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::memory();
  if (!is_in_memory) store = cairn::stores::directory(scratch.path(), {.durable = false});
  const auto save = [&](const std::string& name, float with) {
    std::vector<float> values(60, with);
    std::vector<cairn::detail::leaf> leaves(1);
    leaves[0].path = "x";
    leaves[0].type = cairn::dtype::f32;
    leaves[0].shape = {60};
    leaves[0].memory = reinterpret_cast<std::byte*>(values.data());
    sample::checkpoint_spec spec;
    spec.leaves = leaves;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves, 3));
    sample::write_checkpoint(store, name, spec);
  };
  save("c", 1);
  save("other", 2);
  const auto pool = std::make_shared<cairn::detail::file_pool>(1);
  const auto opened = cairn::detail::open_checkpoint(store, "c", pool);
  const auto first = [&](std::size_t shard) {
    const auto& from = opened.shards[shard];
    float value = 0;
    from.file->read(from.header.data_start, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  };
  for (const std::size_t shard : {0U, 1U, 2U, 1U, 0U}) CHECK(first(shard) == 1);
  const auto files_of = [&](const std::string& of) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& file : store.open(of)->files()) files.emplace_back(file, sample::get(store, of, file));
    return files;
  };
  const auto of_other = files_of("other");
  sample::put(store, "c", of_other);
  CHECK(first(0) == 1);  // it is open
  if (is_in_memory) {
    CHECK(first(1) == 1);
    return;
  }
  CHECK(sample::failure_of([&] { first(1); }).code == cairn::errc::not_found);
  CHECK(sample::failure_of([&] { static_cast<void>(opened.shards[2]); }).sentence.empty());  // its header was read
  const auto of_c = cairn::detail::open_checkpoint(store, "c", pool);
  std::filesystem::remove(scratch.path("c~2/" + cairn::detail::shard_file(1, 3)));
  const auto missing = sample::failure_of([&] { static_cast<void>(of_c.shards[1]); });
  CHECK(missing.code == cairn::errc::corrupt);
  CHECK(missing.says(scratch.path("c~2/" + cairn::detail::shard_file(1, 3)) + ": the index names it"));
}

TEST_CASE("a publication that is removed between its opening and the reading of its index is looked for again") {
  const cairn::any_store base = cairn::stores::memory();
  cairn::save(base, "a", std::vector<float>(10, 1.5F));
  int left = 1;
  const hooked_store hooked{base, {.before_open = [&](std::string_view, std::string_view) {
                              if (left-- > 0) cairn::fail(cairn::errc::not_found, {"it is gone"});
                            }}};
  CHECK(cairn::detail::open_checkpoint(hooked, "a").index.shards.size() == 1);
  left = 1000;
  CHECK_THROWS_WITH(cairn::detail::open_checkpoint(hooked, "a"), Catch::Matchers::ContainsSubstring("it is gone"));
}

TEST_CASE("a rank opens the checkpoint whose index another one has read, also when it is published again") {
  cairn::any_store store = cairn::stores::memory();
  cairn::save(store, "a", std::vector<float>(1000, 0.5F), {.step = 7, .metadata = {{"text", "7\nline\n\"12"}}});
  cairn::save(store, "b", std::vector<float>(3));
  cairn::detail::index_texts read;
  for (const auto* name : {"a", "b"})
    CHECK(!cairn::detail::open_checkpoint(store, name, {}, &read).contents.leaves.empty());
  CHECK(read.at("b") == sample::get(store, "b", "index.json"));
  cairn::save(store, "a", std::vector<float>(10), {.step = 8});
  const auto same = cairn::detail::open_checkpoint(store, "a", {}, &read);
  const auto other = cairn::detail::open_checkpoint(store, "a");
  CHECK(same.index.info.step == 7);
  CHECK(same.contents.leaves[0].shape == cairn::extents{1000});
  CHECK(same.is_outdated(store));
  CHECK(other.index.info.step == 8);
  CHECK_FALSE(other.is_outdated(store));
}

using namespace cairn::detail;

namespace {

struct counted_shards {
  std::atomic<int> opened{0};
  std::atomic<bool> fails{false};

  [[nodiscard]] shard_list list(std::size_t count) {
    return {count, [this](std::size_t number) {
              ++opened;
              if (fails) cairn::fail(cairn::errc::io, {"not now"});
              return stored_shard{nullptr, std::to_string(number), {}, {}, {}, {}};
            }};
  }
};

}  // namespace

using namespace cairn::detail;

namespace {

/// Files whose bytes are their numbers.
struct counted_files {
  std::atomic<int> opened{0}, open{0}, most_open{0};
  std::atomic<bool> fails{false};

  struct file final : cairn::stores::source {
    file(counted_files& all, std::byte with) : of(all), byte(with) {
      const int now = ++of.open;
      for (int most = of.most_open; most < now && !of.most_open.compare_exchange_weak(most, now);) continue;
    }
    ~file() override { --of.open; }
    [[nodiscard]] std::uint64_t size() const override { return 10; }
    void read(std::uint64_t, std::span<const std::span<std::byte>> into) const override {
      for (const auto& each : into) std::fill(each.begin(), each.end(), byte);
    }
    counted_files& of;
    std::byte byte;
  };

  std::unique_ptr<pooled_file> make(const std::shared_ptr<file_pool>& pool, unsigned number) {
    return std::make_unique<pooled_file>(pool, [this, number] {
      ++opened;
      if (fails) cairn::fail(cairn::errc::io, {"not now"});
      return std::make_unique<file>(*this, static_cast<std::byte>(number));
    });
  }
};

unsigned first_byte(const cairn::stores::source& file) {
  std::byte byte{255};
  file.read(0, std::span(&byte, 1));
  return static_cast<unsigned>(byte);
}

}  // namespace

TEST_CASE("a pool keeps as many files open as it may, and opens the others again") {
  counted_files files;
  const auto pool = std::make_shared<file_pool>(3);
  std::vector<std::unique_ptr<pooled_file>> all;
  for (unsigned i = 0; i < 10; ++i) {
    all.push_back(files.make(pool, i));
    CHECK(all.back()->size() == 10);
  }
  CHECK(files.open == 3);
  for (const unsigned i : {7U, 8U, 9U, 7U}) CHECK(first_byte(*all[i]) == i);
  CHECK(files.opened == 10);
  for (const unsigned i : {0U, 7U, 9U, 1U, 7U, 9U}) CHECK(first_byte(*all[i]) == i);  // 8, then 0 are closed
  CHECK(files.most_open == 3);
  all.erase(all.begin() + 7);
  CHECK(files.open == 2);
  all.clear();
  CHECK(files.open == 0);
}

TEST_CASE("a file that cannot be opened takes no place, and is tried again") {
  counted_files files;
  const auto pool = std::make_shared<file_pool>(1);
  const auto a = files.make(pool, 1);
  files.fails = true;
  CHECK(sample::failure_of([&] { files.make(pool, 2); }).code == cairn::errc::io);
  CHECK(sample::failure_of([&] { first_byte(*a); }).code == cairn::errc::io);
  files.fails = false;
  CHECK(first_byte(*a) == 1);
  CHECK(files.open == 1);
}

TEST_CASE("many threads read files of one pool") {
  counted_files files;
  const auto pool = std::make_shared<file_pool>(2);
  std::vector<std::unique_ptr<pooled_file>> all;
  for (unsigned i = 0; i < 20; ++i) all.push_back(files.make(pool, i));
  constexpr unsigned threads = 8;
  std::vector<std::jthread> readers;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < threads; ++t)
    readers.emplace_back([&, t] {
      for (unsigned n = 0; n < 500; ++n)
        if (const auto i = (n * (t + 1) + t) % 20; first_byte(*all[i]) != i) ++wrong;
    });
  readers.clear();
  CHECK(wrong == 0);
  CHECK(files.most_open <= static_cast<int>(threads) + 2);
  CHECK(first_byte(*all[0]) == 0);
  CHECK(first_byte(*all[1]) == 1);
  CHECK(files.open == 2);
}

TEST_CASE("a pool takes a part of what the process may open") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto with_limit = [&](rlim_t files) {
    const rlimit few{files, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    return file_pool().most();
  };
  const auto of_few = with_limit(64), of_none = with_limit(3);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(of_few == 16);
  CHECK(of_none == 1);
  CHECK(file_pool().most() <= 128);
  CHECK(file_pool(0).most() == 1);
}
