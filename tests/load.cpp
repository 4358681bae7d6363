// SPDX-License-Identifier: MIT
#include "cairn/load.hpp"

#include "cairn/checkpointer.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "trainer.hpp"
#include "in_scratch.hpp"

namespace fs = std::filesystem;
using cairn::errc;
using tests::in_scratch;

namespace {

using names = std::vector<std::string>;

cairn::reshaping resize(std::string_view /*path*/) { return cairn::reshaping::resize; }

/// A safetensors file: `header` as it stands, and the data after it.
std::string safetensors(const std::string& header, const std::string& data = {}) {
  std::string text(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(text.data(), &length, 8);
  return text + header + data;
}

std::string entry(const std::string& key, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + key + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct two_arrays {
  std::vector<float> a;
  std::vector<float> b;

  friend bool operator==(const two_arrays&, const two_arrays&) = default;
};

/// Where a vector's elements are and how many, and what they are.
struct snapshot {
  explicit snapshot(const tests::trainer& state) : of(&state), copy(state), places(places_of(state)) {}

  [[nodiscard]] bool holds() const { return *of == copy && places_of(*of) == places; }

 private:
  static std::vector<const void*> places_of(const tests::trainer& state) {
    return {state.model.weight.data(), state.model.bias.data(), state.momentum.data(), state.note.data()};
  }

  const tests::trainer* of;
  tests::trainer copy;
  std::vector<const void*> places;
};

/// The files of a checkpoint.
struct checkpoint_files {
  std::string path;
  std::vector<std::pair<std::string, std::string>> files;

  explicit checkpoint_files(std::string directory) : path(std::move(directory)) {
    for (const auto& file : fs::directory_iterator(path)) files.emplace_back(file.path(), sample::slurp(file.path()));
  }
};

struct hostile {
  std::string cause;
  std::string text;
};

std::string nested(const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += open;
  text += "1";
  for (int i = 0; i < 10'000; ++i) text += close;
  return text;
}

/// Headers that no writer makes, with data of 16 bytes, and what is to be said of them.
std::vector<hostile> hostile_headers() {
  const std::string terabyte = "1099511627776";
  const auto whole = [](const std::string& inside) { return "{" + inside + "}"; };
  const auto a = entry("a", "F32", "2", "0,8"), b = entry("b", "F32", "2", "8,16");
  return {
      {"claims bytes", whole(entry("a", "U8", terabyte, "0," + terabyte))},
      {"claims bytes", whole(a + "," + entry("b", "F32", "2", "8," + terabyte))},
      {"more than 2^64 bytes", whole(entry("a", "F32", terabyte + "," + terabyte, "0,16"))},
      {"its shape needs", whole(entry("a", "F32", terabyte, "0,16"))},
      {"does not begin with", std::string(10'000, '[')},
      {"malformed JSON", "{\"a\":" + std::string(10'000, '{')},
      {"is not an object", "{\"a\":" + nested("[", "]") + "}"},
      {"unknown field", "{\"a\":{\"x\":" + nested("[", "]") + "}}"},
      {"unknown field", nested("{\"a\":", "}")},
      {"is not an integer", "{\"a\":{\"shape\":" + nested("[", "]") + "}}"},
      {"not a string", "{\"__metadata__\":" + nested("{\"a\":", "}") + "}"},
      {"twice", whole(R"("a":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]},)" + b)},
      {"twice", whole(R"("__metadata__":{"k":"1","k":"2"},)" + a + "," + b)},
      {"hole", whole(entry("a", "F32", "1", "0,4") + "," + b)},
      {"hole", whole(entry("a", "F32", "2", "4,12") + "," + entry("b", "F32", "1", "12,16"))},
      {"overlaps", whole(a + "," + entry("b", "F32", "3", "4,16"))},
      {"overlaps", whole(entry("a", "F32", "4", "0,16") + "," + entry("b", "F32", "4", "0,16"))},
      {"end at byte 8", whole(a)},
      {"claims bytes", whole(a + "," + entry("b", "F32", "2", "16,8"))},
      {"unknown dtype", whole(entry("a", "F33", "2", "0,8") + "," + b)},
      {"lacks \"data_offsets\"", whole(R"("a":{"dtype":"F32","shape":[2]},)" + b)},
      {"is not an integer", whole(entry("a", "F32", "-2", "0,8") + "," + b)},
      {"is not an integer", whole(entry("a", "F32", "2", "0,1e1") + "," + b)},
      {"", whole(a + "," + b) + "trailing"},
      {"", "{" + a},
      {"", "null"},
      {"", ""},
      {"", std::string("\xff\xfe\0", 3)},
  };
}

/// Publishes a checkpoint of one shard with this header, all its checksums right.
void forge(const std::string& path, std::string header, const std::string& data) {
  const auto shard = safetensors(header, data);
  cairn::detail::checkpoint_index index;
  index.info.step = 9;
  index.total_size = data.size();
  index.leaves = {{"a", cairn::dtype::f32, {2}}, {"b", cairn::dtype::f32, {2}}};
  index.storage.resize(2);
  const auto file = cairn::detail::shard_file(0, 1);
  index.shards.push_back(
      {file, shard.size(),
       cairn::detail::checksum(sample::bytes_of(std::string_view(shard).substr(0, 8 + header.size()))), ""});
  fs::create_directories(path);
  sample::spill(path + "/" + file, shard);
  sample::spill(path + "/index.json", cairn::detail::write_index(index));
}

TEST_CASE_METHOD(in_scratch, "the report of a load") {
  struct larger {
    std::vector<cairn::float16> a{cairn::float16(1), cairn::float16(2)};
    std::vector<float> b{3, 4, 5};
    std::vector<float> gone{6};
    int step = 7;
  };
  struct smaller {
    std::vector<float> a{0, 0};
    std::vector<float> b;
    int step = 0;
    double rate = 0.5;
  };
  cairn::save(scratch.path("once"), larger{}, {.step = 12, .metrics = {{"loss", 0.25}}});
  smaller fresh;
  const auto report =
      cairn::load(scratch.path("once"), fresh, {.strict = false, .convert = cairn::conversion::widening});
  CHECK(fresh.a == std::vector<float>{1, 2});
  CHECK(fresh.b == std::vector<float>{3, 4, 5});
  CHECK(fresh.step == 7);
  CHECK(fresh.rate == 0.5);
  CHECK(report.path == scratch.path("once"));
  CHECK(report.step == 12);
  CHECK(report.metrics == std::map<std::string, double>{{"loss", 0.25}});
  CHECK(report.loaded == names{"a", "b", "step"});
  CHECK(report.missing == names{"rate"});
  CHECK(report.unexpected == names{"gone"});
  CHECK(report.converted == names{"a"});
  CHECK(report.resized.empty());  // b was empty
  CHECK(report.skipped.empty());
  CHECK(report.bytes == 2 * 4 + 3 * 4 + sizeof(int));
  CHECK(report.seconds > 0);
}

TEST_CASE_METHOD(in_scratch, "rename, filter and conversion through real files, of one shard and of three") {
  struct before {
    struct inner {
      std::vector<double> weight{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
      std::vector<double> bias{11};
    } model;
    std::vector<std::int64_t> ids{1, -2, 3};
  };
  struct after {
    struct inner {
      std::vector<float> weight;
      std::vector<float> bias{99};
    } net;
    std::vector<std::int8_t> ids;
  };
  for (const std::size_t shards : {1U, 3U}) {
    cairn::save(scratch.path("once"), before{}, {.durable = false, .shards = shards});
    after fresh;
    const cairn::load_options how{.rename =
                                      [](std::string_view path) {
                                        return path.starts_with("net") ? "model" + std::string(path.substr(3))
                                                                       : std::string(path);
                                      },
                                  .filter = [](std::string_view path) { return path != "model.bias"; },
                                  .convert = cairn::conversion::any};
    const auto report = cairn::load(scratch.path("once"), fresh, how);
    CHECK(fresh.net.weight == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(fresh.net.bias == std::vector<float>{99});
    CHECK(fresh.ids == std::vector<std::int8_t>{1, -2, 3});
    CHECK(report.loaded == names{"model.weight", "ids"});
    CHECK(report.converted == report.loaded);
  }
  auto unfit = before{};
  unfit.ids.back() = 300;
  cairn::save(scratch.path("once"), unfit);
  after fresh;
  const auto failure = sample::failure_of(
      [&] { cairn::load(scratch.path("once"), fresh, {.strict = false, .convert = cairn::conversion::any}); });
  CHECK(failure.code == errc::mismatch);
  CHECK(failure.says(scratch.path("once")));
  CHECK(failure.says("values that do not fit into I8"));
  CHECK(fresh.ids.empty());
}

TEST_CASE("an embedding table that has more rows, or fewer, through real files of one shard and of three") {
  struct embedding {
    std::vector<std::array<float, 3>> rows;
    std::array<std::array<double, 2>, 2> fixed{};
    int step = 0;
  };
  struct grown {
    std::vector<std::array<float, 3>> rows;
    std::array<std::array<double, 3>, 4> fixed{};
    int step = 0;
  };
  const auto reshape = [](cairn::reshaping how) { return [how](std::string_view) { return how; }; };
  const sample::scratch scratch;
  for (const std::size_t shards : {1U, 3U}) {
    const std::string path = scratch.path("table" + std::to_string(shards));
    embedding small;
    for (std::size_t i = 0; i < 200; ++i) small.rows.push_back({static_cast<float>(i), 1, 2});
    small.fixed = {{{1, 2}, {3, 4}}};
    small.step = 7;
    cairn::save(path, small, {.shards = shards});
    grown large{std::vector<std::array<float, 3>>(300, {9, 9, 9}), {}, 0};
    large.fixed.fill({9, 9, 9});
    const auto report = cairn::load(path, large, {.reshape = reshape(cairn::reshaping::grow)});
    CHECK(report.reshaped == names{"rows", "fixed"});
    CHECK(report.resized.empty());
    CHECK(large.step == 7);
    CHECK(large.fixed == std::array<std::array<double, 3>, 4>{{{1, 2, 9}, {3, 4, 9}, {9, 9, 9}, {9, 9, 9}}});
    for (std::size_t i = 0; i < 300; ++i)
      CHECK(large.rows[i] == (i < 200 ? small.rows[i] : std::array<float, 3>{9, 9, 9}));
    cairn::save(path + "-grown", large, {.shards = shards});
    embedding cropped{std::vector<std::array<float, 3>>(50), {}, 0};
    cairn::load(path + "-grown", cropped, {.reshape = reshape(cairn::reshaping::any)});
    CHECK(cropped.rows == std::vector<std::array<float, 3>>(small.rows.begin(), small.rows.begin() + 50));
    CHECK(cropped.fixed == small.fixed);
  }
}

TEST_CASE_METHOD(in_scratch, "a checkpoint by the path of a link, with a slash, a dot, from the inside") {
  cairn::save(scratch.path("a/once"), tests::trained(3));
  fs::create_directory_symlink("once", scratch.path("a/latest"));
  fs::create_directory(scratch.path("a/once/notes"));
  for (const auto* path : {"a/once/", "a/latest", "a/latest/", "a/once/.", "a/once/notes/..", "a/./once", "a"}) {
    INFO(path);
    tests::trainer fresh;
    CHECK_NOTHROW(cairn::load(scratch.path(path), fresh));
    CHECK(fresh == tests::trained(3));
  }
}

TEST_CASE_METHOD(in_scratch, "a lone safetensors file of others") {
  const auto path = scratch.path("model.safetensors");
  const std::vector<float> a{1.5F, -2, 0}, b{7};
  sample::spill(path, safetensors(R"({"__metadata__":{"format":"pt"},)" + entry("b", "F32", "1", "12,16") + "," +
                                      entry("a", "F32", "3", "0,12") + "}",
                                  bytes_of(a) + bytes_of(b)));
  two_arrays fresh;
  const auto report = cairn::load(path, fresh);
  CHECK(fresh == two_arrays{a, b});
  CHECK(report.path == path);
  CHECK(report.step == 0);
  CHECK(report.loaded == names{"a", "b"});

  struct one_array {
    std::vector<double> values;
  } one;
  cairn::load(path, one,
              {.strict = false,
               .rename = [](std::string_view) { return std::string("a"); },
               .convert = cairn::conversion::widening});
  CHECK(one.values == std::vector<double>{1.5, -2, 0});
}

TEST_CASE_METHOD(in_scratch, "one shard of a checkpoint loads as a file of its own") {
  cairn::save(scratch.path("once"), tests::trained(9), {.step = 9});
  tests::trainer fresh;
  const auto report = cairn::load(scratch.path("once/" + cairn::detail::shard_file(0, 1)), fresh);
  CHECK(fresh == tests::trained(9));
  CHECK(report.step == 9);
}

TEST_CASE_METHOD(in_scratch, "of a directory of checkpoints the newest good one is loaded") {
  for (const std::uint64_t step : {8U, 9U, 10U, 11U})
    cairn::save(scratch.path(cairn::detail::checkpoint_name(step)), tests::trained(step), {.step = step});
  fs::create_directories(scratch.path("step-000000099"));
  sample::spill(scratch.path("notes.txt"), "mine");
  tests::trainer fresh;
  CHECK(cairn::load(scratch.path(), fresh).step == 11);

  fs::resize_file(scratch.path("step-000000011/" + cairn::detail::shard_file(0, 1)), 5000);
  fs::remove(scratch.path("step-000000010/" + cairn::detail::shard_file(0, 1)));
  const auto report = cairn::load(scratch.path(), fresh);
  CHECK(report.step == 9);
  CHECK(report.path == scratch.path("step-000000009"));
  CHECK(fresh == tests::trained(9));
  REQUIRE(report.skipped.size() == 2);
  CHECK(report.skipped[0].checkpoint == "step-000000011");
  CHECK_THAT(report.skipped[0].reason, ContainsSubstring("has 5000 bytes, its index says"));
  CHECK(report.skipped[1].checkpoint == "step-000000010");
  CHECK_THAT(report.skipped[1].reason, ContainsSubstring("not there"));
}

TEST_CASE_METHOD(in_scratch, "nothing to load") {
  fs::create_directories(scratch.path("empty"));
  auto state = tests::trained(1);
  const snapshot before(state);
  for (const auto* path : {"nowhere", "empty", ""}) {
    const auto failure = sample::failure_of([&] { cairn::load(scratch.path(path), state); });
    CHECK(failure.code == errc::not_found);
    CHECK(failure.says("there is no checkpoint in " + scratch.path(path)));
  }
  CHECK(before.holds());
}

TEST_CASE("wrong keys, dtypes and shapes: all named in one error, nothing changed, no older checkpoint tried") {
  const sample::scratch scratch;
  struct other {
    std::vector<float> weight{1, 2};
    std::array<float, 3> fixed{1, 2, 3};
    float extra = 1;
  };
  struct mine {
    std::vector<double> weight{8, 9};
    std::array<float, 2> fixed{8, 9};
    int count = 4;
  };
  cairn::save(scratch.path("step-000000001"), mine{}, {.step = 1});
  cairn::save(scratch.path("step-000000002"), other{}, {.step = 2});
  mine state;
  for (const auto* path : {"", "step-000000002", "step-000000002/shard-00000-of-00001.safetensors"}) {
    const auto failure = sample::failure_of([&] { cairn::load(scratch.path(path), state); });
    CHECK(failure.code == errc::mismatch);
    CHECK(failure.says(scratch.path("step-000000002")));
    CHECK(failure.says("weight is F32 in the checkpoint and F64 in the state"));
    CHECK(failure.says("fixed has shape [3] in the checkpoint and [2] in the state"));
    CHECK(failure.says("count is missing in the checkpoint"));
    CHECK(failure.says("extra is in the checkpoint but not in the state"));
  }
  CHECK(state.weight == mine{}.weight);
  CHECK(state.fixed == mine{}.fixed);
  CHECK(state.count == 4);
}

TEST_CASE_METHOD(in_scratch, "every byte of a checkpoint flipped: found, and nothing is changed") {
  const auto good = tests::trained(2, 20);
  cairn::save(scratch.path("step-000000001"), tests::trained(1, 20), {.durable = false, .step = 1});
  cairn::save(scratch.path("step-000000002"), good, {.durable = false, .step = 2, .metrics = {{"loss", 1}}});
  auto state = tests::trained(3, 20);
  const auto other = state;
  const snapshot before(state);
  const checkpoint_files checkpoint(scratch.path("step-000000002"));
  REQUIRE(checkpoint.files.size() == 2);
  std::size_t missed = 0, older = 0;
  for (const auto& [path, text] : checkpoint.files) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&](std::size_t at, int byte) {
      file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte)).flush();
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (at > 0) put(at - 1, text[at - 1]);
      put(at, text[at] ^ (1 << at % 8));
      const auto failure = sample::failure_of([&] { cairn::load(checkpoint.path, state); });
      if (failure.sentence.empty()) {
        ++missed;
        REQUIRE(state == good);
        state = other;
        continue;
      }
      if (failure.code != errc::corrupt || !failure.says(path) || !before.holds()) FAIL(path << " byte " << at);
      if (at % 16 != 0) continue;
      tests::trainer restored;
      const auto report = cairn::load(scratch.path(), restored);
      if (report.step != 1 || report.skipped.size() != 1 || restored != tests::trained(1, 20))
        FAIL("no way back from " << path << " byte " << at);
      ++older;
    }
    put(text.size() - 1, text.back());
  }
  CHECK(missed == 0);
  CHECK(older > 250);
  cairn::load(scratch.path(), state);
  CHECK(state == good);
}

TEST_CASE_METHOD(in_scratch, "without codec rules a shard has the elements as they are") {
  std::vector<float> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 100);  // lossless would shrink them
  cairn::save(scratch.path("once"), values, {.durable = false});
  for (const auto& each : cairn::open(scratch.path("once")).tensors()) CHECK(each.codec.empty());
  const auto text = sample::slurp(scratch.path("once/" + cairn::detail::shard_file(0, 1)));
  const std::string elements(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  CHECK(text.find(elements) != std::string::npos);
}

TEST_CASE_METHOD(in_scratch, "damage in any block is found before anything is changed") {
  const cairn::codec_rules half{{"model.*", cairn::codecs::raw{}}, {"*", cairn::codecs::lossless{}}};
  cairn::save(scratch.path("once"), tests::trained(2, 300'000), {.durable = false, .codecs = half});
  const auto path = scratch.path("once/" + cairn::detail::shard_file(0, 1));
  auto state = tests::trained(3, 10);
  const snapshot before(state);
  const auto text = sample::slurp(path);
  for (std::size_t at = 4100; at < text.size(); at += std::size_t{1} << 20U) {
    auto bad = text;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    sample::spill(path, bad);
    const auto failure = sample::failure_of([&] { cairn::load(scratch.path("once"), state, {.reshape = resize}); });
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says(path));
    CHECK(before.holds());
  }
}

TEST_CASE_METHOD(in_scratch, "with a filter only what is loaded is verified, before anything is changed") {
  struct two_blocks {
    std::vector<char> a = std::vector<char>(std::size_t{1} << 20U, 'a');
    std::vector<char> b = std::vector<char>(std::size_t{1} << 20U, 'b');
    std::string note = "saved";
  };
  cairn::save(scratch.path("once"), two_blocks{}, {.durable = false, .codecs = {{"*", cairn::codecs::raw{}}}});
  const auto path = scratch.path("once/" + cairn::detail::shard_file(0, 1));
  const auto text = sample::slurp(path);
  for (const char damaged : {'a', 'b'}) {
    auto bad = text;
    bad.at(text.find(std::string(100, damaged))) ^= 1;
    sample::spill(path, bad);
    for (const char loaded : {'a', 'b'}) {
      two_blocks state{{'x'}, {'y'}, "old"};
      const auto failure = sample::failure_of([&] {
        const auto only = [&](std::string_view leaf) { return leaf.front() == loaded || leaf == "note"; };
        cairn::load(scratch.path("once"), state, {.filter = only, .reshape = resize});
      });
      CHECK((failure.code == errc::corrupt) == (damaged == loaded));
      CHECK(failure.says(path) == (damaged == loaded));
      CHECK((state.note == "old") == (damaged == loaded));
      CHECK((state.a == two_blocks{}.a) == (damaged != loaded && loaded == 'a'));
      CHECK((state.b == two_blocks{}.b) == (damaged != loaded && loaded == 'b'));
      CHECK((state.a.size() == 1) == (damaged == loaded || loaded == 'b'));
    }
  }
}

TEST_CASE_METHOD(in_scratch, "hostile headers in a lone file: one error with path and cause, nothing changed") {
  const auto path = scratch.path("model.safetensors");
  two_arrays state{{1, 2}, {3}};
  const auto refused = [&](const std::string& text, const std::string& cause) {
    sample::spill(path, text);
    const auto failure = sample::failure_of([&] { cairn::load(path, state, {.strict = false}); });
    INFO(text.substr(0, 100) << "\n" << failure.sentence);
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says(path));
    CHECK(failure.says(cause));
    CHECK(state == two_arrays{{1, 2}, {3}});
  };
  auto headers = hostile_headers();
  headers.push_back({"twice", "{" + entry("a", "F32", "2", "0,8") + "," + entry("a", "F32", "2", "8,16") + "}"});
  for (const auto& [cause, header] : headers) refused(safetensors(header, std::string(16, '\1')), cause);
  for (const auto& [length, cause] : std::vector<std::pair<std::uint64_t, std::string>>{
           {std::uint64_t{1} << 40U, "1099511627776"}, {~std::uint64_t{0}, "18446744073709551615"}, {1000, "1000"}}) {
    std::string text = safetensors("{" + entry("a", "F32", "4", "0,16") + "}", std::string(16, '\1'));
    std::memcpy(text.data(), &length, 8);
    refused(text, "header claims " + cause + " bytes");
  }
  for (std::size_t bytes = 0; bytes < 8; ++bytes) refused(std::string(bytes, '\0'), "too few");
}

TEST_CASE("files of terabytes, all of it holes: refused before memory is asked for, nothing changed") {
  struct texts {
    std::vector<float> a{1, 2};
    std::string b = "b";
    std::vector<bool> c{true};
    tests::matrix d;
    std::vector<std::array<float, 0>> e;
  };
  const sample::scratch scratch;
  const std::uint64_t huge = std::uint64_t{12} << 40U;
  const auto to = std::to_string(huge);
  const auto refused = [&](const std::string& path, const std::string& cause, errc code) {
    texts state;
    const auto* const a = state.a.data();
    const auto failure = sample::failure_of([&] { cairn::load(path, state, {.strict = false, .reshape = resize}); });
    INFO(failure.sentence);
    CHECK(failure.code == code);
    CHECK(failure.says(scratch.path()));
    CHECK(failure.says(cause));
    CHECK(state.a.data() == a);
    CHECK(state.a == texts{}.a);
    CHECK(state.b == texts{}.b);
    CHECK(state.c == texts{}.c);
    CHECK(state.d == texts{}.d);
  };
  const auto path = scratch.path("model.safetensors");
  sample::spill(path, "");
  try {
    fs::resize_file(path, huge + 4096);
  } catch (const fs::filesystem_error&) {
    SKIP("no file can be so large here");
  }
  for (const auto& leaf :
       {entry("a", "F32", std::to_string(huge / 4), "0," + to), entry("b", "U8", to, "0," + to),
        entry("c", "BOOL", to, "0," + to), entry("d", "F32", "4," + std::to_string(huge / 16), "0," + to)}) {
    const auto header = safetensors("{" + leaf + "}");
    sample::spill(path, header);
    fs::resize_file(path, header.size() + huge);
    refused(path, "more than the memory of this machine", errc::no_memory);
  }
  sample::spill(path, safetensors("{" + entry("e", "F32", to + ",0", "0,0") + "}"));
  refused(path, "more than the memory of this machine", errc::no_memory);

  const std::uint64_t length = huge - 8;
  sample::spill(path, {reinterpret_cast<const char*>(&length), 8});
  fs::resize_file(path, huge);
  refused(path, "the header claims " + std::to_string(length) + " bytes", errc::corrupt);

  cairn::save(scratch.path("once"), texts{});
  fs::resize_file(scratch.path("once/index.json"), huge);
  refused(scratch.path("once"), "once/index.json: " + to + " bytes are more than any index has", errc::corrupt);
}

TEST_CASE_METHOD(in_scratch, "hostile headers in a checkpoint whose checksums are right: an older one is still found") {
  const two_arrays good{{5, 6}, {7}};
  cairn::save(scratch.path("step-000000001"), good, {.step = 1});
  const auto newest = scratch.path("step-000000009");
  const auto with_notes = [](const std::string& notes, const std::string& second = "b") {
    return R"({"__metadata__":{"cairn.format":"2","cairn.step":"9","cairn.block_bytes":"65536",)" + notes + "}," +
           entry("a", "F32", "2", "0,8") + "," + entry(second, "F32", "2", "8,16") + "}";
  };
  auto headers = hostile_headers();
  const std::string blocks = R"("cairn.blocks":"0000000000000000")";
  headers.push_back({"checksum", with_notes(blocks)});
  headers.push_back({"twice", with_notes(blocks, "a")});
  headers.push_back({"checksums, is missing", with_notes(R"("x":"y")")});
  headers.push_back({"cairn.step", with_notes(blocks + R"(,"cairn.step":"8")")});
  headers.push_back({"malformed JSON", with_notes(blocks + R"(,"cairn.slices":"{")")});
  headers.push_back({"does not begin with", with_notes(blocks + R"(,"cairn.encoded":"[[[[[[[[[[")")});
  headers.push_back({"", with_notes(blocks + R"(,"cairn.tables":")" + nested(R"({\"a\":)", "}") + "\"")});
  headers.push_back({"", with_notes(blocks + R"(,"cairn.slices":")" + nested(R"({\"a\":)", "}") + "\"")});
  for (const auto& [cause, header] : headers) {
    forge(newest, header, std::string(16, '\1'));
    two_arrays state{{1, 2}, {3}};
    const auto failure = sample::failure_of([&] { cairn::load(newest, state, {.reshape = resize}); });
    INFO(header.substr(0, 300) << "\n" << failure.sentence);
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says(newest + "/" + cairn::detail::shard_file(0, 1)));
    CHECK(failure.says(cause));
    CHECK(state == two_arrays{{1, 2}, {3}});
    const auto report = cairn::load(scratch.path(), state, {.reshape = resize});
    CHECK(state == good);
    CHECK(report.skipped.size() == 1);
  }
}

TEST_CASE_METHOD(in_scratch, "a path that is no place for checkpoints") {
  sample::spill(scratch.path("text"), "just some words, and no header");
  auto state = tests::trained(1);
  const snapshot before(state);
  const auto of_file = sample::failure_of([&] { cairn::load(scratch.path("text"), state); });
  CHECK(of_file.code == errc::corrupt);
  CHECK(of_file.says(scratch.path("text")));
  const auto below = sample::failure_of([&] { cairn::load(scratch.path("text/below"), state); });
  CHECK(below.code == errc::io);
  CHECK(below.says(scratch.path("text/below")));
  const auto device = sample::failure_of([&] { cairn::load("/dev/null", state); });
  CHECK(device.says("/dev/null"));
  CHECK(before.holds());
}

TEST_CASE_METHOD(in_scratch, "without verification damage in the numbers is not looked for") {
  std::vector<float> state{1, 2, 3};
  cairn::save(scratch.path("once"), state);
  const auto path = scratch.path("once/" + cairn::detail::shard_file(0, 1));
  auto bytes = sample::slurp(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sample::spill(path, bytes);
  CHECK(sample::failure_of([&] { cairn::load(scratch.path("once"), state); }).code == errc::corrupt);
  CHECK(state == std::vector<float>{1, 2, 3});
  CHECK_NOTHROW(cairn::load(scratch.path("once"), state, {.verify = false}));
  CHECK(state != std::vector<float>{1, 2, 3});
}

TEST_CASE("a state is loaded from any store: by name, by step, or the newest") {
  const cairn::stores::memory store;
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store, cairn::detail::checkpoint_name(step), tests::trained(step), {.step = step});
  cairn::save(store, "a name", tests::trained(3), {.step = 3});
  tests::trainer state;
  CHECK(cairn::load(store, state).step == 2);
  CHECK(state == tests::trained(2));
  CHECK(cairn::load(store, state, {.step = 1}).step == 1);
  CHECK(state == tests::trained(1));
  const auto report = cairn::load(store, "a name", state);
  CHECK(report.name == "a name");
  CHECK(state == tests::trained(3));
  CHECK(sample::failure_of([&] { cairn::load(store, "another", state); }).code == cairn::errc::not_found);
  CHECK(sample::failure_of([&] { cairn::load(store, state, {.step = 7}); }).code == cairn::errc::not_found);
  CHECK(sample::failure_of([&] { cairn::load(cairn::stores::memory(), state); }).code == cairn::errc::not_found);
  CHECK(state == tests::trained(3));
}

TEST_CASE_METHOD(in_scratch, "a step is refused where the checkpoint is named already, and codecs where it is open") {
  cairn::save(scratch.path("step-000000003"), tests::trained(3), {.step = 3});
  const cairn::any_store store = cairn::stores::directory(scratch.path());
  tests::trainer state;
  for (const auto& failure : {
           sample::failure_of([&] { cairn::load(scratch.path("step-000000003"), state, {.step = 3}); }),
           sample::failure_of([&] { cairn::load(store, "step-000000003", state, {.step = 3}); }),
           sample::failure_of([&] { cairn::load(cairn::open(store, "step-000000003"), state, {.step = 3}); }),
       }) {
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("step is 3"));
  }
  const auto codecs = sample::failure_of(
      [&] { cairn::load(cairn::open(store, "step-000000003"), state, {.codecs = {{"*", cairn::codecs::raw{}}}}); });
  CHECK(codecs.code == errc::invalid);
  CHECK(codecs.says("codecs"));
  CHECK(state == tests::trainer());
}

struct unlucky {
  int value = 0;
};

struct hungry {
  int value = 0;
};

/// A memory of files that cannot be opened.
struct broken_store : cairn::stores::memory {
  [[nodiscard]] static std::shared_ptr<const cairn::stores::publication> open(std::string_view) {
    throw std::bad_alloc();
  }
};

}  // namespace

template <>
struct cairn::adapter<unlucky> {
  static int get(const unlucky& from) { return from.value; }
  static void set(unlucky&, int) { throw std::runtime_error("no luck"); }
};

template <>
struct cairn::adapter<hungry> {
  static int get(const hungry& from) { return from.value; }
  static void set(hungry&, int) { throw std::bad_alloc(); }
};

TEST_CASE("too little memory is no fault of a checkpoint: a restore does not try an older one") {
  const cairn::stores::memory store;
  cairn::save(store, "step-000000001", hungry{}, {.step = 1});
  cairn::save(store, "step-000000002", hungry{}, {.step = 2});
  hungry state;
  const auto failure = sample::failure_of([&] { cairn::checkpointer(store).restore(state); });
  CHECK(failure.code == errc::no_memory);
  CHECK(failure.says("memory/step-000000002 cannot be loaded: value: not enough memory"));
}

TEST_CASE_METHOD(in_scratch, "whatever a load or an inspection throws is a cairn::error that names the checkpoint") {
  broken_store broken;
  unlucky state;
  cairn::save(scratch.path("run/step-000000001"), state, {.step = 1});
  cairn::save(broken, "step-000000001", state, {.step = 1});
  using action = std::function<void()>;
  const std::vector<action> loads{
      [&] { cairn::load(scratch.path("run/step-000000001"), state); },
      [&] { cairn::load(scratch.path("run"), state); },
      [&] { cairn::load(cairn::stores::directory(scratch.path("run")), state); },
      [&] { cairn::load(cairn::stores::directory(scratch.path("run")), "step-000000001", state); },
      [&] { cairn::load(cairn::open(scratch.path("run")), state); },
      [&] { cairn::checkpointer(scratch.path("run")).restore(state); },
      [&] { cairn::checkpointer(scratch.path("run")).restore(state, {.step = 1}); }};
  for (const auto& load : loads) {
    const auto failure = sample::failure_of(load);
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says(scratch.path("run/step-000000001") + " cannot be loaded: value: no luck"));
  }
  const std::vector<action> opens{
      [&] { cairn::load(broken, state); }, [&] { cairn::load(broken, "step-000000001", state); },
      [&] { static_cast<void>(cairn::open(broken, "step-000000001")); },
      [&] { cairn::checkpointer(broken).restore(state); }, [&] { cairn::checkpointer(broken).restore_best(state); }};
  for (const auto& open : opens) {
    const auto failure = sample::failure_of(open);
    CHECK(failure.code == errc::no_memory);
    CHECK(failure.says("memory"));
    CHECK(failure.says("not enough memory"));
  }
}
