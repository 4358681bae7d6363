// SPDX-License-Identifier: MIT
// The disks of the hosts of a group as one store: what is on which host, what a restore brings, what all ranks keep.
// The first rank of a host owns the slots (host_disk.hpp) that no rank uses.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/each_host.hpp"
#include "cairn/group/team.hpp"
#include "cairn/levels/host_disk.hpp"
#include "cairn/levels/copy.hpp"
#include "cairn/levels/rebuild.hpp"
#include "cairn/levels/redundancy.hpp"
#include "cairn/levels/survey.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/host_set.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/store/root_directory.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/mutex.hpp"

namespace cairn::inline v0_1::detail {

/// A publication that is being written to a slot. `attempt`: the other ranks join it by that.
class slot_transaction final : public stores::transaction {
 public:
  slot_transaction(std::unique_ptr<transaction> slot, std::string attempt)
      : slot_(std::move(slot)), attempt_(std::move(attempt)) {}

  stores::sink& create(std::string_view file, std::uint64_t bytes) override { return slot_->create(file, bytes); }
  void prepare() override { slot_->prepare(); }
  void publish() override { slot_->publish(); }
  [[nodiscard]] std::string attempt() const override { return attempt_; }

 private:
  std::unique_ptr<transaction> slot_;
  std::string attempt_;
};

/// Calls `act` at rank `from`, and returns its text at all ranks.
template <class Act>
[[nodiscard]] std::string text_of_rank(team& ranks, unsigned from, const Act& act) {
  const auto text = ranks.all([&] { return ranks.rank() == from ? std::string(act()) : std::string(); });
  return ranks.broadcast(text, from, ranks.all_gather(text.size())[from]);
}

/// Calls `act` at each rank, and returns the texts of all at all ranks.
template <class Act>
[[nodiscard]] std::vector<std::string> texts_of_ranks(team& ranks, const Act& act) {
  const auto texts = ranks.gather(act);
  return ranks.from_leader([&] { return texts; });
}

/// What is known of the checkpoints is the same at all ranks, but while one of them removes some. Thread-safe, but for
/// the functions that take a team, those that send, and `keep_only`.
class host_slots final : public host_set {
 public:
  host_slots(std::string root, each_host_options options)
      : disk_(std::move(root), options.directory), options_(std::move(options)) {}

  [[nodiscard]] const std::string& root() const noexcept { return disk_.root(); }
  [[nodiscard]] stores::ownership lock() const { return locked(); }
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return options_.directory.lease; }

  [[nodiscard]] stores::ownership meet(team& ranks) override {
    const auto held = ranks.all([&] { return claim(); });
    number_hosts(ranks);
    ranks.all([&] { lock_slots(*held); });
    require_same_directory(ranks);
    const auto texts =
        texts_of_ranks(ranks, [&] { return hosts_.is_first() ? to_json(disk_.report()) : std::string(); });
    auto all = ranks.all([&] {
      std::vector<host_report> reports;
      for (const auto first : hosts_.first_of)
        reports.push_back(from_json<host_report>(texts[first], "what a host has"));
      if (!options_.parity)  // nothing can be computed from it
        for (auto& report : reports)
          for (auto& part : report.parts) part.parity.clear();
      return list_checkpoints(reports);
    });
    for (auto at = all.begin(); at != all.end();) {
      try {
        if (at->second.hosts.size() < hosts_.hosts()) static_cast<void>(copy(at->second, {}, false, ranks));
        ++at;
      } catch (const error& cause) {
        if (cause.code() != errc::corrupt && cause.code() != errc::unreadable) throw;
        at = all.erase(at);  // its index has been damaged since it was listed
      }
    }
    token_ = ranks.from_leader([] { return to_hex(stores::detail::random_number()); });
    double latest = 0;
    for (const auto& [name, each] : all) latest = std::max(latest, each.began);
    const mutex_lock lock(mutex_);
    known_ = std::move(all);
    began_ = begin_after(latest);
    return held;
  }

  [[nodiscard]] std::string warning() const override {
    if (hosts_.hosts() >= least_hosts()) return {};
    return sentence({"all ranks are on ", hosts_.hosts() == 1 ? "one host" : "too few hosts",
                     ": nothing is sent to other hosts, as partners or parity need ", least_hosts()});
  }

