// SPDX-License-Identifier: MIT
#include "cairn/import/torch_pickle.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/error.hpp"
#include "catch.hpp"
#include "import/torch_file.hpp"
#include "store/sample.hpp"

using namespace std::string_literals;
using cairn::dtype;
using cairn::errc;
using cairn::extents;
using namespace torch_file;

namespace {

cairn::detail::pickled_arrays read(const std::string& values) {
  const auto bytes = "\x80\x02" + values + ".";
  cairn::detail::import_memory memory;
  return cairn::detail::torch_pickle(sample::bytes_of(bytes), "a.pt", memory).read([](const auto& name) {
    return name != "left out";
  });
}

void check_refused(const std::string& values, errc code, std::string_view says) {
  const auto failure = sample::failure_of([&] { read(values); });
  CAPTURE(failure.sentence);
  CHECK(failure.code == code);
  CHECK(failure.says("a.pt"));
  CHECK(failure.says(says));
}

}  // namespace

TEST_CASE("the tensors of a pickle have the names of its dicts and lists") {
  const auto found = read(dict({{"model", ordered_dict({{"0.weight", tensor("FloatStorage", "0", 6, 0, {2, 3}, {3, 1})},
                                                        {"0.bias", tensor("HalfStorage", "1", 9, 4, {2}, {2})}})},
                                {"list", list({integer(5), "\x88", real(0.5)})},
                                {"name", text("net")},
                                {"nothing", "N"}}));
  REQUIRE(found.arrays.size() == 5);
  const auto& weight = found.arrays[0];
  CHECK(weight.name == "model.0.weight");
  CHECK(weight.type == dtype::f32);
  CHECK(weight.shape == extents{2, 3});
  CHECK(weight.strides == std::vector<std::uint64_t>{3, 1});
  CHECK(weight.storage == "0");
  CHECK(weight.storage_elements == 6);
  const auto& bias = found.arrays[1];
  CHECK(bias.name == "model.0.bias");
  CHECK(bias.type == dtype::f16);
  CHECK(bias.first == 4);
  CHECK(found.arrays[2].name == "list.0");
  CHECK(found.arrays[2].type == dtype::i64);
  CHECK(found.arrays[2].number == 5);
  CHECK_FALSE(found.arrays[2].storage);
  CHECK(found.arrays[3].type == dtype::boolean);
  CHECK(found.arrays[4].type == dtype::f64);
  CHECK(found.skipped == std::vector<std::string>{"name", "nothing"});
}

TEST_CASE("a tensor that is no item of a dict, parameters, and newer dtypes are read") {
  CHECK(read(tensor("LongStorage", "0", 1, 0, {}, {})).arrays.at(0).name == "array");
  const auto parameter =
      call("torch._utils", "_rebuild_parameter", tensor("FloatStorage", "0", 1, 0, {}, {}) + "\x88N\x87");
  CHECK(read(parameter).arrays.at(0).type == dtype::f32);
  const auto small = call("torch._utils", "_rebuild_tensor_v3",
                          "(" + storage("UntypedStorage", "0", 4, "torch.storage") + integer(0) + tuple({4}) +
                              tuple({1}) + "\x89N" + global("torch", "float8_e4m3fn") + "t");
  CHECK(read(small).arrays.at(0).type == dtype::f8_e4m3);
  const auto wide = call("torch._utils", "_rebuild_tensor_v3",
                         "(" + storage("UntypedStorage", "0", 8, "torch.storage") + integer(0) + tuple({2}) +
                             tuple({1}) + "\x89N" + global("torch", "uint32") + "t");
  CHECK(read(wide).arrays.at(0).storage_elements == 2);
}

TEST_CASE("each dtype of a storage is known, and others are refused") {
  const std::pair<const char*, dtype> known[] = {{"DoubleStorage", dtype::f64}, {"FloatStorage", dtype::f32},
                                                 {"HalfStorage", dtype::f16},   {"BFloat16Storage", dtype::bf16},
                                                 {"LongStorage", dtype::i64},   {"IntStorage", dtype::i32},
                                                 {"ShortStorage", dtype::i16},  {"CharStorage", dtype::i8},
                                                 {"ByteStorage", dtype::u8},    {"BoolStorage", dtype::boolean}};
  for (const auto& [name, type] : known) CHECK(read(tensor(name, "0", 1, 0, {}, {})).arrays.at(0).type == type);
  check_refused(tensor("ComplexFloatStorage", "0", 1, 0, {}, {}), errc::unsupported, "torch.ComplexFloatStorage");
}

TEST_CASE("objects of classes are skipped by name, and nothing of them is run") {
  const auto found =
      read(dict({{"evil", call("os", "system", text("touch /tmp/never") + "\x85")}, {"step", integer(1)}}));
  CHECK(found.skipped == std::vector<std::string>{"evil"});
  CHECK(found.arrays.at(0).name == "step");
}

