// SPDX-License-Identifier: MIT
// The leaves in the text of an index: written, and read from untrusted text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/store/layout_text.hpp"
#include "cairn/store/leaf_storage.hpp"
#include "cairn/store/shape_text.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

inline void write_leaf(json_writer& json, const stored_leaf& leaf, const leaf_storage& storage) {
  json.line().begin_object().key("path").text(leaf.path, "the path").key("dtype").text(name(leaf.type));
  write_shape(json.key("shape"), leaf.shape);
  write_layout(json, storage.layout);
  const auto write_loss = [&](std::string_view key, const loss& lost) -> json_writer& {
    return json.key(key).begin_list().real(lost.max_error).real(lost.relative_l2);
  };
  if (const auto* how = storage.encoded.get()) {
    json.key("codec").text(how->codec, "the codec's name").key("stored").natural(how->stored);
    if (how->relative) json.key("relative").natural(1);
    if (how->lost) write_loss("lost", *how->lost).end_list();
  }
  if (const auto* earlier = storage.restored.get())
    write_loss("restored", earlier->sum).natural(earlier->restores).end_list();
  json.end_object();
}

/// Reads the leaves of an index.
class leaf_reader {
 public:
  /// Appends the leaves and how they are stored.
  leaf_reader(std::vector<stored_leaf>& leaves, std::vector<leaf_storage>& storage)
      : leaves_(leaves), storage_(storage) {}

  [[nodiscard]] json_form form() {
    std::vector<json_field> fields = layout_.fields();
    fields.push_back({"path", json_text([this](const json_value& path) { leaves_.back().path = path.text; })});
    fields.push_back({"dtype", json_text([this](const json_value& type) {
                        const auto parsed = parse_dtype(type.text);
                        leaves_.back().type = parsed.value_or(dtype::u8);
                        return parsed ? "" : "is not a known dtype";
                      })});
    fields.push_back({"shape", shape_form([this]() -> extents& { return leaves_.back().shape; })});
    fields.push_back({"codec", json_text([this](const json_value& codec) {
                        encoding().codec = codec.text;
                        return codec.text.empty() ? "is empty" : "";
                      }),
                      false});
    fields.push_back(
        {"stored", json_natural([this](const json_value& bytes) { encoding().stored = bytes.natural; }), false});
    fields.push_back({"relative", json_natural([this](const json_value& flag) {
                        encoding().relative = flag.natural == 1;
                        return flag.natural > 1 ? "is neither 0 nor 1" : "";
                      }),
                      false});
    fields.push_back(
        {"lost", json_list(json_real([this](const json_value& error) { lost_.push_back(error.real); })), false});
    fields.push_back({"restored",
                      json_list(json_real([this](const json_value& error) { restored_.push_back(error.real); })),
                      false});
    return json_list(json_object(
        std::move(fields), [this](std::string_view) { open(); }, [this](std::string_view) { return close(); }));
  }

 private:
  [[nodiscard]] leaf_encoding& encoding() { return encoded_ ? *encoded_ : encoded_.emplace(); }

  void open() {
    leaves_.emplace_back();
    storage_.emplace_back();
    layout_.clear();
    encoded_.reset();
    lost_.clear();
    restored_.clear();
  }

  [[nodiscard]] std::string close() {
    auto& storage = storage_.back();
    if (leaves_.size() > 1 && leaves_[leaves_.size() - 2].path >= leaves_.back().path)
      return "does not have a path above that of the leaf before";
    if (!lost_.empty()) {
      if (lost_.size() != 2) return "has a loss that is not two numbers";
      encoding().lost = loss{lost_[0], lost_[1]};
    }
    if (!restored_.empty()) {
      if (restored_.size() != 3 || !(restored_[2] >= 1 && restored_[2] < 1e15))
        return "has a malformed loss of restores";
      storage.restored = std::make_shared<const restored_loss>(
          restored_loss{{restored_[0], restored_[1]}, static_cast<std::uint64_t>(restored_[2])});
    }
    if (encoded_) {
      if (encoded_->codec.empty()) return "is encoded by no codec";
      storage.encoded = std::make_shared<const leaf_encoding>(std::move(*encoded_));
    }
    return std::string(layout_.take(storage.layout));
  }

  std::vector<stored_leaf>& leaves_;
  std::vector<leaf_storage>& storage_;
  layout_reader layout_;
  std::optional<leaf_encoding> encoded_;
  std::vector<double> lost_, restored_;
};

}  // namespace cairn::inline v0_1::detail
