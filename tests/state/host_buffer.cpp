#include "cairn/state/host_buffer.hpp"
