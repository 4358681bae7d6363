// The header of a safetensors file: written, and parsed from untrusted bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/base.hpp"
#include "cairn/system/json.hpp"
#include "cairn/store/order.hpp"

namespace cairn {

/// The data section of a shard begins at a multiple of this, so that it can be written with direct I/O.
inline constexpr std::uint64_t data_alignment = 4096;

/// A longer header is refused before it is read. One of a million tensors has a tenth of this.
inline constexpr std::uint64_t max_header_bytes = std::uint64_t{1} << 30U;

/// One tensor of a file: bytes [begin, end) of the data section.
struct tensor_entry {
  std::string key;
  dtype type{};
  extents shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct safetensors_header {
  std::vector<tensor_entry> tensors;                         ///< in order of their bytes, without holes
  std::map<std::string, std::string, std::less<>> metadata;  ///< `__metadata__`
  std::uint64_t data_start = 0;                              ///< first byte of the data section in the file
  std::uint64_t data_bytes = 0;
};

/// The product of `shape` and `width`; false when it does not fit 64 bits.
[[nodiscard]] inline bool checked_bytes(const extents& shape, std::uint64_t width, std::uint64_t& bytes) noexcept {
  bytes = width;
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) bytes = 0;
  for (const auto n : shape)
    if (bytes != 0 && __builtin_mul_overflow(bytes, n, &bytes)) return false;
  return true;
}

inline void append_json(std::string& text, const extents& shape) {
  text += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  text += ']';
}

/// The header as it stands at the start of the file: length, JSON, spaces up to a multiple of
/// `data_alignment`. errc::invalid for a key that is not UTF-8, appears twice or is "__metadata__", and for too many.
[[nodiscard]] inline std::string write_safetensors_header(const safetensors_header& header) {
  std::string text(8, '\0');
  text += "{\"__metadata__\":{";
  for (const auto& [key, value] : header.metadata) {
    if (text.back() != '{') text += ',';
    append_json(text, key, "the metadata key");
    text += ':';
    append_json(text, value, "the metadata");
  }
  text += '}';
  std::vector<std::string_view> keys;
  for (const auto& tensor : header.tensors) {
    keys.push_back(tensor.key);
    if (tensor.key == "__metadata__") fail(errc::invalid, {"no leaf can have the path \"__metadata__\""});
    text += ',';
    append_json(text, tensor.key, "the path");
    text += ":{\"dtype\":\"";
    text += name(tensor.type);
    text += "\",\"shape\":";
    append_json(text, tensor.shape);
    text += ",\"data_offsets\":[" + std::to_string(tensor.begin) + ',' + std::to_string(tensor.end) + "]}";
  }
  text += '}';
  sort_items(keys, std::less<>());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
    fail(errc::invalid, {"two leaves have the path \"", *twice, "\""});
  text.append((data_alignment - text.size() % data_alignment) % data_alignment, ' ');
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {std::to_string(header.tensors.size()), " leaves are too many for one shard"});
  const std::uint64_t length = text.size() - 8;
  std::memcpy(text.data(), &length, 8);
  return text;
}

namespace detail {

inline constexpr std::size_t max_dimensions = 64;

/// Builds a header from JSON events.
class safetensors_builder {
 public:
  safetensors_builder(std::string_view origin, safetensors_header& header) : origin_(origin), header_(header) {}

  void operator()(const json_event& event) {
    using kind = json_event::kind;
    if (event.at_depth(0)) return;
    const std::string& key = event.path[0];
    if (key == "__metadata__") {
      if (event.at_depth(1) && (event.what == kind::open_object || event.what == kind::close)) return;
      if (!event.at_depth(2) || event.what != kind::string) refuse(key, "has a value that is not a string");
      header_.metadata.emplace(event.path[1], event.text);
      return;
    }
    if (event.at_depth(1)) {
      if (event.what == kind::open_object) {
        header_.tensors.push_back({key, {}, {}, 0, 0});
        has_type_ = has_shape_ = false;
        offsets_ = 0;
      } else if (event.what == kind::close) {
        if (!has_type_ || !has_shape_ || offsets_ != 2) refuse(key, "lacks its dtype, shape or data_offsets");
      } else {
        refuse(key, "is not an object");
      }
      return;
    }
    auto& tensor = header_.tensors.back();
    const std::string& field = event.path[1];
    if (field == "dtype" && event.at_depth(2) && event.what == kind::string) {
      set_type(tensor, event.text);
    } else if (field == "shape" || field == "data_offsets") {
      if (event.at_depth(2) && (event.what == kind::open_array || event.what == kind::close)) {
        has_shape_ |= field == "shape";
      } else if (!event.at_depth(3) || event.what != kind::natural) {
        refuse(key, "has a shape or data_offsets that is not a list of integers from 0 to 2^64 - 1");
      } else if (field == "shape") {
        if (tensor.shape.size() == max_dimensions) refuse(key, "has more than 64 dimensions");
        tensor.shape.push_back(event.number);
      } else {
        if (offsets_ == 2) refuse(key, "has more than two data_offsets");
        (offsets_++ == 0 ? tensor.begin : tensor.end) = event.number;
      }
    } else {
      refuse(key, "has a field that safetensors does not know, or of the wrong type: \"" + field + "\"");
    }
  }

