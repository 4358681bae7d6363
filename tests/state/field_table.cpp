#include "cairn/state/field_table.hpp"
