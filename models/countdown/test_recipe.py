"""The recipe, small: puzzles and splits by enumeration, a short training, its export in thinkd.

    python -m unittest test_recipe        THINKD names the program, default build/release/thinkd
"""

import copy
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

import torch

import batches
import chat
import check
import evaluate
import export
import generate
import levels
import puzzles
import scorer
import vocabulary
import wrong_turns
from mixture import Mixture

HERE = pathlib.Path(__file__).resolve().parent
THINKD = os.environ.get("THINKD", str(HERE.parents[1] / "build/release/thinkd"))
SMALL = ["--steps", "60", "--batch", "32", "--width", "64", "--layers", "2", "--threads", "1",
         "--precision", "f32", "--save-every", "20"]


def by_enumeration(numbers):
    """All values of expressions over all the numbers: pairs are replaced until one is left."""
    if len(numbers) == 1:
        return {numbers[0]}
    out = set()
    for i, j in itertools.permutations(range(len(numbers)), 2):
        rest = [n for k, n in enumerate(numbers) if k not in (i, j)]
        a, b = numbers[i], numbers[j]
        for value in [a + b, a - b, a * b] + ([a / b] if b else []):
            out |= by_enumeration([value, *rest])
    return out


class Puzzles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.splits = puzzles.Splits(puzzles.default_csv())
        cls.mixture = Mixture(cls.splits)

    def test_reachable_is_what_enumeration_reaches(self):
        rng = random.Random(3)
        for _ in range(12):
            numbers = [rng.randint(1, 13) for _ in range(rng.choice([2, 3, 4]))]
            values = by_enumeration([Fraction(n) for n in numbers])
            for target in range(1, 60):
                self.assertEqual(puzzles.reachable(tuple(sorted(numbers)), target),
                                 target in values, (numbers, target))

    def test_every_training_sample_is_right_and_may_be_trained_on(self):
        rng = random.Random(4)
        for i in range(3000):
            kinds = [name for name, _ in self.mixture.kinds(1.0)]
            numbers, target, steps = self.mixture.draw(rng, kinds[i % len(kinds)])
            if not self.splits.may_train(numbers, steps):
                continue
            text = puzzles.solution_text(numbers, steps)
            any_use = len(steps) + 1 < len(numbers)
            self.assertTrue(check.solves(text, numbers, target, any_use), text)
            left = tuple(sorted(numbers))
            for step in text.split("\n\n")[:-1]:
                self.assertNotIn(left, self.splits.test24)
                self.assertTrue(len(left) < 3 or self.splits.of(left) == "train")
                left = scorer.after(left, step)
                self.assertIsNotNone(left, text)

    def test_a_wrong_turn_has_true_steps_and_its_choices_are_not_learned(self):
        rng = random.Random(7)
        turned = [self.mixture.sample(rng, 1.0) for _ in range(2000)]
        turned = [sample for sample in turned if sample.unlearned]
        self.assertTrue(300 < len(turned) < 700, len(turned))
        for sample in turned:
            texts = [sample.answer[begin:end] for begin, end in sample.unlearned]
            for text in texts:
                self.assertRegex(text, r"^\d+[-+*/]\d+$")
            *steps, answer = sample.answer.split("\n\n")
            found = [check.FULL_STEP.match(step) for step in steps]
            for step in found:
                self.assertEqual(puzzles.apply(int(step[1]), step[2], int(step[3])), int(step[4]))
            value, _ = check.Parser(answer.removeprefix("Answer: ")).whole()
            self.assertEqual(value, int(found[-1][5]), sample.answer)

    def test_the_closing_step_is_found_where_there_is_one(self):
        for a, b in itertools.product(range(1, 30), repeat=2):
            for target in range(1, 60):
                step = wrong_turns.closing([a, b], target)
                either_way = itertools.product(((a, b), (b, a)), "+-*/")
                self.assertEqual(step is not None, any(
                    puzzles.apply(x, op, y) == target for (x, y), op in either_way))
                self.assertTrue(step is None or puzzles.apply(*step[:3]) == target)

    def test_learned_tokens_are_those_outside_the_spans(self):
        offsets = [(0, 2), (2, 3), (3, 4), (4, 5), (5, 7)]
        self.assertEqual(batches.learned(offsets, [(0, 4)]), [False] * 3 + [True] * 2)
        self.assertEqual(batches.learned(offsets, [(2, 3), (5, 7)]), [True, False, True, True, False])
        self.assertEqual(batches.learned(offsets, []), [True] * 5)

    def test_the_checker_refuses_what_is_wrong(self):
        self.assertTrue(check.solves("Answer: (9-5)*6*1", [1, 5, 6, 9], 24))
        for text in ("", "Answer: 24", "Answer: (9-5)*6", "Answer: (9-5)*6*1*1", "Answer: 9-5",
                     "Answer: ((9-5)*6*1", "Answer: 6/(5-5)", "Answer: (9-5)*6*1+"):
            self.assertFalse(check.solves(text, [1, 5, 6, 9], 24), text)
        self.assertTrue(check.solves("Answer: (9-5)*6", [1, 5, 6, 9], 24, any_use=True))

    def test_levels_are_of_their_split_and_solvable(self):
        for level in ("easy3", "easy4", "harder5"):
            for row in levels.fresh(self.splits, level, "test", 10, 24):
                key = tuple(sorted(row["numbers"]))
                self.assertEqual(self.splits.of(key), "test")
                self.assertTrue(puzzles.reachable(key, row["target"]))


