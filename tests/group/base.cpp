// SPDX-License-Identifier: MIT
#include "cairn/group/base.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "catch.hpp"

namespace {

/// A user's group of one rank.
class own_group {
 public:
  explicit own_group(std::unique_ptr<int> moved_only) : moved_only_(std::move(moved_only)) {}

  [[nodiscard]] static unsigned rank() { return 0; }
  [[nodiscard]] static unsigned size() { return 1; }
  static cairn::groups::started start_max(std::span<const std::uint64_t> numbers) {
    return std::make_unique<done>(std::as_bytes(numbers));
  }
  static cairn::groups::started start_broadcast(std::span<const std::byte> bytes, std::size_t, unsigned) {
    return std::make_unique<done>(bytes);
  }
  static cairn::groups::started start_gather(std::span<const std::byte> bytes, unsigned) {
    return std::make_unique<done>(bytes);
  }
  [[nodiscard]] std::vector<unsigned> roll_call(std::chrono::milliseconds limit) const {
    return {static_cast<unsigned>(limit.count()), static_cast<unsigned>(*moved_only_)};
  }

 private:
  class done final : public cairn::groups::operation {
   public:
    explicit done(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}
    bool test() override { return true; }
    [[nodiscard]] std::span<const std::byte> result() const override { return bytes_; }

   private:
    std::vector<std::byte> bytes_;
  };

  std::unique_ptr<int> moved_only_;
};

struct no_group {};

TEST_CASE("any group passes all calls to the group that it holds, and copies share it") {
  static_assert(cairn::group<own_group>);
  static_assert(!cairn::group<no_group>);
  static_assert(!std::is_constructible_v<cairn::any_group, no_group>);
  cairn::any_group group(own_group(std::make_unique<int>(7)));
  auto copy = group;
  CHECK(copy.rank() == 0);
  CHECK(copy.size() == 1);
  const std::uint64_t numbers[] = {3, 5};
  const auto started = copy.start_max(numbers);
  CHECK(started->test());
  CHECK(started->result().size() == sizeof numbers);
  CHECK(std::memcmp(started->result().data(), numbers, sizeof numbers) == 0);
  const std::byte bytes[] = {std::byte{1}, std::byte{2}};
  CHECK(copy.start_broadcast(bytes, 2, 0)->result().size() == 2);
  CHECK(copy.start_gather(std::span(bytes).first(1), 0)->result().size() == 1);
  CHECK(copy.roll_call(std::chrono::milliseconds(9)) == std::vector<unsigned>{9, 7});
}

}  // namespace
