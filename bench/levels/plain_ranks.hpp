// SPDX-License-Identifier: MIT
// What four ranks would do by hand: each writes its share to a disk, and sends it to another one, which writes it, too.
#pragma once

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

#include "common/statistics.hpp"

namespace bench {

/// Writes files around the page cache, and syncs them and their directory.
class plain_ranks {
 public:
  plain_ranks(std::string root, std::size_t ranks, std::size_t bytes) : root_(std::move(root)), bytes_(bytes) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::filesystem::create_directories(folder(rank));
      auto* const memory = static_cast<std::byte*>(std::aligned_alloc(piece, bytes_));
      for (std::size_t i = 0; i < bytes_; ++i) memory[i] = static_cast<std::byte>(i * 31 + rank);
      shares_.emplace_back(memory, std::free);
      pieces_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(piece, piece)), std::free);
    }
  }

  /// Seconds to write the shares.
  [[nodiscard]] double save() {
    return at_each([&](std::size_t rank) {
      file out(folder(rank) + "/own", O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
      for (std::size_t at = 0; at < bytes_; at += piece) out.write(shares_[rank].get() + at, at);
      out.sync(folder(rank));
    });
  }
  /// Then: to read them, exchange them in pairs, and write what has been received.
  [[nodiscard]] double exchange() {
    std::barrier meet(static_cast<std::ptrdiff_t>(shares_.size()));
    return at_each([&](std::size_t rank) {
      const file in(folder(rank) + "/own", O_RDONLY);
      file out(folder(rank) + "/other", O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
      const auto partner = (rank + shares_.size() / 2) % shares_.size();
      std::unique_ptr<std::byte, void (*)(void*)> received(static_cast<std::byte*>(std::aligned_alloc(piece, piece)),
                                                           std::free);
      for (std::size_t at = 0; at < bytes_; at += piece) {
        in.read(pieces_[rank].get(), at);
        meet.arrive_and_wait();
        std::copy_n(pieces_[partner].get(), piece, received.get());
        meet.arrive_and_wait();
        out.write(received.get(), at);
      }
      out.sync(folder(rank));
    });
  }

 private:
  static constexpr std::size_t piece = std::size_t{4} << 20U;

  struct file {
    file(const std::string& path, int flags) : fd(::open(path.c_str(), flags, 0666)) {
      if (fd < 0) throw std::runtime_error("cannot open " + path);
    }
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() { ::close(fd); }
    void write(const std::byte* from, std::size_t at) const {
      if (::pwrite(fd, from, piece, static_cast<off_t>(at)) != static_cast<ssize_t>(piece))
        throw std::runtime_error("cannot write");
    }
    void read(std::byte* into, std::size_t at) const {
      if (::pread(fd, into, piece, static_cast<off_t>(at)) != static_cast<ssize_t>(piece))
        throw std::runtime_error("cannot read");
    }
    void sync(const std::string& folder) const {
      const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
      if (::fsync(fd) != 0 || ::fsync(directory) != 0) throw std::runtime_error("cannot sync");
      ::close(directory);
    }
    int fd;
  };

  [[nodiscard]] std::string folder(std::size_t rank) const { return root_ + "/plain" + std::to_string(rank); }
  template <class Act>
  [[nodiscard]] double at_each(const Act& act) const {
    return seconds_of([&] {
      std::vector<std::jthread> all;
      for (std::size_t rank = 0; rank < shares_.size(); ++rank) all.emplace_back([&act, rank] { act(rank); });
    });
  }

  std::string root_;
  std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte, void (*)(void*)>> shares_, pieces_;
};

}  // namespace bench
