// The index of a checkpoint, written last: step, metrics, shards with their checksums, and which tensor is in
// which file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/checkpoint_info.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/system/json.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard.hpp"

namespace cairn {

struct index_shard {
  std::string file;
  std::uint64_t bytes = 0;            ///< of the whole file
  std::uint64_t header_checksum = 0;  ///< of everything before the data section

  friend bool operator==(const index_shard&, const index_shard&) = default;
};

struct checkpoint_index {
  std::uint64_t step = 0;
  std::map<std::string, double> metrics;
  std::uint64_t total_size = 0;  ///< bytes of all data sections
  std::vector<index_shard> shards;
  std::map<std::string, std::string, std::less<>> weight_map;  ///< tensor key -> file
  std::optional<checkpoint_ref> parent{};                      ///< of a delta
  std::optional<std::uint64_t> id{};  ///< of the values, where it is not that of the bytes: see checkpoint_id
  run_notes notes{};
};

/// Names what a checkpoint restores: the same for a delta and for what merging makes of it.
[[nodiscard]] inline std::uint64_t checkpoint_id(const checkpoint_index& index) noexcept {
  if (index.id) return *index.id;
  running_checksum sum;
  for (const auto& shard : index.shards) sum.add(std::as_bytes(std::span(&shard.header_checksum, 1)));
  return sum.value();
}

namespace detail {
inline constexpr std::string_view index_opening = "{\"metadata\":{\"checksum\":\"";
inline constexpr std::string_view zero_checksum = "0000000000000000";

[[nodiscard]] inline std::uint64_t index_checksum(std::string_view text) {
  const auto bytes = [](std::string_view part) { return std::as_bytes(std::span(part.data(), part.size())); };
  running_checksum sum;
  sum.add(bytes(index_opening));
  sum.add(bytes(zero_checksum));
  sum.add(bytes(text.substr(index_opening.size() + checksum_digits)));
  return sum.value();
}
}  // namespace detail

namespace detail {
inline void append_notes(std::string& text, const run_notes& notes) {
  text += ",\"notes\":{";
  for (const auto& [name, numbers] : notes) {
    if (text.back() != '{') text += ',';
    append_json(text, name, "the note");
    text += ":[";
    for (const double number : numbers) {
      if (text.back() != '[') text += ',';
      append_json(text, number);
    }
    text += ']';
  }
  text += '}';
}
}  // namespace detail

/// The text of index.json. Its checksum covers all of it, with its own 16 digits taken as zeros.
[[nodiscard]] inline std::string write_index(const checkpoint_index& index) {
  std::string text(detail::index_opening);
  text += detail::zero_checksum;
  text += "\",\"format\":\"cairn\",\"version\":\"";
  text += format_version;
  text += "\",\"step\":" + std::to_string(index.step) + ",\"total_size\":" + std::to_string(index.total_size);
  if (index.parent) text += ",\"parent\":" + write_parent(*index.parent);
  if (index.id) text += ",\"id\":\"" + to_hex(*index.id) + '"';
  text += ",\"metrics\":{";
  for (const auto& [key, value] : index.metrics) {
    if (text.back() != '{') text += ',';
    append_json(text, key, "the metric");
    text += ':';
    append_json(text, value);
  }
  text += '}';
  if (!index.notes.empty()) detail::append_notes(text, index.notes);
  text += ",\"shards\":[";
  for (const auto& shard : index.shards) {
    text += text.back() == '[' ? "\n{\"file\":" : ",\n{\"file\":";
    append_json(text, shard.file, "the file");
    text += ",\"bytes\":" + std::to_string(shard.bytes) + ",\"header_xxh3\":\"" + to_hex(shard.header_checksum) + "\"}";
  }
  text += "]},\n\"weight_map\":{";
  for (const auto& [key, file] : index.weight_map) {
    text += text.back() == '{' ? "\n" : ",\n";
    append_json(text, key, "the path");
    text += ':';
    append_json(text, file, "the file");
  }
  text += "}}\n";
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {std::to_string(index.weight_map.size()), " leaves are too many for one checkpoint"});
  text.replace(detail::index_opening.size(), checksum_digits, to_hex(detail::index_checksum(text)));
  return text;
}

namespace detail {

/// Builds an index from JSON events.
class index_builder {
 public:
  index_builder(std::string_view origin, checkpoint_index& index) : origin_(origin), index_(index) {}

  void operator()(const json_event& event) {
    using kind = json_event::kind;
    if (event.at_depth(0)) return;
    if (event.what == kind::close) return close(event);
    const std::string& top = event.path[0];
    if (event.at_depth(1)) {
      if (event.what != kind::open_object || (top != "metadata" && top != "weight_map")) refuse(top);
      return;
    }
    if (top == "weight_map") {
      if (!event.at_depth(2) || event.what != kind::string) refuse(top);
      index_.weight_map.emplace(event.path[1], event.text);
      return;
    }
    const std::string& field = event.path[1];
    if (field == "metrics") return metric(event);
    if (field == "notes") return note(event);
    if (field == "shards") return shard(event);
    if (field == "parent") return parent(event);
    if (!event.at_depth(2)) refuse(field);
    if (field == "version" && event.what == kind::string) {
      version = event.text;
    } else if (field == "step" && event.what == kind::natural) {
      index_.step = event.number;
    } else if (field == "total_size" && event.what == kind::natural) {
      index_.total_size = event.number;
    } else if (field == "id" && event.what == kind::string && parse_hex(event.text)) {
      index_.id = parse_hex(event.text);
    } else if (field == "step" || field == "total_size" || field == "version" || field == "id") {
      refuse(field);
    }
  }

