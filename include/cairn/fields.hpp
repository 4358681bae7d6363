// SPDX-License-Identifier: MIT
// For headers that define the types of a state: `fields`, `adapter`, `per_rank`, `polymorphic`, `skip`, `changes` and
// `by_name`, which make these types saveable, and no other code. Units that save and load also include save.hpp,
// load.hpp or checkpointer.hpp.
#pragma once

#include "cairn/core/config.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/words.hpp"
