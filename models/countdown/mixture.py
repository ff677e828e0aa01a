"""What the model is trained on: a fixed mixture of puzzles, harder ones later."""

import dataclasses

import puzzles
import wrong_turns

# Share of the samples whose line of thought takes a wrong turn.
WRONG_TURNS = 0.25
# Share of each kind once the curriculum is over: name, weight, weight at the start.
KINDS = [
    ("three", 0.08, 0.35),
    ("four", 0.32, 0.35),
    ("game24", 0.27, 0.25),
    ("five", 0.16, 0.05),
    ("six", 0.12, 0.00),
    ("any", 0.05, 0.00),
]


@dataclasses.dataclass
class Sample:
    prompt: str
    answer: str
    unlearned: list[tuple[int, int]]  # (begin, end) in the answer of what must not be learned


class Mixture:
    def __init__(self, splits):
        self.splits = splits
        self.solved24 = solve_all_24(splits)

    def sample(self, rng, progress):
        """One puzzle that may be trained on; progress from 0 to 1."""
        names, weights = zip(*self.kinds(progress))
        while True:
            kind = rng.choices(names, weights)[0]
            numbers, target, steps = self.draw(rng, kind)
            wrong = rng.random() < WRONG_TURNS and kind != "any"
            line = wrong_turns.turned(rng, numbers, target, steps) if wrong else (steps, [])
            if line and self.splits.may_train(numbers, line[0]):
                order = sorted(numbers) if rng.random() < 0.5 else rng.sample(numbers, len(numbers))
                answer = puzzles.solution_text(numbers, line[0])
                return Sample(puzzles.prompt(rng, order, target, kind == "any"), answer,
                              wrong_turns.spans(answer, line[1]))

    @staticmethod
    def kinds(progress):
        """(name, weight) of each kind: from the early shares to the late ones over 30% of the way."""
        early = max(0.0, 1.0 - progress / 0.3)
        return [(name, early * start + (1 - early) * end) for name, end, start in KINDS]

    def draw(self, rng, kind):
        if kind == "game24":
            numbers, ways = rng.choice(self.solved24)
            return list(numbers), 24, rng.choice(ways)
        if kind == "three":
            return puzzles.forward(rng, 3, rng.choice([13, 100]), range(2, 301))
        if kind == "four":
            return puzzles.forward(rng, 4, rng.choice([13, 13, 100]), range(10, 201))
        if kind == "five":
            return puzzles.forward(rng, 5, rng.choice([13, 100]), range(10, 501))
        if kind == "six":
            return puzzles.forward(rng, 6, rng.choice([25, 100]), range(100, 1000))
        return puzzles.forward(rng, rng.choice([4, 5]), rng.choice([13, 100]), range(10, 301),
                               subset=True)


def solve_all_24(splits):
    """Solutions of every set of four numbers from 1 to 13 that may be trained on."""
    solved = []
    for a in range(1, 14):
        for b in range(a, 14):
            for c in range(b, 14):
                for d in range(c, 14):
                    if splits.of((a, b, c, d)) == "train":
                        ways = puzzles.solutions((a, b, c, d), 24)
                        if ways:
                            solved.append(((a, b, c, d), ways))
    return solved
