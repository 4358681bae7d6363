#include "cairn/chain/save_job.hpp"
