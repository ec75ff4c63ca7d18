#!/usr/bin/env python3
"""Trains the built-in reader and reports its figures. See README.md."""

import argparse
import itertools
import json
import math
import os
import random
import time
import zlib

import torch
import torch.nn.functional as F

import examples as ex
import figures
import synthetic
from lexical import Lexical
from network import LABELS, CrossEncoder, base_folder, read_safetensors, write_safetensors, write_weights
from wordpiece import PAD, WordPiece, pair


def encode(tokenizer, chosen):
    return [pair(tokenizer, e.statement, e.context, e.passage) for e in chosen]


def batches(encoded, tokens, order):
    """Splits order into runs of neighbors of similar length, with at most tokens word pieces each, including padding."""
    out, current, longest = [], [], 0
    for i in order:
        longest = max(longest, len(encoded[i][0]))
        if current and longest * (len(current) + 1) > tokens:
            out.append(current)
            current, longest = [], len(encoded[i][0])
        current.append(i)
    if current:
        out.append(current)
    return out


def tensors(encoded, indices):
    length = max(len(encoded[i][0]) for i in indices)
    ids = torch.full((len(indices), length), PAD)
    segments = torch.zeros((len(indices), length), dtype=torch.long)
    for row, i in enumerate(indices):
        pieces, first = encoded[i]
        ids[row, :len(pieces)] = torch.tensor(pieces)
        segments[row, first:len(pieces)] = 1
    lengths = torch.tensor([len(encoded[i][0]) for i in indices])
    return ids, segments, torch.arange(length)[None, :] < lengths[:, None]


@torch.no_grad()
def predict(model, encoded, tokens=8192):
    model.eval()
    out = torch.zeros(len(encoded), len(LABELS))
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i][0]))
    for chosen in batches(encoded, tokens, order):
        out[chosen] = model(*tensors(encoded, chosen)).float()
    return out


SILENT = LABELS.index("silent")


def read(model, tokenizer, chosen):
    """Returns the logits for whole passages, which are those of the least silent window."""
    owner, parts = [], []
    for i, e in enumerate(chosen):
        for window in ex.windows(e.passage):
            owner.append(i)
            parts.append(pair(tokenizer, e.statement, e.context, window))
    logits = predict(model, parts)
    silent = logits.log_softmax(1)[:, SILENT].tolist()
    best = {}
    for k, i in enumerate(owner):
        if i not in best or silent[k] < silent[best[i]]:
            best[i] = k
    return logits[[best[i] for i in range(len(chosen))]]


def class_weights(chosen, power):
    counts = [sum(e.label == label for e in chosen) for label in LABELS]
    w = torch.tensor([(len(chosen) / (len(LABELS) * max(n, 1))) ** power for n in counts])
    return w


def optimizer_for(model, options):
    """Later layers learn faster than earlier ones, which know English already."""
    groups = [{"params": model.head.parameters(), "lr": options.rate * 10}]
    model.frozen = options.freeze_layers
    for i, layer in enumerate(model.layers):
        groups.append({"params": layer.parameters(), "lr": options.rate * 0.9 ** (len(model.layers) - 1 - i)})
    trained = [model.position, model.segment, model.norm]
    if not options.freeze_words:
        trained.append(model.word)
    model.word.weight.requires_grad = not options.freeze_words
    for m in trained:
        groups.append({"params": m.parameters(), "lr": options.rate * 0.9 ** len(model.layers)})
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=True)


def start(options, tokenizer, write):
    """Returns a network with the base model's weights, after a first training stage on pairs made by rules."""
    torch.manual_seed(options.seed)
    if options.start:
        return CrossEncoder.from_weights(read_safetensors(options.start), options.dropout)
    model = CrossEncoder.from_base(options.base, options.dropout)
    if options.made:
        made = synthetic.pairs(options.criteria, options.seed)
        made.sort(key=lambda e: zlib.crc32(repr(e).encode()))
        write(f"\n## First stage: {options.made} of {len(made)} pairs made by rules")
        train(options, tokenizer, model, 1, lambda _: made[:options.made], write)
        write_safetensors(os.path.join(options.out, "first-stage.safetensors"), dict(model.state_dict()))
    return model


