// SPDX-License-Identifier: MIT
#include "cairn/adapters/torch.hpp"

#include <torch/torch.h>

#include "cairn/export.hpp"
#include "cairn/inspect.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace modules {

struct block_impl : torch::nn::Module {
  explicit block_impl(std::int64_t width)
      : linear(register_module("linear", torch::nn::Linear(width, width))),
        norm(register_module("norm", torch::nn::BatchNorm1d(width))) {}
  torch::Tensor forward(const torch::Tensor& x) { return norm(linear(x)); }

  torch::nn::Linear linear;
  torch::nn::BatchNorm1d norm;
};
TORCH_MODULE_IMPL(block, block_impl);

struct net : torch::nn::Module {
  explicit net(std::int64_t width = 4)
      : layers(register_module("layers", torch::nn::Sequential(block(width), torch::nn::ReLU(), block(width)))),
        head(register_module("head", torch::nn::Linear(torch::nn::LinearOptions(width, 2).bias(false)))),
        scale(register_parameter("scale", torch::rand({width}))),
        seen(register_buffer("seen", torch::zeros({}, torch::kLong))) {}
  torch::Tensor forward(const torch::Tensor& x) { return head(layers->forward(x) * scale); }

  torch::nn::Sequential layers;
  torch::nn::Linear head;
  torch::Tensor scale, seen;
};

/// Those of sorted(Net().state_dict()) of the same module in Python, with PyTorch 1.13.
constexpr const char* names =
    "head.weight layers.0.linear.bias layers.0.linear.weight layers.0.norm.bias layers.0.norm.num_batches_tracked "
    "layers.0.norm.running_mean layers.0.norm.running_var layers.0.norm.weight layers.2.linear.bias "
    "layers.2.linear.weight "
    "layers.2.norm.bias layers.2.norm.num_batches_tracked layers.2.norm.running_mean layers.2.norm.running_var "
    "layers.2.norm.weight scale seen";

void train(net& model) {
  model.train();
  model.forward(torch::rand({8, 4}));
  model.seen += 1;
}

}  // namespace modules

TEST_CASE("torch: only a pointer that owns one module is saved as the module") {
  struct tracked : std::shared_ptr<modules::net> {
    int uses = 0;
  };
  using cairn::detail::has_adapter;
  CHECK(has_adapter<std::shared_ptr<modules::net>>);
  CHECK(has_adapter<std::unique_ptr<modules::net>>);
  CHECK_FALSE(has_adapter<std::unique_ptr<modules::net[]>>);
  CHECK_FALSE(has_adapter<std::shared_ptr<modules::net[]>>);
  CHECK_FALSE(has_adapter<tracked>);
}

TEST_CASE("torch: a module is saved under the names of state_dict, and comes back bit for bit and in place") {
  modules::net original, fresh;
  modules::train(original);
  const auto* memory = fresh.scale.data_ptr();
  const tests::kept stored(original);
  CHECK(stored.paths() == modules::names);
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.scale.data_ptr() == memory);
  CHECK(fresh.seen.item<std::int64_t>() == 1);
  original.eval();
  fresh.eval();
  const auto x = torch::rand({3, 4});
  CHECK(original.forward(x).equal(fresh.forward(x)));
}

TEST_CASE("torch: an exported module has the names of state_dict") {
  const sample::scratch scratch;
  modules::net original;
  modules::train(original);
  cairn::save(scratch.path("a"), original);
  cairn::export_safetensors(cairn::open(scratch.path("a")), scratch.path("model.safetensors"));
  const auto exported = cairn::open(scratch.path("model.safetensors"));
  std::string names;
  for (const auto& each : exported.tensors()) names += (names.empty() ? "" : " ") + each.name;
  CHECK(names == modules::names);
  const auto scale = exported.read<float>("scale");
  CHECK(std::equal(scale.begin(), scale.end(), original.scale.data_ptr<float>()));
}

