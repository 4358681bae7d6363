#include "cairn/checkpointer_options.hpp"
