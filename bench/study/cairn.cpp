// SPDX-License-Identifier: MIT
// Cairn: ranks that hold the same model save together, raw and with the default codecs.
#include "cairn/checkpointer.hpp"
#include "cairn/group/threads.hpp"
#include "cairn/load.hpp"

#include <memory>

#include "study/formats.hpp"
#include "study/ranks.hpp"

namespace bench::study {
namespace {

double save_with(const std::string& path, const study_model& model, unsigned ranks, const cairn::codec_rules& codecs) {
  auto group = cairn::groups::threads::make(ranks);
  cairn::checkpointer_options options;
  options.asynchronous = false;
  options.codecs = codecs;
  return seconds_of_ranks(ranks, [&](unsigned rank) -> std::function<void()> {
    auto checkpoints = std::make_shared<cairn::checkpointer>(path, options, std::move(group[rank]));
    return [checkpoints, &model] { checkpoints->save(model, {.step = 1}); };
  });
}

double save_raw(const std::string& path, const study_model& model, unsigned ranks) {
  return save_with(path, model, ranks, {{"*", cairn::codecs::raw{}}});
}

double save_lossless(const std::string& path, const study_model& model, unsigned ranks) {
  return save_with(path, model, ranks, {{"*", cairn::codecs::lossless{}}});
}

void load(const std::string& path, study_model& into) { cairn::load(path, into, {.verify_first = false}); }

}  // namespace

std::vector<format> cairn_formats() {
  return {{"cairn", "Cairn, lossless", true, save_lossless, load}, {"cairn_raw", "Cairn, raw", true, save_raw, load}};
}

}  // namespace bench::study