  void bring(const std::string& name, team& ranks) override {
    for (std::optional<std::string> next = name; next;) {
      auto found = known(*next);
      if (!found) fail(errc::not_found, {"there is no checkpoint ", disk_.root(), "/", *next});
      if (const auto missing = found->missing())
        fail(errc::corrupt,
             {disk_.root(), "/", *next, ": ", shard_file(*missing, found->shards.size()), " is on no host"});
      std::vector<std::size_t> lacking, lost;
      for (std::size_t i = 0; i < found->shards.size(); ++i)
        if (found->shards[i].size() < hosts_.hosts()) (found->shards[i].empty() ? lost : lacking).push_back(i);
      if (!lacking.empty() || !lost.empty()) {
        rebuild(*found, lost, copy(*found, lacking, !lost.empty(), ranks), ranks);
        const mutex_lock lock(mutex_);
        known_.insert_or_assign(*next, *found);
      }
      const auto parent = ranks.from_leader([&] {
        const auto index = read_index(*disk_.open(found->publication), index_part::metadata);
        return index.parent ? index.parent->name : std::string();
      });
      next = !parent.empty() && known(parent) ? std::optional(parent) : std::nullopt;
    }
  }

  [[nodiscard]] bool begin_sending(const std::string& index) override {
    if (!sends_to_others() || hosts_.hosts() < least_hosts() || sent_->is_off()) return false;
    const auto held = locked();
    constexpr unsigned channels = 32768;
    const auto publication = begun();
    sent_->begin(hosts_, index, publication, held->slots[0], held->slots[1],
                 static_cast<unsigned>(checksum(std::as_bytes(std::span(token_))) % channels), options_.parity.get());
    return true;
  }
  void send() override {
    try {  // a sending takes long, and the checkpoint is there
      if (hosts_.is_first()) disk_.write_published(publications({}));
    } catch (const error&) {  // keep_only tries it again
    }
    sent_->send();
  }
  bool pump(team& ranks) override { return sent_->pump(ranks); }
  [[nodiscard]] bool is_sending() const override { return sent_->is_sending(); }
  void cancel_sending() noexcept override { sent_->cancel(); }

