// SPDX-License-Identifier: MIT
// The only file of the trainer that is compiled as C++20.
#include "saver.hpp"

#include <cairn/cairn.hpp>

#include <csignal>
#include <map>

// [facade]
struct saver::parts {
  std::mt19937& rng;
  std::uint64_t& step;
  cairn::checkpointer ckpt;
  std::map<std::string, cairn::tensor_view<float>> arrays{};  // of C's memory
  cairn::state all{{"arrays", arrays}, {"rng", rng}, {"step", step}};
};

saver::saver(const std::string& directory, std::mt19937& rng, std::uint64_t& step)
    : parts_(new parts{
          rng, step,
          cairn::checkpointer(directory, {.keep_last = 3, .preempt = {SIGTERM}})}) {}
saver::~saver() = default;
void saver::array(const std::string& name, float* values, std::size_t size) {
  parts_->arrays[name] = {values, {size}};
}
bool saver::restore() { return parts_->ckpt.restore(parts_->all).has_value(); }
bool saver::step() {
  return parts_->ckpt.step(parts_->all, {.step = parts_->step}).stop;
}
void saver::save() { parts_->ckpt.save(parts_->all, {.step = parts_->step}); }
// [facade]
