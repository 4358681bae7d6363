// SPDX-License-Identifier: MIT
// A disk with a cache that a crash empties: what was synced is there afterwards, of the rest any part.
#pragma once

#include "durability/call_log.hpp"
#include "standard.hpp"

namespace lost_writes {

/// What becomes of that which was not synced.
enum class remains : std::uint8_t {
  nothing,  ///< it is lost
  some,     ///< any part of it is there: pages of 4 KiB, torn ones, sizes without data, names without those before them
  first     ///< of every inode what was done first, up to any point
};

/// The disk after the first `count` operations of a log. An inode's sync makes the inode durable, and no other: a new
/// name is safe when its directory has been synced. With `write_back`, the system syncs inodes too, any of them at any
/// time.
class disk_model {
 public:
  disk_model(const call_log& log, std::size_t count, std::mt19937_64* write_back = nullptr)
      : log_(log), inodes_(log.is_directory.size()) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& what = log.operations[i];
      auto& of = inodes_[what.of];
      if (what.what == operation::kind::sync)
        flush(of);
      else if (what.what == operation::kind::failure)
        forget(of, log.is_directory[what.of]);
      else if (what.what != operation::kind::mark)
        of.pending.push_back(&what);
      if (write_back != nullptr && (*write_back)() % 2 == 0)
        flush(inodes_[log.operations[i - (*write_back)() % std::min<std::size_t>(i + 1, 50)].of]);
    }
  }

  /// Writes the tree that a crash leaves into the empty directory `to`.
  void crash(remains kind, std::mt19937_64& random, const std::filesystem::path& to) const {
    write_directory(0, kind, random, to);
  }

  /// Writes the tree as the program saw it.
  void unmount(const std::filesystem::path& to) {
    for (auto& each : inodes_) flush(each);
    std::mt19937_64 unused;
    crash(remains::nothing, unused, to);
  }

 private:
  struct state {
    std::string bytes;                   // of a file
    std::map<std::string, inode> names;  // of a directory

    void apply(const operation& what) {
      if (what.what == operation::kind::resize) bytes.resize(what.offset);
      if (what.what == operation::kind::write) write(what.offset, what.bytes);
      for (const auto& [name, leads_to] : what.names)
        leads_to ? static_cast<void>(names[name] = *leads_to) : static_cast<void>(names.erase(name));
    }

    void write(std::uint64_t offset, std::string_view part) {
      bytes.resize(std::max<std::size_t>(bytes.size(), offset + part.size()));
      std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    }
  };

  struct cached_inode {
    state durable;
    std::vector<const operation*> pending;
  };

  static void flush(cached_inode& of) {
    for (const auto* what : of.pending) of.durable.apply(*what);
    of.pending.clear();
  }

  /// Linux marks the pages of a file as written when a sync has failed. Of a directory, the journal keeps what was
  /// done.
  static void forget(cached_inode& of, bool is_directory) {
    if (!is_directory) of.pending.clear();
  }

  /// Keeps any pages of a write, in one of eight any of its sectors.
  static void write_some(state& to, const operation& what, std::mt19937_64& random) {
    constexpr std::uint64_t page = 4096, sector = 512;
    const auto bytes = std::string_view(what.bytes);
    for (std::uint64_t at = 0; at < bytes.size();) {
      const bool is_torn = random() % 8 == 0;
      const auto unit = is_torn ? sector : page;
      const auto page_end =
          std::min<std::uint64_t>((what.offset + at) / page * page + page - what.offset, bytes.size());
      const bool keeps_page = random() % 2 == 0;
      while (at < page_end) {
        const auto end = std::min((what.offset + at) / unit * unit + unit - what.offset, page_end);
        if (is_torn ? random() % 2 == 0 : keeps_page) to.write(what.offset + at, bytes.substr(at, end - at));
        at = end;
      }
    }
  }

  static state some_of(const cached_inode& of, std::mt19937_64& random) {
    auto left = of.durable;
    std::vector<std::uint64_t> sizes{left.bytes.size()};
    for (const auto* what : of.pending) {
      if (what->what == operation::kind::write)
        write_some(left, *what, random);
      else if (random() % 2 == 0)
        left.apply(*what);
      if (what->names.empty()) sizes.push_back(what->offset + what->bytes.size());
    }
    if (random() % 2 == 0) left.bytes.resize(sizes[random() % sizes.size()]);
    return left;
  }

  static state first_of(const cached_inode& of, std::mt19937_64& random) {
    auto left = of.durable;
    for (auto n = random() % (of.pending.size() + 1), i = n - n; i < n; ++i) left.apply(*of.pending[i]);
    return left;
  }

  static state left_of(const cached_inode& of, remains kind, std::mt19937_64& random) {
    return kind == remains::nothing ? of.durable : kind == remains::some ? some_of(of, random) : first_of(of, random);
  }

  void write_directory(inode number, remains kind, std::mt19937_64& random, const std::filesystem::path& to) const {
    for (const auto& [name, leads_to] : left_of(inodes_[number], kind, random).names) {
      if (!log_.is_directory[leads_to]) {
        std::ofstream(to / name, std::ios::binary) << left_of(inodes_[leads_to], kind, random).bytes;
        continue;
      }
      std::filesystem::create_directory(to / name);
      write_directory(leads_to, kind, random, to / name);
    }
  }

  const call_log& log_;
  std::vector<cached_inode> inodes_;
};

}  // namespace lost_writes
