#pragma once
// Kernels of plain C++ that other tables use too, where vectors by hand gain nothing.

#include "engine/kernels/kernels.h"

namespace thinkd::engine::plain {

float exp_one(float x);
void rotate(const float* x, const float* cos_sin, RopePairs pairs, uint32_t rotated,
            uint32_t head_size, float* out);

}  // namespace thinkd::engine::plain
