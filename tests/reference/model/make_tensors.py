#!/usr/bin/env python3
"""Writes tests/data/gguf/tensor_blocks.bin: random blocks of every tensor type thinkd reads and the
floats that the Python package `gguf` (pip install gguf numpy) expands them to.

  u32 types; then for each: u32 GGUF type number, u32 elements, u32 bytes, the bytes, the floats (f32)

The scales include zero, subnormals, the largest half, infinities and a NaN.
"""
import struct
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf.quants import dequantize

# Where in a block of each type the f16 scales and minima lie.
HALVES = {
    Type.F16: [0], Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2],
    Type.Q8_0: [0], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
}
ODD = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E01]


def blocks_of(kind, count, random):
    _, size = GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, size=(count, size), dtype=np.uint8)
    for at in HALVES.get(kind, []):
        # ordinary scales: below 8 in size
        halves = (random.standard_normal(count) * 0.5).astype(np.float16).view(np.uint16)
        blocks[:, at] = halves & 255
        blocks[:, at + 1] = halves >> 8
    for i, odd in enumerate(ODD):
        for at in HALVES.get(kind, []):
            if i < count:
                blocks[count - 1 - i, at] = odd & 255
                blocks[count - 1 - i, at + 1] = odd >> 8
    return blocks


def main():
    random = np.random.default_rng(20240607)
    kinds = [Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0,
             Type.Q4_K, Type.Q5_K, Type.Q6_K]
    out = [struct.pack("<I", len(kinds))]
    for kind in kinds:
        elements, size = GGML_QUANT_SIZES[kind]
        count = {1: 64, 32: 24, 256: 12}[elements]
        blocks = blocks_of(kind, count, random)
        with np.errstate(all="ignore"):
            if kind == Type.F32:
                floats = blocks.reshape(-1).view(np.float32)
            elif kind == Type.F16:
                floats = blocks.reshape(-1).view(np.float16).astype(np.float32)
            else:
                floats = dequantize(blocks, kind).reshape(-1).astype(np.float32)
        assert floats.size == count * elements
        out.append(struct.pack("<III", kind.value, floats.size, blocks.size))
        out.append(blocks.tobytes())
        out.append(floats.tobytes())
    path = sys.argv[1] if len(sys.argv) > 1 else "tests/data/gguf/tensor_blocks.bin"
    with open(path, "wb") as file:
        file.write(b"".join(out))


if __name__ == "__main__":
    main()
