// SPDX-License-Identifier: MIT
// All definitions of Cairn but those of S3 and libtorch (definitions/s3.cpp, torch.cpp), for builds without CMake:
// include it in one .cpp file of the program. CMake's target cairn::cairn compiles the same units, which it reads from
// this list.
#pragma once

/// The linker names it where two .cpp files of a program include this header.
extern "C" void cairn_implementation_hpp_is_included_in_two_cpp_files() noexcept {}

#include "cairn/definitions/chain.cpp"
#include "cairn/definitions/encode.cpp"
#include "cairn/definitions/format.cpp"
#include "cairn/definitions/group.cpp"
#include "cairn/definitions/hosts.cpp"
#include "cairn/definitions/kernels.cpp"
#include "cairn/definitions/lc.cpp"
#include "cairn/definitions/levels.cpp"
#include "cairn/definitions/merge.cpp"
#include "cairn/definitions/one_shot.cpp"
#include "cairn/definitions/plan.cpp"
#include "cairn/definitions/run.cpp"
#include "cairn/definitions/schedule.cpp"
#include "cairn/definitions/state.cpp"
#include "cairn/definitions/store.cpp"
#include "cairn/definitions/trainer.cpp"
