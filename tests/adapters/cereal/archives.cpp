// SPDX-License-Identifier: MIT
#include "cairn/adapters/cereal.hpp"

#include <cereal/types/memory.hpp>
#include <cereal/types/vector.hpp>

#include "adapters/cereal/round_trip.hpp"
#include "catch.hpp"

// Classes in the style of Armadillo and mlpack: a matrix whose function resizes it while it loads and passes each
// element under the same name, and raw pointers to owned objects, passed through wrappers that exist only for the call.
namespace numbers {

class matrix {
 public:
  explicit matrix(std::uint64_t rows = 0, std::uint64_t columns = 0, double first = 0) {
    set_size(rows, columns);
    for (auto& each : elements) each = first++;
  }
  void set_size(std::uint64_t rows, std::uint64_t columns) {
    n_rows = rows, n_columns = columns;
    elements.resize(rows * columns);
  }
  std::uint64_t n_rows = 0, n_columns = 0;
  std::vector<double> elements;
};

template <class Archive>
void serialize(Archive& ar, matrix& m) {
  std::uint64_t n_rows = m.n_rows;
  std::uint64_t n_columns = m.n_columns;
  ar(CEREAL_NVP(n_rows));
  ar(CEREAL_NVP(n_columns));
  if (Archive::is_loading::value) m.set_size(n_rows, n_columns);
  for (std::size_t i = 0; i < m.elements.size(); ++i) ar(cereal::make_nvp("elem", m.elements[i]));
}

template <class T>
class owned_pointer {
 public:
  explicit owned_pointer(T*& pointer) : pointer_(pointer) {}
  template <class Archive>
  void save(Archive& ar, const std::uint32_t) const {
    std::unique_ptr<T> smart;
    if (pointer_) smart = std::make_unique<T>(std::move(*std::unique_ptr<T>(pointer_)));  // as mlpack does
    ar(CEREAL_NVP(smart));
    pointer_ = smart.release();
  }
  template <class Archive>
  void load(Archive& ar, const std::uint32_t) {
    std::unique_ptr<T> smart;
    ar(CEREAL_NVP(smart));
    delete pointer_;
    pointer_ = smart.release();
  }

 private:
  T*& pointer_;
};

class network {
 public:
  network() = default;
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  ~network() { clear(); }
  void clear() {
    for (const matrix* each : layers) delete each;
    layers.clear();
  }
  template <class Archive>
  void serialize(Archive& ar) {
    std::size_t count = layers.size();
    ar(CEREAL_NVP(count));
    if (Archive::is_loading::value) {
      clear();
      layers.resize(count);
    }
    for (auto*& each : layers) ar(owned_pointer<matrix>(each));
    ar(cereal::make_nvp("bias", bias));
  }
  std::vector<matrix*> layers;
  matrix bias;
};

}  // namespace numbers

