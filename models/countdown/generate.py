"""Samples from the model: batches of prompts, keys and values kept, plain temperature and top-p."""

import torch

from model import rotations


class Batch:
    """Texts of one batch that grow together. Prompts are padded on the left."""

    def __init__(self, model, prompts):
        self.model = model
        self.rows = len(prompts)
        self.pads = torch.tensor([max(map(len, prompts)) - len(p) for p in prompts])
        self.turns = rotations(model.shape, torch.arange(model.shape.context))
        self.past = [None] * len(model.layers)
        self.length = 0
        ids = torch.tensor([[0] * int(pad) + list(p) for pad, p in zip(self.pads, prompts)])
        self.states = self.run(ids)[:, -1]

    def run(self, ids):
        """Appends ids [rows, n]; their states after the final norm."""
        count = ids.shape[1]
        total = self.length + count
        at = torch.arange(self.length, total)
        seen = torch.arange(total)
        # [rows, 1, count, total]: not the future, not the padding (but something, for a padded row)
        allowed = (seen <= at[:, None]) & ((seen >= self.pads[:, None, None]) | (seen == at[:, None]))
        bias = torch.zeros(allowed.shape).masked_fill(~allowed, float("-inf")).unsqueeze(1)
        positions = (at - self.pads[:, None]).clamp(min=0)
        turns = tuple(t[positions].unsqueeze(1) for t in self.turns)
        x = self.model.embedding(ids)
        for i, layer in enumerate(self.model.layers):
            empty = x.new_zeros(self.rows, layer.heads, 0, x.shape[-1] // layer.heads)
            keys, values = self.past[i] or (empty, empty)
            x, k, v = layer(x, turns, (keys, values, bias))
            self.past[i] = (torch.cat((keys, k), 2), torch.cat((values, v), 2))
        self.length = total
        return self.model.norm(x)

    def keep(self, rows):
        self.rows = len(rows)
        self.pads = self.pads[rows]
        self.past = [(k[rows], v[rows]) for k, v in self.past]
        self.states = self.states[rows]


def choose(logits, temperature, top_p, random):
    if temperature == 0:
        return logits.argmax(-1)
    share = torch.softmax(logits / temperature, -1)
    ranked, order = share.sort(-1, descending=True)
    ranked[ranked.cumsum(-1) - ranked >= top_p] = 0
    return order.gather(-1, torch.multinomial(ranked, 1, generator=random)).squeeze(-1)


@torch.no_grad()
def generate(model, prompts, end, most, temperature, top_p, random, marks=()):
    """Per prompt (token ids without the end token, states of those tokens that are in `marks`)."""
    batch = Batch(model, prompts)
    live = list(range(len(prompts)))
    tokens = [[] for _ in prompts]
    states = [[] for _ in prompts]
    for _ in range(most):
        chosen = choose(model.logits(batch.states), temperature, top_p, random)
        batch.states = batch.run(chosen[:, None])[:, 0]
        going = []
        for row, (sample, token) in enumerate(zip(live, chosen.tolist())):
            if token in marks:
                states[sample].append(batch.states[row].clone())
            if token != end:
                tokens[sample].append(token)
                going.append(row)
        if not going:
            break
        if len(going) < batch.rows:
            live = [live[row] for row in going]
            batch.keep(going)
    return list(zip(tokens, states))
