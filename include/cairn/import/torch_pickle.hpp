// SPDX-License-Identifier: MIT
// The tensors and numbers that a pickle of PyTorch describes, by their names.
#pragma once

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
#include "cairn/import/import_memory.hpp"
#include "cairn/import/pickle.hpp"

namespace cairn::inline v0_1::detail {

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
  torch_pickle(std::span<const std::byte> bytes, std::string_view origin, import_memory& memory)
      : pickle_(bytes, origin, memory), origin_(origin), memory_(memory) {}

  /// `is_chosen(name)`: what is not chosen is left out, whatever it is. errc::corrupt for tensors outside of their
  /// storage; errc::no_memory for too many names; errc::unsupported for tensors that are chosen and cannot be imported.
  /// Call it once.
  template <class Chosen>
  [[nodiscard]] pickled_arrays read(const Chosen& is_chosen) {
    add(pickle_.run(), "", 0, is_chosen);
    return std::move(found_);
  }

 private:
  using kind = pickle_value::kind;
  static inline const std::string alone = "array";    // the name of a tensor that is not in a container
  static constexpr std::uint64_t array_bytes = 2048;  // of an array until it is saved, beside its elements and its name

  [[noreturn]] void corrupt(std::string_view what) const { fail(errc::corrupt, {origin_, ": the pickle has ", what}); }

  // A value that is in many containers has many names, which count as memory: else containers that are shared on many
  // levels would have more of them than can be visited.
  template <class Chosen>
  void add(std::size_t value, const std::string& name, unsigned level, const Chosen& is_chosen) {
    const auto& what = pickle_.at(value);
    memory_.take(64 + name.size(), origin_);
    if (level > 200) corrupt("values that are nested deeper than 200 levels");
    const auto& inside = what.what == kind::call && what.items.size() == 3 ? pickle_.at(what.items[2]) : what;
    if (inside.what == kind::dict) {
      for (std::size_t i = 0; i < inside.items.size(); i += 2)
        add(inside.items[i + 1], joined(name, pickle_.at(inside.items[i])), level + 1, is_chosen);
    } else if (inside.what == kind::sequence) {
      for (std::size_t i = 0; i < inside.items.size(); ++i)
        add(inside.items[i], joined(name, {.what = kind::integer, .number = i}), level + 1, is_chosen);
    } else if (const auto& known = name.empty() ? alone : name; is_chosen(known)) {
      memory_.take(array_bytes + 4 * known.size(), origin_);
      if (auto made = array_at(value, known)) {
        made->name = known;
        found_.arrays.push_back(std::move(*made));
      } else {
        found_.skipped.push_back(known);
      }
    }
  }

  [[nodiscard]] static std::string joined(const std::string& name, const pickle_value& key) {
    std::string made = name.empty() ? name : name + '.';
    switch (key.what) {
      case kind::text:
        return made += key.text;
      case kind::integer:
        return made += std::to_string(std::bit_cast<std::int64_t>(key.number));
      case kind::boolean:
        return made += key.number != 0 ? "True" : "False";
      case kind::none:
        return made += "None";
      default:
        return made += '?';
    }
  }

  /// The tensor or number that a value is, if it is one.
  [[nodiscard]] std::optional<pickled_array> array_at(std::size_t value, std::string_view name) const {
    const auto& what = pickle_.at(value);
    if (what.what == kind::boolean) return pickled_array{.type = dtype::boolean, .number = what.number};
    if (what.what == kind::integer) return pickled_array{.type = dtype::i64, .number = what.number};
    if (what.what == kind::real) return pickled_array{.type = dtype::f64, .number = what.number};
    if (what.what != kind::call) return std::nullopt;
    return tensor_of_call(pickle_.at(what.items[0]), pickle_.at(what.items[1]).items, name, 0);
  }

