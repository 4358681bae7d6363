// This process among those that save together.
#pragma once

namespace cairn::detail {

/// This process among those that save together. The default is a process of its own, one rank of one.
struct rank_info {
  unsigned rank = 0;
  unsigned ranks = 1;
};

}  // namespace cairn::detail
