// SPDX-License-Identifier: MIT
// Reads and makes the data.
#include "models/data.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#include "lenet/drawn.hpp"
#include "lenet/idx.hpp"
#include "models/layers.hpp"

namespace bench::models {
namespace {

constexpr auto no_limit = std::numeric_limits<std::size_t>::max();

struct parsed_ratings {
  Index users = 0, items = 0;
  std::vector<rating> all;
};

/// The number at the front of `text`, which it takes off with the tab or the end that must follow.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text.front() != '\t') return false;
  text.remove_prefix(1);
  return true;
}

parsed_ratings read_ratings(const std::filesystem::path& folder) {
  const lenet::idx_file file(folder / "jester5k.tsv.gz");  // throws where there is none
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> in(gzopen((folder / "jester5k.tsv.gz").c_str(), "rb"), gzclose);
  if (!in) file.fail("cannot be opened");
  parsed_ratings read;
  std::array<char, 256> buffer{};
  for (std::size_t line = 1; gzgets(in.get(), buffer.data(), buffer.size()) != nullptr; ++line) {
    std::string_view text(buffer.data());
    if (text.ends_with('\n')) text.remove_suffix(1);
    rating r;
    double value = 0;  // the file has zeros as 2.2e-308, which no float has
    if (!take(text, r.user) || !take(text, r.item) || !take(text, value) || !text.empty() || r.user < 0 || r.item < 0 ||
        r.user > 1'000'000 || r.item > 1'000'000 || !(std::abs(value) <= 10))
      file.fail("line " + std::to_string(line) +
                " is not a user, an item and a rating of -10 to 10, with tabs between them");
    r.value = static_cast<float>(value / 10);
    read.users = std::max(read.users, r.user + 1);
    read.items = std::max(read.items, r.item + 1);
    read.all.push_back(r);
  }
  int code = Z_OK;
  const char* const message = gzerror(in.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) file.fail(std::string("is damaged: ") + message);
  if (read.all.size() < 1000)
    file.fail("has " + std::to_string(read.all.size()) + " ratings; at least 1000 are needed");
  return read;
}

parsed_ratings make_ratings() {
  parsed_ratings made{500, 40, {}};
  std::mt19937_64 rng(30);
  const matrix tastes = draw_normal(made.users, 3, 1, rng), jokes = draw_normal(made.items, 3, 0.3F, rng);
  std::uniform_real_distribution<float> chance(0, 1), noise(-0.2F, 0.2F);
  for (Index u = 0; u < made.users; ++u)
    for (Index i = 0; i < made.items; ++i)
      if (chance(rng) < 0.6F)
        made.all.push_back({u, i, std::clamp(tastes.row(u).dot(jokes.row(i)) + noise(rng), -1.0F, 1.0F)});
  return made;
}

}  // namespace

digits_source::digits_source(const std::filesystem::path& folder)
    : digits_(folder.empty() ? lenet::digits{lenet::draw_dataset(2000, 28), lenet::draw_dataset(500, 29)}
                             : lenet::read_digits(folder, no_limit)) {}

lenet::batch digits_source::first(const lenet::dataset& from, std::size_t count) {
  std::vector<std::uint64_t> which(std::min(count, from.size()));
  std::iota(which.begin(), which.end(), std::uint64_t{0});
  return lenet::pick(from, which);
}

ratings_source::ratings_source(const std::filesystem::path& folder) {
  auto read = folder.empty() ? make_ratings() : read_ratings(folder);
  users_ = read.users, items_ = read.items, all_ = std::move(read.all);
}

std::vector<rating> ratings_source::pick(indices which) const {
  std::vector<rating> picked;
  picked.reserve(which.size());
  for (const auto i : which) picked.push_back(all_[i]);
  return picked;
}

std::vector<rating> ratings_source::evaluation() const {
  std::vector<rating> chosen;
  for (std::size_t i = 0; i < all_.size(); i += std::max<std::size_t>(8, all_.size() / 8000)) chosen.push_back(all_[i]);
  return chosen;
}

text_source::text_source(std::size_t length) : length_(length) {
  constexpr std::array names{"anna", "boris", "clara", "dmitri", "the engineer", "the captain"};
  constexpr std::array verbs{"sees", "repairs", "paints", "forgets", "carries", "sells"};
  constexpr std::array things{"a boat", "the old clock", "two lamps", "a map of the sea", "the red bicycle", "nothing"};
  constexpr std::array ends{" at noon.", " in the rain.", ", and sings.", " for clara.", "; nobody knows why.", "."};
  std::mt19937_64 rng(31);
  std::string text;
  while (text.size() < 60'000) {
    const auto any = [&](const auto& of) { return of[rng() % of.size()]; };
    text.append(any(names))
        .append(" ")
        .append(any(verbs))
        .append(" ")
        .append(any(things))
        .append(any(ends))
        .append(" ");
  }
  for (const char c : text) text_.push_back(static_cast<std::uint8_t>(c & 0x3f));
}

text_batch text_source::pick(indices which) const {
  text_batch picked;
  for (const auto i : which) {
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(i * length_);
    picked.tokens.insert(picked.tokens.end(), from, from + static_cast<std::ptrdiff_t>(length_));
    picked.next.insert(picked.next.end(), from + 1, from + 1 + static_cast<std::ptrdiff_t>(length_));
  }
  return picked;
}

text_batch text_source::evaluation() const {
  constexpr std::array<std::uint64_t, 8> which{0, 100, 200, 300, 400, 500, 600, 700};
  return pick(which);
}

}  // namespace bench::models
