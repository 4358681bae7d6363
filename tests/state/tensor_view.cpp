#include "cairn/state/tensor_view.hpp"
