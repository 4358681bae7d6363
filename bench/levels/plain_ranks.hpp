// SPDX-License-Identifier: MIT
// What four ranks would do by hand: each writes its share to the disk of its host, here a folder, and sends it to
// another one, which writes it, too; or keeps parity, and rebuilds a share of which the disk is lost.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <isa-l/erasure_code.h>

#include "common/statistics.hpp"

namespace bench {

struct free_memory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using page_memory = std::unique_ptr<std::byte, free_memory>;

[[nodiscard]] inline page_memory pages_of(std::size_t bytes) {
  constexpr std::size_t large = std::size_t{4} << 20U;  // so that pages can be large
  page_memory made(static_cast<std::byte*>(std::aligned_alloc(std::min(bytes, large), bytes)));
  for (std::size_t i = 0; i < bytes; ++i) made.get()[i] = static_cast<std::byte>(i * 31 + i / 4096);
  return made;
}

[[nodiscard]] inline unsigned char* bytes_of(const page_memory& of) {
  return reinterpret_cast<unsigned char*>(of.get());
}

/// Writes files around the page cache, and syncs them and their directory.
class plain_ranks {
 public:
  static constexpr std::size_t ranks = 4;

  /// `bytes` of each rank: a multiple of 12 MiB for `encode` and `rebuild`.
  plain_ranks(std::string root, std::size_t bytes) : root_(std::move(root)), bytes_(bytes) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::filesystem::create_directories(folder(rank));
      shares_.push_back(pages_of(bytes_));
      for (std::size_t i = 0; i < ranks; ++i) sent_.push_back(pages_of(piece)), got_.push_back(pages_of(piece));
    }
  }

  /// Seconds to write the shares.
  [[nodiscard]] double save() {
    return at_each([&](std::size_t rank, auto&) {
      const file out(folder(rank), "own");
      for (std::size_t at = 0; at < bytes_; at += piece) out.write(shares_[rank].get() + at, at);
      out.sync(folder(rank));
    });
  }
  /// Then: to read them, exchange them in pairs, and write what has been received.
  [[nodiscard]] double exchange() {
    return at_each([&](std::size_t rank, auto& meet) {
      const file in(folder(rank) + "/own"), out(folder(rank), "other");
      for (std::size_t at = 0; at < bytes_; at += piece) {
        in.read(sent(rank), at);
        meet.arrive_and_wait();
        std::copy_n(sent((rank + ranks / 2) % ranks).get(), piece, got(rank).get());
        meet.arrive_and_wait();
        out.write(got(rank).get(), at);
      }
      out.sync(folder(rank));
    });
  }
  /// Or, with parity of one row: of stripe s rank s has the parity, and rank r the chunk (s - r - 1) modulo 4.
  [[nodiscard]] double encode() {
    const auto chunk = bytes_ / 3;
    return at_each([&](std::size_t rank, auto& meet) {
      const file in(folder(rank) + "/own"), out(folder(rank), "parity");
      for (std::size_t at = 0; at < chunk; at += piece) {
        for (std::size_t i = 0; i < 3; ++i) in.read(sent(rank, i), i * chunk + at);
        meet.arrive_and_wait();
        for (std::size_t i = 0; i < 3; ++i)
          std::copy_n(sent((rank + 2 * ranks - 1 - i) % ranks, i).get(), piece, got(rank, i).get());
        meet.arrive_and_wait();
        compute(rank);
        out.write(got(rank, 3).get(), at);
      }
      out.sync(folder(rank));
    });
  }
  /// Then, without what rank 3 has written: to give all shares to all, as a restore of a state that all have needs it.
  [[nodiscard]] double rebuild() {
    const auto chunk = bytes_ / 3;
    return at_each([&](std::size_t rank, auto& meet) {
      for (std::size_t from = 0; from < 3; ++from) {
        const file in(folder(from) + "/own"), out(folder(rank), "share" + std::to_string(from));
        for (std::size_t at = 0; at < bytes_; at += piece) {
          if (rank == from) in.read(sent(from), at);
          meet.arrive_and_wait();
          if (rank != from) std::copy_n(sent(from).get(), piece, got(rank).get());
          meet.arrive_and_wait();
          if (rank != from) out.write(got(rank).get(), at);
        }
        out.sync(folder(rank));
      }
      const file out(folder(rank), "share3");
      for (std::size_t stripe = 0; stripe < 3; ++stripe) {  // of which rank 3 had the chunk `stripe`
        const file parity(folder(stripe) + "/parity");
        const auto first = (stripe + 1) % 3, second = (stripe + 2) % 3;
        const file one(folder(rank) + (rank == first ? "/own" : "/share" + std::to_string(first))),
            other(folder(rank) + (rank == second ? "/own" : "/share" + std::to_string(second)));
        for (std::size_t at = 0; at < chunk; at += piece) {
          if (rank == stripe) parity.read(sent(stripe), at);
          meet.arrive_and_wait();
          std::copy_n(sent(stripe).get(), piece, got(rank, 0).get());
          meet.arrive_and_wait();
          one.read(got(rank, 1), (stripe + ranks - first - 1) % ranks * chunk + at);
          other.read(got(rank, 2), (stripe + ranks - second - 1) % ranks * chunk + at);
          compute(rank);  // with other coefficients, which take as long
          out.write(got(rank, 3).get(), stripe * chunk + at);
        }
      }
      out.sync(folder(rank));
    });
  }

 private:
  static constexpr std::size_t piece = std::size_t{4} << 20U;

  struct file {
    explicit file(const std::string& path) : fd(::open(path.c_str(), O_RDONLY)) { require(fd >= 0, "open " + path); }
    file(const std::string& folder, const std::string& name)
        : fd(::open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0666)) {
      require(fd >= 0, "make " + name);
    }
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() { ::close(fd); }
    void write(const std::byte* from, std::size_t at) const {
      require(::pwrite(fd, from, piece, static_cast<off_t>(at)) == static_cast<ssize_t>(piece), "write");
    }
    void read(const page_memory& into, std::size_t at) const {
      require(::pread(fd, into.get(), piece, static_cast<off_t>(at)) == static_cast<ssize_t>(piece), "read");
    }
    void sync(const std::string& folder) const {
      const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
      require(::fsync(fd) == 0 && ::fsync(directory) == 0, "sync");
      ::close(directory);
    }
    static void require(bool is_done, const std::string& what) {
      if (!is_done) throw std::runtime_error("cannot " + what);
    }
    int fd;
  };

  [[nodiscard]] std::string folder(std::size_t rank) const { return root_ + "/plain" + std::to_string(rank); }
  [[nodiscard]] const page_memory& sent(std::size_t rank, std::size_t i = 0) const { return sent_[rank * ranks + i]; }
  [[nodiscard]] const page_memory& got(std::size_t rank, std::size_t i = 0) const { return got_[rank * ranks + i]; }
  /// The piece number 3 of a rank, from the first three.
  void compute(std::size_t rank) const {
    unsigned char matrix[ranks * 3], tables[32 * 3];
    ::gf_gen_cauchy1_matrix(matrix, ranks, 3);
    ::ec_init_tables(3, 1, matrix + 9, tables);
    unsigned char* from[] = {bytes_of(got(rank, 0)), bytes_of(got(rank, 1)), bytes_of(got(rank, 2))};
    auto* to = bytes_of(got(rank, 3));
    ::ec_encode_data(piece, 3, 1, tables, from, &to);
  }
  template <class Act>
  [[nodiscard]] double at_each(const Act& act) const {
    std::barrier meet(static_cast<std::ptrdiff_t>(ranks));
    return seconds_of([&] {
      std::vector<std::jthread> all;
      for (std::size_t rank = 0; rank < ranks; ++rank) all.emplace_back([&, rank] { act(rank, meet); });
    });
  }

  std::string root_;
  std::size_t bytes_;
  std::vector<page_memory> shares_, sent_, got_;
};

}  // namespace bench
