// SPDX-License-Identifier: MIT
// Parts of a libtorch trainer's state: modules, optimizers, tensors, generators, samplers, learning rate schedulers.
#pragma once

#include "cairn/adapters/torch/data.hpp"
#include "cairn/adapters/torch/module.hpp"
#include "cairn/adapters/torch/optimizer.hpp"
#include "cairn/adapters/torch/tensor.hpp"
