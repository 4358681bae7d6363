// SPDX-License-Identifier: MIT
#include "cairn/adapters/torch.hpp"

#include <torch/torch.h>

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace sampling {

/// All numbers that a sampler still has to give.
template <class Sampler>
std::vector<std::size_t> rest_of(Sampler& sampler) {
  std::vector<std::size_t> all;
  while (const auto batch = sampler.next(3)) {
    if constexpr (std::is_same_v<Sampler, torch::data::samplers::StreamSampler>)
      all.push_back(batch->size());
    else
      all.insert(all.end(), batch->begin(), batch->end());
  }
  return all;
}

template <class Sampler>
void goes_on(Sampler original, Sampler fresh) {
  static_cast<void>(original.next(4));
  tests::kept(original).load(fresh);
  const auto rest = rest_of(original);
  CHECK_FALSE(rest.empty());
  CHECK(rest_of(fresh) == rest);
}

}  // namespace sampling

TEST_CASE("torch: generators go on with the same numbers") {
  at::Generator original = at::detail::createCPUGenerator(3), fresh = at::detail::createCPUGenerator(4), null;
  static_cast<void>(torch::randn({7}, original));
  CHECK(tests::comes_back(original, fresh));
  CHECK(torch::randn({100}, original).equal(torch::randn({100}, fresh)));
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::describe(null)); }).code == cairn::errc::invalid);
  const tests::kept stored(original);
  CHECK(sample::failure_of([&] { stored.load(null); }).code == cairn::errc::invalid);

  // libtorch's own, through a handle
  torch::manual_seed(5);
  at::Generator own = at::detail::getDefaultCPUGenerator();
  const tests::kept before(own);
  const auto numbers = torch::rand({10});
  before.load(own);
  CHECK(torch::rand({10}).equal(numbers));
}

TEST_CASE("torch: bytes that are no state of a generator are refused, and it stays as it was") {
  at::Generator original = at::detail::createCPUGenerator(3);
  const tests::kept before(original);
  for (const bool is_short : {true, false}) {
    tests::kept stored(original);
    auto& leaf = stored.contents.leaves.front();
    auto& bytes = stored.bytes.at(leaf.path);
    if (is_short) {
      bytes.resize(16);
      leaf.shape = {16};
    } else {
      std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
    }
    const auto failure = sample::failure_of([&] { stored.load(original); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK(tests::kept(original) == before);
  }
}

TEST_CASE("torch: samplers go on where they were") {
  using namespace torch::data::samplers;
  sampling::goes_on(RandomSampler(20), RandomSampler(20));
  sampling::goes_on(SequentialSampler(20), SequentialSampler(20));
  sampling::goes_on(DistributedSequentialSampler(20, 2, 1), DistributedSequentialSampler(20, 2, 1));
  DistributedRandomSampler third(20, 2, 1);
  third.set_epoch(3);
  third.reset();
  sampling::goes_on(third, DistributedRandomSampler(20, 2, 1));
  sampling::goes_on(StreamSampler(20), StreamSampler(20));
}

TEST_CASE("torch: an order that is not one of the sampler's samples is refused") {
  torch::data::samplers::RandomSampler original(6), longer(7);
  tests::kept stored(original);
  CHECK(sample::failure_of([&] { stored.load(longer); }).code == cairn::errc::mismatch);
  for (auto& [path, bytes] : stored.bytes)
    if (path.find("indices") != std::string::npos) bytes[1] = std::byte{1};
  const auto failure = sample::failure_of([&] { stored.load(original); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK_FALSE(failure.state_changed);
}

TEST_CASE("torch: a position that a sampler cannot have is refused") {
  using namespace torch::data::samplers;
  const auto refuses = [](auto sampler, const std::string& name, unsigned char position) {
    tests::kept stored(sampler);
    const tests::kept before(sampler);
    auto is_found = false;
    for (auto& [path, bytes] : stored.bytes) {
      if (!path.ends_with(name)) continue;
      is_found = true;
      bytes[0] = std::byte{position};
    }
    REQUIRE(is_found);
    const auto failure = sample::failure_of([&] { stored.load(sampler); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK_FALSE(failure.state_changed);
    CHECK(tests::kept(sampler) == before);
  };
  refuses(RandomSampler(6), "index", 7);
  refuses(SequentialSampler(6), "index", 7);
  refuses(DistributedRandomSampler(20, 2, 1), "sample_index_", 9);
  refuses(DistributedRandomSampler(20, 2, 1), "sample_index_", 21);
  refuses(DistributedSequentialSampler(20, 2, 0), "sample_index_", 11);
  StreamSampler stream(6);
  const tests::kept longer([] {
    static StreamSampler other(50);
    static_cast<void>(other.next(20));
    return cairn::detail::describe(other);
  }());
  CHECK(sample::failure_of([&] { longer.load(stream); }).code == cairn::errc::mismatch);
  SequentialSampler other(6);
  const RandomSampler random(6);
  CHECK(sample::failure_of([&] { tests::kept(random).load(other); }).code == cairn::errc::mismatch);
}

TEST_CASE("torch: samplers of other libraries are not taken for libtorch's") {
  struct own : torch::data::samplers::RandomSampler {
    using RandomSampler::RandomSampler;
    int more = 0;
  };
  STATIC_REQUIRE(cairn::saveable<torch::data::samplers::RandomSampler>);
  STATIC_REQUIRE_FALSE(cairn::saveable<own>);
}

TEST_CASE("torch: the steps of a learning rate scheduler") {
  torch::optim::SGD optimizer({torch::rand({2}, torch::requires_grad())}, torch::optim::SGDOptions(1));
  struct trainer {
    torch::optim::SGD& optimizer;
    torch::optim::StepLR schedule{optimizer, 2, 0.5};
  };
  trainer original{optimizer};
  for (int i = 0; i < 3; ++i) original.schedule.step();
  torch::optim::StepLR fresh(optimizer, 2, 0.5);
  CHECK(tests::comes_back(original.schedule, fresh));
  CHECK(optimizer.param_groups()[0].options().get_lr() == 0.5);
  fresh.step();
  fresh.step();
  CHECK(optimizer.param_groups()[0].options().get_lr() == 0.25);
}
