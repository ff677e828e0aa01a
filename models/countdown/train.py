"""Trains the Countdown model; goes on from its checkpoint.

    python train.py --out DIR [--steps N] [--batch N] [--seed N] [--precision f32|bf16]

DIR gets vocabulary.json, checkpoint.pt (replaced every --save-every steps) and log.jsonl, a line a
step. With the same machine, threads and precision, an interrupted training ends with the same bits
as an uninterrupted one; other settings than the checkpoint's are refused.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import sys
import time

import torch
import torch.nn.functional as F

import puzzles
import vocabulary
from batches import batches
from mixture import Mixture
from model import Model, Shape
from optimizer import optimizers


def loss_of(model, ids, mask):
    states = model.hidden(ids)[:, :-1][mask[:, :-1]]
    return F.cross_entropy(model.logits(states).float(), ids[:, 1:][mask[:, :-1]])


def rate(step, steps):
    """Warm-up, a plateau, and a straight way down to zero over the last 60%."""
    return min(1.0, (step + 1) / 100, (steps - step) / (0.6 * steps))


def fast_precision():
    """bf16 where the processor multiplies it in hardware, else f32."""
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return "f32"
    return "bf16" if "avx512_bf16" in flags or "amx_bf16" in flags else "f32"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, default=puzzles.default_csv())
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=["f32", "bf16"], default=fast_precision())
    parser.add_argument("--save-every", type=int, default=100)
    parser.add_argument("--stop-after", type=int, help="end after this step, as if interrupted")
    return parser.parse_args()


class Training:
    """The model, its optimizers and how far they are; saved whole or not at all."""

    def __init__(self, options, vocabulary_size):
        self.options = options
        torch.manual_seed(options.seed)
        self.shape = Shape(vocabulary_size, options.width, options.layers, options.width // 64,
                           options.width * 8 // 3 // 32 * 32)
        self.model = Model(self.shape)
        self.optimizers = optimizers(self.model)
        self.rates = [o.param_groups[0]["lr"] for o in self.optimizers]
        self.settings = {name: getattr(options, name) for name in
                         ("steps", "batch", "seed", "width", "layers", "threads", "precision")}
        self.step = 0
        self.checkpoint = options.out / "checkpoint.pt"
        if self.checkpoint.exists():
            self.load()

    def load(self):
        stored = torch.load(self.checkpoint, weights_only=True)
        for name, value in stored["settings"].items():
            if value != self.settings[name]:
                sys.exit(f"train: the checkpoint has --{name} {value}, not {self.settings[name]}")
        self.model.load_state_dict(stored["model"])
        for optimizer, state in zip(self.optimizers, stored["optimizers"]):
            optimizer.load_state_dict(state)
        self.step = stored["step"]

    def save(self):
        fresh = self.checkpoint.with_suffix(".new")
        torch.save({"model": self.model.state_dict(), "step": self.step,
                    "optimizers": [o.state_dict() for o in self.optimizers],
                    "shape": dataclasses.asdict(self.shape), "settings": self.settings}, fresh)
        os.replace(fresh, self.checkpoint)

    def take_step(self, ids, mask):
        for optimizer, base in zip(self.optimizers, self.rates):
            optimizer.param_groups[0]["lr"] = base * rate(self.step, self.options.steps)
            optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.options.precision == "bf16"):
            loss = loss_of(self.model, ids, mask)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
        self.step += 1
        return loss.item()


def log_up_to(path, step):
    """The log, cut back to the steps that the checkpoint has."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["step"] <= step]
    path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    return open(path, "a", encoding="utf-8")


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    mixture = Mixture(puzzles.Splits(options.data))
    vocabulary_path = options.out / "vocabulary.json"
    if not vocabulary_path.exists():
        vocabulary.save(vocabulary_path, *vocabulary.build(mixture, options.seed))
    tokenizer, tokens, _ = vocabulary.load(vocabulary_path)

    training = Training(options, len(tokens))
    count = sum(p.numel() for p in training.model.parameters())
    print(f"{count:,} parameters, {options.precision}, {options.threads} threads, "
          f"from step {training.step}", flush=True)
    started, seen = time.monotonic(), 0
    stop = min(options.steps, options.stop_after or options.steps)
    with log_up_to(options.out / "log.jsonl", training.step) as log:
        for ids, mask in batches(mixture, tokenizer, options.steps, options.batch, options.seed,
                                 training.step):
            if training.step >= stop:
                break
            loss = training.take_step(ids, mask)
            seen += ids.numel()
            log.write(json.dumps({"step": training.step, "loss": loss,
                                  "tokens": int(mask.sum())}) + "\n")
            if training.step % 20 == 0 or training.step == stop:
                print(f"step {training.step}/{options.steps} loss {loss:.4f} "
                      f"{seen / (time.monotonic() - started):,.0f} tokens/s", flush=True)
            if training.step % options.save_every == 0 or training.step == stop:
                log.flush()
                training.save()


if __name__ == "__main__":
    main()
