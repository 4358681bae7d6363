// SPDX-License-Identifier: MIT
#include "cairn/store/layout.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "cairn/store/leaf_text.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;

namespace {

constexpr std::uint64_t many = 1 << 20;

/// A layout as the only fields of an object.
struct lone_layout {
  leaf_layout layout{};
};

template <class Io>
void describe(Io& io, described<Io, lone_layout>& of) {
  layout_text<Io> text;
  if constexpr (!Io::reads) text = text_of(of.layout);
  io.object([&] { describe_layout(io, text); });
  if constexpr (Io::reads) {
    auto read = layout_of(std::move(text));
    io.require(read.has_value(), "does not say in one way where the leaf is");
    of.layout = std::move(*read);
  }
}

[[nodiscard]] std::string as_text(const leaf_layout& layout) { return to_json(lone_layout{layout}); }

/// What `text` says, or an error.
[[nodiscard]] leaf_layout read(const std::string& text) { return from_json<lone_layout>(text, "here").layout; }

/// How often the pieces cover each element.
[[nodiscard]] std::vector<int> coverage(const std::vector<placed_piece>& pieces, const cairn::extents& shape) {
  std::vector<std::uint32_t> memory(cairn::element_count(shape));
  std::vector<int> times(memory.size());
  const memory_view whole{cairn::dtype::u32, shape, reinterpret_cast<std::byte*>(memory.data()), {}};
  for (std::uint32_t i = 0; i < memory.size(); ++i) memory[i] = i;
  for (const auto& piece : pieces) {
    if (!piece.region) {
      for (auto i = piece.first; i < piece.first + piece.count; ++i) ++times[i];
      continue;
    }
    const auto bytes = sample::packed(view_of(whole, *piece.region));
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      std::uint32_t element = 0;
      std::memcpy(&element, &bytes[i], 4);
      ++times[element];
    }
  }
  return times;
}

/// Cuts a box at random places, again and again.
void cut(std::vector<placed_piece>& pieces, box part, std::mt19937_64& random, int depth) {
  const auto d = part.shape.empty() ? 0 : random() % part.shape.size();
  if (depth == 0 || part.shape.empty() || part.shape[d] < 2) {
    const auto count = part.count();
    pieces.push_back({random() % 7, 0, count, std::move(part)});
    return;
  }
  auto lower = part, upper = part;
  lower.shape[d] = random() % (part.shape[d] - 1) + 1;
  upper.first[d] += lower.shape[d];
  upper.shape[d] -= lower.shape[d];
  cut(pieces, std::move(lower), random, depth - 1);
  cut(pieces, std::move(upper), random, depth - 1);
}

[[nodiscard]] cairn::extents random_shape(std::mt19937_64& random) {
  cairn::extents shape;
  for (auto d = random() % 4; d > 0; --d) shape.push_back(random() % 7 + 1);
  return shape;
}

}  // namespace

TEST_CASE("runs in any order become consecutive runs, and come back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto shape = random_shape(random);
    std::vector<placed_piece> pieces;
    for (std::uint64_t first = 0; first < cairn::element_count(shape);) {
      const auto count = random() % (cairn::element_count(shape) - first) + 1;
      pieces.push_back({random() % 7, first, count, {}});
      first += count;
    }
    auto shuffled = pieces;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    leaf_layout layout;
    REQUIRE(make_layout(shuffled, shape, layout).empty());
    CHECK(find_fault(layout, shape, 7, many).empty());
    CHECK(sample::pieces_of(layout, shape) == pieces);
    const auto back = read(as_text(layout));
    CHECK(as_text(back) == as_text(layout));
    CHECK(sample::pieces_of(back, shape) == pieces);
    CHECK((layout.cuts == nullptr) == (pieces.size() == 1));
  }
}

