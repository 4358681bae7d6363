// All of Cairn that has no dependencies of its own choosing.
#pragma once

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/loop.hpp"
#include "cairn/observers.hpp"
#include "cairn/save.hpp"
#include "cairn/signals.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/version.hpp"
