// SPDX-License-Identifier: MIT
// The disks of the hosts of a group: on each host the directory of the run has one of its own for each rank, a slot.
//
//   ROOT/slot-00/step-000000120.0123456789abcdef/   index.json and the shards that the rank has written, or that a
//   ROOT/slot-01/...                                restore has brought
//   ROOT/published                                  the publications that all ranks have made, see host_report
//
// Slots are numbered within a host, so that ranks of another number and order find what is there. Those that no rank
// has belong to the first rank of the host.
#pragma once

#include <algorithm>
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
    static_cast<void>(slot(0));  // checks the options
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
  /// The slots of this rank, its own before those that no rank has, and their locks.
  struct locked_slots {
    std::vector<stores::directory> slots{};
    std::vector<stores::ownership> locks{};
  };

  static constexpr std::string_view slot_prefix = "slot-", published_file = "published";

  [[nodiscard]] stores::directory slot(std::size_t number) const {
    const auto digits = std::to_string(number);
    return stores::directory(sentence({root_, "/", slot_prefix, digits.size() < 2 ? "0" : "", digits}),
                             options_.directory);
  }
  /// The number of slots on this host, up to the last.
  [[nodiscard]] std::size_t count_slots() const {
    const stores::detail::open_directory root{root_, posix::open_at(AT_FDCWD, root_, O_RDONLY | O_DIRECTORY)};
    if (!root.fd && errno != ENOENT) fail_io("open the directory", root_);
    std::size_t count = 0;
    for (const auto& entry : root.fd ? root.entries() : std::vector<std::string>()) {
      std::size_t number = 0;
      if (entry.starts_with(slot_prefix) && read_number(entry.substr(slot_prefix.size()), number) &&
          number < most_slots)
        count = std::max(count, number + 1);
    }
    return count;
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
    rank_ = ranks.rank();
    ranks_on_host_ = 0;
    for (unsigned rank = 0; rank < names.size(); ++rank) {
      const auto [at, is_new] = numbers.try_emplace(names[rank], static_cast<unsigned>(first_of_.size()));
      if (is_new) first_of_.push_back(rank);
      host_of_.push_back(at->second);
    }
    host_ = host_of_[rank_];
    for (unsigned rank = 0; rank < names.size(); ++rank) {
      if (rank == rank_) own_number_ = ranks_on_host_;
      ranks_on_host_ += host_of_[rank] == host_ ? 1 : 0;
    }
  }
  [[nodiscard]] std::shared_ptr<locked_slots> lock_slots() {
    auto held = std::make_shared<locked_slots>();
    held->slots.push_back(slot(own_number_));
    for (auto number = ranks_on_host_, end = is_first() ? count_slots() : 0; number < end; ++number)
      held->slots.push_back(slot(number));
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
    const auto count = count_slots();
    for (std::size_t number = 0; number < count; ++number) {
      const auto place = slot(number);
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
    const auto count = count_slots();
    for (std::size_t number = 0; number < count; ++number) {
      try {
        parts.push_back(slot(number).open(publication));
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
    for (std::size_t i = 1; i < held->slots.size(); ++i) {
      const auto entries = held->slots[i].list();
      if (std::ranges::find(entries, publication) == entries.end()) return held->slots[i];
    }
    auto made = slot(std::max(count_slots(), ranks_on_host_));
    auto lock = made.lock();
    held->locks.push_back(std::move(lock));
    held->slots.push_back(made);
    return made;
  }

  static constexpr std::size_t most_slots = 100'000;

  const std::string root_;
  const each_host_options options_;
  // Of the group, after number_hosts:
  unsigned rank_ = 0, host_ = 0;      // of this process
  std::vector<unsigned> host_of_{};   // by rank
  std::vector<unsigned> first_of_{};  // the first rank of each host
  std::size_t own_number_ = 0, ranks_on_host_ = 0;
  mutable mutex mutex_;
  std::weak_ptr<locked_slots> held_ CAIRN_GUARDED_BY(mutex_);
  std::map<std::string, spread_checkpoint> known_ CAIRN_GUARDED_BY(mutex_);  // by name
  std::string begun_ CAIRN_GUARDED_BY(mutex_);                               // a publication
  double began_ CAIRN_GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn::inline v0_1::detail
