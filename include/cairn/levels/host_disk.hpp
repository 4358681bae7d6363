// SPDX-License-Identifier: MIT
// The directory of a run on one host. Each rank has a subdirectory, its slot.
//
//   ROOT/slot-00/step-000000120.0000000700abcdef/   index.json, and shards: of the rank, or brought by a restore
//   ROOT/slot-01/...                                that of the next rank
//   ROOT/others-00/...                              of ranks of other hosts: shards, or parity
//   ROOT/published                                  publications of all ranks, see host_report
//
// Slots are numbered within a host, so a job with other ranks finds what is there.
#pragma once

#include <algorithm>
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
#include "cairn/levels/survey.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/store/root_directory.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

/// A publication of which the slots of a host have parts. Its index is one that is not damaged, if there is such a one.
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
        if (file == index_file) static_cast<void>(read_index(*parts_[i], index_part::metadata));
        return parts_[i]->open(file);
      } catch (const error& cause) {  // another slot may have it
        const bool is_damaged = cause.code() == errc::corrupt || cause.code() == errc::unreadable;
        if (cause.code() != errc::not_found && !is_damaged) throw;
      }
    }
    return parts_.back()->open(file);
  }

 private:
  std::string location_;
  std::vector<std::shared_ptr<const publication>> parts_;
};

/// Finds, opens and lists what the slots have. errc::io. Thread-safe, but for `write_published`.
class host_disk {
 public:
  /// errc::invalid: see stores::directory.
  host_disk(std::string root, const stores::directory_options& options)
      : root_(stores::directory(std::move(root), options).location()), options_(options) {}

  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  /// The same for all ranks that use this directory.
  [[nodiscard]] std::string identity() const {
    const auto root = open_root();
    if (!root.fd) fail_io("open the directory", root_, ENOENT);
    const auto about = stores::detail::status_of(root.fd.get(), root_);
    return std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino);
  }

  /// The name of a slot, and its number.
  struct named_slot {
    std::string name;
    std::size_t number = 0;
  };

  [[nodiscard]] static std::string name_of(std::size_t number, bool is_of_others = false) {
    const auto digits = std::to_string(number);
    return sentence({is_of_others ? others_prefix : slot_prefix, digits.size() < 2 ? "0" : "", digits});
  }
  [[nodiscard]] stores::directory slot(const std::string& name) const {
    return stores::directory(root_ + "/" + name, options_);
  }
  /// Those that are there.
  [[nodiscard]] std::vector<named_slot> find_slots() const {
    const auto root = open_root();
    std::vector<named_slot> found;
    for (auto& entry : root.fd ? root.entries() : std::vector<std::string>())
      for (const bool is_of_others : {false, true}) {
        const auto prefix = is_of_others ? others_prefix : slot_prefix;
        std::size_t number = 0;
        if (entry.starts_with(prefix) && read_number(entry.substr(prefix.size()), number) &&
            entry == name_of(number, is_of_others))
          found.push_back({entry, number});
      }
    std::ranges::sort(found, {}, &named_slot::name);
    return found;
  }
  /// What the slots have of a publication. errc::not_found.
  [[nodiscard]] std::shared_ptr<const stores::publication> open(const std::string& publication) const {
    std::vector<std::shared_ptr<const stores::publication>> parts;
    for (const auto& each : find_slots()) {
      try {
        parts.push_back(slot(each.name).open(publication));
      } catch (const error& cause) {
        if (cause.code() != errc::not_found) throw;
      }
    }
    if (parts.empty()) fail(errc::not_found, {root_, "/", publication, " is not on this host any more"});
    return std::make_shared<united_publication>(sentence({root_, "/", publication}), std::move(parts));
  }
  /// What all slots have, without damaged parts.
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
    const auto path = sentence({root_, "/", published_file});
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return made;
    try {
      made.published = from_json<host_report>(posix::text_of(path), path).published;
    } catch (const error& cause) {
      if (cause.code() != errc::corrupt) throw;
      for (const auto& each : made.parts) made.published.push_back(each.publication);  // any may have been published
    }
    return made;
  }
  /// Another checkpointer begins.
  void forget() { written_.clear(); }
  /// Replaces the list of publications, unless it is the last one that was written.
  void write_published(const std::vector<std::string>& publications) {
    auto text = to_json(host_report{.published = publications});
    if (text == written_) return;
    const auto root = open_root();
    if (!root.fd) fail_io("open the directory", root_, ENOENT);
    const std::string name(published_file), hidden = '.' + name;
    {
      const auto file = posix::open_at(root.fd.get(), hidden, O_WRONLY | O_CREAT | O_TRUNC);
      if (!file) fail_io("create", root.file(hidden));
      const std::span<const std::byte> all[] = {std::as_bytes(std::span(text))};
      posix::write_all(file.get(), all, 0, root.file(hidden));
      if (options_.durable) posix::sync(file.get(), root.file(hidden));
    }
    if (::renameat(root.fd.get(), hidden.c_str(), root.fd.get(), name.c_str()) != 0)
      fail_io("rename", root.file(hidden));
    if (options_.durable) posix::sync(root.fd.get(), root_);
    written_ = std::move(text);
  }

 private:
  static constexpr std::string_view slot_prefix = "slot-", others_prefix = "others-", published_file = "published";

  /// Without a descriptor where it is not there.
  [[nodiscard]] stores::detail::open_directory open_root() const {
    stores::detail::open_directory root{root_, posix::open_at(AT_FDCWD, root_, O_RDONLY | O_DIRECTORY)};
    if (!root.fd && errno != ENOENT) fail_io("open the directory", root_);
    return root;
  }
  static void add_part(const stores::publication& from, host_part& part) {
    const auto index = read_index(from, index_part::metadata);
    const auto files = from.files();
    part.count = index.shards.size();
    part.began = began_in(index.info.notes).value_or(0);
    const auto is_there = [&](const std::string& file) { return std::ranges::binary_search(files, file); };
    for (std::size_t i = 0; i < index.shards.size(); ++i) {
      if (is_there(index.shards[i].file)) part.shards.push_back(i);
      const auto parity = parity_file(i, index.shards.size());
      if (!is_there(parity + ".data") || !is_there(parity + ".json")) continue;
      if (auto record = read_record(from, parity); record && record->keeper == i && record->is_of(index.shards.size()))
        part.parity.push_back(*std::move(record));
    }
  }
  /// Nothing: it is damaged, or its file has another size.
  [[nodiscard]] static std::optional<parity_record> read_record(const stores::publication& from,
                                                                const std::string& file) {
    constexpr std::uint64_t most = std::uint64_t{1} << 16U;
    try {
      const auto source = from.open(file + ".json");
      auto record = from_json<parity_record>(stores::read_text(*source, 0, std::min(source->size(), most)), file);
      return from.open(file + ".data")->size() == record.bytes() ? std::optional(std::move(record)) : std::nullopt;
    } catch (const error& cause) {
      if (cause.code() == errc::io || cause.code() == errc::no_memory) throw;
      return std::nullopt;
    }
  }
  const std::string root_;
  const stores::directory_options options_;
  std::string written_;  // to the list of publications
};

}  // namespace cairn::inline v0_1::detail
