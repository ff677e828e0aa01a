"""Greedy, one-sample and any-of-n accuracy of a checkpoint, in PyTorch: the quick look between
trainings. What the model card says is measured by `thinkd eval` on the exported file.

    python evaluate.py DIR PUZZLES.jsonl... [--samples 16] [--limit 100]
"""

import argparse
import json
import pathlib

import torch

import chat
import check
import puzzles
import vocabulary
from generate import generate
from model import Model, Shape


def load(folder):
    """(model, tokenizer, tokens, merges)"""
    tokenizer, tokens, merges = vocabulary.load(folder / "vocabulary.json")
    stored = torch.load(folder / "checkpoint.pt", weights_only=True)
    model = Model(Shape(**stored["shape"]))
    model.load_state_dict(stored["model"])
    return model.eval(), tokenizer, tokens, merges


def texts(model, tokenizer, rows, samples, temperature, seed, top_p=0.95):
    """`samples` texts a row, in the row's order."""
    end = tokenizer.token_to_id(chat.END)
    random = torch.Generator().manual_seed(seed)
    prompts = [tokenizer.encode(chat.wrap_prompt(puzzles.thinkd_prompt(
        r["numbers"], r["target"], r.get("use") == "any")), add_special_tokens=False).ids
        for r in rows for _ in range(samples)]
    out = []
    for at in range(0, len(prompts), 256):
        made = generate(model, prompts[at:at + 256], end, 160, temperature, top_p, random)
        out += [tokenizer.decode(ids) for ids, _ in made]
    return [out[i * samples:(i + 1) * samples] for i in range(len(rows))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("puzzles", type=pathlib.Path, nargs="+")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model, tokenizer, _, _ = load(options.folder)
    for path in options.puzzles:
        rows = [json.loads(line) for line in path.read_text().splitlines()][:options.limit]
        right = lambda row, text: check.solves(text, row["numbers"], row["target"],
                                               row.get("use") == "any")
        greedy = [right(r, t[0]) for r, t in
                  zip(rows, texts(model, tokenizer, rows, 1, 0, options.seed))]
        sampled = [[right(r, t) for t in ts] for r, ts in
                   zip(rows, texts(model, tokenizer, rows, options.samples, 0.8, options.seed))]
        one = sum(map(sum, sampled)) / (len(rows) * options.samples)
        print(f"{path.stem}: greedy {sum(greedy)}/{len(rows)}, one sample {one:.1%}, "
              f"any of {options.samples} {sum(map(any, sampled))}/{len(rows)}", flush=True)


if __name__ == "__main__":
    main()
