// SPDX-License-Identifier: MIT
// expect: fingerprint takes items that are numbers, structs of whole numbers without padding
#include <cstdint>
#include <functional>
#include <vector>

#include "cairn/loop.hpp"
#include "cairn/state/skip.hpp"

struct image {
  const char* pixels;
  std::uint64_t bytes;
};
struct cached {
  std::uint64_t number;
  cairn::skip<const char*> text;
};
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::number_>{}; }

 private:
  std::uint64_t number_;
  const char* text_;
};

void check(const std::vector<image*>& items) { (void)cairn::fingerprint(items); }                         // here
void check(const std::vector<std::vector<int*>>& items) { (void)cairn::fingerprint(items); }              // here
void check(const std::vector<std::reference_wrapper<image>>& items) { (void)cairn::fingerprint(items); }  // here
void check(const std::vector<image>& items) { (void)cairn::fingerprint(items); }                          // here
void check(const std::vector<cached>& items) { (void)cairn::fingerprint(items); }                         // here
void check(const std::vector<listed>& items) { (void)cairn::fingerprint(items); }                         // here
void check(const std::vector<long double>& items) { (void)cairn::fingerprint(items); }                    // here
