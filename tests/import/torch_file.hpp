// SPDX-License-Identifier: MIT
// Writes what torch.save writes, for tests: the operations of a pickle, and a zip archive.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torch_file {

inline std::string natural(std::uint64_t value, unsigned bytes) {
  std::string made;
  for (unsigned i = 0; i < bytes; ++i) made += static_cast<char>(value >> (8 * i) & 0xffU);
  return made;
}
inline std::string text(const std::string& value) { return 'X' + natural(value.size(), 4) + value; }
inline std::string integer(std::int64_t value) { return "\x8a\x08" + natural(static_cast<std::uint64_t>(value), 8); }
inline std::string real(double value) {
  const auto bytes = natural(std::bit_cast<std::uint64_t>(value), 8);
  return 'G' + std::string(bytes.rbegin(), bytes.rend());
}
inline std::string tuple(const std::vector<std::int64_t>& values) {
  std::string made = "(";
  for (const auto each : values) made += integer(each);
  return made + 't';
}
inline std::string list(const std::vector<std::string>& values) {
  std::string made = "](";
  for (const auto& each : values) made += each;
  return made + 'e';
}

using items = std::vector<std::pair<std::string, std::string>>;

inline std::string filled(const std::string& container, const items& with) {
  std::string made = container + '(';
  for (const auto& [key, value] : with) made += text(key) + value;
  return made + 'u';
}
inline std::string dict(const items& with) { return filled("}", with); }
inline std::string ordered_dict(const items& with) { return filled("ccollections\nOrderedDict\n)R", with); }

inline std::string global(const std::string& module, const std::string& name) {
  return 'c' + module + '\n' + name + '\n';
}
/// `arguments` make one tuple.
inline std::string call(const std::string& module, const std::string& name, const std::string& arguments) {
  return global(module, name) + arguments + 'R';
}
inline std::string storage(const std::string& type, const std::string& key, std::int64_t size,
                           const std::string& module = "torch") {
  return '(' + text("storage") + global(module, type) + text(key) + text("cpu") + integer(size) + "tQ";
}
inline std::string tensor(const std::string& type, const std::string& key, std::int64_t elements, std::int64_t first,
                          const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  return call("torch._utils", "_rebuild_tensor_v2",
              '(' + storage(type, key, elements) + integer(first) + tuple(shape) + tuple(strides) + "\x89" +
                  ordered_dict({}) + 't');
}

}  // namespace torch_file
