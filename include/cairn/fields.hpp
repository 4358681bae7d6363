// What a header with the types of a state needs to make them saveable: no more than the names that it specialises and uses.
// Includes no other code; save.hpp, load.hpp or checkpointer.hpp is for the unit that saves and loads.
#pragma once

#include "cairn/state/adapter.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/per_rank.hpp"
#include "cairn/state/polymorphic.hpp"
