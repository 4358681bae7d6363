// The contract of estimators: losses, one by one -> the curve that they follow, if one can be trusted.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/cloned.hpp"
#include "cairn/schedule/hooks.hpp"
#include "cairn/schedule/loss_curve.hpp"

namespace cairn {

/// Predicts the curve of a loss from the losses seen so far. `observe` takes any numbers in any order. `curve` gives nothing while the
/// estimator does not trust its fit; a policy then works without a curve. An estimator may also have the members of
/// `remembering_estimator`; a `remember` or `recall` with another signature is a compile-time error.
template <class Estimator>
concept estimator = std::copy_constructible<Estimator> && requires(Estimator& self, double step, double loss) {
  self.observe(step, loss);
  { self.curve() } -> std::convertible_to<std::optional<loss_curve>>;
};

/// `remember` adds what a checkpoint keeps. `recall` gets it back; it ignores names and sizes that it does not know.
template <class Estimator>
concept remembering_estimator = estimator<Estimator> && requires(const Estimator& self, Estimator& restored,
                                                                 policy_memory& memory, const policy_memory& kept) {
  self.remember(memory);
  restored.recall(kept);
};

/// Any estimator, chosen at run time. A copy observes independently.
class any_estimator {
 public:
  template <class Estimator>
  requires(!std::same_as<std::remove_cvref_t<Estimator>, any_estimator> && estimator<std::remove_cvref_t<Estimator>>)
  any_estimator(Estimator&& chosen)  // NOLINT: any estimator converts to an any_estimator
      : self_(std::make_unique<model<std::remove_cvref_t<Estimator>>>(std::forward<Estimator>(chosen))) {
    using type = std::remove_cvref_t<Estimator>;
    static_assert(
        remembering_estimator<type> || !(detail::has_function_remember<type> || detail::has_function_recall<type>),
        "an estimator with a memory has both `void remember(cairn::policy_memory&) const` and "
        "`void recall(const cairn::policy_memory&)`");
  }

  void observe(double step, double loss) { self_->observe(step, loss); }
  [[nodiscard]] std::optional<loss_curve> curve() { return self_->curve(); }
  void remember(policy_memory& memory) const { self_->remember(memory); }
  void recall(const policy_memory& kept) { self_->recall(kept); }

 private:
  struct interface {
    virtual ~interface() = default;
    [[nodiscard]] virtual std::unique_ptr<interface> clone() const = 0;
    virtual void observe(double step, double loss) = 0;
    virtual std::optional<loss_curve> curve() = 0;
    virtual void remember(policy_memory& memory) const = 0;
    virtual void recall(const policy_memory& kept) = 0;
  };

  template <class Estimator>
  struct model final : interface {
    template <class E>
    explicit model(E&& chosen) : held(std::forward<E>(chosen)) {}
    [[nodiscard]] std::unique_ptr<interface> clone() const override { return std::make_unique<model>(held); }
    void observe(double step, double loss) override { held.observe(step, loss); }
    std::optional<loss_curve> curve() override { return held.curve(); }
    void remember([[maybe_unused]] policy_memory& memory) const override {
      if constexpr (remembering_estimator<Estimator>) held.remember(memory);
    }
    void recall([[maybe_unused]] const policy_memory& kept) override {
      if constexpr (remembering_estimator<Estimator>) held.recall(kept);
    }
    Estimator held;
  };

  detail::cloned<interface> self_;
};

}  // namespace cairn
