// SPDX-License-Identifier: MIT
// Definitions of shard_record.hpp.
#pragma once

#include <memory>
#include <utility>

#include "cairn/store/leaf_text.hpp"
#include "cairn/store/shard_record.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

template <class Io>
void describe(Io& io, described<Io, leaf>& of) {
  maybe<Io, box_place> place{};
  if constexpr (!Io::reads) place = of.place.get();
  io.object([&] {
    io.field("path", of.path);
    io.field("dtype", of.type);
    io.field("shape", [&] { describe_shape(io, of.shape); });
    io.part("first", place, &box_place::first);
    io.part("whole", place, &box_place::whole);
  });
  if constexpr (Io::reads)
    if (place) of.place = std::make_shared<const box_place>(std::move(*place));
}

/// The encodings, each with the number of its leaf.
template <class Io>
void describe_encodings(Io& io, described<Io, std::map<std::size_t, leaf_encoding>>& all) {
  auto at = all.begin();
  io.list(all.size(), [&](std::size_t) {
    std::size_t leaf = 0;
    maybe<Io, leaf_encoding> how{};
    if constexpr (!Io::reads) {
      leaf = at->first;
      how = &(at++)->second;
    }
    io.object([&] {
      io.field("leaf", leaf);
      describe_encoding(io, how);
    });
    if constexpr (Io::reads) all.insert_or_assign(leaf, std::move(how).value_or(leaf_encoding{}));
  });
}

template <class Io>
void describe(Io& io, described<Io, shard_record>& record) {
  io.object([&] {
    io.field("shards", record.shards);
    io.field("data", record.data_bytes);
    io.field("encoded", [&] { describe_encodings(io, record.encoded); });
    io.field("own", record.own);
    io.field("structure", record.own_structure);
    io.field("sample", record.sample);
  });
}

std::string write_shard_record(const shard_record& record) { return to_json(record); }

shard_record read_shard_record(std::string_view text, std::string_view origin) {
  return from_json<shard_record>(text, origin);
}

std::string write_losses(const std::map<std::string, loss>& lost) { return to_json(lost); }

std::map<std::string, loss> read_losses(std::string_view text, std::string_view origin) {
  return from_json<std::map<std::string, loss>>(text, origin);
}

}  // namespace cairn::inline v0_1::detail
