// SPDX-License-Identifier: MIT
#include "cairn/core/save_report.hpp"
