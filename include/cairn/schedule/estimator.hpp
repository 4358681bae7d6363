// The contract of estimators: losses as they come -> the curve that they follow, where one can be told.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/loss_curve.hpp"

namespace cairn {

/// Tells the curve of a loss from what was seen of it. `observe` may get any numbers, in any order. `curve` says nothing while the estimator
/// does not trust its fit; a policy then does without. An estimator may also have
///   void remember(policy_memory&) const     adds what a checkpoint keeps of it, and
///   void recall(const policy_memory&)       gets back; names or sizes that it does not know are passed over.
template <class Estimator>
concept estimator = std::copy_constructible<Estimator> && requires(Estimator& self, double step, double loss) {
  self.observe(step, loss);
  { self.curve() } -> std::convertible_to<std::optional<loss_curve>>;
};

/// Any estimator, chosen at run time. A value: a copy observes for itself.
class any_estimator {
 public:
  template <class Estimator>
  requires(!std::same_as<std::remove_cvref_t<Estimator>, any_estimator> && estimator<std::remove_cvref_t<Estimator>>)
  any_estimator(Estimator&& chosen)  // NOLINT: an estimator is meant to become an any_estimator by itself
      : self_(std::make_unique<holder<std::remove_cvref_t<Estimator>>>(std::forward<Estimator>(chosen))) {}

  any_estimator(const any_estimator& other) : self_(other.self_->clone()) {}
  any_estimator& operator=(const any_estimator& other) {
    if (this != &other) self_ = other.self_->clone();
    return *this;
  }
  any_estimator(any_estimator&&) noexcept = default;
  any_estimator& operator=(any_estimator&&) noexcept = default;
  ~any_estimator() = default;

  void observe(double step, double loss) { self_->observe(step, loss); }
  [[nodiscard]] std::optional<loss_curve> curve() { return self_->curve(); }
  void remember(policy_memory& memory) const { self_->remember(memory); }
  void recall(const policy_memory& kept) { self_->recall(kept); }

 private:
  struct base {
    virtual ~base() = default;
    [[nodiscard]] virtual std::unique_ptr<base> clone() const = 0;
    virtual void observe(double step, double loss) = 0;
    virtual std::optional<loss_curve> curve() = 0;
    virtual void remember(policy_memory& memory) const = 0;
    virtual void recall(const policy_memory& kept) = 0;
  };

  template <class Estimator>
  struct holder final : base {
    explicit holder(const Estimator& chosen) : self(chosen) {}
    explicit holder(Estimator&& chosen) : self(std::move(chosen)) {}
    [[nodiscard]] std::unique_ptr<base> clone() const override { return std::make_unique<holder>(self); }
    void observe(double step, double loss) override { self.observe(step, loss); }
    std::optional<loss_curve> curve() override { return self.curve(); }
    void remember([[maybe_unused]] policy_memory& memory) const override {
      if constexpr (requires { self.remember(memory); }) self.remember(memory);
    }
    void recall([[maybe_unused]] const policy_memory& kept) override {
      if constexpr (requires { self.recall(kept); }) self.recall(kept);
    }
    Estimator self;
  };

  std::unique_ptr<base> self_;
};

}  // namespace cairn
