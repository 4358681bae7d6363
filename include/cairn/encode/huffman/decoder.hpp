// SPDX-License-Identifier: MIT
// Four streams of Huffman codes, which are not trusted -> bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/huffman/encoder.hpp"

namespace cairn::inline v0_1::detail::huffman {

/// Decodes what an `encoder` with the same lengths made. Has a table of 32 KiB and allocates nothing.
class decoder {
 public:
  /// With lengths that are not a complete code (`is_complete`), `decode` fails on everything. Takes a few microseconds.
  explicit decoder(const code_lengths& lengths) noexcept : lengths_(lengths) {
    // Bits that are no code: skipped, so that decoding terminates, and give no symbol.
    table_.fill(std::uint64_t{max_code_bits} << bits_at);
    if (is_complete(lengths)) fill_table();
  }

  /// Decodes `in` to `out`. False unless `in` is exactly the codes of as many bytes; the contents of `out` are then
  /// undefined. Reads only `in`, writes only `out`.
  bool decode(std::span<const std::byte> in, std::span<std::byte> out) const noexcept {
    if (in.size() < stream_sizes_bytes) return false;
    std::array<stream, streams> all;
    std::size_t at = stream_sizes_bytes;
    for (std::size_t k = 0; k < streams; ++k) {
      std::uint32_t size = 0;
      if (k + 1 < streams) std::memcpy(&size, in.data() + k * sizeof size, sizeof size);
      const std::size_t bytes = k + 1 < streams ? size : in.size() - at;
      if (bytes > in.size() - at) return false;
      all[k] = {in.data() + at, in.data() + at + bytes, 0, out.data() + stream_begin(out.size(), k),
                out.data() + stream_begin(out.size(), k + 1)};
      at += bytes;
    }
    decode_together(all);
    bool good = true;
    for (auto& each : all) {
      decode_alone(each);
      good = good && decode_rest(each);
    }
    return good;
  }

 private:
  static constexpr unsigned most_symbols = 6;  // of an entry
  static constexpr unsigned look_ups = 4;      // of 12 bits each, of one 64-bit word
  // Bytes that a step reads, and consumes at most; symbols that it gives at most, and bytes that it may write: an entry
  // is stored as 8.
  static constexpr std::size_t step_reads = 8, step_takes = 6;
  static constexpr std::size_t step_gives = look_ups * most_symbols, step_writes = step_gives + 2;

  /// The rest of a stream: codes from bit `bit` (< 8) of the byte at `in` on, symbols to `out`.
  struct stream {
    const std::byte *in, *in_end;
    unsigned bit;
    std::byte *out, *out_end;

    /// Steps that cannot leave either range, whatever the codes are.
    std::size_t safe_steps() const noexcept {
      const auto to_read = static_cast<std::size_t>(in_end - in), to_write = static_cast<std::size_t>(out_end - out);
      if (to_read < step_reads || to_write < step_writes) return 0;
      return std::min((to_read - step_reads) / step_takes, (to_write - step_writes) / step_gives) + 1;
    }
  };