TEST_CASE("torch: a holder and a pointer are saved as their module") {
  const auto names_of = [](const auto& state) { return tests::kept(state).paths(); };
  const modules::block holder(3);
  const auto pointer = holder.ptr();
  const std::shared_ptr<torch::nn::Module> base = pointer;
  CHECK(names_of(holder) == names_of(*pointer));
  CHECK(names_of(pointer) == names_of(*pointer));
  CHECK(names_of(base) == names_of(*pointer));
  modules::block other(3);
  CHECK(tests::comes_back(holder, other));
  const auto own = std::make_unique<modules::block_impl>(3);
  CHECK(names_of(own) == names_of(*pointer));
  const std::vector<torch::nn::Linear> list{torch::nn::Linear(2, 3), torch::nn::Linear(3, 1)};
  std::vector<torch::nn::Linear> filled{torch::nn::Linear(2, 3), torch::nn::Linear(3, 1)}, empty;
  CHECK(tests::comes_back(list, filled));
  CHECK(filled[1]->weight.equal(list[1]->weight));
  CHECK(sample::failure_of([&] { tests::kept(list).load(empty); }).code == cairn::errc::invalid);
  CHECK(other->linear->weight.equal(holder->linear->weight));
}

TEST_CASE("torch: half and bfloat16 modules, and tied parameters") {
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    modules::net original, fresh;
    original.to(type);
    fresh.to(type);
    CHECK(tests::comes_back(original, fresh));
    CHECK(fresh.scale.equal(original.scale));
  }
  struct tied : torch::nn::Module {
    tied() {
      encoder = register_parameter("encoder", torch::rand({3}));
      register_parameter("decoder", encoder);
    }
    torch::Tensor encoder;
  };
  tied original, fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.encoder.equal(original.encoder));
  CHECK(fresh.named_parameters()["decoder"].data_ptr() == fresh.encoder.data_ptr());
}

TEST_CASE("torch: a module of other shapes, types or names is refused with both sides, and stays as it was") {
  modules::net original;
  const tests::kept stored(original);
  const auto refused = [&](auto& other, const std::string& path, const std::string& there, const std::string& here) {
    const auto before = other.parameters().front().detach().clone();
    const auto failure = sample::failure_of([&] { stored.load(other); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK_FALSE(failure.state_changed);
    CHECK_THAT(failure.sentence, ContainsSubstring(path) && ContainsSubstring(there) && ContainsSubstring(here));
    CHECK(other.parameters().front().equal(before));
  };
  modules::net wide(5), halves, more;
  refused(wide, "layers.0.linear.weight", "4", "5");
  halves.to(torch::kHalf);
  refused(halves, "scale", "F32", "F16");
  more.register_parameter("shift", torch::rand({4}));
  refused(more, "shift", "", "");
  torch::nn::Linear less(4, 2);
  refused(*less, "weight", "", "");
}

namespace modules {

/// Lists what to save itself.
struct listed_impl : torch::nn::Module {
  torch::Tensor weight = register_parameter("weight", torch::rand({2}));
  int count = 0;
  static auto cairn_fields() { return cairn::fields<&listed_impl::weight, &listed_impl::count>{}; }
};
TORCH_MODULE_IMPL(listed, listed_impl);

/// Has an adapter.
struct counting_impl : torch::nn::Module {
  torch::Tensor weight = register_parameter("weight", torch::rand({2}));
  int count = 0;
};
TORCH_MODULE_IMPL(counting, counting_impl);

}  // namespace modules

template <>
struct cairn::adapter<modules::counting_impl> {
  template <class Field>
  static void fields(modules::counting_impl& of, const Field& field) {
    field("weight", of.weight);
    field("count", of.count);
  }
};

TEST_CASE("torch: a class that says what to save is saved so, in holders and pointers too") {
  modules::counting original;
  original->count = 3;
  modules::counting fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh->count == 3);
  auto pointer = std::make_shared<modules::counting_impl>();
  const auto from = original.ptr();
  CHECK(tests::comes_back(from, pointer));
  CHECK(pointer->count == 3);
  modules::listed_impl one, two;
  one.count = 4;
  CHECK(tests::comes_back(one, two));
  CHECK(two.count == 4);
}

TEST_CASE("torch: an empty holder and a null pointer are errors") {
  modules::block holder = nullptr;
  std::shared_ptr<modules::net> pointer;
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::describe(holder)); }).code == cairn::errc::invalid);
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::describe(pointer)); }).code == cairn::errc::invalid);
}