namespace {

using tests::cereal_bytes;

/// Every wrapper that cereal has around a value.
class wrapped {
 public:
  wrapped() = default;  // no aggregate
  template <class Archive>
  void serialize(Archive& ar) {
    ar & number;
    ar(cereal::defer(number_later), cereal::make_nvp("again", number), cereal::make_nvp("again", array));
    ar(cereal::make_nvp("later", cereal::defer(number_later)));
    ar(cereal::make_nvp("block", cereal::binary_data(block, sizeof(block))));
    void* bytes = array;
    ar(cereal::binary_data(bytes, 5));
    ar(cereal::make_map_item(number, number_later));
    ar(cereal::make_nvp("of_bytes", cereal::make_size_tag(count)));
    ar.serializeDeferments();
  }
  int number = 1;
  double number_later = 2;
  std::int16_t array[3] = {3, 4, 5}, block[3] = {7, 8, 9};
  std::uint8_t count = 6;
};

/// Changes a member for the time of the call.
class changing {
 public:
  changing() = default;  // no aggregate
  template <class Archive>
  void serialize(Archive& ar) {
    ++number;
    ar(CEREAL_NVP(number));
    --number;
  }
  int number = 0;
};

/// Goes on where a checkpoint does not have a value.
class tolerant {
 public:
  tolerant() = default;  // no aggregate
  template <class Archive>
  void serialize(Archive& ar) {
    ar(CEREAL_NVP(before));
    try {
      ar(CEREAL_NVP(missing));
    } catch (...) {
      missing = 5;
    }
    try {
      ar(CEREAL_NVP(after));
    } catch (...) {
      after = 6;
    }
  }
  int before = 1, missing = 2, after = 3;
};

struct old_tolerant {
  int before = 10, after = 30;
};

/// Passes the memory of a vector that is gone after the call.
class packed {
 public:
  template <class Archive>
  void save(Archive& ar) const {
    std::vector<std::uint16_t> low;
    for (const unsigned each : values) low.push_back(static_cast<std::uint16_t>(each));
    ar(cereal::make_size_tag(low.size()), cereal::binary_data(low.data(), low.size() * 2));
    std::vector<std::uint16_t> high(values.size(), 9);
    ar(high, std::make_unique<int>(7), std::string("text"));
  }
  template <class Archive>
  void load(Archive& ar) {
    cereal::size_type size = 0;
    ar(cereal::make_size_tag(size));
    std::vector<std::uint16_t> low(size), high;
    ar(cereal::binary_data(low.data(), low.size() * 2));
    std::unique_ptr<int> seven;
    std::string text;
    ar(high, seven, text);
    if (high.size() != size || *seven != 7 || text != "text") throw std::runtime_error("other values");
    values.assign(low.begin(), low.end());
  }
  std::vector<unsigned> values;
};

/// An array on a device: the host sees a number in place of its address.
class device_array {
 public:
  device_array() = default;
  explicit device_array(std::vector<float> numbers) : values(std::move(numbers)) {}
  virtual ~device_array() { values.assign(values.size(), -1); }
  std::vector<float> values;
};

/// Has its numbers on a device only while it is saved or loaded.
class staged {
 public:
  staged() = default;
  explicit staged(std::vector<float> numbers) : values_(std::move(numbers)) {}
  template <class Archive>
  void save(Archive& ar) const {
    ar(cereal::make_nvp("first", device_array(values_)));
    ar(cereal::make_nvp("all", std::vector<device_array>(2, device_array(values_))));
  }
  template <class Archive>
  void load(Archive& ar) {
    device_array first;
    ar(cereal::make_nvp("first", first));
    values_ = first.values;
    std::vector<device_array> all;
    ar(cereal::make_nvp("all", all));
    if (all.size() != 2 || all[0].values != values_ || all[1].values != values_) throw std::runtime_error("others");
  }
  [[nodiscard]] const std::vector<float>& values() const { return values_; }

 private:
  std::vector<float> values_;
};

}  // namespace

template <>
struct cairn::adapter<device_array> {
  static std::vector<float>& on_device(void* context) { return static_cast<device_array*>(context)->values; }
  static any_tensor_view view(device_array& array) {
    return {dtype::f32,
            reinterpret_cast<void*>(std::uintptr_t{64}),
            {array.values.size()},
            {},
            {.to_host = [](void* host, const void*, std::size_t bytes,
                           void* context) { std::memcpy(host, on_device(context).data(), bytes); },
             .from_host = [](void*, const void* host, std::size_t bytes,
                             void* context) { std::memcpy(on_device(context).data(), host, bytes); },
             .context = &array}};
  }
  static void resize(device_array& array, const extents& shape) { array.values.resize(shape[0]); }
};

TEST_CASE("temporaries may be on a device") {
  const staged original({1, 2, 3}), none;
  for (const staged* const saved : {&original, &none}) {
    staged empty, filled({4, 5});
    CHECK(tests::comes_back(*saved, empty));
    CHECK(empty.values() == saved->values());
    CHECK(tests::comes_back(*saved, filled));
    CHECK(filled.values() == saved->values());
  }
}

