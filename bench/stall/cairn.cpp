// SPDX-License-Identifier: MIT
// Cairn's checkpointer: asynchronous, its default, and blocking.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "cairn/checkpointer.hpp"

#include "stall/cairn.hpp"
#include "stall/way.hpp"

namespace bench {
namespace {

class cairn_saver {
 public:
  cairn_saver(const std::string& directory, bool encoded)
      : saver_(directory, with_observer(cairn_options(encoded, save_interval))) {}

  void step(const training_state& state, std::uint64_t step) {
    const bool due = step % save_interval == 0;
    if (due) begin();
    if (saver_.step(state, {.step = step}).started != due) throw std::runtime_error("cairn did not save where due");
  }

  void save(const training_state& state, std::uint64_t step) {
    if (step % save_interval != 0) return;
    begin();
    saver_.save(state, {.step = step});
  }

  [[nodiscard]] bool is_done() const { return done_; }

  saved finish() {
    saver_.wait();
    if (!done_) throw std::runtime_error("cairn has not published");
    return {end_ - begin_, bytes_};
  }

 private:
  cairn::checkpointer_options with_observer(cairn::checkpointer_options options) {
    options.on_event = [this](const cairn::event& what) {
      if (what.what != cairn::event::kind::published) return;
      end_ = clock_seconds();
      bytes_ = what.bytes;
      done_ = true;
    };
    return options;
  }

  void begin() {
    done_ = false;
    begin_ = clock_seconds();
  }

  double begin_ = 0;
  std::atomic<double> end_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> done_{true};
  cairn::checkpointer saver_;  // last: its thread calls the observer until it is destroyed
};

way cairn_way(const std::shared_ptr<cairn_saver>& self) {
  return {.is_done = [self] { return self->is_done(); }, .finish = [self] { return self->finish(); }};
}

}  // namespace

cairn::checkpointer_options cairn_options(bool encoded, std::uint64_t interval) {
  cairn::checkpointer_options options{.keep_last = 1, .when = cairn::policies::every_steps{interval}};
  if (encoded) options.codecs = {{"*", cairn::codecs::lossless{}}};
  return options;
}

way cairn_asynchronous(const std::string& directory, bool encoded) {
  const auto self = std::make_shared<cairn_saver>(directory, encoded);
  auto made = cairn_way(self);
  made.step = [self](const training_state& state, std::uint64_t step) { self->step(state, step); };
  return made;
}

way cairn_blocking(const std::string& directory, bool encoded) {
  const auto self = std::make_shared<cairn_saver>(directory, encoded);
  auto made = cairn_way(self);
  made.step = [self](const training_state& state, std::uint64_t step) { self->save(state, step); };
  return made;
}

}  // namespace bench
