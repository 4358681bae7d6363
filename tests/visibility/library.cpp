// SPDX-License-Identifier: MIT
// A shared library that contains Cairn, and is compiled with -fvisibility=hidden. CAIRN_LIBRARY names its functions.
#include "visibility/library.hpp"

#include "cairn/encode/choice.hpp"
#include "cairn/signals.hpp"
#include "cairn/state/describe.hpp"

namespace {

struct watched final : notice {
  explicit watched(int signal) : signals{signal} {}
  [[nodiscard]] int received() const override { return signals.number(); }
  cairn::signals signals;
};

const functions all{[](int signal) -> std::unique_ptr<notice> { return std::make_unique<watched>(signal); },
                    [] { cairn::fail(cairn::errc::not_found, {"nothing"}); },
                    [](void (*fail)()) {
                      try {
                        fail();
                      } catch (const cairn::error& failure) {
                        return failure.code() == cairn::errc::not_found;
                      } catch (...) {
                      }
                      return false;
                    },
                    []() -> std::unique_ptr<layer> { return std::make_unique<dense>(); },
                    [](const model& state) {
                      std::string paths;
                      for (const auto& leaf : cairn::detail::describe(state).leaves) paths += leaf.path + " ";
                      return paths;
                    },
                    [] { return cairn::detail::owner_process(); },
                    [](const cairn::detail::owner_process& owner) { return owner.is_here(); },
                    [] {
                      static const cairn::detail::known_codec added(
                          "added", [] { return cairn::any_codec(cairn::codecs::raw{}); });
                    },
                    [] { return cairn::detail::known_codec::find("added") != nullptr; }};

}  // namespace

const functions* CAIRN_LIBRARY() { return &all; }
