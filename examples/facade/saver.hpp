// SPDX-License-Identifier: MIT
// What a trainer in C++14 or C++17 sees of Cairn. It names no type of Cairn, so only
// saver.cpp needs C++20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

class saver {
 public:
  /// Saves the engine and the step, too. Both must live longer than this.
  saver(const std::string& directory, std::mt19937& rng, std::uint64_t& step);
  ~saver();

  /// An array that other code owns. Call it again when the array has moved or has
  /// another size.
  void array(const std::string& name, float* values, std::size_t size);

  bool restore();  ///< false: there is no checkpoint yet
  /// saves if a save is due. True: a signal came, and the state is saved
  bool step();
  void save();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};
