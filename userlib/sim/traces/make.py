#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the traces of the seven models beside this file, from their published shapes.

A trace is one training step of one machine: when each all-reduce could start, its bytes, and
when the step would end if the network took no time. Documentation/simulator.rst has the
assumptions behind the numbers.

  make.py                the traces ina-sim comes with
  make.py --fitted DIR   to DIR: the same all-reduces at the times of MINA's machines
"""
import json
import pathlib
import shutil
import sys

RATE = 78e12            # floating-point operations a second: a quarter of an A100's peak
FIRST, BUCKET = 1 << 20, 25 << 20   # bytes after which PyTorch's DDP closes a bucket
BYTES = 4               # gradients are fp32

# name: blocks, width, inner width, vocabulary, its width, positions, tokens, batch
MODELS = {
    'bert-base': (12, 768, 3072, 30522, 768, 512, 512, 16),
    'bert-large': (24, 1024, 4096, 30522, 1024, 512, 512, 16),
    'opt-125m': (12, 768, 3072, 50272, 768, 2050, 2048, 4),
    'opt-350m': (24, 1024, 4096, 50272, 512, 2050, 2048, 4),
    'opt-1.3b': (24, 2048, 8192, 50272, 2048, 2050, 2048, 4),
    'vit-base': (12, 768, 3072, 0, 0, 197, 197, 64),
    'vit-large': (24, 1024, 4096, 0, 0, 197, 197, 64),
}

# Seconds: when the first all-reduce may start, the step, and what is left of it when the last
# one may start. Read off the times of a step by bandwidth that MINA's public simulator keeps of
# its models with batch 4 (results/accelerate_effectiveness.json); the last number of bert-large
# and opt-350m off those with batch 16, that of opt-1.3b and vit off a line through the others.
FITTED = {
    'bert-base': (0.03230, 0.08071, 0.01008),
    'bert-large': (0.07833, 0.22184, 0.02500),
    'opt-125m': (0.04090, 0.09051, 0.01050),
    'opt-350m': (0.07388, 0.21925, 0.02430),
    'opt-1.3b': (0.24801, 0.76173, 0.09000),
    'vit-base': (0.01371, 0.05737, 0.00824),
    'vit-large': (0.03816, 0.14154, 0.02270),
}


def block(width, inner):
    """Parameters of one block, in forward order."""
    yield from [2 * width]                                  # norm
    yield from [width * width, width] * 4                   # query, key, value, output
    yield from [2 * width]                                  # norm
    yield from [width * inner, inner, inner * width, width]


def tensors(name, blocks, width, inner, words, narrow, positions):
    """(parameters, multiply-adds a token), in forward order."""
    if words:
        yield words * narrow, 0
        if name.startswith('bert'):
            yield 2 * width, 0                              # token types
    else:
        yield 3 * 16 * 16 * width + width, 3 * 16 * 16 * width
        yield width, 0                                      # class token
    yield positions * width, 0
    if words and narrow != width:
        yield narrow * width, narrow * width
    for _ in range(blocks):
        for size in block(width, inner):
            yield size, size if size > 2 * inner else 0
    yield 2 * width, 0                                      # norm
    if not words:
        yield width * 1000 + 1000, 0
    elif name.startswith('bert'):
        yield width * width + width, width * width
        yield words, words * narrow                         # head: weights of the embedding
    elif narrow != width:
        yield narrow * width, narrow * width + words * narrow
    else:
        yield 0, words * narrow


def trace(name, blocks, width, inner, words, narrow, positions, tokens, batch):
    """One step: forward, then backward with an all-reduce for each full bucket."""
    parts = list(tensors(name, blocks, width, inner, words, narrow, positions))
    attention = blocks * 2 * tokens * width     # multiply-adds a token besides weights
    work = sum(w for _, w in parts)
    scale = 2 * tokens * batch * (work + attention) / work / RATE
    now = forward = scale * work
    reduces, size, limit = [], 0, FIRST
    for parameters, weight in reversed(parts):
        now += 2 * scale * weight
        size += BYTES * parameters
        if size >= limit:
            reduces.append({'start': round(now, 6), 'size': size})
            size, limit = 0, BUCKET
    if size:
        reduces.append({'start': round(now, 6), 'size': size})
    return {'name': name, 'parameters': sum(p for p, _ in parts), 'batch': batch,
            'tokens': tokens, 'step': round(3 * forward, 6), 'allreduces': reduces}


def fit(made, first, step, left):
    """Stretch a trace to these times."""
    reduces = made['allreduces']
    start, end = reduces[0]['start'], reduces[-1]['start']
    for reduce in reduces:
        part = (reduce['start'] - start) / (end - start)
        reduce['start'] = round(first + part * (step - left - first), 6)
    made['step'] = step


def main():
    fitted = sys.argv[1:2] == ['--fitted']
    if len(sys.argv) != (3 if fitted else 1):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    folder = pathlib.Path(sys.argv[2] if fitted else pathlib.Path(__file__).parent)
    if fitted:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(pathlib.Path(__file__).parent / 'hosts.json', folder)
    for name, shape in MODELS.items():
        made = trace(name, *shape)
        if fitted:
            fit(made, *FITTED[name])
        lines = ',\n    '.join(json.dumps(r) for r in made.pop('allreduces'))
        head = ',\n  '.join(f'{json.dumps(k)}: {json.dumps(v)}' for k, v in made.items())
        (folder / f'{name}.json').write_text(
            f'{{\n  {head},\n  "allreduces": [\n    {lines}\n  ]\n}}\n')


if __name__ == '__main__':
    main()
