// The plain limit: the bytes of all tensors by writev and readv, one thread, nothing else in the file.
#include <algorithm>
#include <stdexcept>
#include <string>
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

void save(const std::string& path, const training_state& state, bool durable) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw std::runtime_error("cannot create " + path);
  transfer_all(file, pieces_of(state), ::writev);
  if (durable && ::fsync(file) != 0) throw std::runtime_error("cannot fsync " + path);
  ::close(file);
}

void load(const std::string& path, training_state& state) {
  if (state.weights.blocks.empty()) state = make_state(known_dimensions);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("cannot open " + path);
  transfer_all(file, pieces_of(state), ::readv);
  ::close(file);
  state.step = 1234;
}

}  // namespace

method plain_method() {
  return {.name = "plain", .save = save, .load = load, .prepare = [](const dimensions& d) { known_dimensions = d; }};
}

}  // namespace bench
