// SPDX-License-Identifier: MIT
#include "cairn/state/tensor_view.hpp"

#include <sys/mman.h>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace {

/// A device whose memory the host cannot touch: any access but by its copy functions ends the process.
struct device {
  int to_host = 0, from_host = 0;  // copies so far
  bool broken = false;

  static constexpr std::size_t bytes = 1U << 16U;  // of each allocation

  [[nodiscard]] static std::shared_ptr<void> allocate() {
    void* const memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return {memory, [](void* at) { ::munmap(at, bytes); }};
  }

  static void copy(void* to, const void* from, std::size_t count, const void* on_device) {
    void* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(on_device) & ~std::uintptr_t{4095});
    REQUIRE(::mprotect(page, bytes, PROT_READ | PROT_WRITE) == 0);
    std::memcpy(to, from, count);
    REQUIRE(::mprotect(page, bytes, PROT_NONE) == 0);
  }

  [[nodiscard]] cairn::device_copies copies() {
    return {.to_host =
                [](void* host, const void* from, std::size_t count, void* context) {
                  auto& self = *static_cast<device*>(context);
                  if (self.broken) throw std::runtime_error("the device is lost");
                  ++self.to_host;
                  copy(host, from, count, from);
                },
            .from_host =
                [](void* to, const void* host, std::size_t count, void* context) {
                  auto& self = *static_cast<device*>(context);
                  if (self.broken) throw std::runtime_error("the device is lost");
                  ++self.from_host;
                  copy(to, host, count, to);
                },
            .context = this};
  }
};

device gpu;

/// A tensor handle: its element type is known at run time, and a default-made one is null.
struct gpu_array {
  cairn::dtype type{};
  cairn::extents shape;
  std::vector<std::int64_t> strides;
  std::shared_ptr<void> memory;

  gpu_array() = default;
  gpu_array(cairn::dtype of, cairn::extents size, std::vector<std::int64_t> steps = {})
      : type(of), shape(std::move(size)), strides(std::move(steps)), memory(device::allocate()) {}
  virtual ~gpu_array() = default;  // so that Cairn cannot take it apart

  template <class T>
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> all(cairn::element_count(shape));
    if (!all.empty()) device::copy(all.data(), memory.get(), all.size() * sizeof(T), memory.get());
    return all;
  }
  template <class T>
  void fill(const std::vector<T>& all) {
    if (!all.empty()) device::copy(memory.get(), all.data(), all.size() * sizeof(T), memory.get());
  }
};

gpu_array counted(cairn::extents shape, float first = 0) {
  gpu_array made(cairn::dtype::f32, std::move(shape));
  std::vector<float> values(cairn::element_count(made.shape));
  std::iota(values.begin(), values.end(), first);
  made.fill(values);
  return made;
}

/// An object that is saved as a copy on the device.
struct wrapped {
  gpu_array inside;
  virtual ~wrapped() = default;
};

struct state {
  gpu_array weight;
  std::vector<float> host;
  std::vector<gpu_array> layers;
  gpu_array none;
};

state full() {
  state made{counted({3, 4}), {1, 2}, {}, {}};
  made.layers.push_back(counted({2}, 7));
  made.layers.push_back(counted({0, 5}));
  made.layers.push_back(counted({}, 9));
  return made;
}

void check_full(const state& loaded) {
  CHECK(loaded.weight.shape == cairn::extents{3, 4});
  CHECK(loaded.weight.values<float>() == full().weight.values<float>());
  CHECK(loaded.host == std::vector<float>{1, 2});
  REQUIRE(loaded.layers.size() == 3);
  CHECK(loaded.layers[0].values<float>() == std::vector<float>{7, 8});
  CHECK(loaded.layers[1].shape == cairn::extents{0, 5});
  CHECK(loaded.layers[2].shape.empty());
  CHECK(loaded.layers[2].values<float>() == std::vector<float>{9});
  CHECK_FALSE(loaded.none.memory);
}

}  // namespace

template <>
struct cairn::adapter<gpu_array> {
  static any_tensor_view view(gpu_array& array) {
    if (!array.memory) return {};
    return {array.type, array.memory.get(), array.shape, array.strides, gpu.copies()};
  }
  static bool can_be(const extents& shape) { return element_count(shape) <= device::bytes / 8; }
  static void resize(gpu_array& array, const extents& shape, dtype type) { array = gpu_array(type, shape); }
};

