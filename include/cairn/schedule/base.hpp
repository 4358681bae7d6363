// SPDX-License-Identifier: MIT
// The contract of `schedule/`: what was observed, as plain numbers -> whether to save now, and as what.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/core/float_bits.hpp"
#include "cairn/core/policy_memory.hpp"

namespace cairn::inline v0_1::detail {

/// Owns an object that derives from `Interface`, and copies it by `Interface::clone`, which returns a std::unique_ptr.
template <class Interface>
class cloned {
 public:
  explicit cloned(std::unique_ptr<Interface> owned) noexcept : owned_(std::move(owned)) {}
  cloned(const cloned& other) : owned_(other.owned_->clone()) {}
  cloned& operator=(const cloned& other) {
    if (this != &other) owned_ = other.owned_->clone();
    return *this;
  }
  cloned(cloned&&) noexcept = default;
  cloned& operator=(cloned&&) noexcept = default;
  ~cloned() = default;

  [[nodiscard]] Interface* operator->() noexcept { return owned_.get(); }
  [[nodiscard]] const Interface* operator->() const noexcept { return owned_.get(); }

 private:
  std::unique_ptr<Interface> owned_;
};

/// The `count` numbers of that name; none where there are more or fewer, or one is not finite.
[[nodiscard]] inline std::span<const double> recalled(const policy_memory& memory, const std::string& name,
                                                      std::size_t count) {
  const auto at = memory.find(name);
  if (at == memory.end() || at->second.size() != count) return {};
  for (const double& each : at->second)
    if (!is_finite(each)) return {};
  return at->second;
}

// Optional members are found by their names alone, so that one that would never be called can be refused.

struct hook_names {
  int saved, restarted, remember, recall;
};

/// A name that `Type` has too is ambiguous here, whatever its signature and access.
template <class Type>
struct with_hook_names : Type, hook_names {};

/// The type in which a name is looked up. A final type cannot be a base, so its own members are named: those that are
/// public and not overloaded are found.
template <class Type>
using hook_lookup = typename std::conditional_t<std::is_final_v<Type>, std::type_identity<Type>,
                                                std::type_identity<with_hook_names<Type>>>::type;

template <class Type, bool IsNamed>
inline constexpr bool has_name = std::is_final_v<Type> ? IsNamed : !IsNamed;

/// Data members may have these names.
template <class Type>
concept has_function_saved = has_name<Type, requires { &hook_lookup<Type>::saved; }> &&
                             !requires { requires std::is_member_object_pointer_v<decltype(&Type::saved)>; };
template <class Type>
concept has_function_restarted = has_name<Type, requires { &hook_lookup<Type>::restarted; }> &&
                                 !requires { requires std::is_member_object_pointer_v<decltype(&Type::restarted)>; };
template <class Type>
concept has_function_remember = has_name<Type, requires { &hook_lookup<Type>::remember; }> &&
                                !requires { requires std::is_member_object_pointer_v<decltype(&Type::remember)>; };
template <class Type>
concept has_function_recall = has_name<Type, requires { &hook_lookup<Type>::recall; }> &&
                              !requires { requires std::is_member_object_pointer_v<decltype(&Type::recall)>; };

}  // namespace cairn::inline v0_1::detail

namespace cairn::inline v0_1 {

/// A point of a run, as a policy sees it. Policies have no clock of their own, so tests can drive them.
struct moment {
  std::uint64_t step = 0;  ///< that was just done
  double seconds = 0;      ///< since the run began or was restored
  /// Of this run's newest save that was not cancelled and has not failed; without one, where it began or was restored.
  std::uint64_t saved_step = 0;
  double saved_seconds = 0;      ///< when the state was copied for it
  std::optional<double> loss{};  ///< of the step, as the trainer reports it
  double iteration_seconds = 0;  ///< of training since the previous step, without stalls
  double workers = 1;            ///< at work: the job fails when one of them fails
  bool is_saving = false;        ///< a save runs in the background; a new one may not be possible
};

/// How a state is stored.
enum class save_kind : std::uint8_t {
  raw,    ///< not encoded: the least work, the most bytes
  whole,  ///< encoded without loss; needs no other checkpoint
  delta   ///< encoded as the difference from the previous checkpoint; in a decision, the same as no kind
};

/// What a policy decides.
struct decision {
  bool save = false;                ///< whether to save now
  std::optional<save_kind> kind{};  ///< none: as the codecs and the chain options say

