// SPDX-License-Identifier: MIT
// fork(), and the child writes what the state was.
#include <cerrno>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stall/trainer.hpp"
#include "stall/way.hpp"

namespace bench {
namespace {

/// What the child calls is safe after a fork of a program with threads: no malloc, no locks.
bool write_all(int file, std::span<iovec> pieces) {
  while (!pieces.empty()) {
    const auto moved = ::writev(file, pieces.data(), static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX)));
    if (moved <= 0) return false;
    auto bytes = static_cast<std::size_t>(moved);
    while (!pieces.empty() && bytes >= pieces.front().iov_len) {
      bytes -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (bytes == 0) continue;
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + bytes;
    pieces.front().iov_len -= bytes;
  }
  return true;
}

class forked {
 public:
  explicit forked(const std::string& directory) : path_(directory + "/state") {
    void* const memory = ::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    end_ = static_cast<double*>(memory);
  }
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;
  ~forked() {
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
    ::munmap(end_, sizeof(double));
  }

  void save(const training_state& state) {
    begin_ = clock_seconds();
    pieces_.clear();
    for (const auto& array : arrays_of(state))
      pieces_.push_back({const_cast<float*>(array.data()), array.size_bytes()});
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("cannot fork");
    if (child_ > 0) return;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool good = file >= 0 && write_all(file, pieces_) && ::fsync(file) == 0;
    *end_ = clock_seconds();
    ::_exit(good ? 0 : 1);
  }

  bool is_done() {
    if (child_ > 0 && ::waitpid(child_, &status_, WNOHANG) == child_) child_ = 0;
    return child_ <= 0;
  }

  saved finish() {
    while (child_ > 0 && ::waitpid(child_, &status_, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    if (status_ != 0) throw std::runtime_error("the child of the fork could not write");
    const saved result{*end_ - begin_, std::filesystem::file_size(path_)};
    std::filesystem::remove(path_);
    return result;
  }

 private:
  std::string path_;
  std::vector<iovec> pieces_{};
  double* end_ = nullptr;  // shared with the child
  double begin_ = 0;
  pid_t child_ = 0;
  int status_ = 0;
};

}  // namespace

way fork_and_write(const std::string& directory) {
  const auto self = std::make_shared<forked>(directory);
  return {.step =
              [self](const training_state& state, std::uint64_t step) {
                if (step % save_interval == 0) self->save(state);
              },
          .is_done = [self] { return self->is_done(); },
          .finish = [self] { return self->finish(); }};
}

}  // namespace bench