TEST_CASE("boxes that cover an array are found to, and others are not") {
  std::mt19937_64 random(2);
  int covered = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto shape = random_shape(random);
    std::vector<placed_piece> pieces;
    cut(pieces, {cairn::extents(shape.size()), shape}, random, static_cast<int>(random() % 4));
    if (round % 2 && !shape.empty()) {  // move, resize, remove or repeat one
      const auto which = random() % pieces.size(), d = random() % shape.size();
      auto& part = *pieces[which].region;
      if (round % 8 == 1) part.first[d] = random() % shape[d];
      if (round % 8 == 3) part.shape[d] = random() % (shape[d] + 1);
      if (round % 8 == 5) pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(which));
      if (round % 8 == 7) pieces.push_back(pieces[which]);
    }
    if (std::any_of(pieces.begin(), pieces.end(), [&](const auto& each) { return !is_inside(*each.region, shape); }))
      continue;
    const auto times = coverage(pieces, shape);
    const bool is_exact = !pieces.empty() && std::all_of(times.begin(), times.end(), [](int n) { return n == 1; });
    leaf_layout layout;
    const auto fault = make_layout(pieces, shape, layout);
    CHECK(fault.empty() == is_exact);
    covered += int{is_exact};
    if (!fault.empty()) continue;
    CHECK(find_fault(layout, shape, 7, many).empty());
    const auto back = read(as_text(layout));
    CHECK(as_text(back) == as_text(layout));
    auto found = sample::pieces_of(back, shape);
    CHECK(found.size() == pieces.size());
    if (pieces.size() == 1) pieces.front().region.reset();  // a box that is the whole array is no piece of it
    for (const auto& piece : found) CHECK(std::find(pieces.begin(), pieces.end(), piece) != pieces.end());
  }
  CHECK(covered > 1000);
}

TEST_CASE("a grid is stored as one, with its shards as series") {
  std::vector<placed_piece> pieces;
  for (std::uint64_t i = 0; i < 8; ++i)
    for (std::uint64_t j = 0; j < 4; ++j) {
      const auto width = j == 3 ? 1U : 3U;
      pieces.push_back({i * 4 + j, 0, 4 * width, box{{4 * i, 3 * j}, {4, width}}});
    }
  leaf_layout layout;
  REQUIRE(make_layout(pieces, {32, 10}, layout).empty());
  CHECK(as_text(layout) == R"({"grid":[[4],[3]],"shards":[[0,32,1]]})");
  CHECK(sample::pieces_of(layout, {32, 10}) == pieces);

  for (auto& piece : pieces) piece.shard *= 3;
  REQUIRE(make_layout(pieces, {32, 10}, layout).empty());
  CHECK(as_text(layout) == R"({"grid":[[4],[3]],"shards":[[0,32,3]]})");

  std::vector<placed_piece> uneven{
      {5, 0, 6, box{{0, 0}, {2, 3}}}, {2, 0, 9, box{{2, 0}, {3, 3}}}, {9, 0, 3, box{{5, 0}, {1, 3}}}};
  REQUIRE(make_layout(uneven, {6, 3}, layout).empty());
  CHECK(as_text(layout) == R"({"grid":[[0,2,5,6],[3]],"shards":[[5,1,1],[2,2,7]]})");
  CHECK(sample::pieces_of(layout, {6, 3}) == uneven);

  const std::vector<placed_piece> others{{0, 0, 6, box{{0, 0}, {3, 2}}}, {1, 0, 3, box{{0, 2}, {3, 1}}}};
  REQUIRE(make_layout(others, {3, 3}, layout).empty());
  CHECK(as_text(layout) == R"({"grid":[[3],[2]],"shards":[[0,2,1]]})");
}

TEST_CASE("boxes that are no grid are listed") {
  const std::vector<placed_piece> pieces{
      {0, 0, 2, box{{0, 0}, {1, 2}}}, {1, 0, 2, box{{0, 2}, {2, 1}}}, {2, 0, 2, box{{1, 0}, {1, 2}}}};
  std::vector<placed_piece> pinwheel{{0, 0, 2, box{{0, 0}, {1, 2}}},
                                     {1, 0, 2, box{{0, 2}, {2, 1}}},
                                     {2, 0, 2, box{{2, 1}, {1, 2}}},
                                     {3, 0, 2, box{{1, 0}, {2, 1}}},
                                     {4, 0, 1, box{{1, 1}, {1, 1}}}};
  leaf_layout layout;
  REQUIRE(make_layout(pieces, {2, 3}, layout).empty());
  CHECK(as_text(layout) == R"({"boxes":[[0,0,0,1,2],[1,0,2,2,1],[2,1,0,1,2]]})");
  REQUIRE(make_layout(pinwheel, {3, 3}, layout).empty());
  CHECK(std::holds_alternative<box_layout>(*layout.cuts));
}