  constexpr decision(bool now, std::optional<save_kind> as = std::nullopt)  // NOLINT: most policies return a bool
      : save(now), kind(as) {}
  /// Whether to save.
  constexpr explicit operator bool() const noexcept { return save; }
};

/// What one save has cost. Times are in seconds.
struct save_cost {
  std::uint64_t step = 0;             ///< that was saved
  save_kind kind = save_kind::whole;  ///< how the state was stored
  double stall_seconds = 0;           ///< that the trainer waited
  /// From the copy to publication. A failure before that falls back to an older checkpoint.
  double background_seconds = 0;
  double encode_seconds = 0;      ///< part of the background work
  double write_seconds = 0;       ///< part of the background work
  std::uint64_t bytes = 0;        ///< of the files
  std::uint64_t state_bytes = 0;  ///< before encoding
};

/// A run that continues from a checkpoint.
struct restart {
  std::uint64_t step = 0;      ///< of the checkpoint
  double restore_seconds = 0;  ///< that loading it took
  std::size_t links = 1;       ///< checkpoints that were read for it: itself and those that it is built on
  bool after_failure = true;   ///< the previous run did not end by itself
  double away_seconds = 0;     ///< of wall-clock time since the state was copied for that checkpoint; 0: not known
  std::size_t level = 0;       ///< of cairn::levels: the number of the place that it was read from, see load_report
};

/// Decides once per step whether to save now. Steps and seconds never decrease, except after `restarted` or
/// checkpointer::remove_after. It may also have the members of `observes_saves`, `observes_restarts` and `remembers`.
/// Members of these names with another signature, and a `remember` without a `recall` or the reverse, do not compile.
///
/// If `should_save` throws, `step` throws a cairn::error that names it (see when_failed). What the other members throw
/// is only reported, as event::kind::failed: the run goes on after `saved`, a checkpoint is saved without the memory
/// after `remember`, and after `recall` or `restarted` the state is restored and a fresh copy of the policy is used.
template <class Policy>
concept policy = std::copy_constructible<Policy> && requires(Policy& self, const moment& now) {
  { self.should_save(now) } -> std::convertible_to<decision>;
};

/// `saved` is called when a save is published, in the order of saves.
template <class Policy>
concept observes_saves = policy<Policy> && requires(Policy& self, const save_cost& cost) { self.saved(cost); };

/// `restarted` is called when the run continues from a checkpoint: before the first step, and after each later restore.
template <class Policy>
concept observes_restarts = policy<Policy> && requires(Policy& self, const restart& how) { self.restarted(how); };

/// `remember` gives what a checkpoint keeps of the policy. `recall` gets it back, before `restarted`, in a process that
/// has made no step; it ignores names and sizes that it does not know.
template <class Policy>
concept remembers = policy<Policy> && requires(const Policy& self, Policy& restored, const policy_memory& kept) {
  { self.remember() } -> std::convertible_to<policy_memory>;
  restored.recall(kept);
};

/// A policy whose decisions follow from `step` and `saved_step` alone declares `static constexpr bool uses_steps_alone
/// = true;`. In a group of ranks each rank asks its own copy, and the save is of the step that it was asked at. Other
/// policies are asked at rank 0, and the save is of the step after that.
template <class Policy>
concept uses_steps_alone = policy<Policy> && requires { requires Policy::uses_steps_alone; };

namespace detail {

/// Refuses a policy with an optional member that would never be called.
template <class Policy>
consteval void check_hooks() {
  static_assert(observes_saves<Policy> || !has_function_saved<Policy>,
                "the policy's `saved` is not callable as `void saved(const cairn::save_cost&)`");
  static_assert(observes_restarts<Policy> || !has_function_restarted<Policy>,
                "the policy's `restarted` is not callable as `void restarted(const cairn::restart&)`");
  static_assert(remembers<Policy> || !(has_function_remember<Policy> || has_function_recall<Policy>),
                "a policy with a memory has both `cairn::policy_memory remember() const` and `void recall(const "
                "cairn::policy_memory&)`");
}

}  // namespace detail

/// Any policy, chosen at run time. A copy decides independently.
class any_policy {
 public:
  template <class Policy>
  requires(!std::same_as<std::remove_cvref_t<Policy>, any_policy> && policy<std::remove_cvref_t<Policy>>)
  any_policy(Policy&& chosen)  // NOLINT: any policy converts to an any_policy
      : self_(std::make_unique<model<std::remove_cvref_t<Policy>>>(std::forward<Policy>(chosen))) {
    detail::check_hooks<std::remove_cvref_t<Policy>>();
  }

  [[nodiscard]] decision should_save(const moment& now) { return self_->should_save(now); }
  void saved(const save_cost& cost) { self_->saved(cost); }
  void restarted(const restart& how) { self_->restarted(how); }
  /// Does the policy have the member `restarted`?
  [[nodiscard]] bool uses_restarts() const { return self_->uses_restarts(); }
  /// See the concept of this name.
  [[nodiscard]] bool uses_steps_alone() const { return self_->uses_steps_alone(); }
  [[nodiscard]] policy_memory remember() const { return self_->remember(); }
  void recall(const policy_memory& kept) { self_->recall(kept); }

 private:
  struct interface {
    virtual ~interface() = default;
    [[nodiscard]] virtual std::unique_ptr<interface> clone() const = 0;
    virtual decision should_save(const moment& now) = 0;
    virtual void saved(const save_cost& cost) = 0;
    virtual void restarted(const restart& how) = 0;
    [[nodiscard]] virtual bool uses_restarts() const = 0;
    [[nodiscard]] virtual bool uses_steps_alone() const = 0;
    [[nodiscard]] virtual policy_memory remember() const = 0;
    virtual void recall(const policy_memory& kept) = 0;
  };

  template <class Policy>
  struct model final : interface {
    template <class P>
    explicit model(P&& chosen) : held(std::forward<P>(chosen)) {}
    [[nodiscard]] std::unique_ptr<interface> clone() const override { return std::make_unique<model>(held); }
    decision should_save(const moment& now) override { return held.should_save(now); }
    void saved([[maybe_unused]] const save_cost& cost) override {
      if constexpr (observes_saves<Policy>) held.saved(cost);
    }
    void restarted([[maybe_unused]] const restart& how) override {
      if constexpr (observes_restarts<Policy>) held.restarted(how);
    }
    [[nodiscard]] bool uses_restarts() const override { return observes_restarts<Policy>; }
    [[nodiscard]] bool uses_steps_alone() const override { return cairn::uses_steps_alone<Policy>; }
    [[nodiscard]] policy_memory remember() const override {
      if constexpr (remembers<Policy>)
        return held.remember();
      else
        return {};
    }
    void recall([[maybe_unused]] const policy_memory& kept) override {
      if constexpr (remembers<Policy>) held.recall(kept);
    }
    Policy held;
  };

  detail::cloned<interface> self_;
};

}  // namespace cairn::inline v0_1