def train(options, tokenizer, model, epochs, chosen, write, save=None):
    """Trains on chosen(pass) for a number of passes or, with --minutes, for that time. The rate rises and then falls to zero."""
    torch.manual_seed(options.seed)
    optimizer = optimizer_for(model, options)
    base_rates = [g["lr"] for g in optimizer.param_groups]
    chance = random.Random(options.seed)
    began, seen, done, step = time.monotonic(), 0, 0.0, 0
    for epoch in itertools.count(1):
        examples = chosen(epoch)
        encoded, y = encode(tokenizer, examples), torch.tensor([LABELS.index(e.label) for e in examples])
        weights = class_weights(examples, options.class_power)
        order = epoch_batches(encoded, options.batch_tokens, chance)
        model.train()
        loss_sum, learned = 0.0, 0
        for position, indices in enumerate(order):
            elapsed = (time.monotonic() - began) / 60
            done = elapsed / options.minutes if options.minutes else (epoch - 1 + position / len(order)) / epochs
            if done >= 1:
                break
            factor = min(done / 0.08, (1 - done) / 0.92)
            for group, rate in zip(optimizer.param_groups, base_rates):
                group["lr"] = rate * factor
            ids, segments, real = tensors(encoded, indices)
            with torch.autocast("cpu", torch.bfloat16, enabled=options.bf16):
                logits = model(ids, segments, real)
            loss = F.cross_entropy(logits.float(), y[indices], weights, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            loss_sum += loss.item() * len(indices)
            learned += len(indices)
            seen += int(real.sum())
            step += 1
            if step % 100 == 0:
                write(f"  batch {step}, {done:.1%}, loss {loss_sum / learned:.3f}, {seen / (time.monotonic() - began):.0f} tokens/s", timed=True)
        write(f"  pass {epoch}: {learned} of {len(examples)} windows, loss {loss_sum / max(learned, 1):.3f}")
        write(f"  {seen / (time.monotonic() - began):.0f} tokens/s, {time.monotonic() - began:.0f} s", timed=True)
        if save:
            save(epoch)
        if done >= 1 or not options.minutes and epoch == epochs:
            return


def epoch_batches(encoded, tokens, chance):
    """Returns batches of similar length in random order."""
    order = sorted(range(len(encoded)), key=lambda i: (len(encoded[i][0]) // 8, chance.random()))
    out = batches(encoded, tokens, order)
    chance.shuffle(out)
    return out


def truth_of(chosen):
    return torch.tensor([LABELS.index(e.label) for e in chosen]), torch.tensor([e.weight for e in chosen])


def fold_calibration(model, scale, bias):
    """Merges scale and biases into the last layer, so that its softmax is calibrated."""
    with torch.no_grad():
        model.head.weight.mul_(scale)
        model.head.bias.mul_(scale).add_(bias)


def tested(write, predict, styles, pairs, wrong=None):
    """Returns figures for the test sets, and for those parts of them that show how well the reader generalizes. If wrong names a
    file, 50 labeled passages of the styles that are read wrongly are written to it, to be read by a person."""
    if styles:
        p = predict(styles)
        value = figures.report("unseen styles", styles, p, write)
        if wrong:
            with open(wrong, "w", encoding="utf-8") as f:
                f.write(figures.draw_wrong(styles, p, 50))
        for name, chosen in (("first three", ex.FIRST_TEST_STYLES), ("later", ex.TEST_STYLES - ex.FIRST_TEST_STYLES)):
            part = [i for i, e in enumerate(styles) if e.style in chosen]
            if part:
                figures.report(f"unseen styles, {name}", [styles[i] for i in part], p[part], write)
        unseen = [i for i, e in enumerate(styles) if ex.unseen_control(e)]
        if unseen:
            figures.report("unseen styles, controls unseen too", [styles[i] for i in unseen], p[unseen], write)
    if pairs:
        p = predict(pairs)
        figures.report("unseen pairs", pairs, p, write)
        right = p.argmax(1) == torch.tensor([LABELS.index(e.label) for e in pairs])
        kinds = sorted({e.phenomenon for e in pairs})
        write("  right by phenomenon: " + "; ".join(
            f"{kind} {int(sum(right[i] for i, e in enumerate(pairs) if e.phenomenon == kind))}/{sum(e.phenomenon == kind for e in pairs)}"
            for kind in kinds))
    return value if styles else float("nan")


def parse():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", default=os.path.join(here, "data"))
    p.add_argument("--catalog", default=os.path.join(here, "../../engine/catalog/starter/data"))
    p.add_argument("--criteria", default=os.path.join(here, "../../engine/judge/criteria"))
    p.add_argument("--made", type=int, default=12000, help="pairs made by rules for the first stage")
    p.add_argument("--start", help="weights of a first stage made before (first-stage.safetensors)")
    p.add_argument("--only-first-stage", action="store_true")
    p.add_argument("--base", help="folder with model.safetensors and vocab.txt (default: the installed package)")
    p.add_argument("--out", default="out", help="folder for the weights, report.txt and expected.jsonl")
    p.add_argument("--name", default="builtin/1")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--epochs", type=int, default=4, help="0: only calibrate and test the weights of --start, and write reader.bin")
    p.add_argument("--minutes", type=float, help="train for this time instead of a number of epochs; the weights then differ each time")
    p.add_argument("--mine", action="store_true", help="draw twice as many silent windows and learn those that are read wrongly")
    p.add_argument("--bf16", action="store_true", help="multiply in bfloat16; twice as fast on processors with AVX512_BF16")
    p.add_argument("--rate", type=float, default=1e-4)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--batch-tokens", type=int, default=2048)
    p.add_argument("--negatives", type=int, default=4, help="silent passages of each statement")
    p.add_argument("--pair-share", type=float, default=1.0, help="draw this share of the pairs in each pass, so that packs weigh more")
    p.add_argument("--parts", type=int, default=1, help="learn from one in so many statements in each pass, and from the others in the next")
    p.add_argument("--silent-share", type=int, default=4, help="test on one in so many silent passages, which counts for all")
    p.add_argument("--silent-odds", type=float, default=1.0,
                   help="multiply the odds of silent in reader.bin by this: of a statement's best passages, fewer are silent than of all")
    p.add_argument("--class-power", type=float, default=0.5, help="0: no class weights; 1: each label weighs the same")
    p.add_argument("--freeze-layers", type=int, default=0, help="leave embeddings and so many lower layers as they are; saves time")
    p.add_argument("--train-words", dest="freeze_words", action="store_false", help="also train the word embeddings")
    p.add_argument("--fraction", type=float, default=1.0, help="train on this share of the statements")
    p.add_argument("--curve", action="store_true", help="first train on a quarter and on a half, for the learning curve")
    p.add_argument("--without-author", default="", help="leave out this author's packs and pairs in training")
    p.add_argument("--threads", type=int, default=2)
    return p.parse_args()


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # every tensor is written before it is read
    options.base = options.base or base_folder()
    os.makedirs(options.out, exist_ok=True)
    log = open(os.path.join(options.out, "report.txt"), "w", encoding="utf-8")

    def write(line, timed=False):
        print(line, flush=True)
        if not timed:  # the file is the same for the same data and options
            log.write(line + "\n")
            log.flush()

    ex.read_catalog(options.catalog)
    tokenizer = WordPiece(os.path.join(options.base, "vocab.txt"))
    if options.only_first_stage:
        start(options, tokenizer, write)
        return
    everything = ex.read(options.data)
    training, development, styles, pairs = ex.split(everything, options.without_author)
    development, styles = ex.tested(development, options.silent_share), ex.tested(styles, options.silent_share)
    if not development:
        raise SystemExit("no examples for development: label a pack of a development style, or add pairs")
    for name, chosen in (("training", training), ("development", development), ("test, styles", styles), ("test, pairs", pairs)):
        counts = "  ".join(f"{label} {sum(e.label == label for e in chosen)}" for label in LABELS)
        write(f"{name}: {len(chosen)} pairs: {counts}")
    sampled = ex.training_set(training, options.negatives, options.seed)
    lengths = sorted(len(p) for p, _ in encode(tokenizer, sampled))
    write(f"word pieces: median {lengths[len(lengths) // 2]}, 95 % up to {lengths[int(len(lengths) * .95)]}, "
          f"cut {sum(n == 192 for n in lengths)} of {len(lengths)}")

    floor = Lexical(sampled).fit(sampled, class_weights(sampled, options.class_power))
    truth, counts = truth_of(development)
    scale, bias = figures.calibrate(floor.logits(development), truth, counts)
    write("\n## Logistic regression over words")

    def by_floor(chosen):
        return (floor.logits(chosen) * scale + bias).softmax(1)

    tested(write, by_floor, styles, pairs)

    model, curve = start(options, tokenizer, write), []

    def by_network(chosen):
        return read(model, tokenizer, chosen).softmax(1)

    first = {k: v.clone() for k, v in model.state_dict().items()}
    for fraction in ([0.25, 0.5] if options.curve else []) + [options.fraction]:
        some = ex.groups_fraction(training, fraction)
        part = ex.training_set(ex.drawn(some, options.pair_share, options.seed, 1), options.negatives, options.seed)
        write(f"\n## Cross-encoder, {fraction:g} of the statements: {len(part)} windows a pass, "
              + "  ".join(f"{label} {sum(e.label == label for e in part)}" for label in LABELS))
        model.load_state_dict(first)

        def hardest(drawn):
            """Returns, for each statement, the windows that the network currently reads as least silent, and one in four of the rest."""
            with torch.autocast("cpu", torch.bfloat16, enabled=options.bf16):
                silent = predict(model, encode(tokenizer, drawn)).log_softmax(1)[:, SILENT].tolist()
            groups = {}
            for i, e in enumerate(drawn):
                groups.setdefault(e.group, []).append(i)
            out = []
            for _, indices in sorted(groups.items()):
                indices.sort(key=lambda i: silent[i])
                n = -(-options.negatives * 3 // 4)
                out += indices[:n] + indices[n::4][:options.negatives - n]
            return [drawn[i] for i in out]

        def save(epoch):
            write_safetensors(os.path.join(options.out, f"pass-{epoch}.safetensors"), dict(model.state_dict()))

        def chosen(epoch):
            part = ex.part_of_pass(ex.drawn(some, options.pair_share, options.seed, epoch), options.parts, epoch)
            return ex.training_set(part, options.negatives, options.seed, epoch, hardest if options.mine else None)

        if options.epochs:
            train(options, tokenizer, model, options.epochs, chosen, write, save)
        logits = read(model, tokenizer, development)
        scale, bias = figures.calibrate(logits, truth, counts)
        fold_calibration(model, scale, bias)
        write_safetensors(os.path.join(options.out, "reader.safetensors"), dict(model.state_dict()))
        figures.report("development", development, (logits * scale + bias).softmax(1), write)
        curve.append((fraction, len(part), tested(write, by_network, styles, pairs, os.path.join(options.out, "wrong.txt"))))
    write("\nlearning curve (share, pairs, macro-F1 on unseen styles): " + "; ".join(f"{a:g} {b} {c:.3f}" for a, b, c in curve))

    compared = sorted(styles + pairs + development, key=lambda e: zlib.crc32(repr(e).encode()))[:200]
    with torch.no_grad():
        model.head.bias[SILENT] += math.log(options.silent_odds)
    size = write_weights(os.path.join(options.out, "reader.bin"), model, tokenizer.pieces, options.name)
    exact = by_network(compared)
    model.use_whole_numbers(True)
    whole = by_network(compared)
    others = int((exact.argmax(1) != whole.argmax(1)).sum())
    write(f"\nweights as whole numbers: {size} bytes; of {len(compared)} passages {others} get another label, and "
          f"probabilities differ by at most {(exact - whole).abs().max().item():.3f}")
    with open(os.path.join(options.out, "expected.jsonl"), "w", encoding="utf-8") as f:
        for e, p in zip(compared, whole.tolist()):
            f.write(json.dumps({"statement": e.statement, "context": e.context, "passage": e.passage, "probabilities": p}) + "\n")


if __name__ == "__main__":
    main()
