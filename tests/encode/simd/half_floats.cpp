// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lc_kernels.hpp"

#include "catch.hpp"
#include "cairn/core/float_types.hpp"

using namespace cairn;
namespace simd = cairn::detail::simd;

namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

template <class Half>
void check_widening(void (*widen)(const std::uint16_t*, std::size_t, float*) noexcept) {
  std::vector<std::uint16_t> in(65536);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
  std::vector<float> out(in.size());
  widen(in.data(), in.size(), out.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto expected = static_cast<float>(Half::from_bits(in[i]));
    wrong += std::isnan(expected) ? !std::isnan(out[i]) : bits_of(out[i]) != bits_of(expected);
  }
  CHECK(wrong == 0);
}

template <class Half>
void check_narrowing(void (*narrow)(const float*, std::size_t, std::uint16_t*) noexcept) {
  // Every element, the middle to the next one, and what lies beside both.
  std::vector<float> in;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto value = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(i)));
    if (std::isnan(value) || std::isinf(value)) continue;
    const auto next = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(i + 1)));
    const float middle = static_cast<float>((static_cast<double>(value) + static_cast<double>(next)) / 2);
    for (const float x : {value, middle})
      for (const std::uint32_t step : {0xFFFF'FFFFU, 0U, 1U}) {
        const auto near = std::bit_cast<float>(bits_of(x) + step);
        if (!std::isnan(near)) in.push_back(near);
      }
  }
  std::mt19937 random(7);
  while (in.size() % 65536 != 13)
    if (const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random())); !std::isnan(x)) in.push_back(x);
  std::vector<std::uint16_t> out(in.size());
  narrow(in.data(), in.size(), out.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i) wrong += out[i] != Half(in[i]).bits;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("half_floats: every element widens exactly, and all that is near one narrows to the nearest") {
  for (const auto* kernels : simd::all_half_floats()) {
    check_widening<bfloat16>(kernels->widen_bf16);
    check_widening<float16>(kernels->widen_f16);
    check_narrowing<bfloat16>(kernels->narrow_bf16);
    check_narrowing<float16>(kernels->narrow_f16);
  }
}

TEST_CASE("half_floats: any length and offset, and not one element more") {
  std::mt19937 random(8);
  std::vector<std::uint16_t> halves(4300);
  for (auto& half : halves) half = static_cast<std::uint16_t>(random() % 0x7C00 | (random() & 0x8000));
  for (const auto* kernels : simd::all_half_floats())
    for (const auto& [widen, narrow] :
         {std::pair(kernels->widen_f16, kernels->narrow_f16), std::pair(kernels->widen_bf16, kernels->narrow_bf16)}) {
      std::size_t wrong = 0;
      for (std::size_t n = 0; n <= 4200; ++n) {
        const std::size_t offset = n % 32;
        std::vector<float> wide(n + 64, 5.0F);
        widen(halves.data() + offset, n, wide.data() + offset);
        std::vector<std::uint16_t> back(n + 64, 99);
        narrow(wide.data() + offset, n, back.data() + offset);
        wrong += n > 0 && std::memcmp(back.data() + offset, halves.data() + offset, n * 2) != 0;
        for (std::size_t i = 0; i < n + 64; ++i)
          if (i < offset || i >= offset + n) wrong += wide[i] != 5.0F || back[i] != 99;
      }
      CHECK(wrong == 0);
    }
}
