#pragma once
// The `llama` family (Llama 1-3, SmolLM, Mistral and others that share its files): RMSNorm, grouped
// queries (Ainslie et al. 2023), rotary embedding on adjacent pairs (Su et al. 2021), SwiGLU
// (Shazeer 2020), no biases. Keys and tensor names as in
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// Known variants: tied or separate output; linear RoPE scaling; per-pair RoPE factors (Llama 3.1,
// in the tensor rope_freqs.weight). Any other scaling, a mixture of experts, a sliding window, and
// every tensor that this reading leaves over are `unavailable` by name: a model that would run
// wrong does not run.

#include "base/status.h"
#include "engine/model/gguf.h"
#include "engine/model/transformer.h"

namespace thinkd::engine {

Result<Transformer> read_llama(const GgufFile& file);

}  // namespace thinkd::engine
