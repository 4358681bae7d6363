#include "cairn/plan/partition.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using cairn::detail::piece;
using cairn::plan::leaf_size;
using cairn::plan::partition;
using cairn::plan::rank_load;
using pieces = std::vector<piece>;
__extension__ typedef unsigned __int128 uint128;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

struct inputs {
  std::vector<leaf_size> leaves;
  std::vector<rank_load> ranks;

  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& leaf : leaves) sum += leaf.bytes;
    return sum;
  }
};

std::vector<rank_load> equal(std::size_t ranks) { return std::vector<rank_load>(ranks); }

/// A leaf of 4-byte elements.
leaf_size floats(std::uint64_t rows, std::uint64_t row = 1) { return {rows * row, 4 * rows * row, row}; }

class random_trees {
 public:
  explicit random_trees(std::uint64_t seed) : random_(seed) {}

  inputs make() {
    inputs made;
    scale_ = below(24);
    grow(made.leaves, 0);
    made.ranks = equal(below(24) + 1);
    if (one_in(3))
      for (auto& rank : made.ranks) rank.weight = below(5);
    made.ranks[below(made.ranks.size())].weight = 1 + below(3);
    if (one_in(3))
      for (auto& rank : made.ranks) rank.other = one_in(2) ? 0 : below(2 * made.bytes() / made.ranks.size() + 2);
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  /// A struct: up to five members, some of which are structs, or a layer repeated.
  void grow(std::vector<leaf_size>& leaves, int depth) {
    const auto begin = leaves.size();
    for (auto members = below(6); members > 0; --members) {
      if (depth < 3 && one_in(3))
        grow(leaves, depth + 1);
      else
        leaves.push_back(leaf());
    }
    const auto end = leaves.size();
    if (one_in(4))
      for (auto copies = below(4); copies > 0; --copies)
        for (auto i = begin; i < end && leaves.size() < 100; ++i) leaves.push_back(leaf_size(leaves[i]));
  }

  leaf_size leaf() {
    const auto sized = [&] { return below((std::uint64_t{1} << below(scale_ + 1)) + 1); };
    const std::uint64_t row = one_in(2) ? 1 : 1 + below(5000), elements = (one_in(20) ? 0 : sized()) * row;
    std::uint64_t bytes = elements << below(4);
    if (one_in(3)) bytes = bytes / 16 * below(16);  // encoded
    return {elements, bytes, row};
  }

  std::mt19937_64 random_;
  std::uint64_t scale_ = 0;
};

/// Whether the pieces have every element once; ascending within a rank, those of a leaf over all ranks.
bool has_all_once(const inputs& from, const cairn::detail::division& all) {
  std::vector<std::uint64_t> covered(from.leaves.size());
  std::vector<int> seen(from.leaves.size());
  for (const auto& shard : all) {
    std::size_t next = 0;
    for (const auto& each : shard) {
      if (each.leaf < next || each.leaf >= covered.size() || each.first != covered[each.leaf]) return false;
      const auto& leaf = from.leaves[each.leaf];
      if (each.count == 0 && (leaf.elements > 0 || seen[each.leaf] > 0)) return false;
      if (leaf.bytes == 0 && seen[each.leaf] > 0) return false;
      covered[each.leaf] += each.count;
      ++seen[each.leaf];
      next = each.leaf + 1;
    }
  }
  for (std::size_t i = 0; i < covered.size(); ++i)
    if (seen[i] == 0 || covered[i] != from.leaves[i].elements) return false;
  return true;
}

/// The mean share and the limits that follow from it.
struct limits {
  explicit limits(const inputs& from, const partition& plan) {
    std::uint64_t active = 0;
    for (std::size_t rank = 0; rank < plan.ranks(); ++rank) active += plan.share_of(rank) > 0;
    share = active == 0 ? 0 : from.bytes() / active;
    least = std::clamp(share / 256, 4 * kib, mib);
  }
  std::uint64_t share = 0, least = 0;
};

/// Whether each rank's bytes are within the bound of its share.
bool is_balanced(const inputs& from, const partition& plan, const cairn::detail::division& all) {
  const limits of(from, plan);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::uint64_t bytes = 0;
    for (const auto& each : all[rank]) bytes += plan.bytes_of(each);
    const auto wanted = plan.share_of(rank);
    if ((bytes > wanted ? bytes - wanted : wanted - bytes) > 2 * (of.least + of.share / 1024)) return false;
  }
  return true;
}

