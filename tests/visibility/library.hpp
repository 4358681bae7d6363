// SPDX-License-Identifier: MIT
// What a shared library of this test does with Cairn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/fields.hpp"
#include "cairn/state/words.hpp"
#include "cairn/system/owner_process.hpp"

struct layer {
  virtual ~layer() = default;
};
struct dense : layer {
  std::vector<float> weight{1, 2, 3};
  static auto cairn_fields() { return cairn::fields<&dense::weight>{}; }
};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<cairn::named<"dense", dense>> {};
struct model {
  std::unique_ptr<layer> first;
};

/// A set of one signal.
struct notice {
  virtual ~notice() = default;
  [[nodiscard]] virtual int received() const = 0;
};

struct functions {
  std::unique_ptr<notice> (*watch)(int signal);
  void (*fail)();
  bool (*catches)(void (*fail)());
  std::unique_ptr<layer> (*make_layer)();
  std::string (*paths)(const model& state);
  cairn::detail::owner_process (*owner)();
  bool (*is_here)(const cairn::detail::owner_process& owner);
  void (*add_codec)();
  bool (*has_codec)();
};

extern "C" [[gnu::visibility("default")]] const functions* one();
extern "C" [[gnu::visibility("default")]] const functions* two();