TEST_CASE("a leaf without elements is in one piece") {
  leaf_layout layout;
  CHECK(make_layout({{4, 0, 0, {}}}, {0, 3}, layout).empty());
  CHECK(layout.cuts == nullptr);
  CHECK(layout.shard == 4);
  CHECK(make_layout({{1, 0, 0, box{{0, 0}, {0, 3}}}, {2, 0, 0, box{{0, 0}, {0, 3}}}}, {0, 3}, layout).empty());
  CHECK(layout.cuts == nullptr);
}

TEST_CASE("pieces that do not cover their leaf are refused") {
  leaf_layout layout;
  const auto fault = [&](std::vector<placed_piece> pieces, const cairn::extents& shape) {
    return make_layout(std::move(pieces), shape, layout);
  };
  CHECK(fault({}, {3}).find("no pieces") != std::string::npos);
  CHECK(fault({{0, 0, 2, {}}}, {3}).find("hole at element 2") != std::string::npos);
  CHECK(fault({{0, 1, 2, {}}}, {3}).find("hole at element 0") != std::string::npos);
  CHECK(fault({{0, 0, 2, {}}, {0, 2, 2, {}}}, {3}).find("reaches beyond its end") != std::string::npos);
  CHECK(fault({{0, 0, 2, {}}, {0, 1, 2, {}}}, {3}).find("overlap") != std::string::npos);
  CHECK(fault({{0, 0, 3, {}}, {0, 3, 0, {}}}, {3}).find("overlap") != std::string::npos);
  CHECK_FALSE(fault({{0, 0, 4, {}}}, {3}).empty());
  CHECK(fault({{0, 0, 2, {}}, {0, 0, 1, box{{2}, {1}}}}, {3}).find("runs and boxes") != std::string::npos);
  CHECK(fault({{0, 0, 2, box{{0}, {2}}}}, {3}).find("two dimensions") != std::string::npos);
  CHECK(fault({{0, 0, 4, box{{0, 0}, {2, 2}}}}, {3, 2}).find("hole at element [2, 0]") != std::string::npos);
  const box too_far{{2}, {2}};
  CHECK(fault({{0, 0, 2, box{{0}, {2}}}, {0, 0, 2, too_far}}, {3}).find("not inside") != std::string::npos);
}

TEST_CASE("a layout that is said in no way, or in two, is refused") {
  for (const std::string bad :
       {R"({})", R"({"shard":0,"runs":[0,0]})", R"({"grid":[[4],[3]]})", R"({"shards":[[0,1,1]]})", R"({"runs":[0]})",
        R"({"grid":[[4],[3]],"shards":[[0,4]]})", R"({"boxes":[[0,1]]})", R"({"boxes":[[]]})", R"({"boxes":[[0,0,3]]})",
        R"({"boxes":[[0,0,0,1,6],[0,1,0,7]]})", R"({"shard":0,"boxes":[]})", R"({"grid":[]})",
        R"({"runs":[],"grid":[[4],[3]],"shards":[[0,1,1]]})", R"({"grid":[[4],[3]],"shards":[[0,4,1,1]]})",
        R"({"boxes":[[0,0,1,0,2,0]]})"}) {
    INFO(bad);
    CHECK(sample::failure_of([&] { static_cast<void>(read(bad)); }).code == cairn::errc::corrupt);
  }
}

