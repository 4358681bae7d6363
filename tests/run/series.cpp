#include "cairn/run/series.hpp"
