#include "cairn/state/answers.hpp"
