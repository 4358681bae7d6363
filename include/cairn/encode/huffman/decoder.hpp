// Four streams of Huffman codes -> bytes, whatever the streams hold.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/huffman/encoder.hpp"

namespace cairn::detail::huffman {

/// Decodes what an `encoder` with the same lengths made. Takes 32 KiB, wherever it is put, and no other memory.
class decoder {
 public:
  /// The lengths form a complete code (`is_complete`); with others, `decode` refuses everything. Takes a few
  /// microseconds.
  explicit decoder(const code_lengths& lengths) noexcept : lengths_(lengths) {
    // Bits that are no code: they are taken, so that decoding ends, and give nothing.
    table_.fill(std::uint64_t{max_code_bits} << bits_at);
    if (is_complete(lengths)) fill_table();
  }

  /// Fills `out`, if `in` is exactly the codes of so many bytes; false otherwise, and `out` holds anything. Reads
  /// nothing but `in`, writes nothing but `out`.
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
  static constexpr unsigned most_symbols = 6;  // that an entry holds
  static constexpr unsigned look_ups = 4;      // of 12 bits, that a word allows
  static constexpr std::size_t step_reads = 8, step_takes = 6;
  static constexpr std::size_t step_gives = look_ups * most_symbols, step_writes = step_gives + 2;

  /// What is left of a stream: codes from bit `bit` (< 8) of the byte at `in`, symbols to `out`.
  struct stream {
    const std::byte *in, *in_end;
    unsigned bit;
    std::byte *out, *out_end;

    /// Steps that stay within both, whatever they find.
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

  /// Decodes four entries' worth of symbols: takes up to 6 bytes, gives up to 24.
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

  /// Streams do not end at the same time: some code better than others.
  void decode_alone(stream& all) const noexcept {
    const std::uint64_t* const table = table_.data();
    stream a = all;
    for (std::size_t steps; (steps = a.safe_steps()) > 0;)
      for (; steps > 0; --steps) step(table, a);
    all = a;
  }

  /// The last bytes, one symbol at a time; true when the codes end with the stream, but for bits that are 0.
  bool decode_rest(stream& s) const noexcept {
    std::uint64_t word = 0;
    unsigned bits = 0;  // of `word`, that are in the stream
    const auto fill = [&] {
      for (; bits <= 56 && s.in != s.in_end; bits += 8) word |= std::to_integer<std::uint64_t>(*s.in++) << bits;
    };
    fill();
    // A bit that is not 0 comes from a step, and a step leaves two bytes at least.
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

  // An entry: up to 6 symbols, the first one lowest, that begin with the bits that are its index; above them the bits
  // that they take, and how many they are.
  static constexpr unsigned bits_at = 48, count_at = 56;
  static constexpr std::size_t table_size = std::size_t{1} << max_code_bits;

  static constexpr std::uint64_t symbols_of(std::uint64_t entry) noexcept {
    return entry & ((std::uint64_t{1} << bits_at) - 1);
  }

  /// The entry whose first symbol is this one.
  static constexpr std::uint64_t prepend(std::uint64_t symbol, std::uint64_t bits, std::uint64_t entry) noexcept {
    const std::uint64_t above = entry >> bits_at << bits_at;
    return (symbols_of(entry) << 8 | symbol | above) + (bits << bits_at) + (std::uint64_t{1} << count_at);
  }

  /// Leaves room for one symbol more.
  std::uint64_t without_last(std::uint64_t entry) const noexcept {
    constexpr unsigned last_at = 8 * (most_symbols - 1);
    if (entry >> count_at < most_symbols) return entry;
    const std::uint64_t bits = lengths_[entry >> last_at & 255];
    return (entry & ~(std::uint64_t{255} << last_at)) - (bits << bits_at) - (std::uint64_t{1} << count_at);
  }

  void fill_table() noexcept {
    // The symbols that n bits hold are one, and those that the bits behind it hold: so for all n bits, from few to
    // many. The entries of n bits begin at 2^n; those of 12 are the table.
    std::array<std::uint64_t, table_size> fewer{};
    const auto codes = canonical_codes(lengths_);
    std::array<std::uint8_t, 256> symbols;  // by length
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
        const std::size_t behind = std::size_t{1} << (bits - length);
        for (std::size_t y = 0; y < behind; ++y)
          entries[y << length | codes[symbol]] = prepend(symbol, length, without_last(fewer[behind + y]));
      }
    }
  }

  code_lengths lengths_;
  std::array<std::uint64_t, table_size> table_;
};

}  // namespace cairn::detail::huffman
