// SPDX-License-Identifier: MIT
// Definitions of copies.hpp, container_copies.hpp and random.hpp.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <locale>
#include <sstream>

#include "cairn/core/float_environment.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/copies.hpp"

namespace cairn::inline v0_1::detail {

void check_bits(std::size_t size, std::size_t stored) {
  if (size != stored)
    fail(errc::mismatch, {"has ", stored, " bits in the checkpoint and ", size,
                          " in the state; make it a bitset of that size, or leave it out with filter"});
}

void text_column::add(std::string_view value) {
  text += value;
  ends.push_back(text.size());
}

std::string_view text_column::at(std::size_t i) const {
  const std::uint64_t begin = i == 0 ? 0 : ends[i - 1], end = ends[i];
  if (end < begin || end > text.size())
    fail(errc::mismatch,
         {"has a text and ends in the checkpoint that are no list of strings; leave them out with filter"});
  return std::string_view(text).substr(begin, end - begin);
}

void sort_pointers(std::vector<const void*>& all, bool (*less)(const void*, const void*)) {
  std::vector<std::pair<const void*, std::size_t>> numbered;
  numbered.reserve(all.size());
  for (const auto* each : all) numbered.emplace_back(each, numbered.size());
  std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
    if (less(a.first, b.first)) return true;
    return !less(b.first, a.first) && a.second < b.second;
  });
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = numbered[i].first;
}

void check_limits(const size_limits& limits, std::uint64_t stored) {
  const bool few = stored < limits.least;
  if (few || stored > limits.most)
    fail(errc::mismatch, {"has ", stored, " elements in the checkpoint, and in the state it can have ",
                          few ? "no fewer than " : "at most ", few ? limits.least : limits.most,
                          few || limits.makes_elements ? "" : ", since their type has no default constructor",
                          few                     ? "; give it that size before the load"
                          : limits.makes_elements ? "; give it more room"
                                                  : "; make them before the load",
                          ", or leave it out with filter"});
}

void fail_order() { fail(errc::mismatch, {order_is_null}); }

void check_distinct(std::size_t size, std::size_t stored) {
  if (size != stored)
    fail(errc::mismatch,
         {"has ", stored, " keys or elements in the checkpoint, of which the container in the state takes ", size,
          ", as some are equal; a vector, a multiset or a multimap takes them all, or leave them out with filter"});
}

void check_columns(std::size_t keys, std::size_t values) {
  if (keys != values)
    fail(errc::mismatch, {"has ", keys, " keys and ", values,
                          " values in the checkpoint, so it is no map there; leave it out with filter"});
}

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
  const default_float_environment rounds_to_nearest;
  std::string text = random_text(object, how);
  if (!reads_back(text, fresh, how) || !how.equal(object, fresh))
    fail(errc::invalid,
         {"this random engine or distribution cannot be saved: its text, '", std::string_view(text).substr(0, 200),
          "', does not read back to the same object; save the parameters that you make it from"});
  return text;
}

void read_random(const std::string& from, void* fresh, const random_operations& how) {
  const default_float_environment rounds_to_nearest;
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
