// SPDX-License-Identifier: MIT
// What the hosts of a group have of each checkpoint, and which checkpoints that makes: functions without any I/O.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/levels/parity_sets.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// The directory of a publication, the same at all ranks: "step-000000120.0000000700abcdef". Of two of a checkpoint,
/// the later one of a run has the larger name: an attempt begins with the number of the save, see attempt_after.
[[nodiscard]] inline std::string publication_of(std::string_view name, std::string_view attempt) {
  return sentence({name, ".", attempt});
}

/// The checkpoint whose publication has that directory; nothing for other names.
[[nodiscard]] inline std::optional<std::string> checkpoint_of(std::string_view directory) {
  const auto dot = directory.rfind('.');
  if (dot == directory.npos || !parse_hex(directory.substr(dot + 1))) return std::nullopt;
  return std::string(directory.substr(0, dot));
}

/// The attempt that follows all those of `known` publications: 8 hexadecimal digits of the largest number plus 1; then
/// the high 8 of `random`.
[[nodiscard]] inline std::string attempt_after(const std::vector<std::string>& known, std::uint64_t random) {
  constexpr unsigned half = 32;
  std::uint64_t last = 0;
  for (const auto& each : known)
    if (const auto attempt = parse_hex(std::string_view(each).substr(each.rfind('.') + 1)))
      last = std::max(last, *attempt >> half);
  return to_hex((last + 1) << half | (random >> half));
}

/// What a host has of a publication.
struct host_part {
  std::string publication;
  double began = 0;                     ///< when the run began that made it, in seconds since 1970; 0: not known
  std::uint64_t count = 0;              ///< of all its shards
  std::vector<std::uint64_t> shards{};  ///< the numbers of those that are here
  std::vector<parity_record> parity{};  ///< that is here
};

struct host_report {
  std::vector<host_part> parts{};
  std::vector<std::string> published{};  ///< publications of all ranks, as this host last recorded them
};

template <class Io>
void describe(Io& io, described<Io, host_part>& part) {
  io.object([&] {
    io.field("publication", part.publication);
    io.field("began", part.began);
    io.field("count", part.count);
    io.field("shards", part.shards);
    io.optional("parity", part.parity);
  });
  constexpr std::uint64_t most = 100'000;  // the digits of shard_file
  io.require(part.count <= most && std::ranges::all_of(part.shards, [&](auto each) { return each < part.count; }) &&
                 std::ranges::all_of(part.parity, [&](const auto& each) { return each.is_of(part.count); }),
             "has a shard that the checkpoint does not have");
}

template <class Io>
void describe(Io& io, described<Io, host_report>& report) {
  io.object([&] {
    io.optional("parts", report.parts);
    io.optional("published", report.published);
  });
}

/// The host that gets copies from host `host` of `hosts`, which are at least two. In pairs, so that of two lost hosts
/// few are partners (Gemini, SOSP 2023): d and d + hosts / 2; of an odd number, the last pair and the last host form a
/// ring.
[[nodiscard]] inline unsigned partner_of(unsigned host, unsigned hosts) {
  const unsigned half = hosts / 2;
  if (hosts % 2 == 0) return (host + half) % hosts;
  const unsigned ring[] = {half - 1, 2 * half - 1, 2 * half};
  for (unsigned i = 0; i < 3; ++i)
    if (host == ring[i]) return ring[(i + 1) % 3];
  return host < half ? host + half : host - half;
}

/// Which rank is on which host. Hosts are numbered in the order of their first ranks.
struct host_numbers {
  unsigned rank = 0, host = 0;               ///< of this process
  std::vector<unsigned> host_of{};           ///< by rank
  std::vector<std::size_t> index_on_host{};  ///< by rank: how many ranks of its host are before it
  std::vector<unsigned> first_of{};          ///< by host: its first rank

  host_numbers() = default;
  /// `names`: of the host of each rank.
  host_numbers(unsigned own, const std::vector<std::string>& names) : rank(own) {
    std::map<std::string_view, unsigned> numbers;
    for (unsigned each = 0; each < names.size(); ++each) {
      const auto [at, is_new] = numbers.try_emplace(names[each], hosts());
      if (is_new) first_of.push_back(each);
      index_on_host.push_back(ranks_on(at->second));
      host_of.push_back(at->second);
    }
    host = host_of[rank];
  }

  [[nodiscard]] unsigned hosts() const noexcept { return static_cast<unsigned>(first_of.size()); }
  [[nodiscard]] unsigned ranks() const noexcept { return static_cast<unsigned>(host_of.size()); }
  [[nodiscard]] std::size_t ranks_on(unsigned which) const {
    return static_cast<std::size_t>(std::ranges::count(host_of, which));
  }
  /// Is this process the first rank of its host?
  [[nodiscard]] bool is_first() const { return first_of[host] == rank; }
  /// The rank that gets copies from rank `of`: on the partner host, the rank number `index_on_host[of]` modulo the
  /// ranks there.
  [[nodiscard]] unsigned partner_of_rank(unsigned of) const {
    const auto on = partner_of(host_of[of], hosts());
    auto left = index_on_host[of] % ranks_on(on);
    unsigned found = first_of[on];
    while (host_of[found] != on || left-- != 0) ++found;
    return found;
  }
  /// The members of the set of rank `of`: the ranks with its number on the hosts of its set. There are as many sets as
  /// can have `wanted` hosts each, or one; neighbours are in different ones.
  [[nodiscard]] std::vector<std::uint64_t> members_with(unsigned of, unsigned wanted) const {
    const auto sets = std::max(hosts() / wanted, 1U);
    std::vector<std::uint64_t> members;
    for (unsigned each = 0; each < ranks(); ++each)
      if (index_on_host[each] == index_on_host[of] && host_of[each] % sets == host_of[of] % sets)
        members.push_back(each);
    return members;
  }
};

