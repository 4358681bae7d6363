// SPDX-License-Identifier: MIT
#include "cairn/store/shard.hpp"

#include <random>

#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

/// A file of the text as its header and `data` bytes after it.
std::string file_of(std::string_view header, std::size_t data, std::uint64_t claimed = 0) {
  std::string text(8, '\0');
  if (claimed == 0) claimed = header.size();
  std::memcpy(text.data(), &claimed, 8);
  return text + std::string(header) + std::string(data, 'x');
}

/// The header of one tensor with `count` dimensions of one element.
std::string dimensions(std::size_t count) {
  std::string text = R"({"a":{"dtype":"U8","shape":[1)";
  for (std::size_t i = 1; i < count; ++i) text += ",1";
  return text + R"(],"data_offsets":[0,1]}})";
}

cairn::detail::safetensors_header parse(const std::string& file) {
  cairn::stores::memory store;
  sample::put(store, "c", {{"index.json", file}});
  return cairn::detail::read_safetensors_header(*store.open("c")->open("index.json"), "here.safetensors");
}

}  // namespace

TEST_CASE("any header is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    cairn::detail::safetensors_header header;
    for (const auto& leaf : sample::random_leaves(random, 30, 500).list) {
      const auto end = header.data_bytes + leaf.bytes();
      header.tensors.push_back({leaf.path, leaf.type, leaf.shape, header.data_bytes, end});
      header.data_bytes = end;
    }
    for (std::size_t i = random() % 5; i > 0; --i)
      header.metadata["k" + std::to_string(i)] = std::string(random() % 99, '"');
    const auto text = cairn::detail::write_safetensors_header(header);
    CHECK(text.size() % cairn::detail::data_alignment == 0);
    const auto read = parse(text + std::string(header.data_bytes, '\0'));
    CHECK(read.metadata == header.metadata);
    CHECK(read.data_start == text.size());
    CHECK(read.data_bytes == header.data_bytes);
    REQUIRE(read.tensors.size() == header.tensors.size());
    for (const auto& tensor : header.tensors) {
      const auto at = std::find_if(read.tensors.begin(), read.tensors.end(),
                                   [&](const auto& other) { return other.key == tensor.key; });
      REQUIRE(at != read.tensors.end());
      CHECK(at->type == tensor.type);
      CHECK(at->shape == tensor.shape);
      CHECK(at->begin == tensor.begin);
      CHECK(at->end == tensor.end);
    }
  }
}

TEST_CASE("files of others: no metadata, no alignment, any order") {
  const auto header = parse(file_of(
      R"({"b":{"shape":[2,1],"data_offsets":[3,11],"dtype":"F32"},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
      11));
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].key == "a");
  CHECK(header.tensors[1].key == "b");
  CHECK(header.tensors[1].shape == cairn::extents{2, 1});
  CHECK(header.metadata.empty());
  CHECK(parse(file_of("{}", 0)).tensors.empty());
  CHECK(parse(file_of(R"({"__metadata__":{"format":"pt"}}   )", 0)).metadata.at("format") == "pt");
}

TEST_CASE("a hostile header gives an error that names file and cause") {
  struct hostile {
    std::string file;
    std::string cause;
  };
  const std::string a = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  std::string deep = R"({"a":)";
  for (int i = 0; i < 10'000; ++i) deep += "[";
  const std::vector<hostile> all{
      {"", "too few"},
      {"1234567", "too few"},
      {file_of("{}", 0, std::uint64_t{1} << 40U), "claims 1099511627776 bytes"},
      {file_of("{}", 0, ~std::uint64_t{0}), "claims"},
      {file_of("{}", 0, 3), "claims 3 bytes"},
      {file_of("{", 0), "malformed JSON"},
      {file_of("[]", 0), "does not begin"},
      {file_of(a, 4), "malformed JSON"},
      {file_of(a + "}", 5), ": the tensors end at byte 4 of a data section of 5"},
      {file_of(a + "}", 3), "claims bytes [0, 4)"},
      {file_of(R"({"__metadata__":{"a":"b","c":"d","a":"b"}})", 0), "\"a\" appears twice"},
      {file_of(a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})", 9), "hole"},
      {file_of(a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})", 7), "overlaps"},
      {file_of(a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4), "overlaps"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", 4), "claims bytes [4, 0)"},
      {file_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,4]}})", 4), "its shape needs 3"},
      {file_of(R"({"a":{"dtype":"F99","shape":[4],"data_offsets":[0,4]}})", 4), "unknown dtype \"F99\""},
      {file_of(R"({"a":{"dtype":4,"shape":[4],"data_offsets":[0,4]}})", 4), "dtype"},
      {file_of(R"({"a":{"shape":[4],"data_offsets":[0,4]}})", 4), "lacks"},
      {file_of(R"({"a":{"dtype":"U8","data_offsets":[0,4]}})", 4), "lacks"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4]}})", 4), "lacks"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4]}})", 4), "\"data_offsets\" has fewer than 2"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}})", 4), "\"data_offsets\" has more than 2"},
      {file_of(R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", 4), "\"shape\" is not an integer"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}})", 4), "\"shape\" is not an integer"},
      {file_of(R"({"a":{"dtype":"U8","shape":[[4]],"data_offsets":[0,4]}})", 4), "\"shape\" is not an integer"},
      {file_of(R"({"a":{"dtype":"F64","shape":[9223372036854775808,2],"data_offsets":[0,0]}})", 0), "2^64"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0), "2^64"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}})", 4), "unknown field \"x\""},
      {file_of(R"({"a":1})", 0), "not an object"},
      {file_of(R"({"__metadata__":{"a":1}})", 0), "not a string"},
      {file_of(R"({"__metadata__":[]})", 0), "not an object"},
      {file_of(R"({"__metadata__":{"a":{"b":"c"}}})", 0), "not a string"},
      {file_of("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0), "malformed JSON"},
      {file_of(deep, 0), "not an object"},
      {file_of(dimensions(65), 1), "64 dimensions"},
  };
  for (const auto& [file, cause] : all) {
    INFO(cause << ": " << file.substr(0, 200));
    const auto failure = sample::failure_of([&] { parse(file); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here.safetensors"));
    CHECK(failure.says(cause));
  }
}

TEST_CASE("a dtype of safetensors that C++ lacks is unsupported, not corrupt") {
  CHECK(sample::failure_of([] {
          parse(file_of(R"({"a":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]}})", 4));
        }).code == cairn::errc::unsupported);
}

TEST_CASE("a tensor has at most 64 dimensions") {
  CHECK(parse(file_of(dimensions(64), 1)).tensors[0].shape.size() == 64);
}

TEST_CASE("an empty dimension makes any shape fit") {
  const auto header =
      parse(file_of(R"({"a":{"dtype":"F64","shape":[0,9223372036854775808,2],"data_offsets":[0,0]}})", 0));
  CHECK(header.tensors[0].shape.size() == 3);
}

TEST_CASE("a header that could not be read back is not written") {
  const auto write = [](std::vector<std::string> keys) {
    cairn::detail::safetensors_header header;
    for (auto& key : keys) header.tensors.push_back({key, cairn::dtype::u8, {0}, 0, 0});
    return sample::failure_of([&] { static_cast<void>(cairn::detail::write_safetensors_header(header)); });
  };
  CHECK(write({"__metadata__"}).code == cairn::errc::invalid);
  CHECK(write({"a", "b", "a"}).says("two leaves have the path \"a\", or one has it and the name of a part"));
  CHECK(write({"a\xff"}).says("UTF-8"));
  CHECK(write({"a", "b"}).sentence.empty());
}
