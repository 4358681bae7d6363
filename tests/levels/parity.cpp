// SPDX-License-Identifier: MIT
#include "cairn/parity.hpp"

#include <filesystem>

#include "cairn/encode/lossless.hpp"
#include "catch.hpp"
#include "levels/cluster.hpp"

using cairn::detail::coded_piece, cairn::detail::parity_record;
using Catch::Matchers::ContainsSubstring;
using kind = cairn::event::kind;
using tests::cluster, tests::ranks, tests::state, tests::state_at, tests::steps;
namespace fs = std::filesystem;

namespace {

parity_record set_of(std::uint64_t members, std::uint64_t rows, std::uint64_t chunk = parity_record::unit) {
  parity_record made{.keeper = 0, .members = {}, .rows = rows, .chunk = chunk};
  for (std::uint64_t member = 0; member < members; ++member) made.members.push_back(member);
  return made;
}

/// Of the hosts with the bits of `lost`, at most `most` are in each set.
bool survives(unsigned lost, unsigned hosts, unsigned wanted, unsigned most) {
  const unsigned sets = std::max(hosts / wanted, 1U);
  std::vector<unsigned> lost_of(sets);
  for (unsigned host = 0; host < hosts; ++host) lost_of[host % sets] += lost >> host & 1U;
  return std::ranges::all_of(lost_of, [&](unsigned each) { return each <= most; });
}

/// A cluster whose hosts can be brought back as they were when it was kept.
struct kept_cluster : cluster {
  sample::scratch kept{};
  void keep(unsigned hosts) const {
    for (unsigned host = 0; host < hosts; ++host)
      fs::copy(root(host), kept.path("h" + std::to_string(host)), fs::copy_options::recursive);
  }
  void bring_back(unsigned hosts, unsigned lost) const {
    for (unsigned host = 0; host < hosts; ++host) {
      fs::remove_all(root(host));
      if ((lost >> host & 1U) == 0)
        fs::copy(kept.path("h" + std::to_string(host)), root(host), fs::copy_options::recursive);
    }
  }
};

/// The files with this ending on a host.
std::vector<std::string> files_on(const std::string& root, const std::string& ending) {
  std::vector<std::string> found;
  for (const auto& each : fs::recursive_directory_iterator(root))
    if (each.path().string().ends_with(ending)) found.push_back(each.path().string());
  std::ranges::sort(found);
  return found;
}

}  // namespace

TEST_CASE("each member has one piece of each stripe, and each byte of its parity one place") {
  for (std::uint64_t members = 2; members <= 12; ++members)
    for (std::uint64_t rows = 1; rows < members; ++rows) {
      const auto set = set_of(members, rows, 100 * parity_record::unit);
      for (std::uint64_t stripe = 0; stripe < members; ++stripe) {
        std::set<std::uint64_t> pieces;
        for (std::uint64_t member = 0; member < members; ++member) {
          pieces.insert(set.position(stripe, member));
          CHECK(set.stripe_of(member, set.position(stripe, member)) == stripe);
        }
        CHECK(pieces.size() == members);
      }
      for (std::uint64_t to = 0; to < members; ++to) {
        std::map<std::uint64_t, std::set<std::uint64_t>> chunks;  // by row
        for (std::uint64_t from = 0; from < members; ++from)
          if (from != to)
            for (const auto& [row, chunk] : set.rows_with(from, to)) CHECK(chunks[row].insert(chunk).second);
        CHECK(chunks.size() == rows);
        for (const auto& [row, all] : chunks) CHECK(all.size() == set.columns());
      }
      std::set<std::uint64_t> places;
      for (std::uint64_t row = 0; row < rows; ++row)
        for (std::uint64_t at = 0; at < set.chunk; at += parity_record::unit) places.insert(set.offset(row, at));
      CHECK(places.size() == rows * 100);
      CHECK(*places.rbegin() + parity_record::unit == set.bytes());
      for (const std::uint64_t longest : {0U, 1U, 65536U, 1000000U, 786432U})
        CHECK(parity_record::chunk_for(longest, set.columns()) * set.columns() >= longest);
    }
}

