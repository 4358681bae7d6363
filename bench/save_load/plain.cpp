// SPDX-License-Identifier: MIT
// The plain limits: the bytes of all tensors by writev and readv and nothing else in the files, by one thread in one
// file, and by two in two.
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "save_load/method.hpp"

namespace bench {
namespace {

dimensions known_dimensions;

std::vector<iovec> pieces_of(const training_state& state) {
  std::vector<iovec> pieces;
  for_each_tensor(state, [&](const std::string&, const tensor& t) {
    pieces.push_back({const_cast<float*>(t.values.data()), t.values.size() * sizeof(float)});
  });
  return pieces;
}

template <class Transfer>
void transfer_all(int file, std::vector<iovec> pieces, const Transfer& transfer) {
  for (std::size_t at = 0; at < pieces.size();) {
    const auto count = std::min<std::size_t>(pieces.size() - at, IOV_MAX);
    const ssize_t moved = transfer(file, pieces.data() + at, static_cast<int>(count));
    if (moved <= 0) throw std::runtime_error("plain transfer failed");
    auto bytes = static_cast<std::size_t>(moved);
    for (; at < pieces.size() && bytes >= pieces[at].iov_len; ++at) bytes -= pieces[at].iov_len;
    if (bytes == 0) continue;
    pieces[at].iov_base = static_cast<char*>(pieces[at].iov_base) + bytes;
    pieces[at].iov_len -= bytes;
  }
}

void write_file(const std::string& path, std::vector<iovec> pieces, bool durable) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw std::runtime_error("cannot create " + path);
  transfer_all(file, std::move(pieces), ::writev);
  if (durable && ::fsync(file) != 0) throw std::runtime_error("cannot fsync " + path);
  ::close(file);
}

void read_file(const std::string& path, std::vector<iovec> pieces) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("cannot open " + path);
  transfer_all(file, std::move(pieces), ::readv);
  ::close(file);
}

void build(training_state& state) {
  if (state.weights.blocks.empty()) state = make_state(known_dimensions);
  state.step = 1234;
}

void save(const std::string& path, const training_state& state, bool durable) {
  write_file(path, pieces_of(state), durable);
}

void load(const std::string& path, training_state& state) {
  build(state);
  read_file(path, pieces_of(state));
}

/// Calls `act(path of a file, pieces)` for both halves of the bytes, in two threads. A failure ends the program.
template <class Act>
void for_both_halves(const std::string& path, const training_state& state, const Act& act) {
  const auto all = pieces_of(state);
  std::size_t left = 0;
  for (const auto& piece : all) left += piece.iov_len;
  left /= 2;
  std::vector<iovec> first, second;
  for (const auto& piece : all) {  // one piece may be cut
    const auto bytes = std::min(left, piece.iov_len);
    left -= bytes;
    if (bytes > 0) first.push_back({piece.iov_base, bytes});
    if (bytes < piece.iov_len) second.push_back({static_cast<char*>(piece.iov_base) + bytes, piece.iov_len - bytes});
  }
  std::thread other([&] { act(path + "/second", second); });
  act(path + "/first", first);
  other.join();
}

void save_two(const std::string& path, const training_state& state, bool durable) {
  std::filesystem::create_directory(path);
  for_both_halves(path, state, [&](const std::string& file, const auto& pieces) { write_file(file, pieces, durable); });
}

void load_two(const std::string& path, training_state& state) {
  build(state);
  for_both_halves(path, state, read_file);
}

}  // namespace

method plain_method() {
  return {.name = "plain", .save = save, .load = load, .prepare = [](const dimensions& d) { known_dimensions = d; }};
}

method plain_two_method() {
  return {.name = "plain-two", .save = save_two, .load = load_two, .prepare = [](const dimensions& d) {
            known_dimensions = d;
          }};
}

}  // namespace bench
