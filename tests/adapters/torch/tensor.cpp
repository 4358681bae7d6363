// SPDX-License-Identifier: MIT
#include "cairn/adapters/torch.hpp"

#include <torch/torch.h>

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace tensors {

constexpr c10::ScalarType all_types[] = {
    torch::kBool,        torch::kByte,         torch::kChar,         torch::kShort, torch::kInt,
    torch::kLong,        torch::kHalf,         torch::kBFloat16,     torch::kFloat, torch::kDouble,
    torch::kComplexHalf, torch::kComplexFloat, torch::kComplexDouble};

/// A tensor of random bits, with NaNs among them.
torch::Tensor random_tensor(const std::vector<std::int64_t>& sizes, c10::ScalarType type, std::mt19937_64& random) {
  auto made = torch::empty(sizes, type);
  auto* bytes = static_cast<unsigned char*>(made.data_ptr());
  for (std::size_t i = 0; i < made.nbytes(); ++i)
    bytes[i] = static_cast<unsigned char>(type == torch::kBool ? random() % 2 : random());
  return made;
}

bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  const auto x = a.contiguous(), y = b.contiguous();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         (x.nbytes() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

struct state {
  torch::Tensor tensor;
};

std::string problem_of(const torch::Tensor& tensor) {
  const state refused{tensor};
  const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::describe(refused)); });
  CHECK(failure.code == cairn::errc::unsupported);
  return failure.sentence;
}

}  // namespace tensors

TEST_CASE("torch: tensors of all types and shapes come back bit for bit, into undefined and into other ones") {
  std::mt19937_64 random(1);
  for (const auto type : tensors::all_types)
    for (const auto& sizes : {std::vector<std::int64_t>{}, {0}, {3}, {2, 5}, {2, 3, 4, 5}}) {
      const tensors::state original{tensors::random_tensor(sizes, type, random)};
      tensors::state filled{tensors::random_tensor(sizes, type, random)};
      const auto* memory = filled.tensor.data_ptr();
      CHECK(tests::comes_back(original, filled));
      CHECK(tensors::same_bits(filled.tensor, original.tensor));
      CHECK(filled.tensor.data_ptr() == memory);
      if (c10::isComplexType(type)) continue;  // an undefined tensor does not say that it is to be complex
      if (type == torch::kByte && sizes == std::vector<std::int64_t>{0}) continue;  // is saved as an undefined one is
      tensors::state fresh;
      CHECK(tests::comes_back(original, fresh));
      CHECK(tensors::same_bits(fresh.tensor, original.tensor));
    }
}

TEST_CASE("torch: tensors with strides are saved as what they show, and loaded in place") {
  std::mt19937_64 random(2);
  const auto make = [&] { return tensors::random_tensor({4, 6, 8, 10}, torch::kFloat, random); };
  const auto views = [](const torch::Tensor& all) {
    return std::vector<torch::Tensor>{all.transpose(1, 3), all.slice(3, 1, 9, 2), all.select(2, 3),
                                      all.to(torch::MemoryFormat::ChannelsLast)};
  };
  const auto a = make(), b = make();
  const auto from = views(a), to = views(b);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const tensors::state original{from[i]};
    tensors::state other{to[i]};
    CHECK(tests::comes_back(original, other));
    CHECK(tensors::same_bits(other.tensor, from[i]));
    CHECK(other.tensor.strides() == from[i].strides());
  }
  CHECK(tensors::same_bits(b.transpose(1, 3), to[0]));  // the memory that the view shows
}

TEST_CASE(
    "torch: an undefined tensor stays undefined, and one without gradients takes another shape with all its handles") {
  std::mt19937_64 random(3);
  tensors::state fresh;
  CHECK(tests::comes_back(tensors::state{}, fresh));
  CHECK_FALSE(fresh.tensor.defined());

  tensors::state small{torch::zeros({2, 2})};
  const auto handle = small.tensor;
  const tensors::state original{tensors::random_tensor({5, 3}, torch::kFloat, random)};
  CHECK(tests::comes_back(original, small));
  CHECK(tensors::same_bits(handle, original.tensor));
}

