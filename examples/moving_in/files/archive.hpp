// SPDX-License-Identifier: MIT
// How the old program wrote its state to a file, and read it.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../training.hpp"

// [archive]
template <class T>
void write(std::ostream& file, const T& value) {
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void read(std::istream& file, T& value) {
  file.read(reinterpret_cast<char*>(&value), sizeof value);
}

inline void write_state(std::ostream& file, const trainer& of) {
  write(file, of.step);
  write(file, of.smooth_loss);
  for (const auto& [name, each] : of.parameters) {
    for (const auto value : each.value) write(file, value);
    for (const auto value : each.momentum) write(file, value);
  }
  file << of.random;
}

inline void read_state(std::istream& file, trainer& of) {
  read(file, of.step);
  read(file, of.smooth_loss);
  for (auto& [name, each] : of.parameters) {
    for (auto& value : each.value) read(file, value);
    for (auto& value : each.momentum) read(file, value);
  }
  file >> of.random;
  if (!file) throw std::runtime_error("the file of the state is damaged");
}
// [archive]
