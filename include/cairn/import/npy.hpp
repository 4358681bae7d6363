// SPDX-License-Identifier: MIT
// The header of an array in numpy's format (.npy), parsed from untrusted bytes.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1::detail {

/// An array in a .npy file. Source: numpy.lib.format, versions 1.0 to 3.0.
struct npy_header {
  dtype type{};
  extents shape;
  bool is_column_major = false;
  std::size_t data_start = 0;  ///< first byte of the elements
};

/// The text of a Python dict with the keys descr, fortran_order and shape, each of which has one form.
class npy_dict {
 public:
  npy_dict(std::string_view text, std::string_view origin) : left_(text), origin_(origin) {}

  [[nodiscard]] npy_header read() {
    std::optional<dtype> of;
    std::optional<bool> order;
    std::optional<extents> sizes;
    expect("{");
    while (!take("}")) {
      const auto key = text();
      expect(":");
      if (key == "descr" && !of)
        of = type();
      else if (key == "fortran_order" && !order)
        order = boolean();
      else if (key == "shape" && !sizes)
        sizes = shape();
      else
        corrupt("an unexpected key");
      if (!take(",") && !left_.starts_with('}')) corrupt("a missing comma");
    }
    if (!of || !order || !sizes) corrupt("no descr, fortran_order or shape");
    skip_spaces();
    if (!left_.empty()) corrupt("text after its end");
    return {*of, std::move(*sizes), *order};
  }

 private:
  [[noreturn]] void corrupt(std::string_view what) const {
    fail(errc::corrupt, {origin_, ": the header of the array has ", what});
  }

  void skip_spaces() {
    const auto first = left_.find_first_not_of(" \t\n");
    left_.remove_prefix(first == left_.npos ? left_.size() : first);
  }
  bool take(std::string_view wanted) {
    skip_spaces();
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(wanted.size());
    return true;
  }
  void expect(std::string_view wanted) {
    if (!take(wanted)) corrupt("an unexpected character");
  }

  std::string_view text() {
    skip_spaces();
    const char quote = left_.empty() ? ' ' : left_[0];
    const auto end = quote == '\'' || quote == '"' ? left_.find(quote, 1) : left_.npos;
    if (end == left_.npos) corrupt("no text where one is needed");
    const auto found = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return found;
  }
  bool boolean() {
    if (take("True")) return true;
    if (!take("False")) corrupt("an order that is neither True nor False");
    return false;
  }

  dtype type() {
    skip_spaces();
    if (left_.starts_with('[')) fail(errc::unsupported, {origin_, ": records cannot be imported"});
    const auto name = text();
    const char order = name.empty() ? ' ' : name[0];
    const auto kind = name.substr(name.empty() ? 0 : 1);
    const bool is_native = order == '<' || order == '|' || order == '=';
    if (kind == "b1" && is_native) return dtype::boolean;
    const bool is_number =
        kind.size() == 2 && std::string_view("fiu").find(kind[0]) != kind.npos && kind[1] >= '1' && kind[1] <= '8';
    const auto found = is_number
                           ? parse_dtype(static_cast<char>(kind[0] - 'a' + 'A') + std::to_string(8 * (kind[1] - '0')))
                           : std::nullopt;  // "f4" is F32
    if (!found || !is_native || (order == '|' && size_of(*found) != 1))
      fail(errc::unsupported, {origin_, ": elements of numpy's type \"", name, "\" cannot be imported"});
    return *found;
  }

  extents shape() {
    extents found;
    expect("(");
    while (!take(")")) {
      skip_spaces();
      std::uint64_t size = 0;
      const auto read = std::from_chars(left_.data(), left_.data() + left_.size(), size);
      if (read.ec != std::errc() || size >> 63U != 0) corrupt("a shape that is no list of sizes");
      left_.remove_prefix(static_cast<std::size_t>(read.ptr - left_.data()));
      take("L");  // a long number of Python 2
      found.push_back(size);
      if (found.size() > 64) corrupt("more than 64 dimensions");
      if (!take(",") && !left_.starts_with(')')) corrupt("a shape that is no list of sizes");
    }
    return found;
  }

  std::string_view left_, origin_;
};

/// Reads the header at the start of `file`. `origin` names it in messages. errc::corrupt for what is no .npy file or has a shape of more than 2^64
/// bytes; errc::unsupported for elements that Cairn does not have: of other byte order, complex, texts, objects, records.
[[nodiscard]] inline npy_header read_npy_header(std::span<const std::byte> file, std::string_view origin) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr std::string_view magic = "\x93NUMPY";
  if (!text.starts_with(magic) || text.size() < 12) fail(errc::corrupt, {origin, " is no array of numpy"});
  const auto major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3)
    fail(errc::unsupported, {origin, " has version ", major, " of numpy's format; 1 to 3 are known"});
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, length_bytes);
  const auto start = 8 + length_bytes;
  if (length > text.size() - start) fail(errc::corrupt, {origin, ": the header of the array ends after the file"});
  auto header = npy_dict(text.substr(start, length), origin).read();
  header.data_start = start + length;
  return header;
}

}  // namespace cairn::inline v0_1::detail