  [[nodiscard]] std::string newest_sent() const override {
    std::string newest;
    const mutex_lock lock(mutex_);
    for (const auto& [name, each] : known_)
      if (sends_to_others() && each.is_redundant() && (newest.empty() || checkpoint_before(newest, name)))
        newest = name;
    return newest;
  }
  void placed() override {
    const mutex_lock lock(mutex_);
    spread_checkpoint made{.publication = begun_, .began = began_};
    for (unsigned host = 0; host < hosts_.hosts(); ++host) made.hosts.insert(host);
    for (const auto host : hosts_.host_of) made.shards.push_back({host});
    known_.insert_or_assign(checkpoint_of(begun_).value(), std::move(made));
  }
  [[nodiscard]] std::vector<std::string> publications(const std::set<std::string>& without) const override {
    const mutex_lock lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [name, each] : known_)
      if (!without.contains(name)) all.push_back(each.publication);
    return all;
  }
  void keep_only(const std::vector<std::string>& publications) override {
    const std::set<std::string> kept(publications.begin(), publications.end());
    {
      const mutex_lock lock(mutex_);
      std::erase_if(known_, [&](const auto& each) { return !kept.contains(each.second.publication); });
    }
    std::optional<error> failure;
    const auto attempt = [&](const auto& act) {
      try {
        act();
      } catch (...) {
        if (!failure) failure = as_error(std::current_exception(), {disk_.root()});
      }
    };
    if (hosts_.is_first()) attempt([&] { disk_.write_published(publications); });
    for (auto& each : locked()->slots)
      attempt([&] {
        auto entries = each.list();
        std::ranges::reverse(entries);  // a delta before what it is built on
        for (const auto& entry : entries)
          if (checkpoint_of(entry) && !kept.contains(entry)) attempt([&] { each.remove(entry); });
      });
    if (failure) throw error(*failure);
  }
  void withdraw() noexcept override {
    try {
      locked()->slots.front().remove(begun());
    } catch (...) {  // there is none; else the next save removes it
    }
  }
  [[nodiscard]] bool lacks_shards(const std::string& name) const override {
    const auto found = known(name);
    return found && found->missing();
  }
  [[nodiscard]] const std::string& token() const noexcept override { return token_; }
  [[nodiscard]] double began() const override {
    const mutex_lock lock(mutex_);
    return began_;
  }

  [[nodiscard]] std::unique_ptr<stores::transaction> begin(std::string_view name, std::string_view attempt) {
    auto publication = publication_of(name, attempt);
    auto begun = locked()->slots.front().begin(publication);
    const mutex_lock lock(mutex_);
    begun_ = std::move(publication);
    return std::make_unique<slot_transaction>(std::move(begun), std::string(attempt));
  }
  [[nodiscard]] std::vector<std::string> list() const {
    static_cast<void>(locked());
    std::vector<std::string> names;
    {
      const mutex_lock lock(mutex_);
      for (const auto& [name, each] : known_) names.push_back(name);
    }
    sort_items(names, checkpoint_before);
    return names;
  }
  [[nodiscard]] std::shared_ptr<const stores::publication> open(const std::string& name) const {
    static_cast<void>(locked());
    if (const auto found = known(name)) return disk_.open(found->publication);
    fail(errc::not_found, {"there is no checkpoint ", disk_.root(), "/", name});
  }
  /// What this rank has of it: the others do so in keep_only.
  void remove(const std::string& name) {
    const auto held = locked();
    const auto found = known(name);
    if (!found) fail(errc::not_found, {"there is no checkpoint ", disk_.root(), "/", name});
    for (auto& each : held->slots) {
      try {
        each.remove(found->publication);
      } catch (const error& cause) {
        if (cause.code() != errc::not_found) throw;
      }
    }
    const mutex_lock lock(mutex_);
    known_.erase(name);
  }

 private:
  /// The slots of this rank, and their locks: its own, that for copies it receives, and unused ones.
  struct locked_slots {
    std::vector<stores::directory> slots{};
    std::vector<stores::ownership> locks{};
    std::size_t own = 0;  // how many are not unused ones
  };

  [[nodiscard]] std::shared_ptr<locked_slots> locked() const {
    const mutex_lock lock(mutex_);
    if (auto held = held_.lock()) return held;
    fail(errc::invalid, {disk_.root(), " cannot be used before the first call of its checkpointer"});
  }
  /// The publication that this rank has begun last.
  [[nodiscard]] std::string begun() const {
    const mutex_lock lock(mutex_);
    return begun_;
  }
  [[nodiscard]] std::optional<spread_checkpoint> known(const std::string& name) const {
    const mutex_lock lock(mutex_);
    const auto at = known_.find(name);
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }

  void number_hosts(team& ranks) {
    const auto names = texts_of_ranks(ranks, [&] {
      auto name = options_.host.empty() ? stores::detail::boot_of_this_machine() : options_.host;
      if (name.empty()) fail(errc::invalid, {"each_host_options::host is empty, and the boot id is not known"});
      return name;
    });
    hosts_ = host_numbers(ranks.rank(), names);
    const auto& code = options_.parity;
    ranks.require_same("each_host_options::partner", options_.partner ? "true" : "false");
    ranks.require_same("each_host_options::parity", code ? sentence({code->hosts, " hosts, ", code->lost}) : "none");
    if (options_.partner && code) fail(errc::invalid, {"each_host_options: `partner` and `parity` exclude each other"});
    if (sends_to_others() && hosts_.hosts() > 1 && !ranks.can_send())
      fail(errc::unsupported,
           {"each_host_options::", code ? "parity" : "partner", ": this group cannot send messages"});
    for (unsigned host = 1; code && host < hosts_.hosts(); ++host)
      if (hosts_.ranks_on(host) != hosts_.ranks_on(0))
        fail(errc::invalid,
             {"each_host_options::parity: each host must have the same number of ranks, but hosts 0 and ", host,
              " have ", hosts_.ranks_on(0), " and ", hosts_.ranks_on(host)});
  }
  [[nodiscard]] bool sends_to_others() const noexcept { return options_.partner || options_.parity; }
  /// That this needs.
  [[nodiscard]] unsigned least_hosts() const {
    return options_.parity ? options_.parity->lost + 1 : options_.partner ? 2U : 1U;
  }
  /// For one checkpointer at a time.
  [[nodiscard]] std::shared_ptr<locked_slots> claim() {
    auto held = std::make_shared<locked_slots>();
    const mutex_lock lock(mutex_);
    if (!held_.expired())
      fail(errc::invalid,
           {disk_.root(), " is in use by another checkpointer: each rank needs an each_host of its own"});
    held_ = held;
    known_.clear();
    disk_.forget();
    sent_ = std::make_unique<redundancy>();
    return held;
  }
  /// Ranks of one host have to find each other's shards.
  void require_same_directory(team& ranks) const {
    const auto places = texts_of_ranks(ranks, [&] { return disk_.identity(); });
    for (unsigned rank = 0; rank < places.size(); ++rank)
      if (const auto first = hosts_.first_of[hosts_.host_of[rank]]; places[rank] != places[first])
        fail(errc::invalid, {"ranks ", first, " and ", rank,
                             " are on one host, but their directories are not the same: set each_host_options::host "
                             "to tell hosts apart"});
  }
  void lock_slots(locked_slots& held) const {
    const auto found = disk_.find_slots();
    const auto own = hosts_.index_on_host[hosts_.rank];
    held.slots.push_back(disk_.slot(host_disk::name_of(own)));
    if (sends_to_others() ||
        std::ranges::count(found, host_disk::name_of(own, true), &host_disk::named_slot::name) != 0)
      held.slots.push_back(disk_.slot(host_disk::name_of(own, true)));
    held.own = held.slots.size();
    for (const auto& each : found)
      if (hosts_.is_first() && each.number >= hosts_.ranks_on(hosts_.host)) held.slots.push_back(disk_.slot(each.name));
    for (auto& each : held.slots) {
      try {
        held.locks.push_back(each.lock());
      } catch (const error& cause) {
        if (cause.code() != errc::busy) throw;
        fail(errc::busy, {cause.sentence(), "; each_host needs a directory that no other host and no other job uses"});
      }
    }
  }

  /// Copies the index, those shards, and the parity of sets that have lost some, to each host that lacks them. A file
  /// that is damaged is copied as it is: who reads it compares checksums. Returns the text of the index.
  [[nodiscard]] std::string copy(spread_checkpoint& of, const std::vector<std::size_t>& shards, bool with_parity,
                                 team& ranks) {
    const auto name = checkpoint_of(of.publication).value();
    const auto source = hosts_.first_of[*of.hosts.begin()];
    const auto own = ranks.all([&] {  // what this rank sends is from there
      const bool has_some = hosts_.is_first() && of.hosts.contains(hosts_.host);
      return has_some ? disk_.open(of.publication) : nullptr;
    });
    const auto text = text_of_rank(ranks, source, [&] { return read_index_text(*own); });
    const auto index = ranks.all([&] {
      auto parsed = parse_index(text, sentence({disk_.root(), "/", name}), index_part::metadata);
      if (parsed.shards.size() < of.shards.size())
        fail(errc::corrupt, {disk_.root(), "/", name, " has different indexes on hosts"});
      return parsed;
    });
    std::vector<std::pair<index_shard, std::set<unsigned>*>> files;
    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto shard : shards) files.emplace_back(index.shards[shard], &of.shards[shard]);
    for (auto& [keeper, each] : of.parity) {
      const auto is_lost = [&](std::uint64_t member) { return of.shards[member].empty(); };
      if (!with_parity || std::ranges::none_of(each.record.members, is_lost)) continue;
      const auto file = parity_file(keeper, of.shards.size());
      texts.emplace_back(file + ".json", to_json(each.record));
      files.emplace_back(index_shard{.file = file + ".data", .bytes = each.record.bytes()}, &each.hosts);
    }
    texts.emplace_back(index_file, text);
    const auto lacks = [&](const std::set<unsigned>& has) { return hosts_.is_first() && !has.contains(hosts_.host); };
    std::unique_ptr<stores::transaction> to;
    ranks.all([&] {
      if (lacks(of.hosts) || std::ranges::any_of(files, [&](const auto& each) { return lacks(*each.second); }))
        to = free_slot(of.publication).begin(of.publication);
    });
    for (const auto& [file, has] : files)
      broadcast_file(own.get(), file, hosts_.first_of[*has->begin()], lacks(*has) ? to.get() : nullptr, ranks);
    ranks.all([&] {
      if (!to) return;
      for (const auto& [file, written] : texts) write_text(to->create(file, written.size()), written);
      to->publish();
    });
    for (unsigned host = 0; host < hosts_.hosts(); ++host) {
      of.hosts.insert(host);
      for (const auto& [file, has] : files) has->insert(host);
    }
    return text;
  }
  /// At each host, which has all that is left: computes the shards that are on none. `text`: of the index.
  /// errc::corrupt: something of that is damaged.
  void rebuild(spread_checkpoint& of, const std::vector<std::size_t>& lost, const std::string& text, team& ranks) {
    if (lost.empty()) return;
    ranks.all([&] {
      if (!hosts_.is_first()) return;
      const auto there = disk_.open(of.publication);
      const auto shards = parse_index(text, there->location(), index_part::metadata).shards;
      const auto to = free_slot(of.publication).begin(of.publication);
      for (const auto shard : lost) {
        auto where = sentence({there->location(), "/", shards.at(shard).file});
        auto file = std::make_unique<rebuilt_file>(of, *there, where, shards, shard, *options_.parity);
        copy_shard(std::move(file), std::move(where), shards[shard], *to, [](std::uint64_t) {});
      }
      write_text(to->create(index_file, text.size()), text);
      to->publish();
    });
    for (const auto shard : lost)
      for (unsigned host = 0; host < hosts_.hosts(); ++host) of.shards[shard].insert(host);
  }
  /// Broadcasts a file of `own` from rank `from`; ranks with a transaction write it.
  void broadcast_file(const stores::publication* own, const index_shard& file, unsigned from, stores::transaction* to,
                      team& ranks) const {
    constexpr std::uint64_t piece = std::uint64_t{16} << 20U;
    std::unique_ptr<stores::source> source;
    stores::sink* out = nullptr;
    page_buffer memory;
    ranks.all([&] {
      if (hosts_.rank == from) source = open_file(*own, file);
      if (to != nullptr) out = &to->create(file.file, file.bytes);
      static_cast<void>(memory.first(std::min(piece, file.bytes)));
    });
    for (std::uint64_t at = 0; at < file.bytes; at += piece) {
      const auto bytes = memory.first(std::min(piece, file.bytes - at));
      ranks.all([&] {
        if (source) source->read(at, bytes);
      });
      ranks.broadcast(bytes, from);
      ranks.all([&] {
        const stores::buffer all[] = {bytes};
        if (out != nullptr) out->write(at, all);
      });
    }
    ranks.all([&] {
      if (to != nullptr) to->prepare();  // few files are open at a time
    });
  }
  /// An unused slot without the publication; makes one if needed.
  [[nodiscard]] stores::directory free_slot(const std::string& publication) const {
    const auto held = locked();
    for (std::size_t i = held->own; i < held->slots.size(); ++i) {
      const auto entries = held->slots[i].list();
      if (std::ranges::find(entries, publication) == entries.end()) return held->slots[i];
    }
    auto number = hosts_.ranks_on(hosts_.host);
    for (const auto& each : disk_.find_slots()) number = std::max(number, each.number + 1);
    auto made = disk_.slot(host_disk::name_of(number));
    auto lock = made.lock();
    held->locks.push_back(std::move(lock));
    held->slots.push_back(made);
    return made;
  }

  host_disk disk_;
  const each_host_options options_;
  host_numbers hosts_;  // of the group, after number_hosts
  mutable mutex mutex_;
  std::weak_ptr<locked_slots> held_ CAIRN_GUARDED_BY(mutex_);
  std::map<std::string, spread_checkpoint> known_ CAIRN_GUARDED_BY(mutex_);  // by name
  std::string begun_ CAIRN_GUARDED_BY(mutex_);                               // a publication
  std::string token_;                                                        // of the first call of the group
  double began_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<redundancy> sent_ = std::make_unique<redundancy>();
};

}  // namespace cairn::inline v0_1::detail
