"""The baseline: a logistic regression over features that need no pre-trained network."""

import re

import torch

from examples import stems
from network import LABELS

CUES = {
    "denial": r"\b(not|no|never|without|none|lack\w*|missing|absent|fail\w*|overdue|n't)\b|n't",
    "plan": r"\b(will|plan\w*|roadmap|intend\w*|propos\w*|draft|next (year|quarter)|q[1-4]|to be|upcoming|until|budget\w*|pending|to do)\b",
    "rule": r"\b(must|shall|required|mandatory|always)\b",
    "weak": r"\b(may|should|can|could|where possible|some|most|usually|except|only|partly|if)\b",
    "others": r"\b(supplier|vendor|customer|client|provider|example|law|regulation|landlord)\w*\b",
    "record": r"\b(done|closed|completed|approved|reviewed|signed|tested)\b",
    "question": r"\?",
}


def features(e, weight):
    wanted = set(stems(e.statement))
    total = sum(weight.get(w, 8.0) for w in wanted) or 1.0

    def covered(text):
        return sum(weight.get(w, 8.0) for w in wanted & set(stems(text))) / total

    best, cues = 0.0, [0.0] * len(CUES)
    for s in re.split(r"(?<=[.!?;:])\s+|\n+", e.passage):
        share = covered(s)
        if share >= best:
            best, cues = share, [float(bool(re.search(c, s.lower()))) for c in CUES.values()]
    row = [covered(e.passage), covered(e.context), best, best * best, min(len(e.passage) / 500, 3.0)]
    return [1.0, *row, *cues, *[best * c for c in cues]]


class Lexical:
    def __init__(self, examples):
        counts = {}
        for e in examples:
            for w in set(stems(e.passage)):
                counts[w] = counts.get(w, 0) + 1
        self.weight = {w: torch.log(torch.tensor(1 + len(examples) / n)).item() for w, n in counts.items()}

    def matrix(self, examples):
        return torch.tensor([features(e, self.weight) for e in examples])

    def fit(self, examples, class_weights):
        x, y = self.matrix(examples), torch.tensor([LABELS.index(e.label) for e in examples])
        self.w = torch.zeros(x.shape[1], len(LABELS), requires_grad=True)
        optimizer = torch.optim.LBFGS([self.w], max_iter=200, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(x @ self.w, y, class_weights) + 1e-3 * self.w[1:].square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        return self

    def logits(self, examples):
        with torch.no_grad():
            return self.matrix(examples) @ self.w
