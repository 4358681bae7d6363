// SPDX-License-Identifier: MIT
// How the old program saved its state with Boost.Serialization.
#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include <string>

#include "../training.hpp"

// [archive]
template <class Archive>
void serialize(Archive& archive, parameter& of, unsigned) {
  archive & of.value & of.momentum;
}

template <class Archive>
void save(Archive& archive, const trainer& of, unsigned) {
  std::ostringstream text;
  text << of.random;
  const std::string random = text.str();
  archive & of.parameters & random & of.smooth_loss & of.step;
}

template <class Archive>
void load(Archive& archive, trainer& of, unsigned) {
  std::string random;
  archive & of.parameters & random & of.smooth_loss & of.step;
  std::istringstream(random) >> of.random;
}
BOOST_SERIALIZATION_SPLIT_FREE(trainer)
// [archive]