TEST_CASE("each wrapper of a value has a path") {
  const wrapped original;
  const tests::kept saved(original);
  CHECK(saved.paths() == "again again_2 block later of_bytes value0 value1 value2 value3.key value3.value");
  for (const auto& leaf : saved.contents.leaves) {
    if (leaf.path == "block") CHECK((leaf.type == cairn::dtype::i16 && leaf.shape == cairn::extents{3}));
    if (leaf.path == "value2") CHECK((leaf.type == cairn::dtype::u8 && leaf.shape == cairn::extents{5}));
  }
  wrapped loaded;
  loaded.number = 0, loaded.number_later = 0, loaded.array[1] = 0, loaded.count = 0;
  saved.load(loaded);
  CHECK(tests::kept(loaded) == saved);
  CHECK(loaded.array[1] == 4);
  CHECK(loaded.count == 6);
}

TEST_CASE("arrays in members are saved in place, and numbers and temporaries as a copy of their bytes") {
  packed original;
  original.values = {1, 2, 3};
  packed loaded;
  CHECK(tests::comes_back(original, loaded));
  CHECK(loaded.values == original.values);
  const wrapped object;
  const auto what = cairn::detail::describe(object);
  const auto* const begin = reinterpret_cast<const std::byte*>(&object);
  for (const auto& leaf : what.leaves) {
    const bool inside = leaf.memory >= begin && leaf.memory < begin + sizeof(object);
    CHECK(inside == (leaf.owner == nullptr));
    const bool is_temporary = leaf.path.starts_with("value3.");  // in a map item
    CHECK(inside == (!leaf.shape.empty() && leaf.path != "of_bytes" && !is_temporary));
  }
  const changing passes_another_number;
  CHECK(tests::kept(passes_another_number).bytes.at("number")[0] == std::byte{1});
}

TEST_CASE("elements under one name are one array") {
  const numbers::matrix original(3, 4, 0.5);
  const auto what = cairn::detail::describe(original);
  const tests::kept saved(what);
  CHECK(saved.paths() == "elem n_columns n_rows");
  CHECK(saved.contents.leaves[0].shape == cairn::extents{12});
  for (const auto& [rows, columns] : {std::pair{0, 0}, {1, 1}, {3, 4}, {40, 5}}) {
    numbers::matrix loaded(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns));
    saved.load(loaded);
    CHECK(loaded.n_rows == 3);
    CHECK(loaded.elements == original.elements);
    const numbers::matrix again(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), 7);
    CHECK(tests::comes_back(again, loaded));
    CHECK(loaded.elements == again.elements);
  }
}

TEST_CASE("raw pointers in wrappers come back, and their objects are made by the load") {
  numbers::network original;
  original.layers = {new numbers::matrix(2, 3, 1), nullptr, new numbers::matrix(1, 1, 5)};
  original.bias = numbers::matrix(4, 1, 9);
  const auto bytes = cereal_bytes(original);
  const tests::kept saved(original);
  CHECK(cereal_bytes(original) == bytes);
  numbers::network empty, filled;
  filled.layers = {new numbers::matrix(7, 7)};
  for (auto* const loaded : {&empty, &filled}) {
    saved.load(*loaded);
    REQUIRE(loaded->layers.size() == 3);
    CHECK(loaded->layers[1] == nullptr);
    CHECK(loaded->layers[2]->elements == std::vector<double>{5});
    CHECK(cereal_bytes(*loaded) == bytes);
  }
}

TEST_CASE("a function that catches what the archive throws does not hide it") {
  const tests::kept saved(cairn::detail::describe(old_tolerant()));
  tolerant loaded;
  CHECK_THROWS_WITH(saved.load(loaded), ContainsSubstring("missing is missing in the checkpoint"));
  CHECK(loaded.before == 1);
  cairn::detail::match_options tolerate;
  tolerate.strict = false;
  saved.load(loaded, tolerate);
  CHECK(loaded.before == 1);

  tests::kept broken(cairn::detail::describe(tolerant()));
  broken.contents.fetch = [](std::size_t, std::span<std::byte>) { throw cairn::error(cairn::errc::io, "no disk"); };
  CHECK_THROWS_WITH(broken.load(loaded), ContainsSubstring("no disk"));
}
