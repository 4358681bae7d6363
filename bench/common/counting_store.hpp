// SPDX-License-Identifier: MIT
// A store that counts the bytes that are read from its files.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/store/base.hpp"

namespace bench {

class counting_source final : public cairn::stores::source {
 public:
  counting_source(std::unique_ptr<cairn::stores::source> file, std::shared_ptr<std::atomic<std::uint64_t>> bytes)
      : file_(std::move(file)), bytes_(std::move(bytes)) {}

  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    for (const auto& each : into) *bytes_ += each.size();
    file_->read(offset, into);
  }

 private:
  std::unique_ptr<cairn::stores::source> file_;
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_;
};

class counting_publication final : public cairn::stores::publication {
 public:
  counting_publication(std::shared_ptr<const publication> of, std::shared_ptr<std::atomic<std::uint64_t>> bytes)
      : of_(std::move(of)), bytes_(std::move(bytes)) {}

  [[nodiscard]] std::string location() const override { return of_->location(); }
  [[nodiscard]] std::vector<std::string> files() const override { return of_->files(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view file) const override {
    return std::make_unique<counting_source>(of_->open(file), bytes_);
  }

 private:
  std::shared_ptr<const publication> of_;
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_;
};

/// Copies count together.
struct counting_store {
  cairn::any_store counted;
  std::shared_ptr<std::atomic<std::uint64_t>> bytes = std::make_shared<std::atomic<std::uint64_t>>(0);

  [[nodiscard]] std::uint64_t take_bytes() const { return bytes->exchange(0); }

  // What a store has (cairn/store/base.hpp).
  [[nodiscard]] std::string location() const { return counted.location(); }
  [[nodiscard]] cairn::stores::ownership lock() { return counted.lock(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) { return counted.begin(name); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> join(std::string_view name, std::string_view attempt) {
    return counted.join(name, attempt);
  }
  [[nodiscard]] std::vector<std::string> list() const { return counted.list(); }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    return std::make_shared<counting_publication>(counted.open(name), bytes);
  }
  void remove(std::string_view name) { counted.remove(name); }
};

}  // namespace bench
