// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless.hpp"

#include "catch.hpp"
#include "cairn/core/error.hpp"
#include "cairn/system/memory.hpp"
#include "encode/ranges.hpp"

namespace {

using bytes = std::vector<std::byte>;
using cairn::dtype;
using cairn::codecs::lossless;
using generator = std::mt19937_64;

constexpr std::byte guard{0xA5};

/// Encodes into exactly the room that is asked for; what is after it must stay as it was.
struct payload {
  cairn::encode_result how;
  bytes stored;
};

payload encode(const lossless& codec, dtype type, const bytes& values, bytes reference = {}, unsigned threads = 1) {
  const std::size_t bound = codec.bound(type, values.size());
  payload made{{}, bytes(bound + 64, guard)};
  const bytes before = reference;
  made.how = codec.encode({.path = "a.b", .type = type, .values = values, .reference = reference, .threads = threads},
                          std::span(made.stored).first(bound));
  CHECK(reference == before);
  CHECK(made.how.bytes <= bound);
  CHECK(std::all_of(made.stored.begin() + static_cast<long>(bound), made.stored.end(),
                    [](std::byte each) { return each == guard; }));
  CHECK((made.how.codec.empty() || made.how.codec == "lossless"));
  CHECK_FALSE(made.how.lost);
  CHECK(made.how.tables.empty());
  made.stored.resize(made.how.bytes);
  return made;
}

void decode(dtype type, std::span<const std::byte> stored, std::span<std::byte> values, unsigned threads = 1) {
  lossless{}.decode({.where = "file",
                     .path = "a.b",
                     .type = type,
                     .payload = stored,
                     .values = values,
                     .threads = threads,
                     .relative = stored.size() > 1 && stored[1] == std::byte{1}});
}

/// Encodes values over themselves, as they lie at the end of the room for it: the same payload, or the values as they
/// were.
void check_in_place(const lossless& codec, dtype type, const bytes& values, bytes reference, const payload& expected) {
  constexpr std::size_t line = 64;
  for (const unsigned threads : {1U, 2U, 4U})
    for (const std::size_t more : {0U, 640U}) {
      const std::size_t before = (codec.bound(type, values.size()) - values.size() + line - 1) / line * line + more;
      const cairn::detail::page_buffer memory(before + values.size() + line);
      const auto room = memory.bytes().first(before + values.size());
      std::fill(memory.bytes().begin(), memory.bytes().end(), guard);
      const auto at = room.subspan(before);
      std::copy(values.begin(), values.end(), at.begin());
      const auto how = codec.encode({"a.b", type, at, reference, threads}, room);
      CHECK(how.codec == expected.how.codec);
      CHECK(how.relative == expected.how.relative);
      if (how.codec.empty())
        CHECK(std::equal(values.begin(), values.end(), at.begin()));
      else
        CHECK(bytes(room.begin(), room.begin() + static_cast<long>(how.bytes)) == expected.stored);
      CHECK(std::count(memory.bytes().end() - line, memory.bytes().end(), guard) == line);
    }
}

/// Checks that the values come back, by every number of threads; returns how many bytes they take.
std::size_t round_trip(const lossless& codec, dtype type, const bytes& values, const bytes& reference = {}) {
  const auto made = encode(codec, type, values, reference);
  for (const unsigned threads : {2U, 3U, 4U, 0U}) {
    const auto same = encode(codec, type, values, reference, threads);
    CHECK(same.stored == made.stored);
    CHECK(same.how.relative == made.how.relative);
  }
  if (!values.empty()) check_in_place(codec, type, values, reference, made);
  if (made.how.codec.empty()) {
    CHECK(made.how.bytes == 0);
    CHECK_FALSE(made.how.relative);
    return values.size();
  }
  CHECK(made.how.bytes < values.size());
  for (const unsigned threads : {1U, 4U}) {
    bytes back(values.size() + 16, guard);
    if (made.how.relative) std::copy(reference.begin(), reference.end(), back.begin());
    decode(type, made.stored, std::span(back).first(values.size()), threads);
    CHECK(std::equal(values.begin(), values.end(), back.begin()));
    CHECK(std::count(back.end() - 16, back.end(), guard) == 16);
  }
  return made.how.bytes;
}

bytes random_bytes(std::size_t size, generator& random) {
  bytes made(size);
  for (auto& each : made) each = static_cast<std::byte>(random());
  return made;
}

/// `count` elements, each given by its number.
bytes elements(std::size_t count, std::size_t width, const std::function<std::uint64_t(std::size_t)>& of) {
  bytes made(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = of(i);
    std::memcpy(made.data() + i * width, &word, width);
  }
  return made;
}

template <class Value>
bytes gaussian(std::size_t count, generator& random) {
  std::normal_distribution<double> normal(0, 0.03);
  bytes made(count * sizeof(Value));
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Value>(normal(random));
    std::memcpy(made.data() + i * sizeof value, &value, sizeof value);
  }
  return made;
}

