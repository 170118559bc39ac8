#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What rates.sh has recorded, checked: grants and bytes over time.

  rates.py GRANTS BYTES show
  rates.py GRANTS BYTES bound MOST CHILD...   no sum of grants above MOST Mbit/s, none above CHILD's
  rates.py GRANTS BYTES had                   each child had one
  rates.py GRANTS BYTES reached GRANT...      there was a time at which these were granted; -: nothing
  rates.py GRANTS BYTES alone                 the last that sends has all it can send, or all there is
  rates.py GRANTS BYTES above MORE            where grants stay for a while, never more than that and MORE
                                              percent is sent
  rates.py GRANTS BYTES wire LESS MORE        the same, and at least once not LESS percent less: a busy
                                              host is late

GRANTS is /proc/uptime and the JSON of `inaconf tree show`, in turns; BYTES is of linkload. What is told
held at some time between the uptime before and the one behind it.
"""
import json
import sys

NEAR = 0.1     # of a grant, what counts as that
SETTLED = 0.2  # seconds after a change until devices have done as they were told
STAYS = 0.5    # seconds that are long enough to measure


def read_grants(path):
    """[(time before, time behind, (Mbit/s or None of each child))]"""
    text, found, at, decoder = open(path).read(), [], 0, json.JSONDecoder()
    try:
        while True:
            while text[at].isspace():
                at += 1
            value, at = decoder.raw_decode(text, at)
            found.append(value)
    except (ValueError, IndexError):
        pass
    return [(before, behind, tuple(c['rate'] * 8e-6 if 'rate' in c else None for c in tree[0]['children']))
            for before, tree, behind in zip(found[::2], found[1::2], found[2::2])]


def spans(grants):
    """[(start, end, grants)] of times at which they surely stayed the same, or nearly so."""
    out = []
    for before, behind, now in grants:
        if out and all((a is None) == (b is None) and (a is None or abs(a - b) < 0.02 * b)
                       for a, b in zip(now, out[-1][2])):
            out[-1][1] = max(before, out[-1][0])
        else:
            out.append([behind, behind, now])
    return out


def is_near(value, wanted, near=NEAR):
    return value is None if wanted is None else value is not None and abs(value - wanted) <= near * wanted


def read_bytes(path):
    return [[int(w) for w in line.split()] for line in open(path) if line.endswith('\n')]


def sent(samples, start, end, child):
    """Mbit/s of a child's device between two times."""
    inside = [s for s in samples if start <= s[0] / 1e6 <= end]
    if len(inside) < 2:
        return None
    return (inside[-1][1 + child] - inside[0][1 + child]) * 8 / (inside[-1][0] - inside[0][0])


def text_of(grants):
    return ' '.join('-' if g is None else f'{g:.2f}' for g in grants)


def check_bound(grants, _, most, *children):
    for when, _, now in grants:
        if sum(g or 0 for g in now) > float(most) * 1.001:
            return f'{when}: {text_of(now)}: more than {most} together'
        if any((g or 0) > float(c) * 1.001 for g, c in zip(now, children)):
            return f'{when}: {text_of(now)}: more than {children}'
    return None


def check_had(grants, _):
    had = [any(child) for child in zip(*(now for *_, now in grants))]
    return None if had and all(had) else f'who was granted something: {had}'


def check_reached(grants, _, *wanted):
    wanted = [None if w == '-' else float(w) for w in wanted]
    if any(all(is_near(g, w) for g, w in zip(now, wanted)) for *_, now in grants):
        return None
    return 'never: ' + text_of(wanted)


def check_alone(grants, _):
    last = [now for *_, now in grants if sum(g is not None for g in now) == 1]
    alone = last[-1] if last else ()
    return None if any(is_near(g, w) for g, w in zip(alone, (6, 12, 24))) else 'alone: ' + text_of(alone)


def measured(grants, samples):
    """[(start, end, child, Mbit/s granted, Mbit/s sent)] where grants stayed for a while"""
    return [(start, end, child, grant, rate) for start, end, now in spans(grants)
            for child, grant in enumerate(now)
            for rate in [sent(samples, start + SETTLED, end, child)]
            if end - start >= STAYS + SETTLED and grant is not None and rate is not None]


def check_above(grants, samples, more):
    for start, end, child, grant, rate in measured(grants, samples):
        if rate > grant * (1 + int(more) / 100):
            return f'{start:.2f} to {end:.2f}: child {child} sent {rate:.2f} of {grant:.2f} Mbit/s'
    return None


def check_wire(grants, samples, less, more):
    parts = [rate / grant for *_, grant, rate in measured(grants, samples)]
    if max(parts, default=0) < 1 - int(less) / 100:
        return f'at best {max(parts, default=0):.2f} of a grant was sent'
    return check_above(grants, samples, more) or \
        (None if len(parts) >= 3 else f'only {len(parts)} times to measure')


def check_show(grants, samples):
    for start, end, now in spans(grants):
        rates = [sent(samples, start, end, child) for child in range(len(now))]
        print(f'# {start:.2f} to {end:.2f} s: granted {text_of(now)}, sent {text_of(rates)} Mbit/s')


def main(grants, counts, check, *args):
    wrong = globals()['check_' + check](read_grants(grants), read_bytes(counts), *args)
    if wrong:
        print(wrong)
    sys.exit(bool(wrong))


main(*sys.argv[1:])
