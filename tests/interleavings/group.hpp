// SPDX-License-Identifier: MIT
// A group of ranks whose threads a scheduler runs: the ranks are its processes 0, 1, ...
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/group/base.hpp"
#include "interleavings/scheduler.hpp"
#include "standard.hpp"

namespace interleavings {

struct group_rules {
  bool notices_the_dead =
      false;  ///< a rank that waits for one that has gone gets errc::lost_rank; else it waits until its time is over
  bool completes_early = true;  ///< the root of a broadcast, and who gives to a gather, wait for nobody, as with MPI
};

/// Where the ranks meet: the n-th operation of each rank is the n-th exchange. Guarded by the token.
struct meeting {
  enum class kind : std::uint8_t { largest, broadcast, gather };
  struct description {
    kind what{};
    std::size_t bytes = 0;
    unsigned root = 0;
    friend bool operator==(const description&, const description&) = default;
  };
  struct exchange {
    description what{};
    std::vector<std::optional<std::vector<std::byte>>> given{};  // by rank
    bool is_abandoned = false;
  };

  meeting(unsigned size, group_rules chosen) : rules(chosen), started(size), is_gone(size), has_answered(size) {}

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(started.size()); }
  [[nodiscard]] bool is_lost(unsigned rank) const {
    return is_gone[rank] || scheduler::of_this_thread()->is_killed(rank);
  }

  group_rules rules;
  std::vector<std::uint64_t> started;       // operations, by rank
  std::vector<bool> is_gone, has_answered;  // by rank; a roll call of its own is an answer
  std::map<std::uint64_t, exchange> exchanges{};
  bool is_out_of_order = false;  // ranks have started different operations
};

class model_operation final : public cairn::groups::operation {
 public:
  model_operation(std::shared_ptr<meeting> at, unsigned rank, const meeting::description& what,
                  std::span<const std::byte> bytes)
      : at_(std::move(at)), rank_(rank), number_(at_->started[rank]++) {
    auto& made = exchange();
    if (made.given.empty()) {
      made.what = what;
      made.given.resize(at_->size());
    }
    at_->is_out_of_order = at_->is_out_of_order || made.what != what;
    made.given[rank].emplace(bytes.begin(), bytes.end());
  }
  /// The others may then wait in vain.
  ~model_operation() override {
    if (!is_complete() && !at_->is_lost(rank_)) exchange().is_abandoned = true;
  }

  bool test() override {
    auto& by = *scheduler::of_this_thread();
    if (has_result_) return true;
    if (at_->is_out_of_order) cairn::fail(cairn::errc::mismatch, {"the ranks have started different operations"});
    // Who tests once need not wait. Who tests again and again waits, until that is in vain; then time has passed.
    constexpr std::size_t tests = 2000;
    if (!is_complete() && tests_++ % tests == 1)
      by.wait("an operation of the group", [this] { return is_complete() || loses(); }, patience::while_it_helps);
    if (!is_complete() && loses()) cairn::fail(cairn::errc::lost_rank, {"rank ", lost(), " has ended"});
    if (!is_complete()) return false;
    take();
    return true;
  }

  [[nodiscard]] std::span<const std::byte> result() const override { return result_; }

 private:
  [[nodiscard]] meeting::exchange& exchange() const { return at_->exchanges[number_]; }

  [[nodiscard]] bool is_complete() const {
    const auto& made = exchange();
    if (made.is_abandoned || at_->is_out_of_order) return false;
    const auto has_given = [](const auto& each) { return each.has_value(); };
    if (at_->rules.completes_early && made.what.what == meeting::kind::broadcast)
      return has_given(made.given[made.what.root]);
    if (at_->rules.completes_early && made.what.what == meeting::kind::gather && rank_ != made.what.root) return true;
    return std::all_of(made.given.begin(), made.given.end(), has_given);
  }

  /// The lowest rank that is lost, and that this operation waits for; the size of the group if none is.
  [[nodiscard]] unsigned lost() const {
    unsigned rank = 0;
    while (rank < at_->size() && !(at_->is_lost(rank) && !exchange().given[rank])) ++rank;
    return rank;
  }
  [[nodiscard]] bool loses() const { return at_->rules.notices_the_dead && lost() != at_->size(); }

  void take() {
    has_result_ = true;
    const auto& made = exchange();
    switch (made.what.what) {
      case meeting::kind::largest:
        result_.resize(made.what.bytes);
        for (const auto& each : made.given)
          for (std::size_t i = 0; i < made.what.bytes; i += sizeof(std::uint64_t)) {
            std::uint64_t mine = 0, most = 0;
            std::memcpy(&mine, each->data() + i, sizeof mine);
            std::memcpy(&most, result_.data() + i, sizeof most);
            most = std::max(mine, most);
            std::memcpy(result_.data() + i, &most, sizeof most);
          }
        break;
      case meeting::kind::broadcast:
        result_ = *made.given[made.what.root];
        break;
      case meeting::kind::gather:
        if (rank_ != made.what.root) break;
        for (const auto& each : made.given) result_.insert(result_.end(), each->begin(), each->end());
        break;
    }
  }

  std::shared_ptr<meeting> at_;
  unsigned rank_;
  std::uint64_t number_;
  std::size_t tests_ = 0;
  bool has_result_ = false;
  std::vector<std::byte> result_{};
};

/// One rank of a group.
class model_group {
 public:
  model_group(std::shared_ptr<meeting> at, unsigned rank) : at_(std::move(at)), rank_(rank) {}

  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] unsigned size() const noexcept { return at_->size(); }
  [[nodiscard]] cairn::groups::started start_max(std::span<const std::uint64_t> numbers) {
    return start({meeting::kind::largest, numbers.size_bytes(), 0}, std::as_bytes(numbers));
  }
  [[nodiscard]] cairn::groups::started start_broadcast(std::span<const std::byte> bytes, std::size_t size,
                                                       unsigned root) {
    return start({meeting::kind::broadcast, size, root}, bytes);
  }
  [[nodiscard]] cairn::groups::started start_gather(std::span<const std::byte> bytes, unsigned root) {
    return start({meeting::kind::gather, bytes.size(), root}, bytes);
  }
  [[nodiscard]] std::vector<unsigned> roll_call(std::chrono::milliseconds /*limit*/) {
    scheduler::of_this_thread()->yield("a roll call");
    at_->has_answered[rank_] = true;
    std::vector<unsigned> missing;
    for (unsigned rank = 0; rank < size(); ++rank)
      if (at_->is_lost(rank) && !at_->has_answered[rank]) missing.push_back(rank);
    return missing;
  }

 private:
  [[nodiscard]] cairn::groups::started start(const meeting::description& what, std::span<const std::byte> bytes) {
    scheduler::of_this_thread()->yield("the start of an operation");
    return std::make_unique<model_operation>(at_, rank_, what, bytes);
  }

  std::shared_ptr<meeting> at_;
  unsigned rank_;
};

}  // namespace interleavings
