"""What the exported model and its scorer say in PyTorch, for thinkd's tests to be held against.

    python reference.py DIR MODEL.gguf OUT.jsonl

A line a puzzle: "name", "numbers", "target", "prompt" (token ids), "logprobs" (of prompt tokens
1.., natural logarithm), "greedy" (ids, up to the end token), "greedy_logprobs", "gaps" (best logit
less the second best, before each greedy token), "scores" (of the step scorer, at the end of each
step and of the answer).
"""

import argparse
import json
import pathlib

import gguf
import torch

import chat
import levels
import puzzles
from evaluate import load
from export import take_weights

PUZZLES = [("easy3", 1), ("easy4", 2), ("hard24", 3), ("harder5", 2), ("hardest6", 2)]
MOST = 200


def read_scorer(path):
    """state -> chance"""
    parts = {t.name: torch.from_numpy(t.data.copy()) for t in gguf.GGUFReader(path).tensors}
    w1, b1, w2, b2 = (parts[name] for name in ("w1", "b1", "w2", "b2"))
    return lambda s: torch.sigmoid(
        w2.flatten() @ torch.nn.functional.silu(w1 @ s + b1) + b2.flatten()).item()


def drawn(splits):
    for level, count in PUZZLES:
        if level == "hard24":
            rows = [{"id": f"hard24-validation-{i + 1}", "numbers": list(s), "target": 24}
                    for i, s in enumerate(sorted(splits.validation24)[:count])]
        else:
            rows = levels.fresh(splits, level, "validation", count, 24)
        yield from rows


@torch.no_grad()
def line(model, tokenizer, score, row):
    marks = {i for i in range(tokenizer.get_vocab_size()) if "\n\n" in tokenizer.decode([i])}
    end = tokenizer.token_to_id(chat.END)
    text = chat.wrap_prompt(puzzles.thinkd_prompt(row["numbers"], row["target"], False))
    prompt = tokenizer.encode(text, add_special_tokens=False).ids
    ids, greedy, chosen, gaps, scores = list(prompt), [], [], [], []
    while len(greedy) < MOST and (not greedy or greedy[-1] != end):
        states = model.hidden(torch.tensor([ids]))[0]
        if greedy and greedy[-1] in marks:
            scores.append(round(score(states[-1]), 6))
        logits = model.logits(states[-1]).double()
        best = torch.topk(logits, 2)
        greedy.append(int(best.indices[0]))
        gaps.append(round(float(best.values[0] - best.values[1]), 4))
        chosen.append(round(torch.log_softmax(logits, -1)[greedy[-1]].item(), 5))
        ids.append(greedy[-1])
    states = model.hidden(torch.tensor([ids]))[0]
    scores.append(round(score(states[-1]), 6))
    shares = torch.log_softmax(model.logits(states[:len(prompt) - 1]).double(), -1)
    logprobs = [round(shares[i, prompt[i + 1]].item(), 5) for i in range(len(prompt) - 1)]
    return {"name": row["id"], "numbers": row["numbers"], "target": row["target"],
            "prompt": prompt, "logprobs": logprobs, "greedy": greedy, "greedy_logprobs": chosen,
            "gaps": gaps, "scores": scores}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=puzzles.default_csv())
    options = parser.parse_args()
    model, tokenizer, _, _ = load(options.folder)
    take_weights(model, options.model)
    score = read_scorer(options.model.with_suffix(".scorer.gguf"))
    splits = puzzles.Splits(options.data)
    lines = [json.dumps(line(model, tokenizer, score, row)) + "\n" for row in drawn(splits)]
    options.out.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
