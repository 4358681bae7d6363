// SPDX-License-Identifier: MIT
// Definitions of store/base.hpp.
#pragma once

#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {
namespace stores {

void check_range(std::string_view where, std::uint64_t size, std::uint64_t offset,
                 std::span<const std::span<std::byte>> into) {
  std::uint64_t left = size - offset;
  bool is_inside = offset <= size;
  for (const auto& each : into) {
    is_inside = is_inside && each.size() <= left;
    left -= each.size();
  }
  if (!is_inside)
    fail(errc::corrupt, {where, " ends at byte ", size, ", but bytes beyond are needed, from ", offset, " on"});
}

std::string read_text(const source& file, std::uint64_t offset, std::uint64_t length) {
  std::string text(length, '\0');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace stores

namespace detail {

/// What `act` returns, which is not null. What it throws is a cairn::error.
template <class Act>
[[nodiscard]] auto not_null(const std::string& location, std::string_view function, const Act& act) {
  auto made = with_errors(location, act);
  if (!made) fail(errc::invalid, {location, ": ", function, " returns null"});
  return made;
}

/// The publication of a store. What that throws is a cairn::error.
class checked_publication final : public stores::publication {
 public:
  explicit checked_publication(std::shared_ptr<const stores::publication> held) : held_(std::move(held)) {}
  [[nodiscard]] std::string location() const override { return held_->location(); }
  [[nodiscard]] std::vector<std::string> files() const override {
    return with_errors(location(), [&] { return held_->files(); });
  }
  [[nodiscard]] std::unique_ptr<stores::source> open(std::string_view file) const override {
    return not_null(location(), "open of the publication", [&] { return held_->open(file); });
  }

 private:
  std::shared_ptr<const stores::publication> held_;
};

}  // namespace detail

stores::ownership any_store::lock() {
  return detail::with_errors(location(), [&] { return self_->lock(); });
}
std::unique_ptr<stores::transaction> any_store::begin(std::string_view name) {
  return detail::not_null(location(), "begin of the store", [&] { return self_->begin(name); });
}
std::unique_ptr<stores::transaction> any_store::join(std::string_view name, std::string_view attempt) {
  return detail::not_null(location(), "join of the store", [&] { return self_->join(name, attempt); });
}
std::vector<std::string> any_store::list() const {
  return detail::with_errors(location(), [&] { return self_->list(); });
}
std::shared_ptr<const stores::publication> any_store::open(std::string_view name) const {
  return std::make_shared<detail::checked_publication>(
      detail::not_null(location(), "open of the store", [&] { return self_->open(name); }));
}
void any_store::remove(std::string_view name) {
  detail::with_errors(location(), [&] { self_->remove(name); });
}

}  // namespace cairn::inline v0_1
