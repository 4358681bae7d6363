// SPDX-License-Identifier: MIT
// Cairn: one checkpointer at each rank, the state as it is.
#include <memory>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/raw.hpp"
#include "cairn/group/mpi.hpp"
#include "cairn/schedule/every.hpp"
#include "mpi_save/way.hpp"

namespace bench {

/// The group lives as long as the way: a trainer makes it once.
way cairn_way(const job& of, bool durable) {
  cairn::checkpointer_options options;
  options.codecs = {{"*", cairn::codecs::raw{}}};
  options.durable = durable;
  const auto checkpoints = std::make_shared<cairn::checkpointer>(of.directory + (durable ? "/durable" : "/cached"),
                                                                 options, cairn::mpi::group(of.ranks.comm()));
  const auto step = std::make_shared<std::uint64_t>(0);
  const auto save = [=, state = of.state](const std::string& /*path*/, bool /*durable*/) {
    checkpoints->save(state, {.step = ++*step});
  };
  return {"cairn", save, {}, [=] { checkpoints->remove_after(0); }};
}

way cairn_background_way(const job& of) {
  cairn::checkpointer_options options;
  options.codecs = {{"*", cairn::codecs::raw{}}};
  options.durable = false;
  options.when = cairn::policies::every_steps{1};
  options.background_threads = 0;  // as many as keep the store busy
  const auto checkpoints =
      std::make_shared<cairn::checkpointer>(of.directory + "/background", options, cairn::mpi::group(of.ranks.comm()));
  const auto step = std::make_shared<std::uint64_t>(0);
  const auto copy = [=, state = of.state] { static_cast<void>(checkpoints->step(state, {.step = ++*step})); };
  const auto save = [=](const std::string& /*path*/, bool /*durable*/) { checkpoints->wait(); };
  return {"cairn, from a copy", save, copy, [=] { checkpoints->remove_after(0); }};
}

}  // namespace bench
