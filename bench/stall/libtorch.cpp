// SPDX-License-Identifier: MIT
// torch::save of a list of tensors that view the state's memory: blocking, in a thread, and in a thread from a copy.
#include <atomic>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "save_load/method.hpp"
#include "stall/way.hpp"

namespace bench {
namespace {

using tensors = std::vector<torch::Tensor>;

tensors views_of(const training_state& state) {
  tensors views;
  for_each_tensor(state, [&](const std::string&, const tensor& t) {
    views.push_back(torch::from_blob(const_cast<float*>(t.values.data()),
                                     std::vector<std::int64_t>(t.shape.begin(), t.shape.end()), torch::kFloat32));
  });
  views.push_back(torch::tensor(static_cast<std::int64_t>(state.step)));
  return views;
}

tensors clones_of(const tensors& from) {
  tensors clones;
  for (const auto& each : from) clones.push_back(each.clone());
  return clones;
}

class torch_saver {
 public:
  explicit torch_saver(const std::string& directory) : path_(directory + "/state.pt") {}

  void save(const training_state& state) {
    begin_ = clock_seconds();
    torch::save(views_of(state), path_);
    flush_file(path_);
    end_ = clock_seconds();
  }

  void save_in_thread(const training_state& state, bool cloned) {
    begin_ = clock_seconds();
    done_ = false;
    read_ = std::promise<void>();
    reading_ = read_.get_future();
    thread_ =
        std::thread([this, from = cloned ? clones_of(views_of(state)) : views_of(state)]() mutable { run(from); });
  }

  /// Returns when torch::save has read the tensors; throws what it threw.
  void wait_until_read() {
    if (reading_.valid()) reading_.get();
  }

  [[nodiscard]] bool is_done() const { return done_; }

  saved finish() {
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    const saved result{end_ - begin_, std::filesystem::file_size(path_)};
    std::filesystem::remove(path_);
    return result;
  }

 private:
  void run(tensors& from) {
    try {
      torch::save(from, path_);
      from.clear();
      read_.set_value();
      flush_file(path_);
    } catch (...) {
      failure_ = std::current_exception();
      if (!from.empty()) read_.set_exception(failure_);
    }
    end_ = clock_seconds();
    done_ = true;
  }

  std::string path_;
  double begin_ = 0, end_ = 0;
  std::atomic<bool> done_{true};
  std::promise<void> read_{};
  std::future<void> reading_{};
  std::exception_ptr failure_{};
  std::thread thread_{};
};

template <class Save>
way torch_way(const std::shared_ptr<torch_saver>& self, const Save& save) {
  return {.step =
              [save](const training_state& state, std::uint64_t step) {
                if (step % save_interval == 0) save(state);
              },
          .is_done = [self] { return self->is_done(); },
          .finish = [self] { return self->finish(); }};
}

}  // namespace

way libtorch_blocking(const std::string& directory) {
  const auto self = std::make_shared<torch_saver>(directory);
  return torch_way(self, [self](const training_state& s) { self->save(s); });
}

way libtorch_joined(const std::string& directory) {
  const auto self = std::make_shared<torch_saver>(directory);
  auto made = torch_way(self, [self](const training_state& s) { self->save_in_thread(s, false); });
  made.before_write = [self] { self->wait_until_read(); };
  return made;
}

way libtorch_cloned(const std::string& directory) {
  const auto self = std::make_shared<torch_saver>(directory);
  return torch_way(self, [self](const training_state& s) { self->save_in_thread(s, true); });
}

}  // namespace bench
