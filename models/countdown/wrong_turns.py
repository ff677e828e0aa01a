"""Lines of thought that take a wrong turn. They teach what a step results in, not which to take:
a model that has only seen right lines writes the target as its last result, true or not."""

import puzzles


def turned(rng, numbers, target, steps):
    """(steps, indices of the steps whose choice must not be learned): right up to some step, then
    random ones. None where no further step is possible."""
    first = rng.randrange(len(steps))
    left = sorted(numbers)
    for step in steps[:first]:
        left = puzzles.left_after(left, step)
    out, unlearned = list(steps[:first]), []
    while len(left) > 1:
        # With two numbers left all is in sight: what can be done there may be learned, but for a
        # turn away from the target.
        end = closing(left, target) if len(left) == 2 and len(out) > first else None
        step = end or puzzles.random_step(rng, left)
        if step is None:
            return None
        if len(left) > 2 or len(out) == first:
            unlearned.append(len(out))
        out.append(step)
        left = puzzles.left_after(left, step)
    return out, unlearned


def closing(pair, target):
    """The step that makes the target of the two numbers, or None."""
    a, b = sorted(pair, reverse=True)
    for op in "+-*/":
        if puzzles.apply(a, op, b) == target:
            return a, op, b, target
    return None


def spans(text, indices):
    """(begin, end) in `text` of what those steps choose: all before their equals sign."""
    at, out = 0, []
    for index, step in enumerate(text.split("\n\n")):
        if index in indices:
            out.append((at, at + step.index("=")))
        at += len(step) + 2
    return out