TEST_CASE("torch: a parameter keeps its shape, all tensors their type") {
  const tests::kept stored(tensors::state{torch::ones({5, 3})});
  tensors::state parameter{torch::zeros({2, 2}, torch::requires_grad())},
      whole_numbers{torch::zeros({5, 3}, torch::kLong)};
  for (auto* each : {&parameter, &whole_numbers}) {
    const auto before = each->tensor.detach().clone();
    const auto failure = sample::failure_of([&] { stored.load(*each); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK(failure.sentence.find("tensor") != std::string::npos);
    CHECK_FALSE(failure.state_changed);
    CHECK(tensors::same_bits(each->tensor.detach(), before));
  }
}

TEST_CASE("torch: sequences and maps of tensors grow") {
  struct all {
    std::vector<torch::Tensor> list;
    std::map<std::string, torch::Tensor> by_name;
    c10::optional<torch::Tensor> some;
    c10::optional<std::int64_t> number;
  };
  const all original{
      {torch::rand({3}), torch::rand({2, 2}), torch::Tensor()}, {{"a", torch::arange(4)}}, torch::rand({2}), 4};
  all fresh;
  CHECK(tests::comes_back(original, fresh));
  REQUIRE(fresh.list.size() == 3);
  CHECK(tensors::same_bits(fresh.list[1], original.list[1]));
  REQUIRE(fresh.some);
  CHECK(tensors::same_bits(*fresh.some, *original.some));
  CHECK(fresh.number == 4);
  CHECK(tests::comes_back(all{}, fresh));
  CHECK_FALSE(fresh.number);
}

TEST_CASE("torch: tensors that are not arrays in memory are refused with advice") {
  CHECK_THAT(tensors::problem_of(torch::eye(3).to_sparse()),
             ContainsSubstring("tensor") && ContainsSubstring("to_dense()"));
  CHECK_THAT(tensors::problem_of(torch::empty({3}, torch::kMeta)), ContainsSubstring("meta"));
  CHECK_THAT(tensors::problem_of(torch::rand({3}).expand({4, 3})), ContainsSubstring("contiguous()"));
  CHECK_THAT(tensors::problem_of(torch::ones({3}, torch::kComplexFloat).conj()), ContainsSubstring("resolve_conj()"));
  CHECK_THAT(tensors::problem_of(torch::quantize_per_tensor(torch::rand({3}), 0.1, 0, torch::kQInt8)),
             ContainsSubstring("dequantize()"));
}

TEST_CASE("torch: tensors on a device are copied by its functions") {
  // A device of libtorch's that no library here implements. Its memory is the host's, where a byte b is kept as ~b.
  static int copies = 0;
  const auto inverted = [](void* to, const void* from, std::size_t bytes, void*) {
    ++copies;
    for (std::size_t i = 0; i < bytes; ++i)
      static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(~static_cast<const unsigned char*>(from)[i]);
  };
  cairn::set_torch_copies(c10::DeviceType::XLA, {.to_host = inverted, .from_host = inverted});
  std::vector<float> a(1000, 1.5F), b(1000, 2.5F);
  const auto at = [](std::vector<float>& memory) {
    return torch::for_blob(memory.data(), {static_cast<std::int64_t>(memory.size())})
        .options(torch::TensorOptions().device(c10::Device(c10::DeviceType::XLA, 0)))
        .target_device(c10::Device(c10::DeviceType::XLA, 0))
        .make_tensor();
  };
  const tests::kept stored(tensors::state{at(a)});
  CHECK(copies == 1);
  tensors::state host;
  stored.load(host);
  const auto* values = reinterpret_cast<const unsigned char*>(host.tensor.data_ptr<float>());
  CHECK(values[3] == static_cast<unsigned char>(~reinterpret_cast<const unsigned char*>(a.data())[3]));
  tensors::state device{at(b)};
  stored.load(device);
  CHECK(b == a);
}