TEST_CASE("layouts that a file cannot have are faults") {
  const cairn::extents shape{8, 6};
  const auto fault = [&](const std::string& text, std::uint64_t most = many) {
    return find_fault(read(text), shape, 4, most);
  };
  for (const std::string good :
       {R"({"shard":3})", R"({"runs":[0,0,3,40]})", R"({"grid":[[4],[3]],"shards":[[0,4,1]]})",
        R"({"grid":[[4],[3]],"shards":[[3,4,0]]})", R"({"grid":[[0,1,8],[6]],"shards":[[0,1,1],[3,1,900]]})",
        R"({"boxes":[[0,0,0,8,2],[1,0,2,8,4]]})"}) {
    INFO(good);
    CHECK(fault(good).empty());
  }
  for (const std::string bad : {R"({"shard":4})",
                                R"({"runs":[]})",
                                R"({"runs":[0,1]})",
                                R"({"runs":[0,0,4,40]})",
                                R"({"runs":[0,0,1,48]})",
                                R"({"runs":[0,0,1,0]})",
                                R"({"runs":[0,0,1,9,2,9]})",
                                R"({"grid":[[4]],"shards":[[0,2,1]]})",
                                R"({"grid":[[4],[3]],"shards":[[0,3,1]]})",
                                R"({"grid":[[4],[3]],"shards":[[0,5,1]]})",
                                R"({"grid":[[4],[3]],"shards":[[1,4,1]]})",
                                R"({"grid":[[4],[3]],"shards":[[0,18446744073709551615,0]]})",
                                R"({"grid":[[4],[3]],"shards":[[0,4,9223372036854775808]]})",
                                R"({"grid":[[0],[3]],"shards":[[0,2,1]]})",
                                R"({"grid":[[],[3]],"shards":[[0,2,1]]})",
                                R"({"grid":[[0,9],[6]],"shards":[[0,1,1]]})",
                                R"({"grid":[[0,4,4,8],[6]],"shards":[[0,3,1]]})",
                                R"({"grid":[[1,8],[6]],"shards":[[0,1,1]]})",
                                R"({"grid":[[4],[3]],"shards":[[0,0,1],[0,4,1]]})",
                                R"({"boxes":[[0,0,0,8,2]]})",
                                R"({"boxes":[[4,0,0,8,6]]})",
                                R"({"boxes":[[0,0,0,8,6],[0,0,0,8,6]]})",
                                R"({"boxes":[[0,0,0,8,18446744073709551615]]})"}) {
    INFO(bad);
    CHECK_FALSE(fault(bad).empty());
  }
  CHECK_FALSE(fault(R"({"grid":[[4],[3]],"shards":[[0,4,0]]})", 3).empty());
  CHECK_FALSE(find_fault(read(R"({"grid":[[1],[1]],"shards":[[0,18446744073709551615,0]]})"),
                         {1ULL << 40U, 1ULL << 40U}, 4, many)
                  .empty());
  CHECK_FALSE(find_fault(read(R"({"runs":[0,0]})"), {0}, 4, many).empty());
  box_layout nine;
  nine.boxes = {{0, box{cairn::extents(9, 0), cairn::extents(9, 1)}},
                {0, box{cairn::extents(9, 1), cairn::extents(9, 1)}}};
  CHECK(find_fault({0, std::make_shared<const leaf_cuts>(nine)}, cairn::extents(9, 2), 4, many).find("8 dimensions") !=
        std::string::npos);
}

TEST_CASE("the key of a slice names its elements") {
  CHECK(slice_key("w", {0, 40, 30, {}}) == "w[40:70]");
  CHECK(slice_key("w", {0, 0, 12, box{{0, 4}, {3, 4}}}) == "w[0:3,4:8]");
}

using namespace cairn::detail;

TEST_CASE("the encoding of a leaf has the bytes of all pieces, and the largest loss of each kind") {
  constexpr const encoding_info* none = nullptr;
  const encoding_info exact{"lossless", cairn::dtype::f32, {4}, false, {}};
  const encoding_info a{"lc2", cairn::dtype::f32, {4}, true, cairn::loss{1, 0.25}},
      b{"lc2", cairn::dtype::f32, {4}, false, cairn::loss{0.5, 0.5}};
  leaf_pieces all;
  all.add(7, none);
  all.add(3, &exact);
  CHECK(all.encoded == leaf_encoding{"lossless", false, 10, {}});
  all.add(5, &a);
  all.add(6, &b);
  all.add(1, none);
  CHECK(all.encoded == leaf_encoding{"lossless", true, 22, cairn::loss{1, 0.5}});
}