/// Whether the shares are all bytes, and a rank that has a share has no more bytes per weight, its other ones included, than any other rank.
bool is_fair(const inputs& from, const partition& plan) {
  std::uint64_t sum = 0;
  for (std::size_t a = 0; a < from.ranks.size(); ++a) {
    const auto& mine = from.ranks[a];
    sum += plan.share_of(a);
    if (mine.weight == 0 && plan.share_of(a) > 0) return false;
    if (plan.share_of(a) < 2) continue;
    for (std::size_t b = 0; b < from.ranks.size(); ++b) {
      const auto& other = from.ranks[b];
      if (static_cast<uint128>(mine.other + plan.share_of(a) - 1) * other.weight >
          static_cast<uint128>(other.other + plan.share_of(b) + 1) * mine.weight)
        return false;
    }
  }
  return sum == from.bytes();
}

/// Whether cuts within a leaf leave pieces of the minimum, up to a row, and are at a row where one is near.
bool has_good_cuts(const inputs& from, const partition& plan, const cairn::detail::division& all) {
  const limits of(from, plan);
  const auto near = of.share / 1024;
  for (const auto& shard : all)
    for (const auto& each : shard) {
      const auto& leaf = from.leaves[each.leaf];
      if (each.first == 0) continue;
      const auto bytes_of = [&](std::uint64_t elements) { return plan.bytes_of({each.leaf, 0, elements}); };
      if (bytes_of(each.first) + near + 8 < of.least) return false;
      if (bytes_of(leaf.elements - each.first) + near + 8 < of.least) return false;
      const auto past = each.first % std::max<std::uint64_t>(leaf.row, 1);
      if (past != 0 && (bytes_of(past) < near || bytes_of(leaf.row - past) < near)) return false;
    }
  return true;
}

/// Whether the pieces of all ranks, one rank after another, are in the order of the leaves: no leaf was dealt.
bool is_in_order(const cairn::detail::division& all) {
  std::size_t next = 0;
  for (const auto& shard : all)
    for (const auto& each : shard) {
      if (each.leaf < next) return false;
      next = each.leaf;
    }
  return true;
}

void check_invalid(const inputs& from, const std::string& text) {
  const auto failure = sample::failure_of([&] { static_cast<void>(partition(from.leaves, from.ranks)); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says(text));
}

}  // namespace

