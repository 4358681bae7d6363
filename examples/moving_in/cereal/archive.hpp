// SPDX-License-Identifier: MIT
// How the old program saved its state with cereal.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>
#include <string>

#include "../training.hpp"

// [archive]
template <class Archive>
void serialize(Archive& archive, parameter& of) {
  archive(of.value, of.momentum);
}

template <class Archive>
void save(Archive& archive, const trainer& of) {
  std::ostringstream random;
  random << of.random;
  archive(of.parameters, random.str(), of.smooth_loss, of.step);
}

template <class Archive>
void load(Archive& archive, trainer& of) {
  std::string random;
  archive(of.parameters, random, of.smooth_loss, of.step);
  std::istringstream(random) >> of.random;
}
// [archive]
