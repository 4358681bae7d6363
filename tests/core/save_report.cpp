#include "cairn/core/save_report.hpp"
