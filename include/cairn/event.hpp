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
    progress,   ///< `bytes` of `total` are written, after encoding
    published,  ///< the checkpoint is complete and durable: `bytes` in `seconds`
    failed,     ///< a save came to nothing, or retention could not remove a checkpoint: `message`
    restored,   ///< a state was loaded: `bytes` in `seconds`
    fell_back,  ///< a checkpoint could not be restored and an older one is tried: `message`
    merged,     ///< deltas became one, or a whole checkpoint: `bytes` now, in `seconds`; `message` says how many
    pruned      ///< retention removed a checkpoint: `message` is the reason
  };

  kind what{};
  std::string checkpoint{};  ///< its path or name
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;
  std::uint64_t total = 0;
  double seconds = 0;
  std::string message{};
};

/// Gets every event, in order, in the thread that saves (of merging, which goes on behind it, when the next save begins or in
/// `wait`); `progress` may come from other threads, one at a
/// time. Must not call back into the checkpointer; what it throws is lost.
using observer = std::function<void(const event&)>;

[[nodiscard]] constexpr std::string_view name(event::kind what) noexcept {
  switch (what) {
    case event::kind::started:
      return "started";
    case event::kind::progress:
      return "progress";
    case event::kind::published:
      return "published";
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