std::vector<dtype> all_types() {
  std::vector<dtype> all;
  for (std::size_t i = 0; i < cairn::dtype_count; ++i) all.push_back(static_cast<dtype>(i));
  return all;
}

constexpr std::size_t block = std::size_t{1} << 17;

}  // namespace

TEST_CASE("elements of every type come back bit for bit, whatever they are") {
  generator random(1);
  for (const auto type : all_types()) {
    const std::size_t width = cairn::size_of(type);
    CAPTURE(name(type));
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{1000},
                                    std::size_t{4099}, block - 1, block, block + 1, 3 * block + 77}) {
      CAPTURE(count);
      const std::uint64_t constant = random();
      const unsigned share = static_cast<unsigned>(random() % 100);
      CHECK(round_trip({}, type, random_bytes(count * width, random)) <= count * width);
      round_trip({}, type, elements(count, width, [&](std::size_t) { return constant; }));
      round_trip({}, type, elements(count, width, [&](std::size_t i) { return i; }));
      round_trip({}, type, elements(count, width, [&](std::size_t) { return random() % 100 < share ? random() : 0; }));
      round_trip({}, type, elements(count, width, [&](std::size_t i) { return i / 1000 % 2 ? random() : 0; }));
      round_trip({}, type, elements(count, width, [&](std::size_t) { return random() % 7; }));
    }
  }
}

