// SPDX-License-Identifier: MIT
// zfp with a bound for the error of every element; matrices as such, since neighbours may be alike in both directions.
#include <zfp.h>

#include "codecs/method.hpp"

namespace bench {
namespace {

/// A leaf and a buffer, as zfp wants them.
class stream {
 public:
  stream(const leaf& like, void* values, void* bytes, std::size_t count, double tolerance)
      : field_(like.rows > 1 && like.columns > 1 ? zfp_field_2d(values, zfp_type_float, like.columns, like.rows)
                                                 : zfp_field_1d(values, zfp_type_float, like.rows * like.columns)),
        bits_(stream_open(bytes, count)),
        zfp_(zfp_stream_open(bits_)) {
    require(like.type == cairn::dtype::f32, "zfp, which has no such type,");
    zfp_stream_set_accuracy(zfp_, tolerance);
    zfp_stream_rewind(zfp_);
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {
    zfp_field_free(field_);
    zfp_stream_close(zfp_);
    stream_close(bits_);
  }

  [[nodiscard]] std::size_t bound() const { return zfp_stream_maximum_size(zfp_, field_); }
  [[nodiscard]] std::size_t compress() { return zfp_compress(zfp_, field_); }
  [[nodiscard]] std::size_t decompress() { return zfp_decompress(zfp_, field_); }

 private:
  zfp_field* field_;
  bitstream* bits_;
  zfp_stream* zfp_;
};

void* memory(std::span<const std::byte> bytes) { return const_cast<std::byte*>(bytes.data()); }

}  // namespace

method zfp_method(double tolerance) {
  return {.name = "zfp",
          .bound = [=](const leaf& in) { return stream(in, nullptr, nullptr, 0, tolerance).bound(); },
          .compress =
              [=](const leaf& in, std::span<std::byte> out) {
                const auto bytes = stream(in, memory(in.values), out.data(), out.size(), tolerance).compress();
                require(bytes > 0, "zfp_compress");
                return stored{bytes};
              },
          .decompress =
              [=](const leaf& like, std::span<const std::byte> in, std::span<std::byte> values) {
                require(stream(like, values.data(), memory(in), in.size(), tolerance).decompress() > 0,
                        "zfp_decompress");
              }};
}

}  // namespace bench
