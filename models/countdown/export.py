"""Writes a checkpoint as GGUF, architecture llama.

    python export.py DIR OUT.gguf [--type f32|q8_0]
"""

import argparse
import pathlib

import gguf
import numpy
import torch

import chat
from evaluate import load


def named_weights(model):
    """(name in the file, weight) of each."""
    yield "token_embd.weight", model.embedding.weight
    yield "output_norm.weight", model.norm.weight
    for i, layer in enumerate(model.layers):
        for name, part in [("attn_norm", layer.attention_norm), ("attn_q", layer.q),
                           ("attn_k", layer.k), ("attn_v", layer.v), ("attn_output", layer.o),
                           ("ffn_norm", layer.feed_forward_norm), ("ffn_gate", layer.gate),
                           ("ffn_up", layer.up), ("ffn_down", layer.down)]:
            yield f"blk.{i}.{name}.weight", part.weight


def take_weights(model, path):
    """Gives `model` the weights of a file as thinkd reads them: quantised ones, rounded."""
    stored = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    with torch.no_grad():
        for name, weight in named_weights(model):
            tensor = stored[name]
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            weight.copy_(torch.from_numpy(values.copy()).view_as(weight))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--type", choices=["f32", "q8_0"], default="q8_0")
    options = parser.parse_args()
    model, _, tokens, merges = load(options.folder)
    shape = model.shape

    writer = gguf.GGUFWriter(options.out, "llama")
    writer.add_name("thinkd countdown")
    writer.add_description("Solves Countdown puzzles and Game of 24, and knows nothing else.")
    writer.add_license("apache-2.0")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.norm_epsilon)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_file_type(7 if options.type == "q8_0" else 0)

    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in chat.CONTROL_TOKENS
                            else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([f"{a} {b}" for a, b in merges])
    end = tokens.index(chat.END)
    writer.add_bos_token_id(end)
    writer.add_eos_token_id(end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(chat.TEMPLATE)

    kind = gguf.GGMLQuantizationType.Q8_0 if options.type == "q8_0" else None
    for name, weight in named_weights(model):
        values = weight.detach().numpy().astype(numpy.float32)
        if kind is None or values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
