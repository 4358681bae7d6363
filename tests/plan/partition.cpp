// SPDX-License-Identifier: MIT
#include "cairn/plan/partition.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using cairn::detail::piece;
using cairn::detail::record_columns;
using cairn::plan::leaf_size;
using cairn::plan::partition;
using cairn::plan::rank_load;
using pieces = std::vector<piece>;
__extension__ typedef unsigned __int128 uint128;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

struct inputs {
  std::vector<leaf_size> leaves;
  std::vector<rank_load> ranks;
  std::vector<record_columns> columns{};

  [[nodiscard]] partition plan() const { return {leaves, ranks, columns}; }
  /// What is cut as one: all columns of an array of records, or a leaf with its elements as records.
  [[nodiscard]] std::vector<record_columns> items() const {
    std::vector<record_columns> all;
    auto next = columns.begin();
    for (std::size_t i = 0; i < leaves.size(); i += all.back().count)
      all.push_back(next != columns.end() && next->first == i ? *next++ : record_columns{i, 1, leaves[i].elements});
    return all;
  }
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
    grow(made, 0);
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

  /// A struct: up to five members, some of which are structs or arrays of records, or a layer repeated.
  void grow(inputs& made, int depth) {
    const auto begin = made.leaves.size(), begin_of_columns = made.columns.size();
    for (auto members = below(6); members > 0; --members) {
      if (depth < 3 && one_in(3))
        grow(made, depth + 1);
      else if (one_in(4))
        add_records(made);
      else
        made.leaves.push_back(leaf());
    }
    const auto end = made.leaves.size(), end_of_columns = made.columns.size();
    if (!one_in(4)) return;
    for (auto copies = below(4); copies > 0 && made.leaves.size() < 100; --copies) {
      const auto moved = made.leaves.size() - begin;
      for (auto i = begin; i < end; ++i) made.leaves.push_back(leaf_size(made.leaves[i]));
      for (auto i = begin_of_columns; i < end_of_columns; ++i) {
        auto again = made.columns[i];
        again.first += moved;
        made.columns.push_back(again);
      }
    }
  }

  /// Up to seven columns, of records in rows, where each has up to 40 elements in a record, or none. Records have at
  /// most 2,240 bytes.
  void add_records(inputs& made) {
    const std::uint64_t in_row = one_in(2) ? 1 : 1 + below(100), records = (1 + sized()) * in_row;
    made.columns.push_back({made.leaves.size(), 2 + below(6), records});
    for (std::size_t i = 0; i < made.columns.back().count; ++i) {
      const std::uint64_t width = one_in(10) ? 0 : 1 + below(one_in(5) ? 40 : 4), elements = records * width;
      made.leaves.push_back({elements, bytes_of(elements), std::max<std::uint64_t>(in_row * width, 1)});
    }
  }

  leaf_size leaf() {
    const std::uint64_t row = one_in(2) ? 1 : 1 + below(5000), elements = (one_in(20) ? 0 : sized()) * row;
    return {elements, bytes_of(elements), row};
  }

  std::uint64_t sized() { return below((std::uint64_t{1} << below(scale_ + 1)) + 1); }
  std::uint64_t bytes_of(std::uint64_t elements) {
    const std::uint64_t bytes = elements << below(4);
    return one_in(3) ? bytes / 16 * below(16) : bytes;  // encoded, or not
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
      covered[each.leaf] += each.count;
      ++seen[each.leaf];
      next = each.leaf + 1;
    }
  }
  for (std::size_t i = 0; i < covered.size(); ++i)
    if (seen[i] == 0 || covered[i] != from.leaves[i].elements) return false;
  return true;
}

