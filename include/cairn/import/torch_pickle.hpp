// The tensors and numbers that a pickle of PyTorch describes, by their names.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/import/pickle.hpp"

namespace cairn::detail {

/// A tensor or a number, and its place in the dicts, lists and tuples of the pickle: "model.0.weight".
struct pickled_array {
  std::string name{};
  dtype type{};
  extents shape{};
  std::vector<std::uint64_t> strides{};  ///< in elements, one per dimension
  std::optional<std::string> storage{};  ///< the key of the storage with its elements; none: a number
  std::uint64_t first = 0;               ///< of its elements in the storage
  std::uint64_t storage_elements = 0;    ///< of the storage, as the pickle says
  std::uint64_t number = 0;              ///< the bits of a number, which is I64, F64 or BOOL
};

struct pickled_arrays {
  std::vector<pickled_array> arrays;
  std::vector<std::string> skipped;  ///< the names of what is neither: None, texts, objects of other classes
};

/// Finds the tensors of a pickle. Source: torch/_utils.py and torch/serialization.py of PyTorch 1.6 to 2.4.
class torch_pickle {
 public:
  torch_pickle(std::span<const std::byte> bytes, std::string_view origin) : pickle_(bytes, origin), origin_(origin) {}

  [[nodiscard]] pickled_arrays read() {
    add(pickle_.run(), "", 0);
    return std::move(found_);
  }

 private:
  using kind = pickle_value::kind;

  [[noreturn]] void corrupt(std::string_view what) const { fail(errc::corrupt, {origin_, ": the pickle has ", what}); }

