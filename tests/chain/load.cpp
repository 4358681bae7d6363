#include "cairn/chain/load.hpp"

#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

struct copying {
  [[nodiscard]] std::string name() const { return "copying"; }
  [[nodiscard]] bool uses_parent() const { return false; }
  [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    std::memcpy(out.data(), in.values.data(), in.values.size());
    return {.codec = name(), .bytes = in.values.size()};
  }
  void decode(const cairn::decode_request& from) const {
    std::memcpy(from.values.data(), from.payload.data(), from.values.size());
  }
};

struct tied {
  std::vector<float> early;
  std::vector<float> values;
  std::span<float> view = values;
};

}  // namespace

TEST_CASE(
    "a codec that is not known is found before the state is changed, also where the array is tied to one that is left "
    "out") {
  tied original;
  original.early.resize(200, 1);
  original.values.resize(500);
  std::iota(original.values.begin(), original.values.end(), 0.0F);
  original.view = original.values;
  const cairn::stores::memory store;
  const cairn::codec_rules rules{{"values", copying{}}, {"early", cairn::codecs::raw{}}};
  cairn::save(store, "c", original, {.codecs = rules});
  for (const auto* path : {"values", "view"}) {
    tied fresh;
    fresh.values.resize(500);
    fresh.view = fresh.values;
    const auto filter = [&](std::string_view at) { return at == path || at == "early"; };
    const auto failure = sample::failure_of([&] { cairn::load(store, "c", fresh, {.filter = filter}); });
    CHECK(failure.code == cairn::errc::unsupported);
    CHECK(failure.says("\"copying\""));
    CHECK(fresh.early.empty());
    cairn::load(store, "c", fresh, {.filter = filter, .codecs = rules});
    CHECK(fresh.values == original.values);
    CHECK(fresh.early == original.early);
  }
}
