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
#include "cairn/store/leaf_text.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

inline void write_leaf(json_writer& json, const stored_leaf& leaf, const leaf_storage& storage) {
  json.line().begin_object().key("path").text(leaf.path, "the path").key("dtype").text(name(leaf.type));
  write_shape(json.key("shape"), leaf.shape);
  write_layout(json, storage.layout);
  if (const auto* how = storage.encoded.get()) {
    json.key("codec").text(how->codec, "the codec's name").key("stored").natural(how->stored);
    if (how->relative) json.key("relative").natural(1);
    if (how->lost) write_loss_list(json.key("lost"), *how->lost).end_list();
  }
  if (const auto* earlier = storage.restored.get())
    write_loss_list(json.key("restored"), earlier->sum).natural(earlier->restores).end_list();
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
    fields.push_back({"dtype", dtype_form([this]() -> dtype& { return leaves_.back().type; })});
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
      const auto read = read_loss_list(lost_);
      if (!read) return "has a loss that is not two or three numbers";
      encoding().lost = read;
    }
    if (!restored_.empty()) {
      const auto restores = restored_.back();
      const auto sum = read_loss_list(std::span(restored_).first(restored_.size() - 1));
      if (!sum || !(restores >= 1 && restores < 1e15)) return "has a malformed loss of restores";
      storage.restored =
          std::make_shared<const restored_loss>(restored_loss{*sum, static_cast<std::uint64_t>(restores)});
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
