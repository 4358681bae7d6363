// What a checkpointer tells its observer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cairn {

/// One thing that happened. `kind` says which of the other members mean something.
struct event {
  enum class kind : std::uint8_t {
    started,    ///< a save of a state of `total` bytes begins
    chunked,    ///< the state is larger than the copies may be, so the trainer waits for parts of it: `message`
    copied,     ///< the state is copied and the trainer goes on: `bytes`, for which it waited `seconds`
    encoded,    ///< `total` bytes of state became `bytes`, in `seconds`
    progress,   ///< `bytes` of `total` are written, after encoding
    written,    ///< `bytes` are in files, not yet published, in `seconds`
    published,  ///< the checkpoint is complete and durable: `bytes`, `seconds` after it started
    skipped,    ///< a save was due and is not made: `message` is the reason
    failed,     ///< a save came to nothing, or retention could not remove a checkpoint: `message`
    restored,   ///< a state was loaded: `bytes` in `seconds`
    fell_back,  ///< a checkpoint could not be restored and an older one is tried: `message`
    merged,     ///< deltas became one, or a whole checkpoint: `bytes` now, in `seconds`; `message` says how many
    pruned,     ///< retention removed a checkpoint of `bytes`: `message` is the reason
    stopping    ///< a signal, named by `message`, asks the trainer to stop; `seconds` are left for that
  };

  kind what{};
  std::string checkpoint{};  ///< its path or name
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;
  std::uint64_t total = 0;
  double seconds = 0;
  std::string message{};
};

/// Gets every event, one at a time and those of one save in order, from the trainer's thread or from the one behind it
/// that writes: what it shares with the trainer it must guard. Must not call back into the checkpointer, which may be
/// waiting for it. What it throws is lost.
using observer = std::function<void(const event&)>;

[[nodiscard]] constexpr std::string_view name(event::kind what) noexcept {
  switch (what) {
    case event::kind::started:
      return "started";
    case event::kind::chunked:
      return "chunked";
    case event::kind::copied:
      return "copied";
    case event::kind::encoded:
      return "encoded";
    case event::kind::progress:
      return "progress";
    case event::kind::written:
      return "written";
    case event::kind::published:
      return "published";
    case event::kind::skipped:
      return "skipped";
    case event::kind::failed:
      return "failed";
    case event::kind::restored:
      return "restored";
    case event::kind::fell_back:
      return "fell back";
    case event::kind::merged:
      return "merged";
    case event::kind::pruned:
      return "pruned";
    case event::kind::stopping:
      return "stopping";
  }
  return "unknown";
}

namespace detail {

/// Tells an observer, if there is one; it cannot make what it observes fail.
inline void tell(const observer& whom, const event& what) noexcept {
  try {
    if (whom) whom(what);
  } catch (...) {
    return;
  }
}

}  // namespace detail
}  // namespace cairn
