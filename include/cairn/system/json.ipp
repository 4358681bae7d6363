// SPDX-License-Identifier: MIT
// Definitions of json.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
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

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/number_text.hpp"

namespace cairn::inline v0_1::detail {

/// RapidJSON's parser calls this for each value. Compares the value with the form that is expected there, and uses it.
class json_reader {
 public:
  json_reader(std::string_view origin, const json_form& root) : origin_(origin), root_(root) {
    path_.reserve(max_json_depth);
  }

  // The names are RapidJSON's.
  bool Null() { return other(); }
  bool Bool(bool /*value*/) { return other(); }
  bool Int(int /*value*/) { return false; }  // numbers come as RawNumber
  bool Int64(std::int64_t /*value*/) { return false; }
  bool Uint(unsigned /*value*/) { return false; }
  bool Uint64(std::uint64_t /*value*/) { return false; }
  bool Double(double /*value*/) { return false; }

  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const auto& form = expected();
    json_value value{key(), {}, 0, 0};
    const bool is_natural = read_number({text, length}, value.natural);
    value.real = static_cast<double>(value.natural);
    if (!is_natural && !read_number({text, length}, value.real))
      malformed("is out of range: " + std::string(text, length), path_.size());
    if (form.what == kind::real || (form.what == kind::natural && is_natural)) return take(form, value);
    return mismatch(form);
  }

  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const auto& form = expected();
    json_value value{key(), {text, length}, 0, 0};
    if (form.what == kind::text) return take(form, value);
    if (form.what != kind::real) return mismatch(form);
    if (value.text == "nan")
      value.real = std::bit_cast<double>(quiet_nan_bits);
    else if (value.text == "inf")
      value.real = std::bit_cast<double>(double_exponent_bits);
    else if (value.text == "-inf")
      value.real = std::bit_cast<double>(double_exponent_bits | double_sign_bit);
    else
      return mismatch(form);
    return take(form, value);
  }

  bool StartObject() { return open(kind::object); }
  bool EndObject(rapidjson::SizeType /*members*/) { return close(); }
  bool StartArray() { return open(kind::list); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return close(); }

  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    auto& [form, name, next, seen, was_last] = path_.back();
    if (was_last) return false;  // which ends the parser
    name.assign(text, length);
    const auto& fields = form->fields;
    const auto at = std::find_if(fields.begin(), fields.end(), [&](const json_field& f) { return f.name == name; });
    bool is_first = false;
    if (at != fields.end()) {
      const auto bit = std::uint64_t{1} << static_cast<unsigned>(at - fields.begin());
      is_first = (seen & bit) == 0;
      seen |= bit;
      next = &at->form;
      was_last = at->last;
    } else {
      next = form->what == kind::ignored ? form : form->others.get();
      if (next == nullptr) malformed("has the unknown field \"" + name + "\"", path_.size() - 1);
      is_first = !form->add || form->add(name);
    }
    if (!is_first) fail(errc::corrupt, {origin_, ": the key \"", name, "\" appears twice"});
    return true;
  }

 private:
  using kind = json_form::kind;

  /// An open list or object.
  struct level {
    const json_form* form;
    std::string key;        // of the present field
    const json_form* next;  // what the next value has to be
    std::uint64_t seen;     // bit i: field number i has been there
    bool was_last;          // the present field is the last one to be read
  };

  [[nodiscard]] const json_form& expected() const { return path_.empty() ? root_ : *path_.back().next; }
  [[nodiscard]] std::string_view key() const { return path_.empty() ? std::string_view() : path_.back().key; }

  bool take(const json_form& form, const json_value& value) {
    if (const auto wrong = form.take(value); !wrong.empty()) malformed(wrong, path_.size());
    return true;
  }

  bool other() { return mismatch(expected()); }

  /// A value of another kind than expected.
  bool mismatch(const json_form& form) const {
    static constexpr std::string_view kinds[] = {"a string", "an integer from 0 to 2^64 - 1", "a number", "a list",
                                                 "an object"};
    if (form.what != kind::ignored) malformed(sentence({"is not ", kinds[static_cast<int>(form.what)]}), path_.size());
    return true;
  }

  bool open(kind what) {
    const auto& form = expected();
    if (form.what != what) mismatch(form);
    if (path_.size() == max_json_depth)
      fail(errc::corrupt, {origin_, ": JSON nested deeper than ", max_json_depth, " levels"});
    if (form.open) form.open(key());
    const auto* next = form.what == kind::ignored ? &form : form.others.get();
    path_.push_back({&form, {}, next, 0, false});
    return true;
  }

  bool close() {
    const auto& [form, name, next, seen, was_last] = path_.back();
    for (std::size_t i = 0; i < form->fields.size(); ++i)
      if (form->fields[i].required && (seen >> i & 1U) == 0)
        malformed(sentence({"lacks \"", form->fields[i].name, "\""}), path_.size() - 1);
    const auto& closed = *form;
    path_.pop_back();
    if (!closed.close) return true;
    if (const auto wrong = closed.close(key()); !wrong.empty()) malformed(wrong, path_.size());
    return true;
  }

  /// `levels`: the number of open containers whose keys name the wrong value.
  [[noreturn]] void malformed(std::string_view why, std::size_t levels) const {
    std::string where;
    for (std::size_t i = 0; i < levels; ++i)
      if (path_[i].form->what != kind::list) where += sentence({where.empty() ? "\"" : ", \"", path_[i].key, "\""});
    fail(errc::corrupt, {origin_, ": ", where.empty() ? "it" : where, " ", why});
  }

  std::string_view origin_;
  const json_form& root_;
  std::vector<level> path_;
};

/// The memory of RapidJSON, which does not look whether it has got any.
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

void read_json(std::string_view text, std::string_view origin, const json_form& root) {
  if (text.empty() || text.front() != '{') fail(errc::corrupt, {origin, ": JSON that does not begin with \"{\""});
  if (text.find('\0') != text.npos) fail(errc::corrupt, {origin, ": malformed JSON: a zero byte"});
  json_reader handler(origin, root);
  rapidjson::MemoryStream stream(text.data(), text.size());
  constexpr unsigned flags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  if (rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, checked_heap> reader;
      reader.Parse<flags>(stream, handler).IsError() &&
      reader.GetParseErrorCode() != rapidjson::kParseErrorTermination)  // that is by the handler, after the last field
    fail(errc::corrupt, {origin, ": malformed JSON at byte ", reader.GetErrorOffset()});
}

/// RapidJSON's output stream: text that grows.
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

/// RapidJSON's writer with our own text of strings and numbers, which is part of the format: the same state gives the same bytes.
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

json_writer& json_writer::text(std::string_view value, std::string_view what, std::size_t least_bytes) {
  if (!output_->string(value, least_bytes))
    fail(errc::invalid, {what, " \"", value, "\" is not valid UTF-8 and cannot be stored"});
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

json_form json_list(json_form element, json_form::at_open open, json_form::at_close close) {
  json_form form{json_form::kind::list, {}, std::move(open), std::move(close), {}, {}, {}};
  form.others = std::make_shared<const json_form>(std::move(element));
  return form;
}

json_form json_object(std::vector<json_field> fields, json_form::at_open open, json_form::at_close close) {
  return {json_form::kind::object, {}, std::move(open), std::move(close), {}, std::move(fields), {}};
}

json_form json_map(json_form value, json_form::at_key add) {
  auto form = json_list(std::move(value));
  form.what = json_form::kind::object;
  form.add = std::move(add);
  return form;
}

}  // namespace cairn::inline v0_1::detail
