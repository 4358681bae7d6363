#include "cairn/saver.hpp"