template <>
struct cairn::adapter<wrapped> {
  static gpu_array get(const wrapped& object) { return object.inside; }
  static void set(wrapped& object, gpu_array value) { object.inside = std::move(value); }
};

TEST_CASE("arrays on a device are saved and loaded through its copy functions only") {
  const state original = full();
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  check_full(fresh);
  state filled = full();
  filled.weight.fill(std::vector<float>(12, -1));
  filled.layers.pop_back();
  const auto* const memory = filled.weight.memory.get();
  CHECK(tests::comes_back(original, filled));
  check_full(filled);
  CHECK(filled.weight.memory.get() == memory);
}

TEST_CASE("arrays on a device go into files and back, also saved by step") {
  const sample::scratch scratch;
  const auto at = scratch.path("once");
  cairn::save(at, full());
  state fresh;
  cairn::load(at, fresh);
  check_full(fresh);

  {
    cairn::checkpointer run(scratch.path("run"), {.when = cairn::policies::every_steps{1}});
    state changing = full();
    std::ignore = run.step(changing, {.step = 1});
    changing.weight.fill(std::vector<float>(12, -1));  // does not reach the file
    run.wait();
  }
  cairn::checkpointer run(scratch.path("run"));
  state resumed;
  REQUIRE(run.restore(resumed));
  check_full(resumed);
}

TEST_CASE("a load checks before it writes to a device, and writes only what it loads") {
  const tests::kept kept(cairn::detail::describe(full()));
  state other = full();
  other.weight = counted({3, 4}, 100);
  other.host = {5, 6};
  const auto before = other.weight.values<float>();
  const int copies = gpu.from_host;

  other.layers[0] = gpu_array(cairn::dtype::i32, {2});
  CHECK_THROWS_WITH(kept.load(other), ContainsSubstring("layers.0 is F32 in the checkpoint and I32"));
  CHECK(other.weight.values<float>() == before);
  CHECK(gpu.from_host == copies);

  other.layers[0] = gpu_array(cairn::dtype::f64, {2});
  kept.load(other, {.rename = {},
                    .filter = [](std::string_view path) { return path != "weight"; },
                    .convert = cairn::conversion::widening});
  CHECK(other.weight.values<float>() == before);
  CHECK(other.layers[0].values<double>() == std::vector<double>{7, 8});
  CHECK(other.host == std::vector<float>{1, 2});
}

TEST_CASE("an array on a device keeps its shape, and the elements that the checkpoint lacks") {
  struct state {
    gpu_array table;
  };
  const tests::kept kept(state{counted({2, 2}, 1)});
  state larger{counted({3, 3}, 10)};
  const auto report = kept.load(
      larger, {.rename = {}, .filter = {}, .reshape = [](std::string_view) { return cairn::reshaping::grow; }});
  CHECK(report.reshaped == std::vector<std::string>{"table"});
  CHECK(larger.table.values<float>() == std::vector<float>{1, 2, 12, 3, 4, 15, 16, 17, 18});
}

TEST_CASE("one array on a device under two names is stored once, and checked when it is loaded") {
  struct pair {
    gpu_array embedding, output;
  };
  const gpu_array shared = counted({4});
  const pair tied{shared, shared};
  const tests::kept kept(tied);
  CHECK(kept.paths() == "embedding");
  pair fresh;
  kept.load(fresh);
  CHECK(fresh.embedding.values<float>() == std::vector<float>{0, 1, 2, 3});
  CHECK(fresh.output.values<float>() == std::vector<float>{0, 1, 2, 3});
  pair together{shared, shared};
  const tests::kept apart(pair{counted({4}), counted({4}, 50)});
  CHECK_THROWS_WITH(apart.load(together), ContainsSubstring("share memory"));
}

TEST_CASE("a device's address is no address of the host, nor of another device") {
  // Both "devices" have the values at an address that the host uses for something else.
  struct space {
    std::vector<float> values;
  };
  space left{{1, 2}}, right{{3, 4}};
  std::vector<float> host{5, 6};
  const auto at = [&](space& on) {
    return cairn::any_tensor_view(
        cairn::dtype::f32, host.data(), {2}, {},
        {.to_host = [](void* to, const void*, std::size_t count,
                       void* context) { std::memcpy(to, static_cast<space*>(context)->values.data(), count); },
         .from_host = [](void*, const void* from, std::size_t count,
                         void* context) { std::memcpy(static_cast<space*>(context)->values.data(), from, count); },
         .context = &on});
  };
  struct {
    cairn::any_tensor_view left, right, host;
  } all{at(left), at(right), {cairn::dtype::f32, host.data(), {2}}};
  const tests::kept kept(all);
  CHECK(kept.paths() == "host left right");
  left.values = right.values = host = {0, 0};
  kept.load(all);
  CHECK(left.values == std::vector<float>{1, 2});
  CHECK(right.values == std::vector<float>{3, 4});
  CHECK(host == std::vector<float>{5, 6});
}