TEST_CASE("tensors in containers of derived classes have names, too, and keys of other types than texts are named") {
  const auto one = tensor("FloatStorage", "0", 1, 0, {}, {});
  const auto of_class = global("m", "Config") + ")\x81(" + text("a") + one + "u";
  const auto of_default = call("collections", "defaultdict", global("m", "f") + "\x85") + "(" + text("b") + one + "u";
  const auto found = read("}(" + text("x") + of_class + text("y") + of_default + integer(3) + one + "\x88" + one + "N" +
                          one + ")" + one + "u");
  std::vector<std::string> names;
  for (const auto& each : found.arrays) names.push_back(each.name);
  CHECK(names == std::vector<std::string>{"x.a", "y.b", "3", "True", "None", "?"});
}

TEST_CASE(
    "parameters with members, tensors of derived classes; what cannot be imported is refused unless it is left out") {
  const auto one = tensor("FloatStorage", "0", 1, 0, {}, {});
  CHECK(read(call("torch._utils", "_rebuild_parameter_with_state", "(" + one + "\x88N}t")).arrays.size() == 1);
  const auto arguments = "(" + storage("FloatStorage", "0", 1) + integer(0) + tuple({}) + tuple({}) + "\x89Nt";
  CHECK(read(call("torch._tensor", "_rebuild_from_type_v2",
                  "(" + global("torch._utils", "_rebuild_tensor_v2") + global("m", "T") + arguments + "}t"))
            .arrays.size() == 1);
  for (const auto* function : {"_rebuild_sparse_tensor", "_rebuild_qtensor", "_rebuild_meta_tensor_no_storage"}) {
    const auto other = call("torch._utils", function, ")");
    check_refused(dict({{"a", other}}), errc::unsupported,
                  "\"a\" is a tensor that torch._utils." + std::string(function));
    CHECK(read(dict({{"left out", other}})).arrays.empty());
  }
  CHECK(read(dict({{"left out", tensor("ComplexFloatStorage", "0", 1, 0, {}, {})}})).arrays.empty());
}

TEST_CASE("a negated view is refused: its storage has other values") {
  const auto with = [](const std::string& view) {
    return call("torch._utils", "_rebuild_tensor_v2",
                "(" + storage("FloatStorage", "0", 1) + integer(0) + tuple({}) + tuple({}) + "\x89N" + view + "t");
  };
  CHECK(read(with("}")).arrays.size() == 1);
  CHECK(read(with("N")).arrays.size() == 1);
  check_refused(with("}(" + text("neg") + "\x88u"), errc::unsupported, "resolve_neg()");
}

TEST_CASE("a tensor outside of its storage, or without its parts, is refused") {
  check_refused(tensor("FloatStorage", "0", 5, 0, {2, 3}, {3, 1}), errc::corrupt, "outside of its storage");
  check_refused(tensor("FloatStorage", "0", 6, 1, {2, 3}, {3, 1}), errc::corrupt, "outside of its storage");
  check_refused(tensor("FloatStorage", "0", 6, 7, {0}, {1}), errc::corrupt, "outside of its storage");
  check_refused(tensor("FloatStorage", "0", 6, 0, {1LL << 62, 1LL << 62}, {0, 0}), errc::corrupt,
                "outside of its storage");
  check_refused(tensor("FloatStorage", "0", 6, 0, {3, 3}, {1LL << 62, 1LL << 62}), errc::corrupt,
                "outside of its storage");
  check_refused(tensor("FloatStorage", "0", 6, -1, {1}, {1}), errc::corrupt, "without its sizes");
  check_refused(tensor("FloatStorage", "0", 6, 0, {1, 1}, {1}), errc::corrupt, "without its strides");
  check_refused(call("torch._utils", "_rebuild_tensor_v2", integer(1) + "\x85"), errc::corrupt, "without its parts");
  check_refused(call("torch._utils", "_rebuild_tensor_v2", "(" + integer(1) + integer(0) + tuple({}) + tuple({}) + "t"),
                errc::corrupt, "without a storage");
  check_refused(
      call("torch._utils", "_rebuild_tensor_v2", "(" + text("x") + "Q" + integer(0) + tuple({}) + tuple({}) + "t"),
      errc::corrupt, "no storage");
  CHECK(read(tensor("FloatStorage", "0", 6, 6, {0}, {1})).arrays.size() == 1);
  CHECK(read(tensor("FloatStorage", "0", 1, 0, {1000}, {0})).arrays.size() == 1);  // expanded
}

TEST_CASE("containers that contain themselves or are everywhere end with an error") {
  check_refused("]q\1h\1a", errc::corrupt, "nested deeper");
  check_refused(std::string(400, ']') + std::string(399, 'a'), errc::corrupt, "nested deeper");
  std::string many = "]q\0"s;  // 10^8 names in 80 values
  for (char i = 1; i < 9; ++i)
    many += "]q"s + i + "("s + std::string() + [&] {
      std::string items;
      for (int k = 0; k < 10; ++k) items += "h"s + static_cast<char>(i - 1);
      return items;
    }() + "\x65"s;
  check_refused(many, errc::no_memory, "24 times the bytes of the file");
}
