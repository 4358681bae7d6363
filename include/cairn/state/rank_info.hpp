// The rank of this process and the number of ranks.
#pragma once

namespace cairn::detail {

/// The rank of this process, and the number of processes that save together. The default is a single process.
struct rank_info {
  unsigned rank = 0;
  unsigned ranks = 1;
};

}  // namespace cairn::detail
