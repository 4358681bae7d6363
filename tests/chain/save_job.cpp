// SPDX-License-Identifier: MIT
#include "cairn/chain/save_job.hpp"
