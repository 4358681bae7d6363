// SPDX-License-Identifier: MIT
// What a trainer does without a library for checkpoints: files written by the ranks, or by rank 0 alone.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mpi_save/way.hpp"

namespace bench {
namespace {

class open_file {
 public:
  open_file(const std::string& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw std::runtime_error("cannot open " + path);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { ::close(file_); }

  void write(std::vector<iovec> pieces) {
    for (std::size_t at = 0; at < pieces.size();) {
      const auto count = std::min<std::size_t>(pieces.size() - at, IOV_MAX);
      const ssize_t moved = ::writev(file_, pieces.data() + at, static_cast<int>(count));
      if (moved <= 0) throw std::runtime_error("a plain write failed");
      auto bytes = static_cast<std::size_t>(moved);
      for (; at < pieces.size() && bytes >= pieces[at].iov_len; ++at) bytes -= pieces[at].iov_len;
      if (bytes == 0) continue;
      pieces[at].iov_base = static_cast<char*>(pieces[at].iov_base) + bytes;
      pieces[at].iov_len -= bytes;
    }
  }
  void sync() {
    if (::fsync(file_) != 0) throw std::runtime_error("fsync failed");
  }
  void read(char* into, std::size_t bytes, std::uint64_t at) {
    while (bytes > 0) {
      const ssize_t moved = ::pread(file_, into, bytes, static_cast<off_t>(at));
      if (moved <= 0) throw std::runtime_error("a file is too short");
      into += moved;
      bytes -= static_cast<std::size_t>(moved);
      at += static_cast<std::uint64_t>(moved);
    }
  }

 private:
  int file_;
};

std::vector<iovec> memory_of(const share& what) {
  std::vector<iovec> pieces;
  for (const auto& each : what.pieces)
    pieces.push_back({const_cast<float*>(each.values), static_cast<std::size_t>(each.bytes)});
  return pieces;
}

std::string own_path(const std::string& path, const world& ranks) { return path + "/" + std::to_string(ranks.rank()); }

/// Each rank writes `what` into a file of its own in a directory, which rank 0 makes.
way files_way(std::string name, const world& ranks, const share& what) {
  const auto save = [&ranks, &what](const std::string& path, bool durable) {
    write_file(own_path(path, ranks), what, durable);
  };
  return {std::move(name), save};
}

}  // namespace

void write_file(const std::string& path, const share& what, bool durable) {
  open_file file(path, O_WRONLY | O_CREAT | O_EXCL);
  file.write(memory_of(what));
  if (durable) file.sync();
}

bool has_bytes(const std::string& path, const share& what) {
  open_file file(path, O_RDONLY);
  std::vector<char> found;
  for (const auto& each : what.pieces) {
    found.resize(each.bytes);
    file.read(found.data(), found.size(), each.offset);
    if (std::memcmp(found.data(), each.values, found.size()) != 0) return false;
  }
  return std::filesystem::file_size(path) == what.whole_bytes;
}

way blobs_way(const job& of) { return files_way("equal blobs", of.ranks, of.part); }

way everyone_way(const job& of) { return files_way("every rank all", of.ranks, *of.all); }

way rank0_way(const job& of) {
  const auto save = [&ranks = of.ranks, all = of.all](const std::string& path, bool durable) {
    if (ranks.is_first()) write_file(path + "/0", *all, durable);
    ranks.meet();
  };
  return {"rank 0 alone", save};
}

/// Rank 0 writes its own part first, from where it is, while the others put theirs together; then it gets and writes
/// those. Its memory has been touched.
way gather_way(const job& of) {
  const auto& ranks = of.ranks;
  std::uint64_t others = 0;
  std::vector<int> counts{0}, begins{0};
  for (std::size_t rank = 1; rank < of.part.bytes_of_ranks.size(); ++rank) {
    begins.push_back(static_cast<int>(others));
    counts.push_back(static_cast<int>(of.part.bytes_of_ranks[rank]));
    others += of.part.bytes_of_ranks[rank];
  }
  if (others > INT_MAX) throw std::runtime_error("too many bytes for MPI_Gatherv");
  const auto memory = std::make_shared<std::vector<char>>(ranks.is_first() ? others : of.part.bytes, '\1');
  const auto save = [=, &ranks, &part = of.part](const std::string& path, bool durable) {
    if (!ranks.is_first()) {
      char* at = memory->data();
      for (const auto& each : part.pieces) {
        std::memcpy(at, each.values, each.bytes);
        at += each.bytes;
      }
      check_mpi(MPI_Gatherv(memory->data(), static_cast<int>(part.bytes), MPI_BYTE, nullptr, nullptr, nullptr, MPI_BYTE,
                            0, ranks.comm()),
                "MPI_Gatherv");
    } else {
      open_file file(path + "/0", O_WRONLY | O_CREAT | O_EXCL);
      file.write(memory_of(part));
      check_mpi(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_BYTE, memory->data(), counts.data(), begins.data(), MPI_BYTE, 0,
                            ranks.comm()),
                "MPI_Gatherv");
      file.write({{memory->data(), memory->size()}});
      if (durable) file.sync();
    }
    ranks.meet();
  };
  return {"gather to rank 0", save};
}

}  // namespace bench
