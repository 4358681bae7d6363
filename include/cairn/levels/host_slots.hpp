// SPDX-License-Identifier: MIT
// The disks of the hosts of a group: on each host the directory of the run has one of its own for each rank, a slot.
//
//   ROOT/slot-00/step-000000120.0123456789abcdef/   index.json and the shards that the rank has written, or that a
//   ROOT/slot-01/...                                restore has brought
//   ROOT/partner-00/...                             shards of ranks of another host
//   ROOT/published                                  the publications that all ranks have made, see host_report
//
// Slots are numbered within a host, so that ranks of another number and order find what is there. Those that no rank
// has belong to the first rank of the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
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

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/each_host.hpp"
#include "cairn/group/team.hpp"
#include "cairn/levels/exchange.hpp"
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
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

/// A publication of which the slots of a host have parts.
class united_publication final : public stores::publication {
 public:
  united_publication(std::string location, std::vector<std::shared_ptr<const publication>> parts)
      : location_(std::move(location)), parts_(std::move(parts)) {}

  [[nodiscard]] std::string location() const override { return location_; }
  [[nodiscard]] std::vector<std::string> files() const override {
    std::set<std::string> all;
    for (const auto& each : parts_)
      for (auto& file : each->files()) all.insert(std::move(file));
    return {all.begin(), all.end()};
  }
  [[nodiscard]] std::unique_ptr<stores::source> open(std::string_view file) const override {
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      try {
        return parts_[i]->open(file);
      } catch (const error& cause) {
        if (cause.code() != errc::not_found) throw;
      }
    }
    return parts_.back()->open(file);
  }

 private:
  std::string location_;
  std::vector<std::shared_ptr<const publication>> parts_;
};

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
/// the functions that take a team.
class host_slots final : public host_set {
 public:
  host_slots(std::string root, each_host_options options)
      : root_(stores::directory(std::move(root)).location()), options_(std::move(options)) {
    static_cast<void>(slot(name_of(0)));  // checks the options
  }

  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  [[nodiscard]] stores::ownership lock() const { return locked(); }
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return options_.directory.lease; }

  [[nodiscard]] stores::ownership meet(team& ranks) override {
    number_hosts(ranks);
    const auto held = ranks.all([&] { return lock_slots(); });
    {
      const mutex_lock lock(mutex_);
      held_ = held;
      known_.clear();
    }
    const auto texts = texts_of_ranks(ranks, [&] { return is_first() ? to_json(report()) : std::string(); });
    auto all = ranks.all([&] {
      std::vector<host_report> reports;
      for (const auto first : first_of_) reports.push_back(from_json<host_report>(texts[first], "what a host has"));
      return list_checkpoints(reports);
    });
    for (auto& [name, each] : all)
      if (each.hosts.size() < first_of_.size()) copy(each, {}, ranks);
    double latest = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    for (const auto& [name, each] : all) latest = std::max(latest, std::nextafter(each.began, infinite()));
    const mutex_lock lock(mutex_);
    known_ = std::move(all);
    began_ = latest;
    return held;
  }

  [[nodiscard]] std::string warning() const override {
    if (!options_.partner || hosts() > 1) return {};
    return "all ranks are on one host: no copies are made at partners";
  }

  void bring(const std::string& name, team& ranks) override {
    for (std::optional<std::string> next = name; next;) {
      auto found = known(*next);
      if (!found) fail(errc::not_found, {"there is no checkpoint ", root_, "/", *next});
      if (const auto missing = found->missing())
        fail(errc::corrupt, {root_, "/", *next, ": ", shard_file(*missing, found->shards.size()), " is on no host"});
      std::vector<std::size_t> lacking;
      for (std::size_t i = 0; i < found->shards.size(); ++i)
        if (found->shards[i].size() < first_of_.size()) lacking.push_back(i);
      if (!lacking.empty()) {
        copy(*found, lacking, ranks);
        const mutex_lock lock(mutex_);
        known_.insert_or_assign(*next, *found);
      }
      const auto parent = ranks.from_leader([&] {
        const auto index = read_index(*open_publication(*next, found->publication), index_part::metadata);
        return index.parent ? index.parent->name : std::string();
      });
      next = !parent.empty() && known(parent) ? std::optional(parent) : std::nullopt;
    }
  }

  [[nodiscard]] bool begin_sending(const std::string& index) override {
    if (!options_.partner || hosts() < 2 || sending_is_off_) return false;
    std::vector<outgoing_file> sends;
    std::vector<incoming_file> receives;
    const auto shards = parse_index(index, "the index of rank 0", index_part::metadata).shards;
    const auto partner = [&](unsigned rank) {
      return receiver_on(partner_of(host_of_[rank], hosts()), place_of_[rank]);
    };
    std::string publication;
    {
      const mutex_lock lock(mutex_);
      publication = begun_;
    }
    sent_index_ = index;
    attempt_sending([&] { received_ = locked()->slots[1].begin(publication); });
    for (unsigned rank = 0; rank < host_of_.size(); ++rank) {
      if (partner(rank) != rank_) continue;
      receives.push_back({rank, shards.at(rank).bytes, nullptr});
      attempt_sending([&] {
        if (received_) receives.back().file = &received_->create(shards[rank].file, shards[rank].bytes);
      });
    }
    sends.push_back({partner(rank_), shards.at(rank_).bytes, nullptr});
    attempt_sending([&] { sends.back().file = open_file(*locked()->slots.front().open(publication), shards[rank_]); });
    sending_ = std::make_unique<exchange>(std::move(sends), std::move(receives));
    return true;
  }
  void send() override {
    sending_->work();
    auto failure = sending_failure_ ? sending_failure_ : sending_->failure();
    if (!failure && received_) attempt_sending([&] { publish_received(sent_index_); });
    if (!failure) failure = sending_failure_;
    received_.reset();
    sending_failure_.reset();
    is_sent_ = true;
    if (failure) throw error(*failure);
  }
  void pump(team& ranks) override {
    if (!sending_) return;
    if (is_sent_.exchange(false)) return sending_.reset();
    sending_->pump(ranks);
  }
  [[nodiscard]] bool is_sending() const override { return sending_ != nullptr && !is_sent_; }
  void cancel_sending() noexcept override {
    if (!is_sending()) return;
    sending_is_off_ = true;  // messages that are under way could be taken for those that follow
    sending_->cancel();
  }

  void placed() override {
    const mutex_lock lock(mutex_);
    spread_checkpoint made{.publication = begun_, .began = began_};
    for (unsigned host = 0; host < first_of_.size(); ++host) made.hosts.insert(host);
    for (const auto host : host_of_) made.shards.push_back({host});
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
    if (is_first()) write_published(publications);
    for (auto& each : locked()->slots)
      for (const auto& entry : each.list())
        if (checkpoint_of(entry) && !kept.contains(entry)) each.remove(entry);
  }
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
    if (const auto found = known(name)) return open_publication(name, found->publication);
    fail(errc::not_found, {"there is no checkpoint ", root_, "/", name});
  }
  /// What this rank has of it: the others do so in keep_only.
  void remove(const std::string& name) {
    const auto held = locked();
    const auto found = known(name);
    if (!found) fail(errc::not_found, {"there is no checkpoint ", root_, "/", name});
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
  /// The slots of this rank, and their locks: its own, that for its partner, if there is one, and those that no rank
  /// has.
  struct locked_slots {
    std::vector<stores::directory> slots{};
    std::vector<stores::ownership> locks{};
    std::size_t own = 0;  // the number of those before the last ones
  };

  static constexpr std::string_view slot_prefix = "slot-", partner_prefix = "partner-", published_file = "published";

  /// A directory of slots, by the name of the slot and its number.
  struct named_slot {
    std::string name;
    std::size_t number = 0;
    bool is_partner = false;
  };

  [[nodiscard]] static std::string name_of(std::size_t number, bool is_partner = false) {
    const auto digits = std::to_string(number);
    return sentence({is_partner ? partner_prefix : slot_prefix, digits.size() < 2 ? "0" : "", digits});
  }
  [[nodiscard]] stores::directory slot(const std::string& name) const {
    return stores::directory(root_ + "/" + name, options_.directory);
  }
  /// Those that are on this host.
  [[nodiscard]] std::vector<named_slot> find_slots() const {
    const stores::detail::open_directory root{root_, posix::open_at(AT_FDCWD, root_, O_RDONLY | O_DIRECTORY)};
    if (!root.fd && errno != ENOENT) fail_io("open the directory", root_);
    std::vector<named_slot> found;
    for (auto& entry : root.fd ? root.entries() : std::vector<std::string>())
      for (const bool is_partner : {false, true}) {
        const auto prefix = is_partner ? partner_prefix : slot_prefix;
        std::size_t number = 0;
        if (entry.starts_with(prefix) && read_number(entry.substr(prefix.size()), number) &&
            entry == name_of(number, is_partner))
          found.push_back({entry, number, is_partner});
      }
    std::ranges::sort(found, {}, &named_slot::name);
    return found;
  }
  [[nodiscard]] bool is_first() const { return first_of_[host_] == rank_; }
  [[nodiscard]] std::shared_ptr<locked_slots> locked() const {
    const mutex_lock lock(mutex_);
    if (auto held = held_.lock()) return held;
    fail(errc::invalid, {root_, " is for a checkpointer, whose first call finds out what is on the hosts"});
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
    std::map<std::string, unsigned> numbers;
    first_of_.clear();
    host_of_.clear();
    place_of_.clear();
    rank_ = ranks.rank();
    for (unsigned rank = 0; rank < names.size(); ++rank) {
      const auto [at, is_new] = numbers.try_emplace(names[rank], static_cast<unsigned>(first_of_.size()));
      if (is_new) first_of_.push_back(rank);
      place_of_.push_back(ranks_on(at->second));
      host_of_.push_back(at->second);
    }
    host_ = host_of_[rank_];
    ranks.require_same("each_host_options::partner", options_.partner ? "true" : "false");
    if (options_.partner && hosts() > 1 && !ranks.can_send())
      fail(errc::unsupported, {"each_host_options::partner: this group cannot send messages"});
  }
  [[nodiscard]] unsigned hosts() const { return static_cast<unsigned>(first_of_.size()); }
  [[nodiscard]] std::size_t ranks_on(unsigned host) const {
    return static_cast<std::size_t>(std::ranges::count(host_of_, host));
  }
  /// The rank on a host that rank number `place` of another host sends to.
  [[nodiscard]] unsigned receiver_on(unsigned host, std::size_t place) const {
    auto left = place % ranks_on(host);
    unsigned rank = first_of_[host];
    while (host_of_[rank] != host || left-- != 0) ++rank;
    return rank;
  }
  [[nodiscard]] std::shared_ptr<locked_slots> lock_slots() {
    auto held = std::make_shared<locked_slots>();
    const auto found = find_slots();
    const auto own = place_of_[rank_];
    held->slots.push_back(slot(name_of(own)));
    if (options_.partner || std::ranges::count(found, name_of(own, true), &named_slot::name) != 0)
      held->slots.push_back(slot(name_of(own, true)));
    held->own = held->slots.size();
    for (const auto& each : found)
      if (is_first() && each.number >= ranks_on(host_)) held->slots.push_back(slot(each.name));
    for (auto& each : held->slots) {
      try {
        held->locks.push_back(each.lock());
      } catch (const error& cause) {
        if (cause.code() != errc::busy) throw;
        fail(errc::busy, {cause.sentence(), "; each_host needs a directory that no other host and no other job uses"});
      }
    }
    return held;
  }

  /// At the first rank of a host: what is in all of its slots. What is damaged is not there.
  [[nodiscard]] host_report report() const {
    std::map<std::string, host_part> parts;
    for (const auto& each : find_slots()) {
      const auto place = slot(each.name);
      for (const auto& entry : place.list()) {
        if (!checkpoint_of(entry)) continue;
        try {
          add_part(*place.open(entry), parts[entry]);
          parts[entry].publication = entry;
        } catch (const error& cause) {
          if (cause.code() == errc::io || cause.code() == errc::no_memory) throw;
        }
      }
    }
    host_report made;
    for (auto& [entry, part] : parts)
      if (!part.publication.empty()) made.parts.push_back(std::move(part));
    try {
      const auto path = sentence({root_, "/", published_file});
      if (const auto text = posix::text_of(path); !text.empty())
        made.published = from_json<host_report>(text, path).published;
    } catch (const error& cause) {
      if (cause.code() != errc::corrupt) throw;
      for (const auto& each : made.parts) made.published.push_back(each.publication);  // each could be
    }
    return made;
  }
  static void add_part(const stores::publication& from, host_part& part) {
    const auto index = read_index(from, index_part::metadata);
    const auto files = from.files();
    part.count = index.shards.size();
    if (const auto at = index.info.notes.find(std::string(run_began));
        at != index.info.notes.end() && at->second.size() == 1 && is_finite(at->second[0]))
      part.began = at->second[0];
    for (std::size_t i = 0; i < index.shards.size(); ++i)
      if (std::ranges::binary_search(files, index.shards[i].file)) part.shards.push_back(i);
  }

  void write_published(const std::vector<std::string>& publications) const {
    const stores::detail::open_directory root{root_, posix::open_at(AT_FDCWD, root_, O_RDONLY | O_DIRECTORY)};
    if (!root.fd) fail_io("open the directory", root_);
    const std::string name(published_file), hidden = '.' + name;
    {
      const auto file = posix::open_at(root.fd.get(), hidden, O_WRONLY | O_CREAT | O_TRUNC);
      if (!file) fail_io("create", root.file(hidden));
      const auto text = to_json(host_report{.published = publications});
      const std::span<const std::byte> all[] = {std::as_bytes(std::span(text))};
      posix::write_all(file.get(), all, 0, root.file(hidden));
      if (options_.directory.durable) posix::sync(file.get(), root.file(hidden));
    }
    if (::renameat(root.fd.get(), hidden.c_str(), root.fd.get(), name.c_str()) != 0)
      fail_io("rename", root.file(hidden));
    if (options_.directory.durable) posix::sync(root.fd.get(), root_);
  }

  /// What the slots of this host have of a publication.
  [[nodiscard]] std::shared_ptr<const stores::publication> open_publication(const std::string& name,
                                                                            const std::string& publication) const {
    std::vector<std::shared_ptr<const stores::publication>> parts;
    for (const auto& each : find_slots()) {
      try {
        parts.push_back(slot(each.name).open(publication));
      } catch (const error& cause) {
        if (cause.code() != errc::not_found) throw;
      }
    }
    auto location = sentence({root_, "/", name});
    if (parts.empty()) fail(errc::not_found, {location, " is not on this host any more"});
    return std::make_shared<united_publication>(std::move(location), std::move(parts));
  }

  /// Copies the index, and those shards, to each host that lacks them. A file that is damaged is copied as it is: who
  /// reads it compares checksums.
  void copy(spread_checkpoint& of, const std::vector<std::size_t>& shards, team& ranks) {
    const auto name = checkpoint_of(of.publication).value();
    const auto source = first_of_[*of.hosts.begin()];
    const auto text =
        text_of_rank(ranks, source, [&] { return read_index_text(*open_publication(name, of.publication)); });
    const auto index = ranks.all([&] {
      auto parsed = parse_index(text, sentence({root_, "/", name}), index_part::metadata);
      if (parsed.shards.size() < of.shards.size())
        fail(errc::corrupt, {root_, "/", name, " has another index on each host"});
      return parsed;
    });
    const auto lacks = [&](std::size_t shard) { return is_first() && !of.shards[shard].contains(host_); };
    std::unique_ptr<stores::transaction> to;
    ranks.all([&] {
      if ((is_first() && !of.hosts.contains(host_)) || std::ranges::any_of(shards, lacks))
        to = free_slot(of.publication).begin(of.publication);
    });
    for (const auto shard : shards)
      send(name, of, index.shards[shard], first_of_[*of.shards[shard].begin()], lacks(shard) ? to.get() : nullptr,
           ranks);
    ranks.all([&] {
      if (!to) return;
      write_text(to->create(index_file, text.size()), text);
      to->publish();
    });
    for (unsigned host = 0; host < first_of_.size(); ++host) {
      of.hosts.insert(host);
      for (const auto shard : shards) of.shards[shard].insert(host);
    }
  }
  /// Sends a file from rank `from` to those that have a transaction for it.
  void send(const std::string& name, const spread_checkpoint& of, const index_shard& file, unsigned from,
            stores::transaction* to, team& ranks) const {
    constexpr std::uint64_t piece = std::uint64_t{16} << 20U;
    std::unique_ptr<stores::source> source;
    stores::sink* out = nullptr;
    page_buffer memory;
    ranks.all([&] {
      if (rank_ == from) source = open_file(*open_publication(name, of.publication), file);
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
  }
  /// A slot that no rank has, and that has no part of the publication.
  [[nodiscard]] stores::directory free_slot(const std::string& publication) const {
    const auto held = locked();
    for (std::size_t i = held->own; i < held->slots.size(); ++i) {
      const auto entries = held->slots[i].list();
      if (std::ranges::find(entries, publication) == entries.end()) return held->slots[i];
    }
    auto number = ranks_on(host_);
    for (const auto& each : find_slots()) number = std::max(number, each.number + 1);
    auto made = slot(name_of(number));
    auto lock = made.lock();
    held->locks.push_back(std::move(lock));
    held->slots.push_back(made);
    return made;
  }

  /// Keeps the first thing that fails while a partner is sent to, or sends.
  template <class Act>
  void attempt_sending(const Act& act) {
    try {
      act();
    } catch (...) {
      if (!sending_failure_) sending_failure_ = as_error(std::current_exception(), {root_});
    }
  }
  void publish_received(const std::string& index) const {
    write_text(received_->create(index_file, index.size()), index);
    received_->publish();
  }

  const std::string root_;
  const each_host_options options_;
  // Of the group, after number_hosts:
  unsigned rank_ = 0, host_ = 0;         // of this process
  std::vector<unsigned> host_of_{};      // by rank
  std::vector<unsigned> first_of_{};     // the first rank of each host
  std::vector<std::size_t> place_of_{};  // by rank: its number on its host
  mutable mutex mutex_;
  std::weak_ptr<locked_slots> held_ CAIRN_GUARDED_BY(mutex_);
  std::map<std::string, spread_checkpoint> known_ CAIRN_GUARDED_BY(mutex_);  // by name
  std::string begun_ CAIRN_GUARDED_BY(mutex_);                               // a publication
  double began_ CAIRN_GUARDED_BY(mutex_) = 0;
  // What is sent to partners. Between begin_sending and the end of `send` the others belong to `send`:
  std::unique_ptr<exchange> sending_;
  std::atomic<bool> is_sent_{false};  // `send` has ended
  bool sending_is_off_ = false;
  std::string sent_index_;
  std::unique_ptr<stores::transaction> received_;
  std::optional<error> sending_failure_;
};

}  // namespace cairn::inline v0_1::detail
