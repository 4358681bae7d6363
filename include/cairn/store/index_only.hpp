// SPDX-License-Identifier: MIT
// A store that keeps the text of an index and nothing else: what a save would publish, without writing it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::stores::detail {

/// Saves may be made to it, but it has no checkpoints. Copies share the text.
class index_only {
 public:
  explicit index_only(std::string location) : location_(std::move(location)) {}

  /// Of the checkpoint that was published last; empty if there was none.
  [[nodiscard]] const std::string& text() const noexcept { return *text_; }

  [[nodiscard]] std::string location() const { return location_; }
  [[nodiscard]] static ownership lock() { return nullptr; }
  [[nodiscard]] std::unique_ptr<transaction> begin(std::string_view /*name*/) const {
    return std::make_unique<attempt_at>(text_);
  }
  [[nodiscard]] static std::vector<std::string> list() { return {}; }
  [[nodiscard]] std::vector<std::string> files(std::string_view name) const { none(name); }
  [[nodiscard]] std::unique_ptr<source> open(std::string_view name, std::string_view /*file*/) const { none(name); }
  void remove(std::string_view name) const { none(name); }

 private:
  class discarded final : public sink {
   public:
    void write(std::uint64_t /*offset*/, std::span<const buffer> /*buffers*/) override {}
  };
  class kept final : public sink {
   public:
    explicit kept(std::uint64_t bytes) : text(bytes, '\0') {}
    void write(std::uint64_t offset, std::span<const buffer> buffers) override {
      for (const auto& each : buffers) {
        text.replace(offset, each.size(), reinterpret_cast<const char*>(each.data()), each.size());
        offset += each.size();
      }
    }
    std::string text;
  };
  class attempt_at final : public transaction {
   public:
    explicit attempt_at(std::shared_ptr<std::string> text) : text_(std::move(text)) {}
    sink& create(std::string_view file, std::uint64_t bytes) override {
      if (file != cairn::detail::index_file) return discarded_;
      index_ = std::make_unique<kept>(bytes);
      return *index_;
    }
    void publish() override { *text_ = index_ ? std::move(index_->text) : std::string(); }

   private:
    std::shared_ptr<std::string> text_;
    discarded discarded_;
    std::unique_ptr<kept> index_;
  };

  [[noreturn]] void none(std::string_view name) const {
    fail(errc::not_found, {"there is no checkpoint ", location_, "/", name});
  }

  std::string location_;
  std::shared_ptr<std::string> text_ = std::make_shared<std::string>();
};

}  // namespace cairn::inline v0_1::stores::detail