TEST_CASE("any pieces of a stripe give the others") {
  std::mt19937_64 from(1);
  const std::unique_ptr<cairn::detail::erasure_code> code = std::make_unique<cairn::detail::isal_code>(8U, 2U);
  for (unsigned columns = 1; columns <= 5; ++columns)
    for (unsigned rows = 1; rows <= 3; ++rows) {
      const std::size_t bytes = 1 + from() % 3000;
      std::vector<std::vector<std::byte>> pieces(columns + rows, std::vector<std::byte>(bytes));
      std::vector<coded_piece> data;
      for (unsigned i = 0; i < columns; ++i) {
        for (auto& each : pieces[i]) each = static_cast<std::byte>(from());
        data.push_back({i, pieces[i]});
      }
      for (unsigned row = 0; row < rows; ++row)
        code->compute(columns, rows, data, columns + row, pieces[columns + row]);
      for (unsigned there = 0; there < 1U << (columns + rows); ++there) {
        if (std::popcount(there) != static_cast<int>(columns)) continue;
        std::vector<coded_piece> known;
        for (unsigned i = 0; i < columns + rows; ++i)
          if ((there >> i & 1U) != 0) known.push_back({i, pieces[i]});
        for (unsigned wanted = 0; wanted < columns + rows; ++wanted) {
          std::vector<std::byte> made(bytes);
          code->compute(columns, rows, known, wanted, made);
          REQUIRE(made == pieces[wanted]);
        }
      }
    }
}

TEST_CASE("a record of parity is read as it was written, and others are refused") {
  auto set = set_of(4, 2);
  const auto text = cairn::detail::to_json(set);
  CHECK(cairn::detail::from_json<parity_record>(text, "a test") == set);
  const auto refused = [](const parity_record& bad) {
    CHECK_THROWS_AS(cairn::detail::from_json<parity_record>(cairn::detail::to_json(bad), "a test"), cairn::error);
  };
  for (const std::uint64_t rows : {0U, 4U, 5U}) refused(set_of(4, rows));
  for (const std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{1} << 60U})
    refused(set_of(4, 2, chunk));
  refused(set_of(129, 2));
  set.members[1] = 2;
  refused(set);
  set = set_of(4, 2);
  set.keeper = 4;
  refused(set);
}

TEST_CASE("hosts that are lost are restored or not as the sets say, for all subsets of up to 12") {
  const auto [hosts, wanted, rows] = GENERATE(table<unsigned, unsigned, unsigned>({{2, 4, 1},
                                                                                   {3, 4, 2},
                                                                                   {4, 4, 1},
                                                                                   {4, 4, 3},
                                                                                   {5, 4, 2},
                                                                                   {8, 4, 1},
                                                                                   {8, 4, 2},
                                                                                   {9, 4, 2},
                                                                                   {12, 4, 2},
                                                                                   {12, 12, 5}}));
  const unsigned on_each = 2;
  std::vector<std::string> names;
  for (unsigned rank = 0; rank < hosts * on_each; ++rank) names.push_back(std::to_string(rank / on_each));
  std::vector<cairn::detail::host_report> whole(hosts);
  const std::string publication = "step-000000005.0000000100000000";
  for (unsigned rank = 0; rank < names.size(); ++rank) {
    const cairn::detail::host_numbers numbers(rank, names);
    auto& parts = whole[numbers.host].parts;
    if (parts.empty()) parts.push_back({publication, 1, names.size(), {}, {}});
    parts[0].shards.push_back(rank);
    parts[0].parity.push_back({rank, numbers.members_with(rank, wanted), rows, parity_record::unit});
  }
  CHECK(cairn::detail::list_checkpoints(whole).begin()->second.is_redundant());
  for (unsigned lost = 1; lost < 1U << hosts; ++lost) {
    auto reports = whole;
    for (unsigned host = 0; host < hosts; ++host)
      if ((lost >> host & 1U) != 0) reports[host] = {};
    const auto found = cairn::detail::list_checkpoints(reports);
    REQUIRE(found.size() == (survives(lost, hosts, wanted, rows) ? 1 : 0));
    bool can_lose_one = !found.empty();
    for (unsigned host = 0; host < hosts; ++host)
      can_lose_one = can_lose_one && ((lost >> host & 1U) != 0 || survives(lost | 1U << host, hosts, wanted, rows));
    REQUIRE((found.empty() || found.begin()->second.is_redundant() == can_lose_one));
  }
}

