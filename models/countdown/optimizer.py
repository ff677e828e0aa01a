"""Muon (Jordan et al. 2024) for the layers' matrices, AdamW for the rest."""

import torch


def orthogonal(matrix, steps=5):
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrix; batch of equal shapes."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrix / (matrix.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.size(-2) > x.size(-1)
    if tall:
        x = x.mT
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.0):
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape = {}
            for p in group["params"]:
                by_shape.setdefault(tuple(p.shape), []).append(p)
            for shape, weights in by_shape.items():
                updates = []
                for p in weights:
                    state = self.state[p]
                    if "momentum" not in state:
                        state["momentum"] = torch.zeros_like(p)
                    state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                    updates.append(p.grad.lerp(state["momentum"], group["momentum"]))
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for p, update in zip(weights, orthogonal(torch.stack(updates))):
                    p.mul_(1 - group["lr"] * group["decay"])
                    p.add_(update, alpha=-group["lr"] * scale)


def optimizers(model, muon_lr=0.02, adam_lr=3e-3):
    matrices, rest = [], []
    for name, weight in model.named_parameters():
        (matrices if weight.dim() == 2 and "embedding" not in name else rest).append(weight)
    return (Muon(matrices, muon_lr, weight_decay=0.1),
            torch.optim.AdamW(rest, adam_lr, betas=(0.9, 0.95), weight_decay=0.0))
