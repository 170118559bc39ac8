#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, JSON and plots of negotiated rates, out of what rates.sh printed.

  rates.py LOG FOLDER COMMAND

Writes rates.md, rates.json and rates.svg into FOLDER.
"""
import collections
import json
import statistics
import sys

sys.dont_write_bytecode = True
from plot import COLORS, Panel, drawing, mean_rate, rates, table  # noqa: E402

EVERY = 0.01   # seconds of a point of the plot, as in [XAgg Fig. 21]
WINDOW = 0.1   # seconds over which a rate is judged
BUSY = 0.05    # seconds over which a link is busy or not
NEAR = 0.15    # of the new capacity, what has converged
STAYS = 0.5    # seconds for which it must stay there
NAMES = {'ina': 'ina', 'tcp': 'TCP', 'direct': 'ina, without an aggregator'}
XAGG = {'ina': '3 (XAgg)', 'tcp': '4 (PS)', 'direct': ''}


def read(path):
    head, runs = {}, collections.OrderedDict()
    loads, marks = collections.OrderedDict(), {}
    for line in open(path):
        words = line.split()
        if words[:1] == ['run']:
            runs.setdefault((words[1], words[2], words[4]), []).append(words[5:])
        elif words[:1] == ['load']:
            loads.setdefault(words[1], []).append((int(words[2]) / 1e6, [int(w) for w in words[3:]]))
        elif words[:1] == ['mark']:
            marks.setdefault(words[1], {})[words[3]] = int(words[2]) / 1e6
        elif words[:1] in (['host'], ['capacity'], ['unit']):
            head[words[0]] = ' '.join(words[1:])
    if not runs:
        sys.exit('rates.py: no runs in ' + path)
    return head, runs, loads, marks


def converged(samples, drop, end, capacity):
    """Seconds after the drop from which on what is sent stays near the new capacity; None: never."""
    t = drop
    while t + STAYS <= end:
        each = [mean_rate(samples, 0, u, u + WINDOW) for u in (t + i * WINDOW / 2 for i in range(int(2 * STAYS / WINDOW)))]
        if all(abs(r - capacity) <= NEAR * capacity for r in each):
            return t - drop
        t += EVERY
    return None


def figures(samples, mark, before, after):
    """Of one run: Mbit/s before and after, time to converge, least that passed, in percent of what could."""
    drop, end = mark['drop'], mark['end']
    passed = [mean_rate(samples, 1, t, t + WINDOW) for t in
              (drop + 0.05 + i * EVERY for i in range(int((min(end, drop + 3) - drop - 0.05 - WINDOW) / EVERY)))]
    return {'before': mean_rate(samples, 0, drop - 1.5, drop), 'after': mean_rate(samples, 0, end - 1.5, end),
            'converge': converged(samples, drop, end, after), 'least': min(passed) / after * 100}


def of_drop(runs, loads, marks, head):
    before, after = (float(c) for c in head['capacity'].split())
    out = {}
    for name, samples in loads.items():
        if name.startswith('drop'):
            out.setdefault(name.split('-')[1], []).append(figures(samples, marks[name], before, after))
    for system, each in out.items():
        for figure, lost in zip(each, runs['drop', system, 'lost']):
            figure['lost'] = 100 * int(lost[0]) / max(int(lost[2]), 1)
    return out


def spread(values, form='.1f'):
    known = [v for v in values if v is not None]
    if not known:
        return 'never'
    text = f'{statistics.median(known):{form}} ({min(known):{form}}-{max(known):{form}})'
    return text + (f', {len(values) - len(known)} never' if len(known) < len(values) else '')


def drop_text(drops, head):
    before, after = head['capacity'].split()
    columns = {'before': ('sent before, Mbit/s', '.1f'), 'after': ('at the end', '.1f'),
               'converge': ('seconds to converge', '.2f'), 'least': ('least that passed, % of what could', '.0f'),
               'lost': ('packets lost since, %', '.2f')}
    rows = [[NAMES[s], *(spread([e[c] for e in each], f) for c, (_, f) in columns.items())] for s, each in drops.items()]
    return ['## The way gets narrow in mid-transfer ([XAgg Fig. 21])', '',
            f'From {before} to {after} Mbit/s. Converged: what a worker sends stays within {NEAR:.0%} of that for {STAYS} s,'
            f' seen over {WINDOW * 1000:.0f} ms. What passed is of {WINDOW * 1000:.0f} ms each in the 3 s behind the change.', '',
            *table(['', *(name for name, _ in columns.values())], rows)]


def delay_text(runs):
    """Answers to the first requests of a node, before anything is sent, and to later ones."""
    got = {first: [int(w[0]) / 1e6 for k, v in runs.items() if k[0] == 'grant' and (int(k[2]) <= 2) == first for w in v]
           for first in (True, False)}
    if not all(got.values()):
        return []
    rows = [[name, f'{statistics.median(got[first]):.3f}', f'{max(got[first]):.3f}', len(got[first]), xagg,
             f'{xagg / 10:.2f} ({"met" if statistics.median(got[first]) <= xagg / 10 else "MISSED"})']
            for first, name, xagg in ((True, 'before anything is sent', 9.6), (False, 'a change', 1.7))]
    return ['## How long until a rate is known', '',
            'From a READY until its GRANT, all nodes of the unequal workers; in milliseconds. Goal: a tenth of [XAgg], the median. A READY waits behind'
            ' gradients in the queue of a full link, that is the longest.', '',
            *table(['', 'median', 'longest', 'how many', '[XAgg]', 'goal'], rows)]


def busy(samples, unit):
    """Seconds from the first to the last time at which a quarter of the link or more was used."""
    used = [t for t, r in rates(samples, 0, BUSY) if r >= unit / 4]
    return used[-1] - used[0] + BUSY if used else 0


def unequal_text(runs, loads, head):
    unit = head['unit'].split()[0]
    up = {}
    for name, samples in loads.items():
        if name.startswith('unequal'):
            up.setdefault(name.split('-')[1], []).append(busy(samples, float(unit)))
    got = {k[1]: [float(w[0]) for w in v] for k, v in runs.items() if k[0] == 'unequal'}
    return ['## Unequal workers ([XAgg Fig. 1])', '',
            f'Four workers, links of {unit} Mbit/s, one of {int(unit) // 2}; one begins 2 s later. A gradient takes a link 1 s.'
            ' The example counts the way up only: from the first to the last byte of gradients that the parameter server'
            ' (the root) is sent. Down, the same links carry a result for each worker, or for the aggregator.', '',
            *table(['', 'seconds up', '[XAgg]', 'whole all-reduce'],
                   [[NAMES[s], spread(up[s], '.2f'), XAGG[s], spread(v, '.2f')] for s, v in got.items()])]


def markdown(head, runs, loads, drops, command):
    return '\n'.join(['# Rates', '', f"Measured with `{command}` in a VM: {head['host']}. What is measured, and how:",
                      '`Documentation/bench/paths.rst`. Medians, in parentheses the lowest and the highest.', '',
                      '![Rate over time](rates.svg)', '', *drop_text(drops, head), *delay_text(runs), *unequal_text(runs, loads, head)])


def plot(loads, marks, head):
    before, _ = (float(c) for c in head['capacity'].split())
    panels = []
    for system in ('ina', 'tcp'):
        name = next(n for n in loads if n.startswith('drop-' + system))
        drop, end = marks[name]['drop'], marks[name]['end']
        start = drop - 1.5
        panel = Panel(f'{NAMES[system]}: rate every 10 ms', 'seconds', 'Mbit/s', end - start, before * 1.5)
        panel.ticks(0.5)
        samples = [s for s in loads[name] if start <= s[0] <= end]
        panel.curve('sent', [(t - start, r) for t, r in rates(samples, 0, EVERY * 0.9)], COLORS[0], 1)
        panel.curve('passed', [(t - start, r) for t, r in rates(samples, 1, EVERY * 0.9)], COLORS[1], 1)
        panel.mark(drop - start, 'capacity drops')
        panels.append(panel)
    return drawing(panels)


def as_json(head, runs, drops, command):
    return json.dumps({'command': command, **head, 'drop': drops,
                       'runs': [{'experiment': k[0], 'system': k[1], 'figure': k[2], 'values': v} for k, v in runs.items()]},
                      indent=1)


def main(log, folder, command):
    head, runs, loads, marks = read(log)
    drops = of_drop(runs, loads, marks, head)
    open(folder + '/rates.md', 'w').write(markdown(head, runs, loads, drops, command))
    open(folder + '/rates.json', 'w').write(as_json(head, runs, drops, command) + '\n')
    open(folder + '/rates.svg', 'w').write(plot(loads, marks, head))


main(*sys.argv[1:])
