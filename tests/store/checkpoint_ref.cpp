#include "cairn/store/checkpoint_ref.hpp"