  [[noreturn]] void refuse(std::string_view key, std::string_view why) const {
    fail(errc::corrupt, {origin_, ": \"", key, "\" ", why});
  }

 private:
  void set_type(tensor_entry& tensor, std::string_view text) {
    has_type_ = true;
    if (const auto type = parse_dtype(text)) {
      tensor.type = *type;
      return;
    }
    for (const std::string_view known : {"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "C64"})
      if (text == known)
        fail(errc::unsupported, {origin_, ": \"", tensor.key, "\" has the dtype ", text, ", which cairn cannot hold"});
    refuse(tensor.key, "has the unknown dtype \"" + std::string(text) + "\"");
  }

  std::string_view origin_;
  safetensors_header& header_;
  bool has_type_ = false, has_shape_ = false;
  int offsets_ = 0;
};

/// Sizes match shapes, and the tensors fill the data section one behind the other.
inline void check_layout(safetensors_header& header, const safetensors_builder& builder) {
  auto& tensors = header.tensors;
  sort_items(tensors, [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end < b.end : a.key < b.key;
  });
  std::uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    std::uint64_t bytes = 0;
    if (!checked_bytes(tensor.shape, size_of(tensor.type), bytes))
      builder.refuse(tensor.key, "has a shape of more than 2^64 bytes");
    const auto range = "[" + std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + ")";
    if (tensor.end < tensor.begin || tensor.end > header.data_bytes)
      builder.refuse(tensor.key,
                     "claims bytes " + range + " of a data section of " + std::to_string(header.data_bytes));
    if (tensor.end - tensor.begin != bytes)
      builder.refuse(tensor.key, "has " + std::to_string(tensor.end - tensor.begin) + " bytes, but its shape needs " +
                                     std::to_string(bytes));
    if (tensor.begin < filled) builder.refuse(tensor.key, "overlaps another tensor at bytes " + range);
    if (tensor.begin > filled) builder.refuse(tensor.key, "leaves a hole before it, at byte " + std::to_string(filled));
    filled = tensor.end;
  }
  if (filled != header.data_bytes)
    builder.refuse("__metadata__", "of a file whose tensors end at byte " + std::to_string(filled) +
                                       " of a data section of " + std::to_string(header.data_bytes));
}

}  // namespace detail

/// Reads and checks the header of `file`: every claim is compared with the file's size before it is believed.
/// Accepts any safetensors file, whatever order and alignment. Throws errc::corrupt, naming `origin` and the
/// cause; errc::unsupported for dtypes without a C++ type.
[[nodiscard]] inline safetensors_header read_safetensors_header(const stores::source& file, std::string_view origin) {
  const std::uint64_t size = file.size();
  if (size < 8) fail(errc::corrupt, {origin, ": ", std::to_string(size), " bytes are too few for a safetensors file"});
  std::uint64_t length = 0;
  std::memcpy(&length, file.view(0, 8).bytes().data(), 8);
  if (length > size - 8)
    fail(errc::corrupt, {origin, ": the header claims ", std::to_string(length), " bytes, the file has ",
                         std::to_string(size), " (truncated, or no safetensors file)"});
  if (length > max_header_bytes)
    fail(errc::corrupt, {origin, ": the header claims ", std::to_string(length), " bytes, more than any has"});
  safetensors_header header;
  header.data_start = 8 + length;
  header.data_bytes = size - header.data_start;
  const auto window = file.view(8, length);
  const std::string_view text(reinterpret_cast<const char*>(window.bytes().data()), window.bytes().size());
  detail::safetensors_builder builder(origin, header);
  header.tensors.reserve(text.size() / 256);
  read_json(text, origin, 8, std::ref(builder));
  detail::check_layout(header, builder);
  return header;
}

}  // namespace cairn
