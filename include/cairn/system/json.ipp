// SPDX-License-Identifier: MIT
// Definitions of json.hpp.
#pragma once

#include <bit>
#include <new>

// RapidJSON's empty stack adds to a null pointer, which is harmless and which clang's sanitizer would report to users.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/writer.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// RapidJSON's allocator, which throws where there is no memory.
struct checked_heap {
  static const bool kNeedFree = true;

  static void* Malloc(std::size_t bytes) { return Realloc(nullptr, 0, bytes); }
  static void* Realloc(void* old, std::size_t /*old_bytes*/, std::size_t bytes) {
    if (bytes == 0) return Free(old), nullptr;
    void* const memory = std::realloc(old, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  static void Free(void* memory) noexcept { std::free(memory); }
};

/// RapidJSON's parser calls this for a value that `scalar` asks for.
struct json_reader::scalars : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, json_reader::scalars> {
  // The name is RapidJSON's. Numbers come here, too.
  bool String(const char* at, rapidjson::SizeType length, bool /*copy*/) { return text = {at, length}, true; }

  std::string_view text;
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, checked_heap> reader;
};

json_reader::json_reader(std::string_view text, std::string_view origin)
    : text_(text),
      origin_(origin),
      scalars_(std::make_unique<scalars>()),
      strings_left_(text.size() / (least_listed_bytes + 1)) {
  if (text.empty() || text.front() != '{') fail(errc::corrupt, {origin, ": JSON that does not begin with \"{\""});
  if (text.find('\0') != text.npos) fail(errc::corrupt, {origin, ": malformed JSON: a zero byte"});
}
json_reader::~json_reader() = default;

char json_reader::peek() {
  for (; at_ < text_.size(); ++at_)
    if (const char c = text_[at_]; c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
  return '\0';
}

bool json_reader::passes(char c) { return peek() == c && ++at_ != 0; }

std::string_view json_reader::scalar() {
  constexpr unsigned flags =
      rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream in(text_.data() + at_, text_.size() - at_);
  const auto result = scalars_->reader.Parse<flags>(in, *scalars_);
  if (result.IsError()) refuse_json(at_ + result.Offset());
  at_ += in.Tell();
  return scalars_->text;
}

std::string_view json_reader::text() {
  if (peek() != '"') refuse("is not a string", depth_);
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };  // nothing to decode
  const auto begin = at_ + 1;
  auto end = begin;
  while (end < text_.size() && is_plain(text_[end])) ++end;
  if (end == text_.size() || text_[end] != '"') return scalar();
  at_ = end + 1;
  return text_.substr(begin, end - begin);
}

std::uint64_t json_reader::natural() {
  static_cast<void>(peek());
  const auto begin = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  std::uint64_t number = 0;
  const bool is_real = at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E');
  if (is_real || !read_number(text_.substr(begin, at_ - begin), number))
    refuse("is not an integer from 0 to 2^64 - 1", depth_);
  if (text_[begin] == '0' && at_ > begin + 1) refuse_json(begin);
  return number;
}

bool json_reader::flag() {
  const auto number = natural();
  if (number > 1) refuse("is neither 0 nor 1", depth_);
  return number == 1;
}

void json_reader::real(double& to) {
  const bool is_text = peek() == '"', is_number = peek() == '-' || (peek() >= '0' && peek() <= '9');
  const auto text = is_text || is_number ? scalar() : std::string_view();
  if (is_number && !read_number(text, to)) refuse("is out of range: " + std::string(text), depth_);
  if (is_number) return;
  if (text == "nan")
    to = std::bit_cast<double>(quiet_nan_bits);
  else if (text == "inf")
    to = std::bit_cast<double>(double_exponent_bits);
  else if (text == "-inf")
    to = std::bit_cast<double>(double_exponent_bits | double_sign_bit);
  else
    refuse("is not a number", depth_);
}

void json_reader::element(std::string& to) {
  if (strings_left_-- == 0) refuse("has more keys than the file has room for", depth_);
  value(to);
}

void json_reader::open(char bracket, std::string_view kind) {
  if (!passes(bracket)) refuse(sentence({"is not ", kind}), depth_);
  if (depth_ == max_json_depth) fail(errc::corrupt, {origin_, ": JSON nested deeper than ", max_json_depth, " levels"});
  auto& opened = levels_[depth_++];
  opened = {.key = std::move(opened.key)};
  opened.key.clear();
}

bool json_reader::end_list(bool is_first) {
  if (passes(']')) return --depth_, true;
  if (!is_first && !passes(',')) refuse_json(at_);
  return false;
}

void json_reader::next_key(bool is_first) {
  auto& now = levels_[depth_ - 1];
  now.has_next = false;
  if (passes('}')) return;
  if ((!is_first && !passes(',')) || peek() != '"') refuse_json(at_);
  now.key = text();
  if (!passes(':')) refuse_json(at_);
  now.has_next = true;
}

bool json_reader::is_next(std::string_view name, bool is_required) {
  auto& now = levels_[depth_ - 1];
  const auto bit = std::uint64_t{1} << now.fields++;
  if (now.has_next && now.key == name) {
    if ((now.seen & bit) != 0) refuse_key();
    now.seen |= bit;
    return now.is_read = true;
  }
  if (is_required && (now.seen & bit) == 0) {
    if (now.is_last_pass) refuse(sentence({"lacks \"", name, "\""}), depth_ - 1);
    now.lacks_some = true;
  }
  return false;
}

const std::string* json_reader::next_other() {
  auto& now = levels_[depth_ - 1];
  if (now.is_read || !now.has_next) return nullptr;  // the next pass asks the named fields first
  now.is_read = true;
  return &now.key;
}

bool json_reader::end_object() {
  auto& now = levels_[depth_ - 1];
  if (now.has_next && !now.is_read) refuse(sentence({"has the unknown field \"", now.key, "\""}), depth_ - 1);
  if (!now.has_next && (!now.lacks_some || now.is_last_pass)) return --depth_, true;
  now.is_last_pass = !now.has_next;
  now.is_read = now.lacks_some = false;
  now.fields = 0;
  return false;
}

void json_reader::ignore_others() {
  if (next_other() == nullptr) return;
  skip();
  next_key(false);
}

void json_reader::skip() {
  const char next = peek();
  if (next == '{') return object([&] { ignore_others(); });
  if (next == '[') return static_cast<void>(list(0, [&](std::size_t) { skip(); }));
  static_cast<void>(scalar());
}

void json_reader::end() {
  if (!ignores_rest_ && peek() != '\0') refuse_json(at_);
}

void json_reader::refuse(std::string_view fault, std::size_t levels, errc code) const {
  std::string where;
  for (std::size_t i = 0; i < levels; ++i)
    if (!levels_[i].key.empty()) where += sentence({where.empty() ? "\"" : ", \"", levels_[i].key, "\""});
  fail(code, {origin_, ": ", where.empty() ? "it" : where, " ", fault});
}

void json_reader::refuse_key() const {
  fail(errc::corrupt, {origin_, ": the key \"", levels_[depth_ - 1].key, "\" appears twice"});
}

void json_reader::refuse_json(std::size_t at) const { fail(errc::corrupt, {origin_, ": malformed JSON at byte ", at}); }

struct json_stream {
  using Ch = char;

  std::string text;
  bool line_pending = false;

  void Put(char c) {
    if (line_pending && c != ',') {
      text += '\n';
      line_pending = false;
    }
    text += c;
  }
  void Flush() {}
};

/// RapidJSON's writer with our text of strings and numbers, part of the format: the same state gives the same bytes.
class json_writer::output : public rapidjson::Writer<json_stream, rapidjson::UTF8<>, rapidjson::UTF8<>, checked_heap> {
 public:
  output() : Writer(stream) {}

  /// False when `value` is not UTF-8. Escapes `"`, `\` and control characters, these by their numbers.
  bool string(std::string_view value, std::size_t least_bytes) {
    Prefix(rapidjson::kStringType);
    const auto begin = stream.text.size();
    stream.Put('"');
    for (rapidjson::MemoryStream in(value.data(), value.size()); in.Tell() < value.size();) {
      const auto c = static_cast<unsigned char>(*in.src_);
      if (c >= 0x20) {
        if (c == '"' || c == '\\') stream.Put('\\');
        if (!rapidjson::UTF8<>::Validate(in, stream)) return false;
      } else {
        in.Take();
        stream.text += {'\\', 'u', '0', '0', static_cast<char>('0' + (c >> 4U)), "0123456789abcdef"[c & 15U]};
      }
    }
    stream.Put('"');
    const auto bytes = stream.text.size() - begin;
    if (bytes < least_bytes) stream.text.append(least_bytes - bytes, ' ');
    return true;
  }

  json_stream stream;
};

json_writer::json_writer() : output_(std::make_unique<output>()) {}
json_writer::~json_writer() = default;

json_writer& json_writer::begin_object() { return output_->StartObject(), *this; }
json_writer& json_writer::end_object() { return output_->EndObject(), *this; }
json_writer& json_writer::begin_list() { return output_->StartArray(), *this; }
json_writer& json_writer::end_list() { return output_->EndArray(), *this; }

json_writer& json_writer::text(std::string_view value, std::string_view field, std::size_t least_bytes) {
  if (!output_->string(value, least_bytes))
    fail(errc::invalid, {field, field.empty() ? "\"" : ": \"", value, "\" is not valid UTF-8 and cannot be stored"});
  return *this;
}

json_writer& json_writer::natural(std::uint64_t value) { return output_->Uint64(value), *this; }

json_writer& json_writer::real(const double& value) {
  if (is_nan(value)) return text("nan");
  if (is_infinite(value)) return text(is_negative(value) ? "-inf" : "inf");
  char digits[32];
  return number({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
}

json_writer& json_writer::number(std::string_view digits) {
  return output_->RawValue(digits.data(), digits.size(), rapidjson::kNumberType), *this;
}

json_writer& json_writer::line() { return output_->stream.line_pending = true, *this; }

std::string json_writer::take() { return std::move(output_->stream.text); }

std::string to_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto length = utf8_bytes(text);
    valid += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace cairn::inline v0_1::detail