TEST_CASE("special floating-point numbers keep their bits") {
  generator random(2);
  const std::uint32_t special[] = {0,          0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001,
                                   0xFFC12345, 1,          0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F800000};
  const auto values = elements(300'000, 4, [&](std::size_t) { return special[random() % std::size(special)]; });
  CHECK(round_trip({}, dtype::f32, values) < values.size() / 2);
}

TEST_CASE("zeros and constants take next to nothing") {
  for (const auto type : all_types()) {
    const std::size_t width = cairn::size_of(type);
    CHECK(round_trip({}, type, bytes(3 * block * width)) < 100);
    CHECK(round_trip({}, type, elements(3 * block, width, [](std::size_t) { return 0x3F9A1234C0011221; })) < 300);
  }
}

TEST_CASE("trained numbers become smaller, by what their exponents allow") {
  generator random(3);
  const auto weights = gaussian<float>(3 * block, random);
  const auto wide = round_trip({}, dtype::f32, weights);
  CHECK(static_cast<double>(wide) < 0.84 * static_cast<double>(weights.size()));
  const auto half = elements(3 * block, 2, [&](std::size_t i) {
    std::uint32_t word = 0;
    std::memcpy(&word, weights.data() + 4 * i, 4);
    return word >> 16;
  });
  CHECK(static_cast<double>(round_trip({}, dtype::bf16, half)) < 0.67 * static_cast<double>(half.size()));
  const auto doubles = gaussian<double>(3 * block, random);
  CHECK(static_cast<double>(round_trip({}, dtype::f64, doubles)) < 0.92 * static_cast<double>(doubles.size()));

  // A third of zeros, here and there, is worth what they would take, but for a bit that says where.
  auto sparse = weights;
  for (std::size_t i = 0; i < 3 * block; ++i)
    if (random() % 3 == 0) std::memset(sparse.data() + 4 * i, 0, 4);
  CHECK(static_cast<double>(round_trip({}, dtype::f32, sparse)) <
        0.84 * 2 / 3 * static_cast<double>(weights.size()) + 3 * block / 8.0);
}

TEST_CASE("what cannot be made smaller is to be stored as it is") {
  generator random(4);
  for (const auto type : all_types())
    CHECK(encode({}, type, random_bytes(2 * block * cairn::size_of(type), random)).how.codec.empty());
  CHECK(encode({}, dtype::f32, {}).how.codec.empty());
}

TEST_CASE("what cannot be made smaller stays as it is where it lies in the output") {
  generator random(21);
  for (const auto type : {dtype::u8, dtype::bf16, dtype::f32, dtype::f64})
    for (const std::size_t count : {std::size_t{700}, block, 5 * block + 3})
      for (const unsigned threads : {1U, 3U}) {
        const auto values = random_bytes(count * cairn::size_of(type), random);
        bytes room(lossless{}.bound(type, values.size()), guard);
        std::copy(values.begin(), values.end(), room.end() - static_cast<long>(values.size()));
        const auto before = room;
        const auto at = std::span(room).last(values.size());
        CHECK(lossless{}.encode({.path = "a.b", .type = type, .values = at, .threads = threads}, room).codec.empty());
        CHECK(std::equal(at.begin(), at.end(), values.begin()));
        if (count > block) CHECK((room == before));  // a sample says so before anything is written
      }
}

TEST_CASE("a tenth that can be made smaller is found, wherever it is") {
  generator random(22);
  const auto noise = random_bytes(64 * block, random);
  for (int i = 0; i < 20; ++i) {
    auto values = noise;
    const auto tenth = values.size() / 10, at = random() % (values.size() - tenth);
    std::fill_n(values.begin() + static_cast<long>(at), tenth, std::byte{});
    const auto made = encode({}, dtype::u8, values);
    CHECK(made.how.codec == "lossless");
    CHECK(made.how.bytes < values.size() * 92 / 100);
  }
}

TEST_CASE("a reference is used where the difference is smaller") {
  generator random(5);
  for (const auto type : all_types()) {
    const std::size_t width = cairn::size_of(type), count = 2 * block + 11;
    CAPTURE(name(type));
    const auto parent = random_bytes(count * width, random);
    auto values = parent;
    for (std::size_t i = 0; i < count; ++i)  // the lowest byte of every second element changes
      if (random() % 2 == 0) values[i * width] ^= static_cast<std::byte>(random() % 16);
    const lossless difference{.xor_parent = true};
    CHECK(difference.uses_parent());
    CHECK(encode(difference, type, values, parent).how.relative);
    CHECK(round_trip(difference, type, values, parent) < count * width * 3 / 4);

    // Not asked for, not there, or of no use.
    CHECK_FALSE(encode({}, type, parent, values).how.relative);
    const auto small = elements(count, width, [&](std::size_t) { return random() % 3; });
    CHECK_FALSE(encode(difference, type, small).how.relative);
    CHECK_FALSE(encode(difference, type, small, parent).how.relative);
    round_trip(difference, type, small, parent);
  }
}

TEST_CASE("nothing changed: the difference takes next to nothing") {
  generator random(6);
  const auto values = gaussian<float>(3 * block, random);
  CHECK(encode({.xor_parent = true}, dtype::f32, values, values).how.relative);
  CHECK(round_trip({.xor_parent = true}, dtype::f32, values, values) < 100);
}

TEST_CASE("the difference to zeros stays a difference") {
  generator random(7);
  const auto values = gaussian<float>(50'000, random);
  CHECK(encode({.xor_parent = true}, dtype::f32, values, bytes(values.size())).how.relative);
}

TEST_CASE("malformed payloads are refused, or give some values, and nothing else is touched") {
  generator random(8);
  const auto is_refused = [](dtype type, std::span<const std::byte> stored, std::size_t size) {
    const bytes exact(stored.begin(), stored.end());  // so that the sanitizers see a read beyond the end
    bytes values(size + 16, guard);
    bool refused = false;
    try {
      decode(type, exact, std::span(values).first(size));
    } catch (const cairn::error& error) {
      refused = true;
      CHECK(error.code() == cairn::errc::corrupt);
      CHECK(std::string(error.what()).find("file: \"a.b\": the lossless payload is malformed: ") != std::string::npos);
    }
    CHECK(std::count(values.end() - 16, values.end(), guard) == 16);
    return refused;
  };
  for (const auto type : {dtype::u8, dtype::bf16, dtype::f32, dtype::f64}) {
    const std::size_t width = cairn::size_of(type);
    CAPTURE(name(type));
    const auto values = elements(
        700, width, [&](std::size_t i) { return i % 5 == 0 ? 0 : random() % 5 << (8 * width - 8) | random() % 256; });
    const auto made = encode({}, type, values);
    REQUIRE(made.how.codec == "lossless");
    CHECK_FALSE(is_refused(type, made.stored, values.size()));
    for (std::size_t i = 0; i < made.stored.size(); ++i)
      for (int bit = 0; bit < 8; ++bit) {
        auto flipped = made.stored;
        flipped[i] ^= std::byte{1} << bit;
        const bool refused = is_refused(type, flipped, values.size());
        if (i < 4 && (i != 1 || bit != 0) && (i != 2 || bit >= 3)) CHECK(refused);
      }
    for (std::size_t size = 0; size < made.stored.size(); ++size)
      CHECK(is_refused(type, std::span(made.stored).first(size), values.size()));
    auto longer = made.stored;
    longer.push_back({});
    CHECK(is_refused(type, longer, values.size()));
    CHECK(is_refused(type, made.stored, values.size() - width));
    CHECK(is_refused(type, made.stored, 0));
    CHECK(is_refused(width == 4 ? dtype::i32 : dtype::f32, made.stored, values.size() / 4 * 4));
  }
  for (int i = 0; i < 2000; ++i) is_refused(dtype::f32, random_bytes(random() % 100, random), 4 * (random() % 100));
}

TEST_CASE("the payload is the same on every machine") {
  const auto values = elements(5000, 4, [](std::size_t i) {
    return i % 3 == 0 ? 0 : (i * 2654435761U & 0x007FFFFFU) | (0x3D000000U + (i % 11 % 4 << 23)) | (i & 1U) << 31;
  });
  const auto made = encode({}, dtype::f32, values);
  std::uint64_t hash = 14695981039346656037U;
  for (const auto each : made.stored) hash = (hash ^ std::to_integer<std::uint64_t>(each)) * 1099511628211U;
  CHECK(made.how.bytes == 10756);
  CHECK(hash == 5175594330741086055);
}

TEST_CASE("lossless: merged differences give what they give in turn, and no others are merged") {
  std::mt19937 random(31);
  for (const auto type : {cairn::dtype::f32, cairn::dtype::i64, cairn::dtype::bf16}) {
    const std::size_t size = 20'000 * cairn::size_of(type);
    std::vector<std::byte> parent(size), now;
    for (auto& each : parent) each = static_cast<std::byte>(random());
    now = parent;
    const cairn::codecs::lossless codec{.xor_parent = true};
    std::vector<std::vector<std::byte>> payloads;
    std::vector<cairn::merge_request::delta> deltas;
    for (int step = 0; step < 4; ++step) {
      auto before = now;
      for (std::size_t i = 0; i < size; i += 1 + random() % 200) now[i] ^= static_cast<std::byte>(random());
      payloads.emplace_back(codec.bound(type, size));
      const auto done = codec.encode({.path = "p", .type = type, .values = now, .reference = before}, payloads.back());
      REQUIRE(done.relative);
      payloads.back().resize(done.bytes);
    }
    for (const auto& payload : payloads) deltas.push_back({"lossless", "file", payload});
    const auto merged = codec.merge({.path = "p", .type = type, .bytes = size, .deltas = deltas});
    REQUIRE(merged);
    auto values = parent;
    codec.decode({.where = "f", .path = "p", .type = type, .payload = *merged, .values = values, .relative = true});
    CHECK(values == now);
    deltas[2].codec = "lc2";
    CHECK_FALSE(codec.merge({.path = "p", .type = type, .bytes = size, .deltas = deltas}));
    deltas[2] = {"lossless", "the file", std::span(payloads[2]).first(9)};
    CHECK_THROWS_WITH(codec.merge({.path = "leaf", .type = type, .bytes = size, .deltas = deltas}),
                      ContainsSubstring("the file: \"leaf\""));
  }
}

TEST_CASE("lossless: any elements are decoded from the bytes that are asked for") {
  generator random(41);
  for (const auto type : {dtype::f32, dtype::u8})
    for (const std::size_t count : {std::size_t{1}, block + 1, 5 * block + 9})
      for (const bool relative : {false, true}) {
        const std::size_t width = cairn::size_of(type);
        const auto before = random_bytes(count * width, random);
        auto values = elements(count, width, [&](std::size_t) { return random() % 7; });
        if (relative) {
          values = before;
          for (std::size_t i = 0; i < values.size(); i += 1 + random() % 30)
            values[i] ^= static_cast<std::byte>(random());
        }
        const auto made = encode({.xor_parent = relative}, type, values, relative ? before : bytes());
        if (made.how.codec.empty()) continue;
        CHECK(made.how.relative == relative);
        tests::check_ranges(
            lossless{},
            {.where = "f", .path = "p", .type = type, .payload = made.stored, .values = {}, .relative = relative},
            before, values, random);
      }
}

TEST_CASE("a payload that the file calls relative, but is not, is refused, and the reverse") {
  std::vector<float> before(1000), now(1000);
  for (std::size_t i = 0; i < now.size(); ++i)
    now[i] = (before[i] = static_cast<float>(i)) + (i % 10 == 0 ? 1.0F : 0.0F);
  for (const bool is_relative : {false, true}) {
    const lossless codec{.xor_parent = is_relative};
    bytes out(codec.bound(dtype::f32, 4000));
    const auto made =
        codec.encode({"p", dtype::f32, std::as_bytes(std::span(now)), std::as_writable_bytes(std::span(before))}, out);
    REQUIRE(made.relative == is_relative);
    bytes values(4000);
    const auto decode = [&](bool relative) {
      lossless{}.decode({.where = "f",
                         .path = "p",
                         .type = dtype::f32,
                         .payload = std::span(out).first(made.bytes),
                         .values = values,
                         .relative = relative});
    };
    CHECK_NOTHROW(decode(is_relative));
    CHECK_THROWS_AS(decode(!is_relative), cairn::error);
  }
}

TEST_CASE("elements that another thread writes meanwhile are decoded to values that they had") {
  std::mt19937_64 random(19);
  for (const dtype type : {dtype::u16, dtype::f32, dtype::f64}) {
    const std::size_t width = cairn::size_of(type), count = 300'000;
    bytes values(count * width), before(values.size()), after(values.size());
    for (auto& b : after) b = static_cast<std::byte>(random());
    for (std::size_t i = 0; i < count; ++i)  // some change from zero, some to it, and exponents are worth coding
      for (std::size_t b = 0; b < width; ++b) {
        before[i * width + b] = i % 3 == 0 ? std::byte{} : static_cast<std::byte>(b + 1 == width ? 60 : random());
        if (i % 5 == 0) after[i * width + b] = std::byte{};
      }
    values = before;
    std::atomic<bool> ends{false};
    std::thread writer([&] {
      const auto write = [&]<class Word>(Word /*type*/, const bytes& from) {
        for (std::size_t i = 0; i < count && !ends; ++i) {
          Word word;
          std::memcpy(&word, from.data() + i * width, width);
          std::atomic_ref<Word>(reinterpret_cast<Word*>(values.data())[i]).store(word, std::memory_order_relaxed);
        }
      };
      for (bool turn = true; !ends; turn = !turn) {
        const auto& from = turn ? after : before;
        width == 2   ? write(std::uint16_t{}, from)
        : width == 4 ? write(std::uint32_t{}, from)
                     : write(std::uint64_t{}, from);
      }
    });
    bytes out(lossless{}.bound(type, values.size())), back(values.size());
    bool are_good = true;
    for (int round = 0; round < 30; ++round) {
      const auto made = lossless{}.encode({"p", type, values, {}, 2}, out);
      if (made.codec.empty()) continue;  // did not pay this time
      decode(type, std::span(out).first(made.bytes), back);
      for (std::size_t i = 0; i < values.size(); i += width)
        are_good = are_good &&
                   (std::memcmp(&back[i], &before[i], width) == 0 || std::memcmp(&back[i], &after[i], width) == 0 ||
                    std::all_of(&back[i], &back[i] + width, [](std::byte b) { return b == std::byte{}; }));
    }
    ends = true;
    writer.join();
    CHECK(are_good);
  }
}
