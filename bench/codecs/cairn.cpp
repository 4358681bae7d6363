// SPDX-License-Identifier: MIT
// Cairn's codecs, one thread.
#include <algorithm>
#include <utility>
#include <vector>

#include "cairn/encode/base.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"
#include "codecs/method.hpp"

namespace bench {
namespace {

/// What decodes a payload: in a checkpoint its name stands in the index, here it is the last byte of the payload.
static constexpr std::byte relative_bit{0x80};  // beside the kind
enum class kind : unsigned char { as_it_is, by_codec, by_lossless };

/// A codec, the code tables that its chain of checkpoints has so far, and what a checkpoint does beyond encoding:
/// arrays that are not worth it are stored as they are, and whatever was stored without loss is what a reader has.
class coder {
 public:
  coder(cairn::any_codec codec, bool lossy) : codec_(std::move(codec)), lossy_(lossy) {}

  void restart() { tables_.clear(); }

  stored compress(const leaf& in, std::span<std::byte> out) {
    auto made = codec_.encode(request(in), out);
    const auto by = made.codec.empty()            ? kind::as_it_is
                    : made.codec == codec_.name() ? kind::by_codec
                                                  : kind::by_lossless;
    if (by == kind::as_it_is) {
      std::copy(in.values.begin(), in.values.end(), out.begin());
      made.bytes = in.values.size();
    }
    if (lossy_ && !made.lost) std::copy(in.values.begin(), in.values.end(), in.reference.begin());
    std::size_t new_tables = 0;
    for (const auto& table : made.tables) {
      if (tables_.find(table.id) == nullptr) ++new_tables;
      tables_.add(table);
    }
    out[made.bytes] = static_cast<std::byte>(by) | (made.relative ? relative_bit : std::byte{0});
    return {made.bytes + 1, new_tables * sizeof(cairn::code_table)};
  }

  void decompress(const leaf& like, std::span<const std::byte> in, std::span<std::byte> values) const {
    const auto payload = in.first(in.size() - 1);
    const cairn::decode_request request{.where = "memory",
                                        .path = like.path,
                                        .type = like.type,
                                        .payload = payload,
                                        .values = values,
                                        .threads = 1,
                                        .known_tables = &tables_,
                                        .relative = (in.back() & relative_bit) != std::byte{0}};
    switch (static_cast<kind>(in.back() & ~relative_bit)) {
      case kind::as_it_is:
        std::copy(payload.begin(), payload.end(), values.begin());
        break;
      case kind::by_codec:
        codec_.decode(request);
        break;
      case kind::by_lossless:
        cairn::codecs::lossless{}.decode(request);
        break;
    }
  }

  [[nodiscard]] std::size_t bound(const leaf& in) const {
    return std::max(codec_.bound(in.type, in.values.size()), in.values.size()) + 1;
  }

 private:
  [[nodiscard]] cairn::encode_request request(const leaf& in) const {
    return {.path = in.path,
            .type = in.type,
            .values = in.values,
            .reference = in.reference,
            .threads = 1,
            .known_tables = &tables_};
  }

  cairn::any_codec codec_;
  cairn::code_tables tables_;
  bool lossy_;
};

method method_of(std::string name, cairn::any_codec codec, bool lossy) {
  const bool uses_reference = codec.uses_parent();
  const auto made = std::make_shared<coder>(std::move(codec), lossy);
  return {.name = std::move(name),
          .bound = [made](const leaf& in) { return made->bound(in); },
          .compress = [made](const leaf& in, std::span<std::byte> out) { return made->compress(in, out); },
          .decompress = [made](const leaf& like, std::span<const std::byte> in,
                               std::span<std::byte> values) { made->decompress(like, in, values); },
          .uses_reference = uses_reference,
          .restart = [made] { made->restart(); }};
}

}  // namespace

method cairn_lossless_method(bool xor_parent) {
  return method_of("cairn", cairn::codecs::lossless{.xor_parent = xor_parent}, false);
}

method cairn_lc_method(unsigned bits) {
  if (bits == 2) return method_of("cairn lc2", cairn::codecs::lc<2>{}, true);
  return method_of("cairn lc3", cairn::codecs::lc<3>{}, true);
}

}  // namespace bench
