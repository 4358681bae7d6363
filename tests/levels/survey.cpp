// SPDX-License-Identifier: MIT
#include "cairn/levels/survey.hpp"

#include "catch.hpp"
#include "standard.hpp"

using cairn::detail::host_report;
using cairn::detail::list_checkpoints;
using cairn::detail::publication_of;

namespace {

const std::string first = "0000000000000001", second = "0000000000000002";

std::string publication(std::uint64_t step, const std::string& attempt = first) {
  return publication_of(cairn::detail::checkpoint_name(step), attempt);
}

/// The steps of the checkpoints that are whole, and those of the others.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> steps_of(const std::vector<host_report>& reports) {
  std::vector<std::uint64_t> whole, others;
  for (const auto& [name, each] : list_checkpoints(reports))
    (each.missing() ? others : whole).push_back(cairn::detail::parse_checkpoint_name(name).value());
  return {whole, others};
}

using steps = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("the directory of a publication names its checkpoint") {
  using cairn::detail::checkpoint_of;
  CHECK(checkpoint_of(publication(120)) == "step-000000120");
  CHECK(checkpoint_of("a.b.0123456789abcdef") == "a.b");
  for (const auto* other : {"step-000000120", "step-000000120.", "step-000000120.0123456789abcdeF", ".lock", ""})
    CHECK(!checkpoint_of(other));
}

TEST_CASE("a report is read as it was written, and others are refused") {
  const host_report made{.parts = {{publication(1), 1.5, 4, {0, 3}}, {publication(2), 0, 1, {}}},
                         .published = {publication(1)}};
  const auto text = cairn::detail::to_json(made);
  const auto read = cairn::detail::from_json<host_report>(text, "a test");
  CHECK(cairn::detail::to_json(read) == text);
  CHECK(read.parts.at(0).shards == made.parts[0].shards);
  for (const auto& [from, to] : {std::pair("[0,3]", "[0,4]"), std::pair("\"count\":4", "\"count\":100001"),
                                 std::pair("\"count\":4", "\"count\":-1"), std::pair("1.5", "\"x\"")}) {
    auto bad = text;
    REQUIRE(bad.find(from) != bad.npos);
    bad.replace(bad.find(from), std::string_view(from).size(), to);
    CHECK_THROWS_AS(cairn::detail::from_json<host_report>(bad, "a test"), cairn::error);
  }
}

TEST_CASE("a checkpoint is whole if each of its shards is on a host, for all ways to lose shards") {
  constexpr unsigned hosts = 3, shards = 4;
  for (unsigned lost = 0; lost < 1U << (hosts * shards); lost += 3) {
    std::vector<host_report> reports(hosts);
    std::set<unsigned> there;
    for (unsigned host = 0; host < hosts; ++host) {
      cairn::detail::host_part part{publication(5), 1, shards, {}};
      for (unsigned shard = 0; shard < shards; ++shard)
        if ((lost >> (host * shards + shard) & 1U) == 0) {
          part.shards.push_back(shard);
          there.insert(shard);
        }
      reports[host].parts.push_back(part);
    }
    const bool is_whole = there.size() == shards;
    CHECK(steps_of(reports) == std::pair(is_whole ? steps{5} : steps{}, steps{}));
    reports[lost % hosts].published = {publication(5)};
    CHECK(steps_of(reports) == std::pair(is_whole ? steps{5} : steps{}, is_whole ? steps{} : steps{5}));
  }
}

TEST_CASE("of two publications of a step, the newer one counts once it is whole") {
  const host_report one{.parts = {{publication(3, first), 1, 2, {0}}, {publication(3, second), 1, 2, {0}}},
                        .published = {publication(3, first)}};
  auto other = one;
  for (auto& part : other.parts) part.shards = {1};
  const auto chosen = [](const std::vector<host_report>& reports) {
    return list_checkpoints(reports).at("step-000000003").publication;
  };
  CHECK(chosen({one, other}) == publication(3, second));
  auto knows = other;
  knows.published = {publication(3, second)};
  CHECK(chosen({one, knows}) == publication(3, second));
  other.parts.pop_back();
  CHECK(chosen({one, other}) == publication(3, first));
  auto later_run = one;
  later_run.parts[0].began = 2;  // an older number, of a run that began later
  for (auto& part : other.parts) part.began = 2;
  CHECK(chosen({later_run, other}) == publication(3, first));
}

TEST_CASE("attempts are numbered, and no two are the same") {
  using cairn::detail::attempt_after;
  CHECK(attempt_after({}, 0xabcdef0123456789) == "00000001abcdef01");
  CHECK(attempt_after({publication(1, "00000007ffffffff"), publication(900, "00000003ffffffff")}, 0) ==
        "0000000800000000");
  CHECK(publication(5, attempt_after({publication(5, "000000ffffffffff")}, 0)) > publication(5, "000000ffffffffff"));
}

TEST_CASE("what a run has saved that another one has left behind is not listed") {
  const auto part = [](std::uint64_t step, double began) {
    return cairn::detail::host_part{publication(step), began, 1, {0}};
  };
  const host_report kept{.parts = {part(10, 1), part(20, 5), part(30, 5)}, .published = {}};
  const host_report back{.parts = {part(15, 1), part(40, 1)}, .published = {}};
  CHECK(steps_of({kept, back}).first == steps{10, 15, 20, 30});
  CHECK(steps_of({back, kept}).first == steps{10, 15, 20, 30});
  CHECK(steps_of({back}).first == steps{15, 40});
}

TEST_CASE("partners are other hosts, and of two lost hosts few are partners") {
  using cairn::detail::partner_of;
  for (unsigned hosts = 2; hosts <= 12; ++hosts) {
    std::set<unsigned> senders;
    for (unsigned host = 0; host < hosts; ++host) {
      CHECK(partner_of(host, hosts) < hosts);
      CHECK(partner_of(host, hosts) != host);
      senders.insert(partner_of(host, hosts));
    }
    CHECK(senders.size() == hosts);  // each gets the copies of one
  }
  // The number of subsets of hosts whose loss leaves all shards.
  const auto survived = [](unsigned hosts) {
    unsigned count = 0;
    for (unsigned lost = 0; lost < 1U << hosts; ++lost) {
      bool is_whole = true;
      for (unsigned host = 0; host < hosts; ++host)
        is_whole = is_whole && ((lost >> host & 1U) == 0 || (lost >> partner_of(host, hosts) & 1U) == 0);
      count += is_whole ? 1 : 0;
    }
    return count;
  };
  CHECK(survived(2) == 3);
  CHECK(survived(3) == 4);
  CHECK(survived(4) == 9);
  CHECK(survived(5) == 12);
}