TEST_CASE("with parity, each loss of hosts that it is for is survived, and each other is refused") {
  struct job {
    ranks on;
    unsigned hosts;
    cairn::parity code;
  };
  const auto [on, hosts, code] =
      GENERATE(job{{0, 1}, 2, {.hosts = 4, .lost = 1}}, job{{0, 1, 2, 3}, 4, {.hosts = 4, .lost = 1}},
               job{{0, 0, 1, 1, 2, 2}, 3, {.hosts = 3, .lost = 2}}, job{{0, 1, 2, 3}, 4, {.hosts = 2, .lost = 1}});
  kept_cluster at;
  at.parity = code;
  at.options.keep_last = 2;
  at.options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  at.save(on, {1, 2, 3}, hosts == 4);
  at.keep(hosts);
  for (unsigned lost = 1; lost + 1 < 1U << hosts; ++lost) {
    INFO(lost);
    at.bring_back(hosts, lost);
    const bool is_survived = survives(lost, hosts, code.hosts, code.lost);
    for (const auto& each : at.run(on, [&](cairn::checkpointer& run, unsigned rank) {
           state now;
           const auto report = run.restore(now);
           require(report && report->step == 3, "another step");
           require(now == state_at(3, rank, on.size(), on.size()), "another state");
         }))
      if (is_survived)
        CHECK(each == "");
      else
        CHECK_THAT(each, ContainsSubstring("is on no host"));
    if (!is_survived) continue;
    at.save(on, {4});  // and goes on
    CHECK(at.restored(on, on.size()) == 4);
  }
}

TEST_CASE("shards of several MiB and of different sizes are rebuilt on fewer hosts, with other ranks") {
  cluster at;
  at.parity = cairn::parity{.hosts = 3, .lost = 2};
  const auto made = [](unsigned rank) {
    state all = state_at(7, rank, 3, 3);
    all.own.value.resize(100 + 400000 * (2 - rank), rank);
    std::iota(all.own.value.begin(), all.own.value.end(), rank);
    return all;
  };
  CHECK(common(at.run({0, 1, 2},
                      [&](cairn::checkpointer& run, unsigned rank) { save_at(run, made(rank), 7, true); })) == "");
  for (unsigned host = 0; host < 3; ++host) {
    const auto data = files_on(at.root(host), ".data");
    REQUIRE(data.size() == 1);
    CHECK(fs::file_size(data[0]) > 2 * (std::uint64_t{6} << 20U));
  }
  fs::remove_all(at.root(0));
  fs::remove_all(at.root(1));
  CHECK(common(at.run({2, 3}, [&](cairn::checkpointer& run, unsigned rank) {
          state now;
          require(run.restore(now).has_value(), "nothing");
          auto wanted = made(rank);
          if (rank == 0) {  // see deal
            const auto more = made(2).own.value;
            wanted.own.value.insert(wanted.own.value.end(), more.begin(), more.end());
          }
          require(now == wanted, "another state");
        })) == "");
}

TEST_CASE("damaged parity beside a lost shard gives no wrong bits") {
  kept_cluster at;
  at.parity = cairn::parity{.hosts = 3, .lost = 1};
  at.save({0, 1, 2}, {1, 2});
  at.keep(3);
  const auto harm = GENERATE(0, 1, 2, 3, 4);
  CAPTURE(harm);
  at.bring_back(3, 0b001);
  const auto data = files_on(at.root(1), "parity-00001-of-00003.data");
  REQUIRE(data.size() == 2);
  auto bytes = sample::slurp(data[1]);
  if (harm == 0) {
    for (std::size_t i = 0; i < bytes.size(); i += 100) bytes[i] ^= 4;
    sample::spill(data[1], bytes);
  } else if (harm == 1) {
    fs::resize_file(data[1], bytes.size() - 1);
  } else if (harm == 2) {
    fs::remove(data[1]);
  } else {
    const auto record = data[1].substr(0, data[1].size() - 5) + ".json";
    auto text = sample::slurp(record);
    const auto members = text.find("\"members\":[0");
    REQUIRE(members != text.npos);
    sample::spill(record, harm == 3 ? "{" : text.replace(members + 11, 1, "7"));
  }
  CHECK(at.restored({0, 1, 2}, 3) == 1);
}