/// A checkpoint on the hosts, which are numbered.
struct spread_checkpoint {
  std::string publication;
  double began = 0;
  std::set<unsigned> hosts{};                // that have its index
  std::vector<std::set<unsigned>> shards{};  // the hosts that have each of them
  struct kept_parity {
    parity_record record{};
    std::set<unsigned> hosts{};  // that have it
  };
  std::map<std::uint64_t, kept_parity> parity{};  // by keeper

  /// Is what a member has of a stripe, a chunk or a row, on a host?
  [[nodiscard]] bool has_piece(const parity_record& set, std::uint64_t stripe, std::uint64_t member) const {
    const auto shard = set.members[member];
    if (set.position(stripe, member) >= set.rows) return !shards.at(shard).empty();
    const auto kept = parity.find(shard);
    return kept != parity.end() && !kept->second.hosts.empty() && kept->second.record.is_same_set(set);
  }
  /// A set with a shard that is on no host, where each stripe has enough pieces to compute it; null: there is none.
  [[nodiscard]] const parity_record* set_for(std::uint64_t shard) const {
    const auto has_enough = [&](const parity_record& set) {
      for (std::uint64_t stripe = 0; stripe < set.members.size(); ++stripe) {
        std::uint64_t there = 0;
        for (std::uint64_t member = 0; member < set.members.size(); ++member)
          there += has_piece(set, stripe, member) ? 1U : 0U;
        if (there < set.columns()) return false;
      }
      return true;
    };
    for (const auto& [keeper, each] : parity)
      if (each.record.has(shard) && has_enough(each.record)) return &each.record;
    return nullptr;
  }
  /// The lowest shard that is on no host and cannot be rebuilt.
  [[nodiscard]] std::optional<std::size_t> missing() const {
    for (std::size_t i = 0; i < shards.size(); ++i)
      if (shards[i].empty() && set_for(i) == nullptr) return i;
    return std::nullopt;
  }
  /// Whether any one host may be lost.
  [[nodiscard]] bool is_redundant() const {
    return std::ranges::all_of(hosts, [&](unsigned host) {
      auto rest = *this;
      for (auto& each : rest.shards) each.erase(host);
      for (auto& [keeper, each] : rest.parity) each.hosts.erase(host);
      return !rest.missing();
    });
  }
};

/// Removes what is left of runs from which another one has continued: each checkpoint at or after a step of a run that
/// began later. So hosts that come back do not bring an abandoned history back.
inline void drop_abandoned(std::map<std::string, spread_checkpoint>& all) {
  std::vector<std::pair<std::uint64_t, std::string>> by_step;
  for (const auto& [name, each] : all)
    if (const auto step = parse_checkpoint_name(name)) by_step.emplace_back(*step, name);
  std::ranges::sort(by_step);
  double latest = 0;
  for (const auto& [step, name] : by_step) {
    const auto at = all.find(name);
    latest = std::max(latest, at->second.began);
    if (at->second.began < latest) all.erase(at);
  }
}

/// The checkpoints, by name, from what each host has: those that are whole, and those that all ranks had published, of
/// which shards are missing now. One that only some ranks published is left out.
[[nodiscard]] inline std::map<std::string, spread_checkpoint> list_checkpoints(std::span<const host_report> reports) {
  std::map<std::string, spread_checkpoint> found;  // by publication
  std::set<std::string_view> published;
  for (unsigned host = 0; host < reports.size(); ++host) {
    published.insert(reports[host].published.begin(), reports[host].published.end());
    for (const auto& part : reports[host].parts) {
      auto& made = found[part.publication];
      made.publication = part.publication;
      made.began = part.began;
      made.hosts.insert(host);
      made.shards.resize(std::max<std::size_t>(made.shards.size(), part.count));
      for (const auto shard : part.shards) made.shards[shard].insert(host);
      for (const auto& record : part.parity)
        if (auto& kept = made.parity.try_emplace(record.keeper, record).first->second; kept.record == record)
          kept.hosts.insert(host);
    }
  }
  const auto preference = [](const spread_checkpoint& each) {
    return std::tuple(!each.missing(), each.began, std::string_view(each.publication));
  };
  std::map<std::string, spread_checkpoint> all;
  for (auto& [directory, each] : found) {
    const auto name = checkpoint_of(directory);
    if (!name || (each.missing() && !published.contains(directory))) continue;
    const auto [at, is_new] = all.try_emplace(*name);
    if (is_new || preference(at->second) < preference(each)) at->second = each;
  }
  drop_abandoned(all);
  return all;
}

}  // namespace cairn::inline v0_1::detail
