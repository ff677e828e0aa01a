#pragma once
// The runner of decoder-only transformers: RMSNorm, grouped-query attention with rotary embedding,
// SwiGLU. Activations are floats; weights stay as the file holds them and are expanded a tile at a
// time. Keys and values are f16 or f32 (options.kv; f32 with compute f32).
//
// A row of `run` with a token at or past the vocabulary is the caller's mistake, and so are slots
// past the block; NaN or infinity in weights come out as NaN or infinity in logits.

#include <memory>

#include "base/status.h"
#include "engine/model/transformer.h"
#include "engine/runner/model_runner.h"

namespace thinkd::engine {

struct ModelOptions;  // engine/model/language_model.h

// `file` holds what `weights` points into and lives as long as the runner. Errors: invalid (an ISA
// that thinkd does not know), unavailable (one that this machine lacks).
Result<std::unique_ptr<ModelRunner>> make_transformer_runner(std::shared_ptr<const GgufFile> file,
                                                             TransformerConfig config,
                                                             TransformerWeights weights,
                                                             const ModelOptions& options);

}  // namespace thinkd::engine