TEST_CASE("where a load resizes a container, arrays on devices are not searched for its elements") {
  std::vector<float> values{7, 8};
  int reads = 0;
  auto context = std::pair(&values, &reads);
  using known = decltype(context);
  const cairn::device_copies on_device{
      .to_host =
          [](void* to, const void*, std::size_t count, void* with) {
            ++*static_cast<known*>(with)->second;
            std::memcpy(to, static_cast<known*>(with)->first->data(), count);
          },
      .from_host = [](void*, const void* from, std::size_t count,
                      void* with) { std::memcpy(static_cast<known*>(with)->first->data(), from, count); },
      .context = &context};
  struct {
    std::vector<float> host;
    cairn::any_tensor_view view;  // its address is one of `host`, too
  } state{{5}, {}};
  state.view = {cairn::dtype::f32, state.host.data(), {2}, {}, on_device};
  const tests::kept kept(state);
  state.host = {1, 2, 3};
  state.view = {cairn::dtype::f32, state.host.data(), {2}, {}, on_device};
  values = {0, 0};
  reads = 0;
  kept.load(state);
  CHECK(state.host == std::vector<float>{5});
  CHECK(values == std::vector<float>{7, 8});
  CHECK(reads == 0);

  state.host = {1, 2, 3};
  state.view = {cairn::dtype::f32, state.host.data(), {2}};  // on the host
  CHECK_THROWS_WITH(kept.load(state), ContainsSubstring("view refers to elements of host"));
}

TEST_CASE("strides on a device: any order of dimensions, without gaps") {
  gpu_array by_columns(cairn::dtype::f32, {2, 3}, {1, 2});
  by_columns.fill(std::vector<float>{0, 3, 1, 4, 2, 5});
  const tests::kept kept(by_columns);
  gpu_array by_rows(cairn::dtype::f32, {2, 3});
  kept.load(by_rows);
  CHECK(by_rows.values<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
  by_columns.fill(std::vector<float>(6, -1));
  kept.load(by_columns);
  CHECK(by_columns.values<float>() == std::vector<float>{0, 3, 1, 4, 2, 5});

  const auto with_gaps = ContainsSubstring("value is on a device and has gaps");
  CHECK_THROWS_WITH(cairn::detail::describe(gpu_array(cairn::dtype::f32, {2, 3}, {1, 4})), with_gaps);
  CHECK_THROWS_WITH(cairn::detail::describe(gpu_array(cairn::dtype::f32, {3, 3}, {2, 2})), with_gaps);
  CHECK_THROWS_WITH(cairn::detail::describe(gpu_array(cairn::dtype::f32, {2}, {0})), with_gaps);

  // Backwards: the view begins at the last element.
  const auto memory = device::allocate();
  const std::vector<float> values{2, 1, 0};
  device::copy(memory.get(), values.data(), 12, memory.get());
  cairn::any_tensor_view backwards(cairn::dtype::f32, static_cast<float*>(memory.get()) + 2, {3}, {-1}, gpu.copies());
  std::vector<float> forwards(3);
  cairn::any_tensor_view host(cairn::dtype::f32, forwards.data(), {3});
  tests::kept(backwards).load(host);
  CHECK(forwards == std::vector<float>{0, 1, 2});
}

TEST_CASE("an object that is saved as a copy on a device") {
  struct state {
    wrapped object;
  } original, fresh;
  original.object.inside = counted({3});
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.object.inside.values<float>() == std::vector<float>{0, 1, 2});
}

TEST_CASE("an error of a device names the array") {
  const state original = full();
  state fresh = full();
  const tests::kept kept(original);
  gpu.broken = true;
  CHECK_THROWS_WITH(cairn::detail::describe(original),
                    ContainsSubstring("weight cannot be copied from its device: the device is lost"));
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("weight cannot be copied to its device: the device is lost"));
  gpu.broken = false;
  cairn::any_tensor_view half(cairn::dtype::u8, &gpu, {1}, {}, {.to_host = gpu.copies().to_host});
  CHECK_THROWS_WITH(cairn::detail::describe(half), ContainsSubstring("needs both copy functions"));
}