/// Whether the columns of each array of records are cut at the same records, and an item of no bytes is not cut.
/// Columns of no elements are where the first record is.
bool are_cut_together(const inputs& from, const cairn::detail::division& all) {
  for (const auto& item : from.items()) {
    const auto is_of_item = [&](const piece& each) { return each.leaf - item.first < item.count; };
    std::uint64_t bytes = 0;
    for (auto i = item.first; i < item.first + item.count; ++i) bytes += from.leaves[i].bytes;
    std::uint64_t next = 0;  // record
    std::ptrdiff_t shards = 0;
    for (const auto& shard : all) {
      const auto begin = std::find_if(shard.begin(), shard.end(), is_of_item);
      if (begin == shard.end()) continue;
      ++shards;
      std::uint64_t end = next;
      auto at = begin;
      for (auto leaf = item.first; leaf < item.first + item.count; ++leaf) {
        const auto width = item.count == 1 ? 1 : from.leaves[leaf].elements / item.records;
        if (width == 0 && next > 0) continue;
        if (at == shard.end() || at->leaf != leaf || at->first != next * width) return false;
        if (width > 0 && end == next) end = next + at->count / width;
        if (at->count != (width == 0 ? 0 : end - next) * width) return false;
        ++at;
      }
      next = end;
    }
    if (bytes == 0 && shards != 1) return false;
  }
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

/// Whether the shares are all bytes, and a rank that has a share has no more bytes per weight, its other ones included,
/// than any other rank.
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

/// Whether cuts within an item leave parts of the minimum, up to a row, and are at a row where one is near.
bool has_good_cuts(const inputs& from, const partition& plan, const cairn::detail::division& all) {
  const limits of(from, plan);
  const auto near = of.share / 1024;
  std::vector<record_columns> item_of(from.leaves.size());
  for (const auto& item : from.items())
    for (auto i = item.first; i < item.first + item.count; ++i) item_of[i] = item;
  for (const auto& shard : all)
    for (const auto& each : shard) {
      if (each.first == 0) continue;
      const auto item = item_of[each.leaf];
      const auto first = item.first, count = item.count, records = item.records;
      const auto width = count == 1 ? 1 : from.leaves[each.leaf].elements / records;
      const auto bytes_of = [&](std::uint64_t of_records) {
        std::uint64_t bytes = count == 1 ? 0 : 2240 + count;  // a record, and rounding
        for (auto i = first; i < first + count; ++i)
          bytes += plan.bytes_of({i, 0, count == 1 ? of_records : from.leaves[i].elements / records * of_records});
        return bytes;
      };
      const auto record = each.first / width;
      if (bytes_of(record) + near + 8 < of.least) return false;
      if (bytes_of(records - record) + near + 8 < of.least) return false;
      const auto row_of_first = std::max<std::uint64_t>(from.leaves[first].row, 1);
      const auto width_of_first = count == 1 ? 1 : from.leaves[first].elements / records;
      const auto row = width_of_first == 0 ? 1 : row_of_first / width_of_first;
      const auto past = record % row;
      if (past != 0 && (bytes_of(past) < near || bytes_of(row - past) < near)) return false;
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
  const auto failure = sample::failure_of([&] { static_cast<void>(from.plan()); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says(text));
}

void check_columns_refused(std::vector<record_columns> columns, const std::string& text) {
  const auto failure = sample::failure_of([&] {
    static_cast<void>(cairn::plan::detail::item_list({{6, 24, 1}, {12, 48, 2}, {7, 28, 1}}, std::move(columns)));
  });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says(text));
}

}  // namespace

TEST_CASE("plans of random trees: every element once, balanced, cut well, the same at every rank") {
  random_trees trees(1);
  std::size_t cut = 0, cut_columns = 0, dealt = 0;
  for (int round = 0; round < 10'000; ++round) {
    INFO("tree " << round);
    const auto from = trees.make();
    const auto plan = from.plan();
    const auto all = plan.pieces();
    REQUIRE(all.size() == from.ranks.size());
    REQUIRE(has_all_once(from, all));
    REQUIRE(are_cut_together(from, all));
    REQUIRE(is_fair(from, plan));
    REQUIRE(is_balanced(from, plan, all));
    REQUIRE(has_good_cuts(from, plan, all));

    const auto rank = static_cast<std::size_t>(round) % all.size();
    const auto at_rank = from.plan();
    REQUIRE(at_rank.pieces_of(rank) == all[rank]);
    REQUIRE(at_rank.hash() == plan.hash());
    for (const auto& shard : all)
      for (const auto& each : shard) {
        if (each.first == 0) continue;
        const auto is_column = [&](const record_columns& of) { return each.leaf - of.first < of.count; };
        ++(std::any_of(from.columns.begin(), from.columns.end(), is_column) ? cut_columns : cut);
      }
    dealt += is_in_order(all) ? 0 : 1;
  }
  CHECK(cut > 10'000);  // the trees reach what is tested
  CHECK(cut_columns > 10'000);
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

TEST_CASE("the columns of an array of records are cut at the same record") {
  // Records of 3 floats, a byte and two bytes: 15 bytes, in 3 and 1 and 2 elements; and a field without elements.
  constexpr std::uint64_t records = 1'000'000;
  const inputs from{{{3 * records, 12 * records, 3}, {0, 0, 1}, {records, records, 1}, {2 * records, 2 * records, 2}},
                    equal(4),
                    {{0, 4, records}}};
  cairn::detail::division wanted;
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    const auto first = rank * records / 4, count = records / 4;
    wanted.push_back({{0, 3 * first, 3 * count}, {2, first, count}, {3, 2 * first, 2 * count}});
    if (rank == 0) wanted[0].insert(wanted[0].begin() + 1, {1, 0, 0});
  }
  CHECK(from.plan().pieces() == wanted);

  // A leaf before them, of 5 of 20 MB: the first rank has it whole.
  auto more = from;
  more.leaves.insert(more.leaves.begin(), floats(5 * records / 4));
  more.columns = {{1, 4, records}};
  CHECK(more.plan().pieces_of(0) == pieces{{0, 0, 5 * records / 4}});
  CHECK(more.plan().pieces_of(1) ==
        pieces{{1, 0, 3 * (records / 3)}, {2, 0, 0}, {3, 0, records / 3}, {4, 0, 2 * (records / 3)}});
}

TEST_CASE("records in rows are cut at a row where one is near") {
  // The share is 2,666,666 bytes: a row that is 1,064 bytes before is near, one that is 2,664 bytes before is not.
  const auto first_of = [](std::uint64_t row) {
    constexpr std::uint64_t records = 1'000'000;
    return inputs{{{records, 4 * records, row}, {2 * records, 4 * records, 2 * row}}, equal(3), {{0, 2, records}}}
        .plan()
        .pieces_of(0);
  };
  CHECK(first_of(400) == pieces{{0, 0, 333'200}, {1, 0, 666'400}});
  CHECK(first_of(1000) == pieces{{0, 0, 333'333}, {1, 0, 666'666}});
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

TEST_CASE("small arrays of records are dealt whole, and count as many pieces as they have columns") {
  inputs from{{floats(30 * mib / 4)}, equal(4)};
  for (int i = 0; i < 10; ++i) from.leaves.push_back(floats(mib / 4));
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0) from.columns.push_back({from.leaves.size(), 3, 256});
    for (int k = 0; k < 3; ++k) from.leaves.push_back(floats(256));
  }
  const auto all = from.plan().pieces();
  CHECK(are_cut_together(from, all));
  for (const auto& shard : all) {
    CHECK(shard.size() >= 32);  // of 134
    CHECK(shard.size() <= 35);
  }
}

TEST_CASE("a cut array of records counts as many pieces at each rank as it has columns") {
  inputs from{{}, equal(4), {{0, 8, mib}}};  // half of all bytes
  for (int i = 0; i < 8; ++i) from.leaves.push_back(floats(mib));
  from.leaves.push_back(floats(8 * mib));
  for (int i = 0; i < 42; ++i) from.leaves.push_back(floats(256));
  for (const auto& shard : from.plan().pieces()) CHECK(shard.size() == 15);
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
  // 900 bytes are a share; two leaves of 4,095 bytes are less than an eighth of all. The first and the last rank write
  // nothing.
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
  for (const std::uint64_t records : {1U, 2U, 10U}) {
    all.push_back(from);
    all.back().columns = {{0, 2, records}};
  }
  std::vector<cairn::plan::input_hash> hashes;
  for (const auto& each : all) {
    hashes.push_back(each.plan().hash());
    CHECK(hashes.back() == each.plan().hash());
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

TEST_CASE("columns that the leaves cannot have are refused") {
  check_columns_refused({{0, 2, 5}}, "a column of 5 records has 6 elements");
  check_columns_refused({{0, 3, 6}}, "a column of 6 records has 7 elements");
  check_columns_refused({{0, 2, 0}}, "columns of 0 records");
  check_columns_refused({{0, 1, 6}}, "cannot have 1 columns");
  check_columns_refused({{2, 2, 1}}, "a plan of 3 leaves cannot have 2 columns of 1 records from leaf 2 on");
  check_columns_refused({{4, 2, 1}}, "from leaf 4 on");
  check_columns_refused({{0, 2, 6}, {1, 2, 1}}, "from leaf 1 on");
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
