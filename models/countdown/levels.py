"""The fixed sets of puzzles on which the model is measured, as JSONL for `thinkd eval`.

    python levels.py OUT_DIR [--count 200]

validation files choose the demo level; test files are read once it is chosen.
"""

import argparse
import json
import pathlib
import random

import puzzles

# name: how many numbers, largest number, targets
LEVELS = {
    "easy3": (3, 50, range(2, 301)),
    "easy4": (4, 25, range(10, 201)),
    "harder5": (5, 50, range(10, 501)),
    "hardest6": (6, 100, range(100, 1000)),
    # further from training than any level
    "large_numbers4": (4, 250, range(10, 501)),
    "large_targets4": (4, 100, range(400, 1000)),
}


def draw(rng, splits, level, split):
    """A solvable puzzle of that level whose number set is of that split."""
    count, largest, targets = LEVELS[level]
    while True:
        numbers, target, _ = puzzles.forward(rng, count, largest, targets)
        if splits.of(tuple(sorted(numbers))) == split:
            return numbers, target


def fresh(splits, level, split, count, seed):
    """`count` puzzles of that level and split, none twice."""
    rng = random.Random(f"{seed}/{level}/{split}")
    seen, out = set(), []
    while len(out) < count:
        numbers, target = draw(rng, splits, level, split)
        key = (tuple(sorted(numbers)), target)
        if key not in seen:
            seen.add(key)
            out.append({"id": f"{level}-{split}-{len(out) + 1}", "numbers": numbers,
                        "target": target})
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=puzzles.default_csv())
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=24)
    options = parser.parse_args()
    splits = puzzles.Splits(options.data)
    options.out.mkdir(parents=True, exist_ok=True)
    for level in LEVELS:
        for split in ("validation", "test"):
            rows = fresh(splits, level, split, options.count, options.seed)
            path = options.out / f"{level}_{split}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for split, sets in (("validation", splits.validation24), ("test", splits.test24)):
        rows = [{"id": f"hard24-{split}-{i + 1}", "numbers": list(s), "target": 24}
                for i, s in enumerate(sorted(sets))]
        (options.out / f"hard24_{split}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