  /// The tensor that a call makes; none if it makes something else.
  [[nodiscard]] std::optional<pickled_array> tensor_of_call(const pickle_value& function,
                                                            const std::vector<std::size_t>& arguments,
                                                            std::string_view name, unsigned level) const {
    if (function.what != kind::global || !function.module.starts_with("torch") ||
        !function.text.starts_with("_rebuild_"))
      return std::nullopt;
    if (function.text == "_rebuild_tensor_v2" || function.text == "_rebuild_tensor_v3")
      return rebuilt_tensor(arguments, function.text.ends_with("v3"), name);
    if (function.text.starts_with("_rebuild_parameter") && !arguments.empty() && level < 10) {
      const auto& data = pickle_.at(arguments[0]);  // followed by requires_grad and hooks
      if (data.what == kind::call)
        return tensor_of_call(pickle_.at(data.items[0]), pickle_.at(data.items[1]).items, name, level + 1);
    }
    if (function.text == "_rebuild_from_type_v2" && arguments.size() == 4 &&
        level < 10)  // function, class, arguments, members
      return tensor_of_call(pickle_.at(arguments[0]), pickle_.at(arguments[2]).items, name, level + 1);
    fail(errc::unsupported, {origin_, ": \"", name, "\" is a tensor that ", function.module, ".", function.text,
                             " makes, which cannot be imported; leave it out with the filter"});
  }

  /// (storage, first element, sizes, strides, requires_grad, hooks); of v3 a dtype follows, which has no storage type of its own; then there may be a dict
  /// that says whether the tensor is a negated or conjugated view.
  [[nodiscard]] pickled_array rebuilt_tensor(const std::vector<std::size_t>& arguments, bool has_dtype,
                                             std::string_view name) const {
    if (arguments.size() < (has_dtype ? 7 : 4)) corrupt("a tensor without its parts");
    if (const std::size_t view = has_dtype ? 7 : 6; arguments.size() > view && !is_plain(pickle_.at(arguments[view])))
      fail(errc::unsupported,
           {origin_, ": \"", name,
            "\" is a negated or conjugated view; save what resolve_neg() or resolve_conj() returns"});
    auto made = storage_at(arguments[0], has_dtype ? &pickle_.at(arguments[6]) : nullptr, name);
    made.first = natural_at(arguments[1]);
    made.shape = naturals_at(arguments[2]);
    made.strides = naturals_at(arguments[3]);
    if (made.shape.size() != made.strides.size()) corrupt("a tensor without its strides");
    if (!is_within_storage(made)) corrupt("a tensor outside of its storage");
    return made;
  }

  [[nodiscard]] static bool is_plain(const pickle_value& view) {
    return view.what == kind::none || (view.what == kind::dict && view.items.empty());
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
  [[nodiscard]] pickled_array storage_at(std::size_t value, const pickle_value* type, std::string_view name) const {
    const auto& reference = pickle_.at(value);
    if (reference.what != kind::persistent) corrupt("a tensor without a storage");
    const auto& parts = pickle_.at(reference.items[0]).items;
    if (parts.size() < 5 || pickle_.at(parts[0]).text != "storage" || pickle_.at(parts[1]).what != kind::global ||
        pickle_.at(parts[2]).what != kind::text || pickle_.at(parts[2]).text.size() > 1000)
      corrupt("a reference to something that is no storage");
    const auto& of = type ? *type : pickle_.at(parts[1]);
    const auto known = type_of(of.text);
    if (!known || of.what != kind::global || !of.module.starts_with("torch"))
      fail(errc::unsupported, {origin_, ": \"", name, "\" has elements of ", of.module, ".", of.text,
                               ", which cannot be imported; leave it out with the filter"});
    const auto size = natural_at(parts[4]);
    return {.type = *known,
            .storage = std::string(pickle_.at(parts[2]).text),
            .storage_elements = type ? size / size_of(*known) : size};
  }

  /// The elements of a storage class, or of a dtype that has none.
  [[nodiscard]] static std::optional<dtype> type_of(std::string_view name) {
    static constexpr std::pair<std::string_view, dtype> known[] = {{"DoubleStorage", dtype::f64},
                                                                   {"FloatStorage", dtype::f32},
                                                                   {"HalfStorage", dtype::f16},
                                                                   {"BFloat16Storage", dtype::bf16},
                                                                   {"LongStorage", dtype::i64},
                                                                   {"IntStorage", dtype::i32},
                                                                   {"ShortStorage", dtype::i16},
                                                                   {"CharStorage", dtype::i8},
                                                                   {"ByteStorage", dtype::u8},
                                                                   {"BoolStorage", dtype::boolean},
                                                                   {"float8_e4m3fn", dtype::f8_e4m3},
                                                                   {"float8_e5m2", dtype::f8_e5m2},
                                                                   {"uint16", dtype::u16},
                                                                   {"uint32", dtype::u32},
                                                                   {"uint64", dtype::u64}};
    for (const auto& each : known)
      if (each.first == name) return each.second;
    return std::nullopt;
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
  import_memory& memory_;
  pickled_arrays found_;
};

}  // namespace cairn::inline v0_1::detail