class Training(unittest.TestCase):
    """One short training, interrupted and not; its export, read by thinkd."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.whole = pathlib.Path(cls.folder.name) / "whole"
        cls.train(cls.whole)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_script(cls, *arguments):
        return subprocess.run([sys.executable, *map(str, arguments)], cwd=HERE, check=True,
                              capture_output=True, text=True).stdout

    @classmethod
    def train(cls, out, *more):
        return cls.run_script("train.py", "--out", out, *SMALL, *more)

    def losses(self, folder):
        return [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]

    def test_the_loss_falls(self):
        losses = self.losses(self.whole)
        self.assertEqual(len(losses), 60)
        self.assertLess(sum(losses[-10:]), 0.6 * sum(losses[:10]))

    def test_an_interrupted_training_ends_with_the_same_bits(self):
        parts = self.whole.parent / "parts"
        self.train(parts, "--stop-after", "33")
        # A crash after its checkpoint leaves lines that the continuation writes again.
        with open(parts / "log.jsonl", "a", encoding="utf-8") as log:
            log.write('{"step": 34, "loss": 99.0, "tokens": 1}\n')
        self.train(parts)
        self.assertEqual(self.losses(self.whole), self.losses(parts))
        whole, resumed = (torch.load(f / "checkpoint.pt", weights_only=True)
                          for f in (self.whole, parts))
        for name, weight in whole["model"].items():
            self.assertTrue(torch.equal(weight, resumed["model"][name]), name)

    def test_other_settings_than_the_checkpoints_are_refused(self):
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            self.train(self.whole, "--seed", "2")
        self.assertIn("the checkpoint has --seed 1, not 2", refused.exception.stderr)

    def test_every_number_to_999_is_one_token(self):
        tokenizer, tokens, _ = vocabulary.load(self.whole / "vocabulary.json")
        self.assertEqual(len(set(tokens)), len(tokens))
        for number in range(1000):
            self.assertEqual(len(tokenizer.encode(str(number)).ids), 1, number)

    def thinkd(self, *arguments):
        ran = subprocess.run([THINKD, *map(str, arguments)], check=True, capture_output=True,
                             text=True)
        return json.loads(ran.stdout)

    def test_thinkd_reads_the_export_and_writes_the_same_tokens(self):
        model, tokenizer, _, _ = evaluate.load(self.whole)
        exported = self.whole / "model-f32.gguf"
        self.run_script("export.py", self.whole, exported, "--type", "f32")
        rng = random.Random(5)
        end = tokenizer.token_to_id(chat.END)
        for _ in range(6):
            numbers = [rng.randint(1, 13) for _ in range(4)]
            prompt = puzzles.thinkd_prompt(numbers, 24, False)
            ids = tokenizer.encode(chat.wrap_prompt(prompt), add_special_tokens=False).ids
            read = self.thinkd("tokenize", prompt, "--model", exported, "--json")
            self.assertEqual(read["ids"], ids)
            [(expected, _)] = generate.generate(model, [ids], end, 48, 0, 1, torch.Generator())
            wrote = self.thinkd("complete", prompt, "--model", exported, "--compute", "f32", "--kv",
                                "f32", "--tokens", 48, "--json")
            self.assertEqual(wrote["text"], tokenizer.decode(expected))

    def test_the_scorer_reads_the_ends_of_steps_and_answers(self):
        _, tokenizer, _, _ = evaluate.load(self.whole)
        mixture = Mixture(puzzles.Splits(puzzles.default_csv()))
        rng = random.Random(6)
        marks = {i for i in range(tokenizer.get_vocab_size()) if "\n\n" in tokenizer.decode([i])}
        for _ in range(50):
            numbers, target, steps = mixture.draw(rng, "five")
            row = {"numbers": numbers, "target": target}
            right = puzzles.solution_text(numbers, steps)
            wrong = right.replace("=", "=1", 1)
            cut = None
            found = list(scorer.encoded(tokenizer, [row] * 3, [right, wrong, cut], marks))
            self.assertEqual(len(found), 2)
            ids, ends = found[0]
            self.assertEqual([(label, left) for _, label, left in ends],
                             [(1.0, 4), (1.0, 3), (1.0, 2), (1.0, 1), (1.0, 0)])
            for position, _, left in ends:
                self.assertTrue(ids[position] in marks if left
                                else tokenizer.decode([ids[position]], False) == chat.END)
            self.assertEqual([label for _, label, left in found[1][1] if left], [0.0] * 4)

    def test_weights_read_back_are_the_exported_ones(self):
        model, _, _, _ = evaluate.load(self.whole)
        other = copy.deepcopy(model)
        exact, rounded = self.whole / "back-f32.gguf", self.whole / "back-q8_0.gguf"
        for path, kind in ((exact, "f32"), (rounded, "q8_0")):
            self.run_script("export.py", self.whole, path, "--type", kind)
        export.take_weights(other, exact)
        for (name, weight), (_, back) in zip(export.named_weights(model),
                                             export.named_weights(other)):
            self.assertTrue(torch.equal(weight, back), name)
        export.take_weights(other, rounded)
        for (name, weight), (_, back) in zip(export.named_weights(model),
                                             export.named_weights(other)):
            self.assertLess((weight - back).abs().max(), 0.01 * weight.abs().max() + 1e-6, name)

    def test_the_quantised_export_loads_and_is_a_third_of_the_size(self):
        sizes = {}
        for kind in ("f32", "q8_0"):
            path = self.whole / f"size-{kind}.gguf"
            self.run_script("export.py", self.whole, path, "--type", kind)
            sizes[kind] = path.stat().st_size
        self.assertLess(sizes["q8_0"], 0.5 * sizes["f32"])
        inspected = self.thinkd("models", "inspect", self.whole / "size-q8_0.gguf", "--json")
        self.assertEqual(inspected["architecture"], "llama")


if __name__ == "__main__":
    unittest.main()
