// SPDX-License-Identifier: MIT
// Definitions of leaf_text.hpp.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "cairn/store/leaf_text.hpp"

namespace cairn::inline v0_1::detail {

void write_layout(json_writer& json, const leaf_layout& layout) {
  if (layout.cuts == nullptr) return static_cast<void>(json.key("shard").natural(layout.shard));
  if (const auto* runs = std::get_if<run_layout>(layout.cuts.get())) {
    json.key("runs").begin_list();
    for (const auto& [shard, first] : runs->starts) json.natural(shard).natural(first);
  } else if (const auto* grid = std::get_if<grid_layout>(layout.cuts.get())) {
    json.key("grid").begin_list();
    for (const auto& cuts : grid->cuts) write_shape(json, cuts);
    json.end_list().key("shards").begin_list();
    for (const auto& [first, count, stride] : grid->shards) write_shape(json, {first, count, stride});
  } else {
    json.key("boxes").begin_list();
    for (const auto& [shard, part] : std::get<box_layout>(*layout.cuts).boxes) {
      json.begin_list().natural(shard);
      for (const auto n : part.first) json.natural(n);
      for (const auto n : part.shape) json.natural(n);
      json.end_list();
    }
  }
  json.end_list();
}

json_form layout_reader::form_of(rows& into) {
  const auto close = [&into](std::string_view) {
    const auto width = into.numbers.size() - into.count * into.width;
    into.is_even = into.is_even && (into.count == 0 || width == into.width);
    if (into.count++ == 0) into.width = width;
    return into.is_even && width > 0 ? "" : "has lists of different lengths, or empty ones";
  };
  return json_list(
      json_list(json_natural([&into](const json_value& number) { into.numbers.push_back(number.natural); }), {}, close),
      [&into](std::string_view) { into.is_there = true; });
}

std::vector<json_field> layout_reader::fields() {
  const auto add_cut = [this](const json_value& number) {
    if (grid_.size() > max_dimensions) return "has more than 64 dimensions";
    grid_.back().push_back(number.natural);
    return "";
  };
  const auto open_dimension = [this](std::string_view) {
    if (grid_.size() <= max_dimensions) grid_.emplace_back();
  };
  return {{"shard", json_natural([this](const json_value& number) { shard_ = number.natural; }), false},
          {"runs",
           json_list(json_natural([this](const json_value& number) { runs_.push_back(number.natural); }),
                     [this](std::string_view) { has_runs_ = true; }),
           false},
          {"grid",
           json_list(json_list(json_natural(add_cut), open_dimension), [this](std::string_view) { has_grid_ = true; }),
           false},
          {"shards", form_of(shards_), false},
          {"boxes", form_of(boxes_), false}};
}

std::string_view layout_reader::take(leaf_layout& to) {
  constexpr std::string_view malformed = "does not say in one way where the leaf is";
  const int ways = int{shard_.has_value()} + int{has_runs_} + int{has_grid_} + int{boxes_.is_there};
  if (ways != 1 || shards_.is_there != has_grid_) return malformed;
  to.cuts = nullptr;
  if (shard_) return to.shard = *shard_, "";
  if (has_runs_) {
    if (runs_.size() % 2 != 0) return malformed;
    run_layout made;
    made.starts.reserve(runs_.size() / 2);
    for (std::size_t i = 0; i < runs_.size(); i += 2) made.starts.push_back({runs_[i], runs_[i + 1]});
    return to.cuts = std::make_shared<const leaf_cuts>(std::move(made)), "";
  }
  if (has_grid_) {
    grid_layout made{std::move(grid_), {}};
    if (shards_.count != 0 && shards_.width != 3) return malformed;
    made.shards.reserve(shards_.count);
    for (std::size_t i = 0; i < shards_.numbers.size(); i += 3)
      made.shards.push_back({shards_.numbers[i], shards_.numbers[i + 1], shards_.numbers[i + 2]});
    return to.cuts = std::make_shared<const leaf_cuts>(std::move(made)), "";
  }
  if (boxes_.width % 2 != 1 || boxes_.width < 5) return malformed;
  box_layout made;
  made.boxes.reserve(boxes_.count);
  const auto dimensions = static_cast<std::ptrdiff_t>(boxes_.width / 2);
  for (auto at = boxes_.numbers.begin(); at != boxes_.numbers.end(); at += 2 * dimensions + 1)
    made.boxes.emplace_back(*at, box{{at + 1, at + 1 + dimensions}, {at + 1 + dimensions, at + 1 + 2 * dimensions}});
  return to.cuts = std::make_shared<const leaf_cuts>(std::move(made)), "";
}

}  // namespace cairn::inline v0_1::detail
