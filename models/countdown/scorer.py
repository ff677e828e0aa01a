"""Trains the step scorer on the model's own samples and writes <model>.scorer.gguf.

    python scorer.py DIR MODEL.gguf [--rollouts 16000]

The samples and their states are those of the weights in MODEL.gguf; DIR has the tokenizer.

A head of two layers reads the state (after the final norm) of the token that ends a step, or of the
end token. For a step it predicts whether the numbers that are truly left still reach the target, for
an answer whether it is right; both labels are exact. Puzzles come from the training split, the
figures that are printed from the validation split.
"""

import argparse
import hashlib
import json
import pathlib
import random

import gguf
import torch
import torch.nn.functional as F

import chat
import check
import levels
import puzzles
from evaluate import load
from export import take_weights
from generate import generate
from mixture import Mixture

HIDDEN = 96
LEVELS = ["easy3", "easy4", "hard24", "harder5", "hardest6"]


def draw(rng, mixture, level, split):
    if level == "hard24":
        if split == "train":
            return list(rng.choice(mixture.solved24)[0]), 24
        return list(rng.choice(sorted(mixture.splits.validation24))), 24
    return levels.draw(rng, mixture.splits, level, split)


def labels_of(text, numbers, target):
    """Per finished step 1 where the target can still be reached, exactly; then the answer's."""
    left = tuple(sorted(numbers))
    out = []
    for step in text.split("\n\n")[:-1]:
        left = after(left, step)
        out.append(1.0 if left is not None and puzzles.reachable(left, target) else 0.0)
    return out, 1.0 if check.solves(text, numbers, target) else 0.0


def after(left, step):
    """The numbers left after a step that is right in all its parts, else None."""
    found = check.FULL_STEP.match(step.strip())
    if left is None or found is None:
        return None
    a, op, b, value = int(found[1]), found[2], int(found[3]), int(found[4])
    if puzzles.apply(a, op, b) != value:
        return None
    try:
        now = tuple(puzzles.left_after(left, (a, op, b, value)))
    except ValueError:  # a number that is not left
        return None
    return now if now == tuple(sorted(map(int, found[5].split(",")))) else None


def rollouts(model, tokenizer, mixture, split, count, seed):
    """(states [n, width], labels [n], depth [n]): numbers left after the step; 0 for an answer."""
    rng = random.Random(f"{seed}/{split}")
    torch_random = torch.Generator().manual_seed(seed)
    end = tokenizer.token_to_id(chat.END)
    marks = {i for i in range(tokenizer.get_vocab_size()) if "\n\n" in tokenizer.decode([i])}
    states, labels, depths = [], [], []
    for at in range(0, count, 256):
        drawn = [draw(rng, mixture, LEVELS[i % len(LEVELS)], split) for i in range(256)]
        prompts = [tokenizer.encode(chat.wrap_prompt(puzzles.prompt(rng, n, t, False)),
                                    add_special_tokens=False).ids for n, t in drawn]
        made = generate(model, prompts, end, 160, 0.8, 0.95, torch_random, marks | {end})
        for (numbers, target), (ids, marked) in zip(drawn, made):
            steps, answer = labels_of(tokenizer.decode(ids), numbers, target)
            if len(marked) != len(steps) + 1:
                continue  # it ran into the limit
            for i, label in enumerate(steps):
                states.append(marked[i])
                labels.append(label)
                depths.append(max(1, len(numbers) - 1 - i))
            states.append(marked[-1])
            labels.append(answer)
            depths.append(0)
        print(f"{split}: {at + 256} of {count} samples", flush=True)
    return torch.stack(states), torch.tensor(labels), torch.tensor(depths)


def train(states, labels, seed, steps=6000, batch=1024):
    torch.manual_seed(seed)
    head = torch.nn.Sequential(torch.nn.Linear(states.shape[1], HIDDEN), torch.nn.SiLU(),
                               torch.nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.AdamW(head.parameters(), 2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(steps):
        rows = torch.randint(len(states), (batch,))
        loss = F.binary_cross_entropy_with_logits(head(states[rows]).squeeze(-1), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return head.eval()


def auroc(scores, labels):
    """The chance that a right one scores above a wrong one, ties as half (Mann-Whitney)."""
    _, inverse, counts = scores.unique(return_inverse=True, return_counts=True)
    ranks = counts.cumsum(0).double() - (counts.double() - 1) / 2
    ranks = ranks[inverse]
    right = labels > 0.5
    n, m = int(right.sum()), int((~right).sum())
    if n == 0 or m == 0:
        return float("nan")
    return (ranks[right].sum().item() - n * (n + 1) / 2) / (n * m)


def report(scores, labels, depths):
    rows = []
    for depth in sorted(set(depths.tolist()), reverse=True):
        at = depths == depth
        rows.append({"left": depth or "answer", "count": int(at.sum()),
                     "right": round(labels[at].mean().item(), 4),
                     "auroc": round(auroc(scores[at], labels[at]), 4)})
    bins = []
    for low in range(10):
        at = (scores >= low / 10) & (scores < (low + 1) / 10 + (low == 9))
        if at.any():
            bins.append({"from": low / 10, "count": int(at.sum()),
                         "predicted": round(scores[at].mean().item(), 4),
                         "right": round(labels[at].mean().item(), 4)})
    error = sum(b["count"] * abs(b["predicted"] - b["right"]) for b in bins) / len(scores)
    return {"by_depth": rows, "calibration": bins, "calibration_error": round(error, 4)}


def write(path, head, model_path):
    writer = gguf.GGUFWriter(path, "thinkd-scorer")
    writer.add_string("thinkd.scorer.model_sha256",
                      hashlib.sha256(model_path.read_bytes()).hexdigest())
    writer.add_tensor("w1", head[0].weight.detach().numpy())
    writer.add_tensor("b1", head[0].bias.detach().numpy())
    writer.add_tensor("w2", head[2].weight.detach().numpy())
    writer.add_tensor("b2", head[2].bias.detach().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=puzzles.default_csv())
    parser.add_argument("--rollouts", type=int, default=16000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model, tokenizer, _, _ = load(options.folder)
    take_weights(model, options.model)
    mixture = Mixture(puzzles.Splits(options.data))
    states, labels, _ = rollouts(model, tokenizer, mixture, "train", options.rollouts, options.seed)
    head = train(states, labels, options.seed)
    states, labels, depths = rollouts(model, tokenizer, mixture, "validation",
                                      options.rollouts // 6, options.seed)
    with torch.no_grad():
        scores = torch.sigmoid(head(states).squeeze(-1))
    figures = report(scores, labels, depths)
    print(json.dumps(figures, indent=1))
    write(options.model.with_suffix(".scorer.gguf"), head, options.model)
    (options.folder / "scorer.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
