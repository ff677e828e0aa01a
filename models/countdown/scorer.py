"""Trains the step scorer on the model's own samples and writes <model>.scorer.gguf.

    python scorer.py DIR MODEL.gguf [--rollouts 24000]       THINKD names the program

thinkd draws the samples (`eval`, one a puzzle), PyTorch reads their states; both with the weights
in MODEL.gguf. DIR has the tokenizer.

A head of two layers reads the state (after the final norm) of the token that ends a step, or of the
end token. For a step it predicts whether the numbers that are truly left still reach the target, for
an answer whether it is right; both labels are exact. Puzzles come from the training split, the
figures that are printed from the validation split.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import subprocess
import tempfile

import gguf
import torch
import torch.nn.functional as F

import chat
import check
import levels
import puzzles
from evaluate import load
from export import take_weights
from mixture import Mixture

HIDDEN = 96
THINKD = os.environ.get(
    "THINKD", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/thinkd"))
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


def sampled(model_path, puzzle_rows, seed):
    """thinkd's one sample a puzzle; None where it did not end by itself."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = pathlib.Path(folder) / "puzzles.jsonl", pathlib.Path(folder) / "out"
        data.write_text("".join(json.dumps(row) + "\n" for row in puzzle_rows), encoding="utf-8")
        subprocess.run([THINKD, "eval", "--data", data, "--model", model_path, "--strategy",
                        "sample", "--seed", str(seed), "--concurrency", "64", "--max-tokens",
                        "200", "--out", out], check=True, stdout=subprocess.DEVNULL)
        lines = (out / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {}
    for line in map(json.loads, lines):
        texts[line["problem_id"]] = None if line["outcome"] == "token_limit" else line["text"]
    return [texts[row["id"]] for row in puzzle_rows]


def encoded(tokenizer, rows, texts, marks):
    """(ids, [(position, label, numbers left)]) of each text that ended; 0 left: an answer."""
    for row, text in zip(rows, texts):
        if text is None:
            continue
        prompt = chat.wrap_prompt(puzzles.thinkd_prompt(row["numbers"], row["target"], False))
        first = len(tokenizer.encode(prompt, add_special_tokens=False).ids)
        ids = tokenizer.encode(prompt + text + chat.END, add_special_tokens=False).ids
        steps, answer = labels_of(text, row["numbers"], row["target"])
        ends = [at for at in range(first, len(ids)) if ids[at] in marks]
        if len(ends) == len(steps):
            left = [max(1, len(row["numbers"]) - 1 - i) for i in range(len(steps))]
            yield ids, [*zip(ends, steps, left), (len(ids) - 1, answer, 0)]


@torch.no_grad()
def rollouts(model, tokenizer, mixture, model_path, split, count, seed):
    """(states [n, width], labels [n], numbers left [n]) at the ends of steps and answers."""
    rng = random.Random(f"{seed}/{split}")
    rows = [dict(zip(("numbers", "target"), draw(rng, mixture, LEVELS[i % len(LEVELS)], split)),
                 id=str(i)) for i in range(count)]
    marks = {i for i in range(tokenizer.get_vocab_size()) if "\n\n" in tokenizer.decode([i])}
    texts = sampled(model_path, rows, seed)
    samples = sorted(encoded(tokenizer, rows, texts, marks), key=lambda sample: len(sample[0]))
    states, labels, lefts = [], [], []
    for at in range(0, len(samples), 256):
        batch = samples[at:at + 256]
        length = len(batch[-1][0])
        ids = torch.tensor([ids + [0] * (length - len(ids)) for ids, _ in batch])
        hidden = model.hidden(ids)
        for row, (_, ends) in enumerate(batch):
            for position, label, left in ends:
                states.append(hidden[row, position].clone())
                labels.append(label)
                lefts.append(left)
    print(f"{split}: {len(states)} states of {len(samples)} samples", flush=True)
    return torch.stack(states), torch.tensor(labels), torch.tensor(lefts)


def train(states, labels, seed, steps=8000, batch=512):
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
    parser.add_argument("--rollouts", type=int, default=24000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model, tokenizer, _, _ = load(options.folder)
    take_weights(model, options.model)
    mixture = Mixture(puzzles.Splits(options.data))
    states, labels, _ = rollouts(model, tokenizer, mixture, options.model, "train",
                                 options.rollouts, options.seed)
    head = train(states, labels, options.seed)
    states, labels, depths = rollouts(model, tokenizer, mixture, options.model, "validation",
                                      options.rollouts // 6, options.seed)
    with torch.no_grad():
        scores = torch.sigmoid(head(states).squeeze(-1))
    figures = report(scores, labels, depths)
    print(json.dumps(figures, indent=1))
    write(options.model.with_suffix(".scorer.gguf"), head, options.model)
    (options.folder / "scorer.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
