"""Computes figures of merit and calibration. Labels are indices in LABELS."""

import random
import zlib

import torch
import torch.nn.functional as F

from network import LABELS

N = len(LABELS)


def confusion(truth, guess, weights):
    table = [[0.0] * N for _ in range(N)]
    for t, g, w in zip(truth, guess, weights):
        table[t][g] += w
    return table


def f1(table):
    out = []
    for i in range(N):
        truth, guess = sum(table[i]), sum(row[i] for row in table)
        out.append(2 * table[i][i] / (truth + guess) if truth + guess else None)
    return out


def macro(table, of=range(N)):
    present = [f1(table)[i] for i in of if f1(table)[i] is not None]
    return sum(present) / len(present) if present else float("nan")


def interval(groups, truth, guess, weights, seed=7, draws=500):
    """Returns the 95% interval of macro-F1, resampling groups."""
    by_group = {}
    for g, t, p, w in zip(groups, truth, guess, weights):
        by_group.setdefault(g, confusion([], [], []))[t][p] += w
    tables = [torch.tensor(t) for _, t in sorted(by_group.items())]
    if not tables:
        return float("nan"), float("nan")
    stacked, chance, values = torch.stack(tables), random.Random(seed), []
    for _ in range(draws):
        chosen = torch.tensor([chance.randrange(len(tables)) for _ in tables])
        values.append(macro(stacked[chosen].sum(0).tolist()))
    values.sort()
    return values[int(draws * 0.025)], values[int(draws * 0.975)]


def calibrate(logits, truth, weights):
    """A scale and one bias per label that minimise the loss on natural proportions: the biases undo the sampling of silent pairs. The bias
    of silent is then lowered by best_shift."""
    scale, bias = torch.ones(1, requires_grad=True), torch.zeros(N, requires_grad=True)
    optimizer = torch.optim.LBFGS([scale, bias], max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        losses = F.cross_entropy(logits * scale + bias, truth, reduction="none")
        loss = (losses * weights).sum() / weights.sum() + 1e-4 * bias.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    scale, bias = scale.detach(), bias.detach()
    bias[N - 1] -= best_shift(logits * scale + bias, truth, weights)
    return scale, bias


def best_shift(logits, truth, weights):
    """What to take from the logit of silent for the highest macro-F1, the middle of the values within .002 of it. Most passages are silent,
    so the likeliest label without a shift would find too little; with it, a reader says more than it is sure of."""
    values = []
    for step in range(41):
        shifted = logits - step / 10 * F.one_hot(torch.tensor(N - 1), N)
        values.append((macro(confusion(truth.tolist(), shifted.argmax(1).tolist(), weights.tolist())), step / 10))
    good = [t for v, t in values if v >= max(values)[0] - 0.002]
    return good[len(good) // 2]


def draw_wrong(examples, probabilities, count):
    """Describes examples that are not silent and are read wrongly, drawn by a hash."""
    guess = probabilities.argmax(1)
    chosen = [i for i, e in enumerate(examples) if e.label not in ("silent", LABELS[int(guess[i])])]
    chosen.sort(key=lambda i: zlib.crc32(repr(examples[i]).encode()))
    out = []
    for number, i in enumerate(chosen[:count], 1):
        e, p = examples[i], ", ".join(f"{name} {v:.2f}" for name, v in zip(LABELS, probabilities[i].tolist()))
        out.append(f"{number}. {e.group.split('/')[0]}: {e.statement}\n   label {e.label}: {e.words}\n"
                   f"   read {LABELS[int(guess[i])]}: {p}\n"
                   f"   {e.context}{' '.join(e.passage.split())[:1500]}\n")
    return "".join(out)


def sureness(probabilities, truth, weights):
    """Returns, for each band of the highest probability, the number of pairs read as not silent and the share that is right."""
    top, guess = probabilities.max(1)
    out = []
    for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = ((top >= low) & (top < high) & (guess != N - 1)) * weights
        if inside.sum() > 0:
            out.append((low, int(inside.sum()), ((guess == truth) * inside).sum().item() / inside.sum().item()))
    return out


def report(name, examples, probabilities, write):
    truth = torch.tensor([LABELS.index(e.label) for e in examples])
    guess = probabilities.argmax(1)
    weights = torch.tensor([e.weight for e in examples])
    table = confusion(truth.tolist(), guess.tolist(), weights.tolist())
    low, high = interval([e.group for e in examples], truth.tolist(), guess.tolist(), weights.tolist())
    write(f"\n{name}: {int(weights.sum())} pairs, macro-F1 {macro(table):.3f} [{low:.3f}, {high:.3f}]; "
          f"states, part, silent {macro(table, (0, 1, 4)):.3f}")
    write("  F1 " + "  ".join(f"{label} {value:.2f}" if value is not None else f"{label} –" for label, value in zip(LABELS, f1(table))))
    write(f"  {'truth / read':14}" + "".join(f"{label:>12}" for label in LABELS))
    for label, row in zip(LABELS, table):
        write(f"  {label:14}" + "".join(f"{n:12.0f}" for n in row))
    write("  not silent, by sureness: " + "; ".join(
        f"from {low:.1f} {n} pairs, {right:.2f} right" for low, n, right in sureness(probabilities, truth, weights)))
    return macro(table)
