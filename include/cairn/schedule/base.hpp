// The contract of `schedule/`: what was observed, as plain numbers -> whether to save now, and as what.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn {

/// A point of a run, as a policy sees it. Time is given, never taken: a test drives it.
struct moment {
  std::uint64_t step = 0;        ///< the step just done
  double seconds = 0;            ///< since the run began or was restored
  std::uint64_t saved_step = 0;  ///< of this run's newest checkpoint; else the step it began or was restored at
  double saved_seconds = 0;      ///< when that was
  std::optional<double> loss{};
  double iteration_seconds = 0;  ///< of training since the step before, without what saving stopped it
  double workers = 1;            ///< at work: the job fails when one of them does
  bool is_saving = false;        ///< a save is on its way behind the training: a new one may not be possible
};

/// How a state is stored.
enum class save_kind : std::uint8_t {
  raw,    ///< as it is: the least work, the most bytes
  whole,  ///< encoded, without loss; needs no other checkpoint
  delta   ///< encoded as the difference to the checkpoint before
};

/// What a policy decides.
struct decision {
  bool save = false;
  std::optional<save_kind> kind{};  ///< none: as the codecs and the chain options say

  constexpr decision(bool now, std::optional<save_kind> as = std::nullopt)  // NOLINT: most policies give a bool
      : save(now), kind(as) {}
  constexpr explicit operator bool() const noexcept { return save; }
};

/// What a save has cost.
struct save_cost {
  std::uint64_t step = 0;
  save_kind kind = save_kind::whole;
  double stall_seconds = 0;  ///< that the trainer waited
  double background_seconds =
      0;                      ///< from then until it was published: who fails before that goes back to the one before
  double encode_seconds = 0;  ///< of the work behind the training
  double write_seconds = 0;   ///< of the work behind the training
  std::uint64_t bytes = 0;    ///< in files
  std::uint64_t state_bytes = 0;  ///< before encoding
};

/// A run that goes on from a checkpoint.
struct restart {
  std::uint64_t step = 0;      ///< of the checkpoint
  double restore_seconds = 0;  ///< that loading it took
  bool after_failure = true;   ///< the run before did not end in peace
  double away_seconds = 0;  ///< on the clock on the wall, since the state was copied for that checkpoint; 0: not known
};

/// What a policy knows, as named numbers: kept in every checkpoint.
using policy_memory = std::map<std::string, std::vector<double>>;

/// Decides whether to save now. Asked once per step, with steps and seconds that never fall. A policy may also have
///   void saved(const save_cost&)            told when a save is published, in the order of saves
///   void restarted(const restart&)          told once, before the first step, when the run goes on from a checkpoint
///   policy_memory remember() const          what a checkpoint keeps of it, and
///   void recall(const policy_memory&)       gets back before `restarted`; names or sizes that it does not know are passed over.
template <class Policy>
concept policy = std::copy_constructible<Policy> && requires(Policy& self, const moment& now) {
  { self.should_save(now) } -> std::convertible_to<decision>;
};

/// Any policy, chosen at run time. A value: a copy decides for itself.
class any_policy {
 public:
  template <class Policy>
  requires(!std::same_as<std::remove_cvref_t<Policy>, any_policy> && policy<std::remove_cvref_t<Policy>>)
  any_policy(Policy&& chosen)  // NOLINT: a policy is meant to become an any_policy by itself
      : self_(std::make_unique<holder<std::remove_cvref_t<Policy>>>(std::forward<Policy>(chosen))) {}

  any_policy(const any_policy& other) : self_(other.self_->clone()) {}
  any_policy& operator=(const any_policy& other) {
    if (this != &other) self_ = other.self_->clone();
    return *this;
  }
  any_policy(any_policy&&) noexcept = default;
  any_policy& operator=(any_policy&&) noexcept = default;
  ~any_policy() = default;

  [[nodiscard]] decision should_save(const moment& now) { return self_->should_save(now); }
  void saved(const save_cost& cost) { self_->saved(cost); }
  void restarted(const restart& how) { self_->restarted(how); }
  [[nodiscard]] policy_memory remember() const { return self_->remember(); }
  void recall(const policy_memory& kept) { self_->recall(kept); }

 private:
  struct base {
    virtual ~base() = default;
    [[nodiscard]] virtual std::unique_ptr<base> clone() const = 0;
    virtual decision should_save(const moment& now) = 0;
    virtual void saved(const save_cost& cost) = 0;
    virtual void restarted(const restart& how) = 0;
    [[nodiscard]] virtual policy_memory remember() const = 0;
    virtual void recall(const policy_memory& kept) = 0;
  };

  template <class Policy>
  struct holder final : base {
    explicit holder(const Policy& chosen) : self(chosen) {}
    explicit holder(Policy&& chosen) : self(std::move(chosen)) {}
    [[nodiscard]] std::unique_ptr<base> clone() const override { return std::make_unique<holder>(self); }
    decision should_save(const moment& now) override { return self.should_save(now); }
    void saved([[maybe_unused]] const save_cost& cost) override {
      if constexpr (requires { self.saved(cost); }) self.saved(cost);
    }
    void restarted([[maybe_unused]] const restart& how) override {
      if constexpr (requires { self.restarted(how); }) self.restarted(how);
    }
    [[nodiscard]] policy_memory remember() const override {
      if constexpr (requires { self.remember(); }) return self.remember();
      return {};
    }
    void recall([[maybe_unused]] const policy_memory& kept) override {
      if constexpr (requires { self.recall(kept); }) self.recall(kept);
    }
    Policy self;
  };

  std::unique_ptr<base> self_;
};

}  // namespace cairn