TEST_CASE("a record that says less than the shards have is refused") {
  cluster at;
  at.parity = cairn::parity{.hosts = 2, .lost = 1};
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          auto made = state_at(1, rank, 2, 2);
          made.own.value.resize(100'000);
          save_at(run, made, 1, false);
        })) == "");
  fs::remove_all(at.root(1));
  const auto data = files_on(at.root(0), ".data").at(0), record = files_on(at.root(0), "00002.json").at(0);
  auto text = sample::slurp(record);
  const auto chunk = text.find("\"chunk\":");
  REQUIRE(chunk != text.npos);
  sample::spill(record, text.substr(0, chunk) + "\"chunk\":65536}");
  fs::resize_file(data, 65536);
  for (const auto& each : at.run({0, 1}, [](cairn::checkpointer& run, unsigned) {
         state now;
         run.restore(now);
       }))
    CHECK_THAT(each, ContainsSubstring("its parity is that of a smaller file"));
}

TEST_CASE("one damaged row is passed over where others are enough") {
  cluster at;
  at.parity = cairn::parity{.hosts = 4, .lost = 2};
  at.save({0, 1, 2, 3}, {1});
  fs::remove_all(at.root(3));
  fs::resize_file(files_on(at.root(0), ".data").at(0), 3);
  CHECK(at.restored({0, 1, 2, 3}, 4) == 1);
}

TEST_CASE("a lost shard is not rebuilt without the option, and parity is removed with its checkpoint") {
  cluster at;
  at.parity = cairn::parity{.hosts = 2, .lost = 1};
  at.options.keep_last = 2;
  at.save({0, 1}, {1, 2, 3});
  CHECK(files_on(at.root(0), ".data").size() == 2);
  fs::remove_all(at.root(1));
  const auto with = std::exchange(at.parity, nullptr);
  for (const auto& each : at.run({0, 1}, [](cairn::checkpointer& run, unsigned) {
         state now;
         run.restore(now);
       }))
    CHECK_THAT(each, ContainsSubstring("shard-00001-of-00002.safetensors is on no host"));
  at.parity = with;
  CHECK(at.restored({0, 1}, 2) == 3);
  at.parity = nullptr;
  at.save({0, 1}, {4, 5});
  for (unsigned host = 0; host < 2; ++host) CHECK(files_on(at.root(host), ".data").empty());
}

TEST_CASE("what parity cannot be made of is refused, or reported") {
  for (const auto& [hosts, lost] : {std::pair(4U, 0U), {4U, 4U}, {4U, 5U}, {0U, 0U}, {65U, 1U}}) {
    cairn::each_host_options options;
    CHECK_THROWS_AS((options.parity = cairn::parity{.hosts = hosts, .lost = lost}), cairn::error);
  }
  cluster at;
  const auto refused = [&](const ranks& on, const std::string& why) {
    for (const auto& each :
         at.run(on, [](cairn::checkpointer& run, unsigned rank) { save_at(run, state_at(1, rank, 2, 2), 1, false); }))
      CHECK_THAT(each, ContainsSubstring(why));
    CHECK(cluster::steps_in(at.slot(0, 0)).empty());
  };
  at.parity = cairn::parity{};
  refused({0, 0, 1}, "each host must have the same number of ranks");
  at.has_partners = true;
  refused({0, 1}, "exclude each other");
  at.has_partners = false;
  std::atomic<unsigned> told{0};
  at.parity = cairn::parity{.hosts = 4, .lost = 2};
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::unmatched && what.message.find("too few hosts") != what.message.npos) ++told;
  };
  at.save({0, 1}, {1});
  CHECK(told == 2);  // each rank
  CHECK(files_on(at.root(0), ".data").empty());
  CHECK(at.restored({0, 1}, 2) == 1);
}

TEST_CASE("parity that cannot be written is an event, and the save succeeds") {
  cluster at;
  at.parity = cairn::parity{.hosts = 3, .lost = 1};
  std::atomic<unsigned> failed{0};
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::published && what.step == 2 && fs::exists(at.root(1) + "/others-00"))
      fs::rename(at.root(1) + "/others-00", at.scratch.path("away"));
    if (what.what == kind::failed) ++failed;
  };
  at.save({0, 1, 2}, {1, 2});
  CHECK(failed >= 1);
  at.options.on_event = nullptr;
  CHECK(at.restored({0, 1, 2}, 3) == 2);
}