  static std::uint64_t load_word(const std::byte* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  /// Decodes the symbols of four entries: takes up to 6 bytes, gives up to 24.
  [[gnu::always_inline]] static inline void step(const std::uint64_t* table, stream& s) noexcept {
    std::uint64_t word = load_word(s.in) >> s.bit, taken = s.bit;
    std::byte* out = s.out;
    const auto look_up = [&]() __attribute__((always_inline)) {
      std::uint64_t entry = table[word & (table_size - 1)];
      std::memcpy(out, &entry, sizeof entry);
      entry >>= bits_at;
      word >>= entry & 63;
      taken += entry;
      out += entry >> 8;
    };
    look_up();
    look_up();
    look_up();
    look_up();
    s.out = out;
    s.in += taken >> 3 & 31;
    s.bit = taken & 7;
  }

  void decode_together(std::array<stream, streams>& all) const noexcept {
    const std::uint64_t* const table = table_.data();
    stream a = all[0], b = all[1], c = all[2], d = all[3];
    for (;;) {
      std::size_t steps = std::min({a.safe_steps(), b.safe_steps(), c.safe_steps(), d.safe_steps()});
      if (steps == 0) break;
      for (; steps > 0; --steps) {
        step(table, a);
        step(table, b);
        step(table, c);
        step(table, d);
      }
    }
    all = {a, b, c, d};
  }

  /// The rest of a stream that is longer than others.
  void decode_alone(stream& all) const noexcept {
    const std::uint64_t* const table = table_.data();
    stream a = all;
    for (std::size_t steps; (steps = a.safe_steps()) > 0;)
      for (; steps > 0; --steps) step(table, a);
    all = a;
  }

  /// The last bytes, one symbol at a time. True when the codes end with the stream and the bits after them are 0.
  bool decode_rest(stream& s) const noexcept {
    std::uint64_t word = 0;
    unsigned bits = 0;  // bits of `word` that are from the stream
    const auto fill = [&] {
      for (; bits <= 56 && s.in != s.in_end; bits += 8) word |= std::to_integer<std::uint64_t>(*s.in++) << bits;
    };
    fill();
    // `s.bit` is not 0 only after a step, and a step leaves at least two bytes.
    word >>= s.bit;
    bits -= s.bit;
    for (; s.out != s.out_end; ++s.out) {
      if (bits < max_code_bits) fill();
      const std::uint64_t entry = table_[word & (table_size - 1)];
      const auto symbol = static_cast<std::uint8_t>(entry);
      if (entry >> count_at == 0 || lengths_[symbol] > bits) return false;
      *s.out = std::byte{symbol};
      word >>= lengths_[symbol];
      bits -= lengths_[symbol];
    }
    return s.in == s.in_end && bits < 8 && word == 0;
  }

  // The entry of 12 bits, the first one lowest, holds the symbols whose codes these bits begin with, at most 6:
  //   bits 0-47 the symbols, the first one lowest; bits 48-55 the bits that their codes take; bits 56-63 their number.
  // For example, the codes A = 0, B = 10, C = 11 and the bits 0 10 10 11 0 11 10 (first bit first) give A B B C A C:
  // six symbols, 10 bits. The next look-up begins after these, with 10.
  static constexpr unsigned bits_at = 48, count_at = 56;
  static constexpr std::size_t table_size = std::size_t{1} << max_code_bits;

  static constexpr std::uint64_t symbols_of(std::uint64_t entry) noexcept {
    return entry & ((std::uint64_t{1} << bits_at) - 1);
  }

  /// The entry of a symbol whose code has `bits` bits, followed by the symbols of `entry`.
  static constexpr std::uint64_t prepend(std::uint64_t symbol, std::uint64_t bits, std::uint64_t entry) noexcept {
    const std::uint64_t above = entry >> bits_at << bits_at;
    return (symbols_of(entry) << 8 | symbol | above) + (bits << bits_at) + (std::uint64_t{1} << count_at);
  }

  /// The entry without its sixth symbol, if it has one: room for one more at the front.
  std::uint64_t without_last(std::uint64_t entry) const noexcept {
    constexpr unsigned last_at = 8 * (most_symbols - 1);
    if (entry >> count_at < most_symbols) return entry;
    const std::uint64_t bits = lengths_[entry >> last_at & 255];
    return (entry & ~(std::uint64_t{255} << last_at)) - (bits << bits_at) - (std::uint64_t{1} << count_at);
  }

  void fill_table() noexcept {
    // The entry of n bits is their first symbol, of l bits, prepended to the entry of the other n - l bits. So entries
    // are made for n = `shortest` and up; those of n bits are at fewer[2^n], those of 12 bits are the table. In the
    // example above, the entry of the 3 bits 0 10 is A prepended to that of the 2 bits 10, which is B prepended to that
    // of no bits, which is empty.
    std::array<std::uint64_t, table_size> fewer{};
    const auto codes = canonical_codes(lengths_);
    std::array<std::uint8_t, 256> symbols;  // by ascending length
    std::array<std::size_t, max_code_bits + 2> begins{};
    for (const auto length : lengths_) begins[length + 1U] += length != 0;
    for (std::size_t length = 1; length < begins.size(); ++length) begins[length] += begins[length - 1];
    for (std::size_t s = 0; s < lengths_.size(); ++s)
      if (lengths_[s] != 0) symbols[begins[lengths_[s]]++] = static_cast<std::uint8_t>(s);
    const std::size_t count = begins[max_code_bits];
    const unsigned shortest = lengths_[symbols[0]];
    for (unsigned bits = shortest; bits <= max_code_bits; ++bits) {
      if (bits > max_code_bits - shortest && bits < max_code_bits) continue;
      std::uint64_t* const entries = bits < max_code_bits ? fewer.data() + (std::size_t{1} << bits) : table_.data();
      for (std::size_t i = 0; i < count && lengths_[symbols[i]] <= bits; ++i) {
        const std::uint8_t symbol = symbols[i];
        const unsigned length = lengths_[symbol];
        const std::size_t endings = std::size_t{1} << (bits - length);
        for (std::size_t y = 0; y < endings; ++y)
          entries[y << length | codes[symbol]] = prepend(symbol, length, without_last(fewer[endings + y]));
      }
    }
  }

  code_lengths lengths_;
  std::array<std::uint64_t, table_size> table_;
};

}  // namespace cairn::inline v0_1::detail::huffman
