// SPDX-License-Identifier: MIT
// What most of these programs include. It is compiled once per build folder; see ../CMakeLists.txt.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/state/describe.hpp"
