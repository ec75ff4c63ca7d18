#!/usr/bin/env python3
"""Reads the output of `service reader export` with trained weights, and writes readings for `service reader import`. See TRAINING.md."""

import argparse
import json
import os
import re
import sys

import torch

import train
from examples import windows
from network import LABELS, CrossEncoder, base_folder, read_safetensors
from wordpiece import WordPiece, context, pair

MIN_WORDS, MAX_WORDS = 4, 4096  # bytes, as the program checks


def sentences(window):
    return [s for s in re.split(r"(?<=[.!?])[ \t]+|\n+", window) if s.strip()]


def read_statement(model, tokenizer, line):
    """Returns one reading per passage: the label of its least silent window, and the sentence that contributes most to it."""
    statement = f"{line['topic']}: {line['statement']}" if line["topic"] else line["statement"]
    owners, parts = [], []
    for i, p in enumerate(line["passages"]):
        for window in windows(p["text"]):
            owners.append(i)
            parts.append((context(p["title"], p["headings"]), window))
    probabilities = probabilities_of(model, tokenizer, statement, parts)
    for i, p in enumerate(line["passages"]):
        own = [k for k, owner in enumerate(owners) if owner == i]
        best = min(own, key=lambda k: probabilities[k][train.SILENT].item())
        if not p["text"].strip():
            probabilities[best] = torch.eye(len(LABELS))[train.SILENT]
        label = probabilities[best].argmax().item()
        reading = {
            "statement_id": line["statement_id"], "passage_hash": p["passage_hash"], "label": LABELS[label],
            "probabilities": {name: round(v, 4) for name, v in zip(LABELS, probabilities[best].tolist())},
        }
        if label != train.SILENT:
            above, words = parts[best]
            choices = sentences(words)
            if len(choices) > 1:
                found = probabilities_of(model, tokenizer, statement, [(above, s) for s in choices])[:, label]
                found[[len(s.encode()) < MIN_WORDS for s in choices]] = 0
                if found.max() > probabilities[best][label] / 2:
                    words = choices[found.argmax().item()]
            reading["words"] = words.encode()[:MAX_WORDS].decode(errors="ignore")
        yield reading


def probabilities_of(model, tokenizer, statement, parts):
    if not parts:
        return torch.zeros(0, len(LABELS))
    return train.predict(model, [pair(tokenizer, statement, above, text) for above, text in parts]).softmax(1)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("statements", help="file that `service reader export` wrote")
    p.add_argument("--weights", required=True, help="reader.safetensors that train.py wrote")
    p.add_argument("--base", help="folder with vocab.txt (default: the installed package)")
    p.add_argument("--name", default="trained-1", help="the reader's name")
    p.add_argument("--threads", type=int, default=2)
    options = p.parse_args()
    torch.set_num_threads(options.threads)
    tokenizer = WordPiece(os.path.join(options.base or base_folder(), "vocab.txt"))
    model = CrossEncoder.from_weights(read_safetensors(options.weights))
    with open(options.statements, encoding="utf-8") as f:
        for line in f:
            for reading in read_statement(model, tokenizer, json.loads(line)):
                json.dump({"reader": options.name} | reading, sys.stdout, ensure_ascii=False)
                print()


if __name__ == "__main__":
    main()
