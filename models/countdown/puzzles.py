"""Countdown puzzles: exact arithmetic, made forwards or solved, and the splits.

Numbers are exact: an int, or a pair (numerator, denominator) in lowest terms inside the solver.
Everything here is a function of its arguments and of the random generator it is given.
"""

import csv
import functools
import hashlib
import math
import pathlib

# The largest number in a puzzle's steps: three digits are one token of the tokenizer.
LARGEST = 999
GAME24_TEST = range(901, 1001)
GAME24_VALIDATION = range(801, 901)


def game24_sets(path, ranks):
    """The number sets of the given ranks of 24.csv, each sorted."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [tuple(sorted(int(n) for n in row["Puzzles"].split()))
            for row in rows if int(row["Rank"]) in ranks]


class Splits:
    """Which number sets may be trained on. A set is a sorted tuple; its target plays no part."""

    def __init__(self, game24_csv):
        self.test24 = frozenset(game24_sets(game24_csv, GAME24_TEST))
        self.validation24 = frozenset(game24_sets(game24_csv, GAME24_VALIDATION))

    @functools.lru_cache(maxsize=1 << 20)
    def of(self, numbers):
        """"train", "validation" or "test" of a sorted tuple of three or more numbers."""
        if numbers in self.test24:
            return "test"
        if numbers in self.validation24:
            return "validation"
        first = hashlib.sha256(" ".join(map(str, numbers)).encode()).digest()[0]
        return "test" if first < 8 else "validation" if first < 16 else "train"

    def may_train(self, numbers, steps):
        """Neither the puzzle nor what is left inside it belongs to a held-out set."""
        left = sorted(numbers)
        if self.of(tuple(left)) != "train":
            return False
        for step in steps:
            left = left_after(left, step)
            if len(left) >= 3 and self.of(tuple(left)) != "train":
                return False
        return True


# --- one step -----------------------------------------------------------------------------------


def apply(a, op, b):
    """The exact whole result of a step, or None where it is not a whole number from 1 to LARGEST."""
    if op == "+":
        value = a + b
    elif op == "-":
        value = a - b
    elif op == "*":
        value = a * b
    elif b == 0 or a % b:
        return None
    else:
        value = a // b
    return value if 1 <= value <= LARGEST else None


def left_after(left, step):
    """The numbers left, sorted, once a step (a, op, b, value) has used two of `left`."""
    a, _, b, value = step
    rest = list(left)
    rest.remove(a)
    rest.remove(b)
    return sorted([*rest, value])


def ordered(a, op, b):
    """The larger number first where order does not matter: one way of writing each step."""
    return (b, op, a) if op in "+*" and a < b else (a, op, b)


# --- made forwards ------------------------------------------------------------------------------


def forward(rng, count, largest_number, targets, subset=False):
    """A random puzzle and one solution: (numbers, target, steps). Tries until one comes out.

    With `subset` the solution leaves one or two of the numbers unused.
    """
    while True:
        numbers = [rng.randint(1, largest_number) for _ in range(count)]
        unused = rng.randint(1, min(2, count - 2)) if subset else 0
        left = numbers[unused:]
        steps = []
        while len(left) > 1:
            step = random_step(rng, left)
            if step is None:
                break
            a, op, b, value = step
            left.remove(a)
            left.remove(b)
            left.append(value)
            steps.append(step)
        if len(left) == 1 and left[0] in targets and left[0] not in numbers:
            return numbers, left[0], steps


def random_step(rng, left):
    for _ in range(8):
        i, j = rng.sample(range(len(left)), 2)
        op = rng.choice("++--**/")
        a, b = left[i], left[j]
        # Steps that change nothing (times one, divided by one) teach little.
        if op in "*/" and min(a, b) == 1 and rng.random() < 0.8:
            continue
        a, op, b = ordered(a, op, b)
        value = apply(a, op, b)
        if value is not None:
            return a, op, b, value
    return None


# --- all solutions in whole numbers -------------------------------------------------------------


def solutions(numbers, target, most=400):
    """Solutions in whole, positive steps, each a list of steps; at most `most`, in a fixed order."""
    found = []

    def search(left, steps):
        if len(found) >= most:
            return
        if len(left) == 1:
            if left[0] == target:
                found.append(steps)
            return
        seen = set()
        for i in range(len(left)):
            for j in range(len(left)):
                if i == j:
                    continue
                rest = [n for k, n in enumerate(left) if k not in (i, j)]
                for op in "+-*/":
                    step = ordered(left[i], op, left[j])
                    value = apply(*step)
                    if value is None or step in seen:
                        continue
                    seen.add(step)
                    search(sorted([*rest, value]), [*steps, (*step, value)])

    search(sorted(numbers), [])
    return found


# --- what can be reached, exactly ---------------------------------------------------------------


def combined(x, y):
    """All values of one operation on two exact fractions (numerator, denominator > 0)."""
    (a, b), (c, d) = x, y
    out = {lowest(a * d + c * b, b * d), lowest(a * d - c * b, b * d),
           lowest(c * b - a * d, b * d), lowest(a * c, b * d)}
    if c:
        out.add(lowest(a * d, b * c))
    if a:
        out.add(lowest(c * b, d * a))
    return out


def lowest(numerator, denominator):
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    divisor = math.gcd(numerator, denominator)
    return numerator // divisor, denominator // divisor


@functools.lru_cache(maxsize=1 << 16)
def values_of(numbers):
    """All values of expressions that use each of the sorted numbers exactly once."""
    if len(numbers) == 1:
        return frozenset([(numbers[0], 1)])
    out = set()
    for left, right in halves(numbers):
        for x in values_of(left):
            for y in values_of(right):
                out |= combined(x, y)
    return frozenset(out)


def halves(numbers):
    """Every way of cutting the multiset in two, once."""
    seen = set()
    for mask in range(1, 1 << (len(numbers) - 1)):
        left = tuple(n for i, n in enumerate(numbers) if mask >> i & 1)
        right = tuple(n for i, n in enumerate(numbers) if not mask >> i & 1)
        key = min((left, right), (right, left))
        if key not in seen:
            seen.add(key)
            yield key


@functools.lru_cache(maxsize=1 << 18)
def reachable(numbers, target):
    """Whether an expression that uses each of the sorted numbers exactly once has that value."""
    if len(numbers) == 1:
        return numbers[0] == target
    goal = (target, 1)
    for left, right in halves(numbers):
        # The smaller side's values say which value of the larger side is wanted.
        small, large = sorted((left, right), key=len)
        others = values_of(large)
        for x in values_of(small):
            if any(wanted in others for wanted in wanted_for(x, goal)):
                return True
    return False


def wanted_for(x, goal):
    """The y with x op y or y op x equal to goal."""
    (a, b), (c, d) = x, goal
    out = [lowest(c * b - a * d, d * b), lowest(c * b + a * d, d * b), lowest(a * d - c * b, d * b)]
    if a:
        out.append(lowest(c * b, d * a))  # x * y
        if c:
            out.append(lowest(a * d, b * c))  # x / y
        out.append(lowest(c * a, d * b))  # y / x
    return out


# --- text ---------------------------------------------------------------------------------------


def expression(numbers, steps):
    """The steps as one expression, with no more parentheses than it needs."""
    parts = [(n, str(n), 3) for n in numbers]
    for a, op, b, value in steps:
        left = take(parts, a)
        right = take(parts, b)
        strength = 1 if op in "+-" else 2
        first = wrapped(left, left[2] < strength)
        second = wrapped(right, right[2] < strength or (op in "-/" and right[2] == strength))
        parts.append((value, first + op + second, strength))
    return parts[-1][1]


def take(parts, value):
    # The latest of equal values: what was just made is used before what was given.
    for i in range(len(parts) - 1, -1, -1):
        if parts[i][0] == value:
            return parts.pop(i)
    raise ValueError(f"{value} is not among the numbers left")


def wrapped(part, needs):
    return f"({part[1]})" if needs else part[1]


def solution_text(numbers, steps):
    """One operation a step, the numbers left in ascending order, a blank line, the answer."""
    left = sorted(numbers)
    lines = []
    for a, op, b, value in steps:
        left = left_after(left, (a, op, b, value))
        lines.append(f"{a}{op}{b}={value} (left {','.join(map(str, left))})")
    return "\n\n".join([*lines, f"Answer: {expression(numbers, steps)}"])


def listed(numbers):
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"


def thinkd_prompt(numbers, target, any_use):
    """What thinkd asks for a Countdown problem: the words of search/countdown_prompt.cc."""
    return (f"Use the numbers {listed(numbers)}, each {'at most' if any_use else 'exactly'} once, "
            f"with +, -, *, / and parentheses to make an expression whose value is {target}."
            "\n\nThink step by step. End with a line \"Answer: EXPRESSION\".")


SHORT_PROMPTS = [
    "Make {target} from {list}.",
    "Use {list} to make {target}.",
    "Reach {target} with {commas}.",
    "How can {list} make {target}?",
    "Numbers: {commas}. Target: {target}.",
    "Combine {list} to get {target}, using every number once.",
    "Write {target} with the numbers {commas}, each used once.",
]
SHORT_ANY_PROMPTS = [
    "Make {target} from some of {list}.",
    "Reach {target} with {commas}. Each number may be used at most once.",
    "Numbers: {commas}, each at most once. Target: {target}.",
]


def prompt(rng, numbers, target, any_use):
    if rng.random() < 0.2:
        return thinkd_prompt(numbers, target, any_use)
    form = rng.choice(SHORT_ANY_PROMPTS if any_use else SHORT_PROMPTS)
    return form.format(target=target, list=listed(numbers), commas=",".join(map(str, numbers)))


def default_csv():
    return pathlib.Path(__file__).resolve().parents[2] / "tests/data/game24/24.csv"
