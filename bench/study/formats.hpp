// SPDX-License-Identifier: MIT
// What a checkpoint of a trained model costs in the formats of deep-learning frameworks and in Cairn's: seconds and
// bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/report.hpp"

namespace bench::study {

struct model_array {
  std::string name;  ///< "layers.0.weight"
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};

/// The weights of a model and both moments of Adam, in arrays of the same shapes.
struct study_model {
  std::vector<model_array> weights, first_moment, second_moment;
};

/// Calls `visit(name, array)` for every array, with names as "first_moment/layers.0.weight".
template <class Model, class Visit>
void for_each_array(Model& model, const Visit& visit) {
  const auto walk = [&](const std::string& part, auto& arrays) {
    for (auto& each : arrays) visit(part + "/" + each.name, each);
  };
  walk("weights", model.weights);
  walk("first_moment", model.first_moment);
  walk("second_moment", model.second_moment);
}

/// A format. `save` is called once for all ranks, which are threads, writes into the new folder `path`, and returns the
/// seconds until the last rank has its bytes on the disk. `load` reads all of it into a model of the same shapes.
struct format {
  std::string key, name;
  bool is_shared = false;  ///< every rank writes; else rank 0 alone, while the others wait
  double (*save)(const std::string& path, const study_model& model, unsigned ranks);
  void (*load)(const std::string& path, study_model& into);
};

[[nodiscard]] std::vector<format> cairn_formats();
[[nodiscard]] std::vector<format> file_formats();  ///< index and shards, safetensors
[[nodiscard]] format libtorch_format();

/// Trains a model of each size, and saves and loads it in all formats.
void measure_formats(const arguments& options, report& numbers);

}  // namespace bench::study