  // A value that is in many containers has many names: all are counted.
  void add(std::size_t value, const std::string& name, unsigned level) {
    const auto& what = pickle_.at(value);
    names_bytes_ += name.size();
    if (level > 200) corrupt("values that are nested deeper than 200 levels");
    if (++visited_ > 10'000'000 || names_bytes_ > 1'000'000'000) corrupt("more than 10,000,000 names, or 1 GB of them");
    switch (what.what) {
      case kind::dict:
        for (std::size_t i = 0; i < what.items.size(); i += 2)
          add(what.items[i + 1], joined(name, pickle_.at(what.items[i])), level + 1);
        return;
      case kind::sequence:
        for (std::size_t i = 0; i < what.items.size(); ++i)
          add(what.items[i], joined(name, {.what = kind::integer, .number = i}), level + 1);
        return;
      case kind::boolean:
        return add_array(name, {.type = dtype::boolean, .number = what.number});
      case kind::integer:
        return add_array(name, {.type = dtype::i64, .number = what.number});
      case kind::real:
        return add_array(name, {.type = dtype::f64, .number = what.number});
      default:
        break;
    }
    if (auto tensor = tensor_at(value, 0)) return add_array(name, std::move(*tensor));
    found_.skipped.push_back(name);
  }

  void add_array(const std::string& name, pickled_array made) {
    made.name = name.empty() ? "array" : name;
    found_.arrays.push_back(std::move(made));
  }

  [[nodiscard]] std::string joined(const std::string& name, const pickle_value& key) const {
    std::string made = name.empty() ? name : name + '.';
    if (key.what == kind::text) return made += key.text;
    if (key.what == kind::integer) return made += std::to_string(std::bit_cast<std::int64_t>(key.number));
    fail(errc::unsupported,
         {origin_, ": the dict \"", name, "\" of the pickle has a key that is neither a text nor an integer"});
  }

  /// The tensor that a call makes; none if it makes something else.
  [[nodiscard]] std::optional<pickled_array> tensor_at(std::size_t value, unsigned level) const {
    if (pickle_.at(value).what != kind::call) return std::nullopt;
    const auto& function = pickle_.at(pickle_.at(value).items[0]);
    const auto& arguments = pickle_.at(pickle_.at(value).items[1]).items;
    if (function.what != kind::global || function.module != "torch._utils") return std::nullopt;
    if (function.text == "_rebuild_parameter" && !arguments.empty() && level < 10)
      return tensor_at(arguments[0], level + 1);
    if (function.text == "_rebuild_tensor_v2" || function.text == "_rebuild_tensor_v3")
      return rebuilt_tensor(arguments, function.text.ends_with("v3"));
    return std::nullopt;
  }

  /// (storage, first element, sizes, strides, requires_grad, hooks); of v3 a dtype follows, which has no storage type of its own.
  [[nodiscard]] pickled_array rebuilt_tensor(const std::vector<std::size_t>& arguments, bool has_dtype) const {
    if (arguments.size() < (has_dtype ? 7 : 4)) corrupt("a tensor without its parts");
    auto made = storage_at(arguments[0], has_dtype ? &pickle_.at(arguments[6]) : nullptr);
    made.first = natural_at(arguments[1]);
    made.shape = naturals_at(arguments[2]);
    made.strides = naturals_at(arguments[3]);
    if (made.shape.size() != made.strides.size()) corrupt("a tensor without its strides");
    if (!is_within_storage(made)) corrupt("a tensor outside of its storage");
    return made;
  }

  [[nodiscard]] static bool is_within_storage(const pickled_array& tensor) {
    std::uint64_t last = tensor.first;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      if (tensor.shape[i] == 0) return tensor.first <= tensor.storage_elements;
      std::uint64_t span = 0;
      if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &span) ||
          __builtin_add_overflow(last, span, &last))
        return false;
    }
    return last < tensor.storage_elements && is_addressable(tensor.shape, 8);
  }

  /// ("storage", class, key, device, size): the size is in elements, for UntypedStorage in bytes.
  [[nodiscard]] pickled_array storage_at(std::size_t value, const pickle_value* type) const {
    const auto& reference = pickle_.at(value);
    if (reference.what != kind::persistent) corrupt("a tensor without a storage");
    const auto& parts = pickle_.at(reference.items[0]).items;
    if (parts.size() < 5 || pickle_.at(parts[0]).text != "storage" || pickle_.at(parts[1]).what != kind::global ||
        pickle_.at(parts[2]).what != kind::text || pickle_.at(parts[2]).text.size() > 1000)
      corrupt("a reference to something that is no storage");
    const auto& of = type ? *type : pickle_.at(parts[1]);
    const auto known = type ? type_of_name(of.text) : type_of_storage(of.text);
    if (!known || of.what != kind::global || !of.module.starts_with("torch"))
      fail(errc::unsupported, {origin_, ": tensors of ", of.module, ".", of.text, " cannot be imported"});
    const auto size = natural_at(parts[4]);
    return {.type = *known,
            .storage = std::string(pickle_.at(parts[2]).text),
            .storage_elements = type ? size / size_of(*known) : size};
  }

  template <std::size_t N>
  using type_names = std::array<std::pair<std::string_view, dtype>, N>;

  template <std::size_t N>
  [[nodiscard]] static std::optional<dtype> find(const type_names<N>& known, std::string_view name) {
    for (const auto& each : known)
      if (each.first == name) return each.second;
    return std::nullopt;
  }
  [[nodiscard]] static std::optional<dtype> type_of_storage(std::string_view name) {
    static constexpr type_names<10> known{{{"DoubleStorage", dtype::f64},
                                           {"FloatStorage", dtype::f32},
                                           {"HalfStorage", dtype::f16},
                                           {"BFloat16Storage", dtype::bf16},
                                           {"LongStorage", dtype::i64},
                                           {"IntStorage", dtype::i32},
                                           {"ShortStorage", dtype::i16},
                                           {"CharStorage", dtype::i8},
                                           {"ByteStorage", dtype::u8},
                                           {"BoolStorage", dtype::boolean}}};
    return find(known, name);
  }
  [[nodiscard]] static std::optional<dtype> type_of_name(std::string_view name) {
    static constexpr type_names<5> known{{{"float8_e4m3fn", dtype::f8_e4m3},
                                          {"float8_e5m2", dtype::f8_e5m2},
                                          {"uint16", dtype::u16},
                                          {"uint32", dtype::u32},
                                          {"uint64", dtype::u64}}};
    return find(known, name);
  }

  [[nodiscard]] std::uint64_t natural_at(std::size_t value) const {
    const auto& of = pickle_.at(value);
    if (of.what != kind::integer || of.number >> 63U != 0) corrupt("a tensor without its sizes");
    return of.number;
  }
  [[nodiscard]] std::vector<std::uint64_t> naturals_at(std::size_t value) const {
    const auto& of = pickle_.at(value);
    if (of.what != kind::sequence || of.items.size() > 64) corrupt("a tensor without its sizes");
    std::vector<std::uint64_t> all;
    for (const auto each : of.items) all.push_back(natural_at(each));
    return all;
  }

  pickle_machine pickle_;
  std::string_view origin_;
  pickled_arrays found_;
  std::uint64_t visited_ = 0, names_bytes_ = 0;
};

}  // namespace cairn::detail