  std::string version;

 private:
  void metric(const json_event& event) {
    using kind = json_event::kind;
    if (event.at_depth(2) && event.what == kind::open_object) return;
    if (!event.at_depth(3) || !read_real(event, index_.metrics[event.path[2]])) refuse("metrics");
  }

  void note(const json_event& event) {
    using kind = json_event::kind;
    if (event.at_depth(2) && event.what == kind::open_object) return;
    if (event.at_depth(3) && event.what == kind::open_array) return;
    if (!event.at_depth(4) || !read_real(event, numbers_.emplace_back())) refuse("notes");
  }

  /// A list of numbers gets the memory that it needs and no more: hostile text is not to be doubled.
  void close(const json_event& event) {
    if (!event.at_depth(3) || event.path[0] != "metadata" || event.path[1] != "notes") return;
    index_.notes[event.path[2]].assign(numbers_.begin(), numbers_.end());
    numbers_.clear();
  }

  void parent(const json_event& event) {
    if (event.at_depth(2) && event.what == json_event::kind::open_object) return void(index_.parent.emplace());
    if (!event.at_depth(3) || !read_parent_field(event.path[2], event, *index_.parent)) refuse("parent");
  }

  void shard(const json_event& event) {
    using kind = json_event::kind;
    if (event.at_depth(2) && event.what == kind::open_array) return;
    if (event.at_depth(3) && event.what == kind::open_object) {
      if (!index_.shards.empty() && !is_own_file(index_.shards.back().file)) refuse("shards");
      return void(index_.shards.emplace_back());
    }
    if (!event.at_depth(4) || index_.shards.empty()) refuse("shards");
    auto& shard = index_.shards.back();
    const std::string& field = event.path[3];
    const auto digits = parse_hex(event.text);
    if (field == "file" && event.what == kind::string)
      shard.file = event.text;
    else if (field == "bytes" && event.what == kind::natural)
      shard.bytes = event.number;
    else if (field == "header_xxh3" && event.what == kind::string && digits)
      shard.header_checksum = *digits;
    else
      refuse("shards");
  }

  [[noreturn]] void refuse(std::string_view field) const {
    fail(errc::corrupt, {origin_, ": malformed index at \"", field, "\""});
  }

  std::string_view origin_;
  checkpoint_index& index_;
  std::deque<double> numbers_;  // of the note that is read
};

}  // namespace detail

/// Parses and checks the text of an index; `origin` names it in messages. errc::corrupt when it is not what
/// was written, errc::unsupported when a newer version wrote it.
[[nodiscard]] inline checkpoint_index parse_index(std::string_view text, std::string_view origin) {
  const std::size_t opening = detail::index_opening.size();
  if (!text.starts_with(detail::index_opening) || text.size() < opening + checksum_digits)
    fail(errc::corrupt, {origin, ": not the index of a cairn checkpoint"});
  const auto told = parse_hex(text.substr(opening, checksum_digits));
  if (!told || *told != detail::index_checksum(text))
    fail(errc::corrupt, {origin, ": its checksum does not match: truncated or damaged"});
  checkpoint_index index;
  detail::index_builder builder(origin, index);
  read_json(text, origin, 8, std::ref(builder));
  if (index.parent && !is_checkpoint_name(index.parent->name))
    fail(errc::corrupt, {origin, ": malformed index at \"parent\""});
  if (builder.version != format_version)
    fail(errc::unsupported, {origin, ": format version \"", builder.version, "\" is not ", format_version,
                             ", the only one that this version of cairn reads"});
  for (std::size_t i = 0; i < index.shards.size(); ++i)
    if (index.shards[i].file != shard_file(i, index.shards.size()))
      fail(errc::corrupt, {origin, ": shard ", std::to_string(i), " is called \"", index.shards[i].file, "\""});
  return index;
}

/// Reads the index of a published checkpoint: all that retention and listings need, without touching the
/// shards.
[[nodiscard]] inline checkpoint_index read_index(const any_store& store, std::string_view name) {
  const auto file = store.open(name, index_file);
  const auto origin = sentence({store.location(), "/", name, "/", index_file});
  if (file->size() > max_header_bytes)
    fail(errc::corrupt, {origin, ": ", std::to_string(file->size()), " bytes are more than any index has"});
  const auto window = file->view(0, file->size());
  const auto bytes = window.bytes();
  return parse_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, origin);
}

}  // namespace cairn
