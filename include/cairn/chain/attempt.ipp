// SPDX-License-Identifier: MIT
// Definitions of chain/attempt.hpp.
#pragma once

#include <cstring>
#include <numeric>

#include "cairn/chain/attempt.hpp"
#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

std::string attempt::begin() {
  const auto built_on = source_.open(nullptr);
  writer_.emplace(store_, name_, source_.spec(), source_.shards(), rank_);
  return built_on + '/' + writer_->begin();
}

void attempt::join(std::string_view begun) {
  const auto slash = begun.find('/');
  const auto built_on = begun.substr(0, slash);
  static_cast<void>(source_.open(&built_on));
  writer_.emplace(store_, name_, source_.spec(), source_.shards(), rank_);
  try {
    writer_->join(begun.substr(slash + 1));
  } catch (const error& cause) {
    if (cause.code() != errc::not_found) throw;
    fail(errc::not_found,
         {cause.sentence(), ": this rank sees another place there than rank 0, or another job has taken it over"});
  }
}

void attempt::unite(std::span<const std::string> records) {
  const auto origin = sentence({store_.location(), "/", name_, ": the record of a rank"});
  for (std::size_t rank = 1; rank < records.size(); ++rank)
    own_bytes_.push_back(source_.unite(*writer_, rank, read_shard_record(records[rank], origin)));
}

published_checkpoint attempt::publish() {
  published_checkpoint made;
  const auto parent = source_.finish(made, writer_->bytes());
  made.stored = writer_->stored_bytes();
  const auto [bytes, id] = writer_->commit(parent);
  made.bytes = bytes;
  made.id = id;
  const auto first_own = made.stored.begin() + static_cast<std::ptrdiff_t>(source_.common_leaves());
  const auto own = std::accumulate(first_own, made.stored.end(), std::uint64_t{0});
  made.stored.erase(first_own, made.stored.end());
  made.stored.push_back(own);
  made.stored.insert(made.stored.end(), own_bytes_.begin(), own_bytes_.end());
  return made;
}

std::string write_published(const published_checkpoint& made) {
  std::vector<std::uint64_t> numbers{made.bytes, made.id, made.is_delta, made.stored.size()};
  numbers.insert(numbers.end(), made.stored.begin(), made.stored.end());
  std::string text(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]);
  return made.lost.empty() ? text : text + write_losses(made.lost);
}

published_checkpoint read_published(std::string_view text) {
  constexpr std::string_view origin = "what rank 0 has published";
  const auto take = [&](std::span<std::uint64_t> numbers) {
    if (text.size() / sizeof numbers[0] < numbers.size()) fail(errc::corrupt, {origin, ": the text is too short"});
    if (!numbers.empty()) std::memcpy(numbers.data(), text.data(), numbers.size_bytes());
    text.remove_prefix(numbers.size_bytes());
  };
  std::uint64_t head[4];  // bytes, id, is_delta, and how many `stored` follow
  take(head);
  published_checkpoint made{.bytes = head[0], .id = head[1], .is_delta = head[2] != 0};
  if (head[3] > text.size() / sizeof head[0]) fail(errc::corrupt, {origin, ": the text is too short"});
  made.stored.resize(head[3]);
  take(made.stored);
  if (!text.empty()) made.lost = read_losses(text, origin);
  return made;
}

}  // namespace cairn::inline v0_1::detail
