// SPDX-License-Identifier: MIT
// The memory that reading a file takes is bounded by its size.

#include "cairn/cairn.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/json.hpp"
#include "catch.hpp"
#include "hostile/files.hpp"
#include "hostile/live_memory.hpp"
#include "store/sample.hpp"

namespace {

struct state {
  std::vector<float> weight;
};

/// Bytes of memory for every byte of the file that opening and loading take at most.
double factor_of(const hostile::file& file, bool strict) {
  cairn::any_store store = cairn::stores::memory();
  sample::put(store, "c", {{"index.json", file.text}});
  const sample::scratch scratch(sample::in_memory());
  const auto path = scratch.path("lone.safetensors");
  sample::spill(path, file.text);
  state target;
  std::string said = "opened";
  const auto peak = hostile::peak_of([&] {
    try {
      const cairn::load_options options{.strict = strict};
      if (file.is_index)
        cairn::load(store, "c", target, options);
      else
        cairn::load(path, target, options);
    } catch (const cairn::error& error) {
      said = error.what();
    }
  });
  const auto factor = static_cast<double>(peak) / static_cast<double>(file.text.size());
  UNSCOPED_INFO(file.kind << ": " << factor << ", " << file.text.size() << " bytes: " << said.substr(0, 200));
  return factor;
}

}  // namespace

TEST_CASE("an ordinary checkpoint takes half of that") {
  if (!hostile::counts_memory()) SKIP("memory is not counted under a sanitizer");
  struct layer {
    std::vector<float> weight = std::vector<float>(3), bias = std::vector<float>(1);
  };
  struct network {
    std::vector<std::vector<layer>> stages{50, std::vector<layer>(100)};  // few: each array is a leaf
  };
  const network saved;
  cairn::any_store store = cairn::stores::memory();
  cairn::save(store, "c", saved);
  std::uint64_t bytes = store.open("c")->open("index.json")->size();
  for (const auto& file : store.open("c")->files())
    if (file != "index.json") bytes += store.open("c")->open(file)->size();
  const auto peak = hostile::peak_of([&] { static_cast<void>(cairn::open(store, "c")); });
  const auto factor = static_cast<double>(peak) / static_cast<double>(bytes);
  INFO("of " << bytes << " bytes: " << factor);
  CHECK(factor < static_cast<double>(cairn::detail::json_memory_factor) / 2);
  CHECK(factor > 1);
}

TEST_CASE("the memory for a file is bounded by its size, whatever is in it") {
  if (!hostile::counts_memory()) SKIP("memory is not counted under a sanitizer");
  for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{1'000'000}})
    for (const auto& file : hostile::files_of(bytes))
      for (const bool strict : {true, false})
        CHECK(factor_of(file, strict) < static_cast<double>(cairn::detail::json_memory_factor));
}
