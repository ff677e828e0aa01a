"""The training stream as token ids. Batch k is a function of the seed and of k alone."""

import math
import random

import torch

import chat

BATCHES_A_POOL = 32


def batches(mixture, tokenizer, steps, size, seed, first):
    """(ids, mask) of each batch from number `first` on, `size` samples each."""
    for index in range(first // BATCHES_A_POOL, math.ceil(steps / BATCHES_A_POOL)):
        progress = index * BATCHES_A_POOL / steps
        samples = pool(mixture, tokenizer, seed, index, BATCHES_A_POOL * size, progress)
        samples.sort(key=lambda sample: len(sample[0]))  # like lengths together: little padding
        order = list(range(BATCHES_A_POOL))
        random.Random(f"{seed}/{index}/order").shuffle(order)
        for at, k in enumerate(order):
            if first <= index * BATCHES_A_POOL + at < steps:
                yield padded(samples[k * size:(k + 1) * size])


def pool(mixture, tokenizer, seed, index, size, progress):
    """`size` samples as (ids, whether each is learned)."""
    rng = random.Random(f"{seed}/{index}")
    drawn = [mixture.sample(rng, progress) for _ in range(size)]
    prompts = tokenizer.encode_batch([chat.wrap_prompt(sample.prompt) for sample in drawn],
                                     add_special_tokens=False)
    answers = tokenizer.encode_batch([sample.answer + chat.END for sample in drawn],
                                     add_special_tokens=False)
    return [(p.ids + a.ids, [False] * len(p.ids) + learned(a.offsets, sample.unlearned))
            for p, a, sample in zip(prompts, answers, drawn)]


def learned(offsets, unlearned):
    """Whether each token, given as (begin, end) in the text, lies outside all the spans."""
    return [not any(begin <= at < end for begin, end in unlearned) for at, _ in offsets]


def padded(samples):
    """(ids [batch, length], mask of the positions whose next token is learned)"""
    length = max(len(ids) for ids, _ in samples)
    ids = torch.zeros(len(samples), length, dtype=torch.long)
    mask = torch.zeros(len(samples), length, dtype=torch.bool)
    for row, (tokens, flags) in enumerate(samples):
        ids[row, :len(tokens)] = torch.tensor(tokens)
        mask[row, :len(tokens) - 1] = torch.tensor(flags[1:])
    return ids, mask
