// SPDX-License-Identifier: MIT
// Definitions of random.hpp.
#pragma once

#include <cstdlib>
#include <exception>
#include <locale>
#include <sstream>
#include <string_view>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/random.hpp"

namespace cairn::inline v0_1::detail {

inline std::string random_text(const void* object, const random_operations& how) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  how.write(text, object);
  return std::move(text).str();
}

/// Whether `fresh` reads the text, and then writes the same one.
inline bool reads_back(const std::string& from, void* fresh, const random_operations& how) {
  const auto has = [&](std::string_view part) { return from.find(part) != from.npos; };
  if (how.is_distribution && (has("inf") || has("nan"))) return false;
  if (how.has_weights && std::strtoull(from.c_str(), nullptr, 10) > from.size()) return false;
  for (const char* const after : {"", " "}) {  // engines of Boost fail if no space follows the last number
    std::istringstream text(from + after);
    text.imbue(std::locale::classic());
    how.read(text, fresh);
    if (text) return how.can_draw(fresh) && random_text(fresh, how) == from;
  }
  return false;
}

std::string write_random(const void* object, void* fresh, const random_operations& how) {
  std::string text = random_text(object, how);
  if (!reads_back(text, fresh, how) || !how.equal(object, fresh))
    fail(errc::invalid,
         {"this random engine or distribution cannot be saved: its text, '", std::string_view(text).substr(0, 200),
          "', does not read back to the same object; save the parameters that you make it from"});
  return text;
}

void read_random(const std::string& from, void* fresh, const random_operations& how) {
  try {
    if (reads_back(from, fresh, how)) return;
  } catch (const std::exception&) {  // what the operator >> of a user throws
  }
  fail_random();
}

void fail_dead_engine() {
  fail(errc::invalid,
       {"this random engine cannot be saved: from its words, such as only zeros, it draws one number for "
        "ever; seed it"});
}

void fail_random() {
  fail(errc::mismatch, {"has a value in the checkpoint that is not that of this random engine or distribution: make it "
                        "the type that was saved, or leave it out with filter"});
}

}  // namespace cairn::inline v0_1::detail