TEST_CASE("plans of random trees: every element once, balanced, cut well, the same at every rank") {
  random_trees trees(1);
  std::size_t cut = 0, dealt = 0;
  for (int round = 0; round < 10'000; ++round) {
    INFO("tree " << round);
    const auto from = trees.make();
    const partition plan(from.leaves, from.ranks);
    const auto all = plan.pieces();
    REQUIRE(all.size() == from.ranks.size());
    REQUIRE(has_all_once(from, all));
    REQUIRE(is_fair(from, plan));
    REQUIRE(is_balanced(from, plan, all));
    REQUIRE(has_good_cuts(from, plan, all));

    const auto rank = static_cast<std::size_t>(round) % all.size();
    const partition at_rank(from.leaves, from.ranks);
    REQUIRE(at_rank.pieces_of(rank) == all[rank]);
    REQUIRE(at_rank.hash() == plan.hash());
    for (const auto& shard : all) cut += static_cast<std::size_t>(!shard.empty() && shard[0].first > 0);
    dealt += is_in_order(all) ? 0 : 1;
  }
  CHECK(cut > 10'000);  // the trees reach what is tested
  CHECK(dealt > 500);
}

TEST_CASE("leaves are cut at even shares, at rows") {
  const partition plan({floats(1000, 1000), floats(3000, 1000)}, equal(4));
  CHECK(plan.ranks() == 4);
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(plan.share_of(rank) == 4'000'000);
  constexpr std::uint64_t million = 1'000'000;
  CHECK(plan.pieces() ==
        cairn::detail::division{
            {{0, 0, million}}, {{1, 0, million}}, {{1, million, million}}, {{1, 2 * million, million}}});
  CHECK(plan.pieces_of(2) == pieces{{1, 2 * million - million, million}});

  // The share is 1,333,333 bytes: a row that is 1,300 bytes before is near, one that is 1,332 bytes before is not.
  CHECK(partition({{1'000'000, 4'000'000, 1601}}, equal(3)).pieces_of(0) == pieces{{0, 0, 208 * 1601}});
  CHECK(partition({{1'000'000, 4'000'000, 1000}}, equal(3)).pieces_of(0) == pieces{{0, 0, 333'333}});
  CHECK(partition({{1'000'000, 4'000'000, 150}}, equal(3)).pieces_of(0) == pieces{{0, 0, 2222 * 150}});
  CHECK(partition({{1'000'000, 4'000'000, 0}}, equal(3)).pieces_of(0) == pieces{{0, 0, 333'333}});
  CHECK(partition({{101, 1'010'000, 1}}, equal(3)).pieces_of(0) == pieces{{0, 0, 34}});  // not 33.67
  // A last row that is not whole ends with the leaf.
  CHECK(partition({{4098 * mib, 4098 * mib, 4099 * mib}, {4094 * mib, 4094 * mib, 1}}, equal(2)).pieces_of(0) ==
        pieces{{0, 0, 4098 * mib}});
}

TEST_CASE("cuts near an end of a leaf move there") {
  // The share is 4,000,000 bytes, the minimum piece 15,625.
  const auto first_of = [](std::uint64_t elements) {
    return partition({{elements, elements, 1}, {8'000'000 - elements, 8'000'000 - elements, 1}}, equal(2)).pieces_of(0);
  };
  CHECK(first_of(4'000'000 - 15'624) == pieces{{0, 0, 4'000'000 - 15'624}});
  CHECK(first_of(4'000'000 - 15'625) == pieces{{0, 0, 4'000'000 - 15'625}, {1, 0, 15'625}});
  CHECK(first_of(4'000'000 + 15'624) == pieces{{0, 0, 4'000'000 + 15'624}});
  CHECK(first_of(4'000'000 + 15'625) == pieces{{0, 0, 4'000'000}});
}

TEST_CASE("small leaves make the numbers of pieces even") {
  std::vector<leaf_size> leaves{floats(30 * mib / 4)};
  for (int i = 0; i < 10; ++i) leaves.push_back(floats(mib / 4));
  for (int i = 0; i < 100; ++i) leaves.insert(leaves.begin() + i % 12, floats(256));
  const partition plan(leaves, equal(4));
  for (const auto& shard : plan.pieces()) {
    CHECK(shard.size() >= 28);
    CHECK(shard.size() <= 29);
  }
}

TEST_CASE("small are leaves below two minimum pieces, of classes that have an eighth of all bytes") {
  // Where leaves are dealt, the first rank gets some from the end.
  const auto deals = [](std::uint64_t large, std::size_t count, std::uint64_t size) {
    std::vector<leaf_size> leaves{{large, large, 1}};
    leaves.insert(leaves.end(), count, {size, size, 1});
    return !is_in_order(partition(leaves, equal(4)).pieces());
  };
  CHECK(deals(1'000'000, 140, 1000));
  CHECK_FALSE(deals(1'000'000, 145, 1000));
  // Two minimum pieces are 62,500 bytes or a little more: the largest class is that below 32,768.
  CHECK(deals(32'000'000, 8, 32'767));
  CHECK_FALSE(deals(32'000'000, 8, 32'768));
  CHECK(deals(1'000'000, 8, 8191));
  CHECK_FALSE(deals(1'000'000, 8, 8192));
}

TEST_CASE("where small leaves would exceed a share, none are dealt") {
  // 900 bytes are a share; two leaves of 4,095 bytes are less than an eighth of all. The first and the last rank write nothing.
  inputs from{{{0, 0, 1}, {4095, 4095, 1}, {90'000, 90'000, 1}, {4095, 4095, 1}, {0, 0, 1}}, equal(111)};
  from.ranks.front().weight = from.ranks.back().weight = 0;
  const auto all = partition(from.leaves, from.ranks).pieces();
  CHECK(is_in_order(all));
  CHECK(has_all_once(from, all));
  CHECK(all.front().empty());
  CHECK(all.back().empty());
}

TEST_CASE("a rank's bytes are in proportion to its weight, with those that it writes besides") {
  const std::vector<leaf_size> leaves{floats(3 * mib)};
  const auto shares = [&](std::vector<rank_load> ranks) {
    const partition plan(leaves, std::move(ranks));
    std::vector<std::uint64_t> mibs;
    for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
      CHECK(plan.share_of(rank) % mib == 0);
      mibs.push_back(plan.share_of(rank) / mib);
      CHECK(plan.pieces_of(rank).empty() == (mibs.back() == 0));
    }
    return mibs;
  };
  using list = std::vector<std::uint64_t>;
  CHECK(shares({{1}, {2}, {3}}) == list{2, 4, 6});
  CHECK(shares({{1}, {0}, {2}}) == list{4, 0, 8});
  CHECK(shares({{0}, {1}, {0, 5 * mib}}) == list{0, 12, 0});
  CHECK(shares({{1, 3 * mib}, {1}, {1}}) == list{2, 5, 5});
  CHECK(shares({{1, 30 * mib}, {1, 8 * mib}, {1}}) == list{0, 2, 10});
  CHECK(shares({{1, 30 * mib}, {1, 8 * mib}, {2}}) == list{0, 0, 12});  // 8 of 20 MiB are more than a third
}

TEST_CASE("leaves of no bytes, no leaves, and more ranks than bytes") {
  CHECK(partition({}, equal(3)).pieces() == cairn::detail::division(3));
  CHECK(partition({{0, 0, 1}, {0, 0, 0}, {5, 0, 1}, {0, 0, 1}}, equal(2)).pieces() ==
        cairn::detail::division{{{0, 0, 0}, {1, 0, 0}}, {{2, 0, 5}, {3, 0, 0}}});
  CHECK(partition({{0, 0, 1}, {1, 1, 1}, {0, 0, 1}}, {{0}, {1}, {0}}).pieces() ==
        cairn::detail::division{{}, {{0, 0, 0}, {1, 0, 1}, {2, 0, 0}}, {}});
  for (const std::size_t ranks : {1U, 2U, 7U, 1000U}) {
    const inputs from{{{3, 3, 1}, {0, 0, 1}, {1, 1, 1}, {0, 0, 3}}, equal(ranks)};
    CHECK(has_all_once(from, partition(from.leaves, from.ranks).pieces()));
  }
}

TEST_CASE("sizes up to 2^63 bytes, and elements of no whole number of bytes") {
  constexpr std::uint64_t all = std::uint64_t{1} << 63U;
  const inputs one{{{all, all, 1}}, equal(3)};
  const partition thirds(one.leaves, one.ranks);
  CHECK(thirds.pieces() ==
        cairn::detail::division{{{0, 0, all / 3}}, {{0, all / 3, all / 3 + 1}}, {{0, all / 3 * 2 + 1, all / 3 + 1}}});
  const inputs few{{{3, all / 2, 2}, {UINT64_MAX, all / 4, UINT64_MAX / 3}, {7, all / 4, 1}}, equal(5)};
  CHECK(has_all_once(few, partition(few.leaves, few.ranks).pieces()));
  const inputs large{{{1000, all / 2, 1}}, {{all / 2, all / 8}, {all / 2, all / 8}}};
  CHECK(partition(large.leaves, large.ranks).pieces() == cairn::detail::division{{{0, 0, 500}}, {{0, 500, 500}}});

  const partition sevenths({{700'000, 300'001, 1}}, equal(7));
  std::uint64_t bytes = 0;
  for (const auto& shard : sevenths.pieces()) {
    REQUIRE(shard.size() == 1);
    CHECK(shard[0].count >= 99'990);
    CHECK(shard[0].count <= 100'010);
    bytes += sevenths.bytes_of(shard[0]);
  }
  CHECK(bytes == 300'001);
  CHECK(sevenths.bytes_of({0, 0, 0}) == 0);
}

TEST_CASE("inputs that no plan can have are refused") {
  const std::vector<leaf_size> leaves{floats(100)};
  check_invalid({leaves, {}}, "no rank of a plan has a weight");
  check_invalid({leaves, {{0}, {0, 7}}}, "no rank of a plan has a weight");
  check_invalid({leaves, equal(100'001)}, "shards is 100001");
  check_invalid({{{0, 5, 1}}, equal(1)}, "a leaf without elements has 5 bytes");
  constexpr std::uint64_t half = std::uint64_t{1} << 62U;
  check_invalid({{{half, half, 1}, {half, half, 1}, {1, 1, 1}}, equal(1)}, "the bytes of a plan are more than 2^63");
  check_invalid({{{half, half, 1}}, {{1, half}, {1, 1}}}, "the bytes of a plan are more than 2^63");
  check_invalid({leaves, {{2 * half}, {1}}}, "the weights of a plan are more than 2^63");
  const partition plan(leaves, equal(2));
  const auto failure = sample::failure_of([&] { static_cast<void>(plan.pieces_of(2)); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("a plan of 2 ranks has no rank 2"));
}

TEST_CASE("the hash depends on every input") {
  const inputs from{{{10, 40, 5}, {20, 80, 1}}, {{1, 0}, {1, 7}}};
  std::vector<inputs> all{from, {{}, from.ranks}, {from.leaves, equal(1)}, {from.leaves, equal(2)}};
  for (std::size_t i = 0; i < 2; ++i) {
    for (const auto member : {&leaf_size::elements, &leaf_size::bytes, &leaf_size::row}) {
      all.push_back(from);
      ++(all.back().leaves[i].*member);
    }
    for (const auto member : {&rank_load::weight, &rank_load::other}) {
      all.push_back(from);
      ++(all.back().ranks[i].*member);
    }
  }
  all.push_back(from);
  std::swap(all.back().leaves[0], all.back().leaves[1]);
  all.push_back(from);
  std::swap(all.back().ranks[0], all.back().ranks[1]);
  std::vector<cairn::plan::input_hash> hashes;
  for (const auto& each : all) {
    hashes.push_back(partition(each.leaves, each.ranks).hash());
    CHECK(hashes.back() == partition(each.leaves, each.ranks).hash());
    CHECK(std::count(hashes.begin(), hashes.end(), hashes.back()) == 1);
    CHECK(hashes.back().high != hashes.back().low);
  }
}

TEST_CASE("a plan is the same in all builds") {
  // Ranks of one job may be compiled differently. Where this plan changes, raise the version that the hash has.
  std::vector<leaf_size> leaves;
  for (std::uint64_t layer = 1; layer <= 3; ++layer)
    for (const std::uint64_t row : {1U, 1000U, 1U, 300U}) leaves.push_back(floats(layer * 1000, row));
  const partition plan(leaves, {{1}, {2}, {1, 5'000'000}, {1}});
  CHECK(plan.hash() == cairn::plan::input_hash{0x3abfe56a2ec62142, 0x8a02fcb44129967e});
  CHECK(plan.pieces() == cairn::detail::division{{{0, 0, 1000}, {1, 0, 1000000}, {3, 0, 300000}, {5, 0, 511000}},
                                                 {{2, 0, 1000}, {5, 511000, 1489000}, {7, 0, 600000}, {9, 0, 1535000}},
                                                 {{4, 0, 2000}, {6, 0, 2000}, {8, 0, 3000}, {9, 1535000, 556000}},
                                                 {{9, 2091000, 909000}, {10, 0, 3000}, {11, 0, 900000}}});
}

TEST_CASE("sizes of leaves, with rows along the slowest dimension that can be cut") {
  const auto leaf_of = [](cairn::dtype type, cairn::extents shape) {
    cairn::detail::leaf made;
    made.type = type;
    made.shape = std::move(shape);
    return made;
  };
  const std::vector<cairn::detail::leaf> leaves{
      leaf_of(cairn::dtype::f32, {6, 5, 2}), leaf_of(cairn::dtype::f64, {1, 1, 7, 3}), leaf_of(cairn::dtype::u8, {}),
      leaf_of(cairn::dtype::bf16, {9}),      leaf_of(cairn::dtype::f32, {4, 0}),       leaf_of(cairn::dtype::f32, {1})};
  const std::vector<std::vector<std::uint64_t>> wanted{{60, 240, 10}, {21, 168, 3}, {1, 1, 1},
                                                       {9, 18, 1},    {0, 0, 1},    {1, 4, 1}};
  const auto sizes = cairn::plan::sizes_of(leaves);
  REQUIRE(sizes.size() == wanted.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    CHECK(std::vector{sizes[i].elements, sizes[i].bytes, sizes[i].row} == wanted[i]);
}
