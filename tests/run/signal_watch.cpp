#include "cairn/run/signal_watch.hpp"
