#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, JSON and plot of the sweeps out of what sweep.sh printed.

  sweep.py LOG FOLDER COMMAND

Writes sweep.md, sweep.json and sweep.svg into FOLDER.
"""
import json
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
from peers import COLORS, NAMES, figures, measured, number, part, read, table  # noqa: E402

FIGURES = {'kpps': 'Thousand packets of gradients that the aggregator takes in, in a second',
           'gbit': 'Gbit/s of gradients that the aggregator takes in',
           'cpu': 'CPU seconds of the whole machine for a GB of that',
           'frame': 'Bytes of a packet at the aggregator, on average'}
SWEEPS = {'packet': ('elements in a packet', ('kpps', 'gbit', 'frame')), 'children': ('children', ('gbit', 'cpu'))}
XAGG = {'32': 4190, '320': 1110}  # thousand packets in a second [XAgg Fig. 6]


def point(key, ranks):
    """One repetition of a point, with the packets that its gradients are."""
    sweep, x, _, elements = key
    packet = int(x) if sweep == 'packet' else 256
    bits = elements * 32 / -(-elements // packet)  # of a packet, on average
    out = figures(ranks)
    return {**out, 'kpps': out['gbit'] * 1e6 / bits}


def summary(runs):
    """{(sweep, x, system): {figure: (median, least, most)}}"""
    out = {}
    for key, repeats in runs.items():
        each = [point(key, ranks) for ranks in repeats.values()]
        out[key[:3]] = {f: (statistics.median(e[f] for e in each), min(e[f] for e in each),
                            max(e[f] for e in each)) for f in FIGURES}
    return out


def of_sweep(result, sweep):
    return {k: v for k, v in result.items() if k[0] == sweep}


def figure_table(result, sweep, figure):
    some = of_sweep(result, sweep)
    xagg = figure == 'kpps'
    rows = []
    for x in part(some, 1):
        got = [some.get((sweep, x, s), {}).get(figure) for s in part(some, 2)]
        rows.append([x, *(f'{number(g[0])} ({number(g[1])}-{number(g[2])})' if g else '' for g in got),
                     *([str(XAGG.get(x, ''))] if xagg else [])])
    head = [SWEEPS[sweep][0], *(NAMES[s] for s in part(some, 2)), *(['[XAgg], its machines'] if xagg else [])]
    return [FIGURES[figure] + ':', '', *table(head, rows)]


def best(result):
    some, text = of_sweep(result, 'packet'), []
    for system in part(some, 2):
        x, top = max(((k[1], v['gbit'][0]) for k, v in some.items() if k[2] == system), key=lambda p: p[1])
        text.append(f'{NAMES[system]} {x} ({number(top)} Gbit/s)')
    return 'Elements in a packet that gave most Gbit/s: ' + '; '.join(text) + '; [XAgg Fig. 7] 256.'


def markdown(head, result, runs, command):
    count = max(len(r) for r in runs.values())
    text = ['# Sizes of a packet, numbers of children', '',
            measured(head, command),
            f'Medians of {count} repetitions, in parentheses the lowest and the highest. What is measured, and how:',
            '`Documentation/bench/peers.rst`.', '', '![Packets and Gbit/s](sweep.svg)', '']
    for sweep in part(result, 0):
        text += [f'## {SWEEPS[sweep][0].capitalize()}', '', *([best(result), ''] if sweep == 'packet' else [])]
        for figure in SWEEPS[sweep][1]:
            text += figure_table(result, sweep, figure)
    return '\n'.join(text)


def curve(result, sweep, system, figure):
    rows = (' '.join([k[1], *(f'{x:.6g}' for x in v[figure])])
            for k, v in result.items() if k[0] == sweep and k[2] == system)
    return [f'${sweep}_{system}_{figure} << EOD', *rows, 'EOD']


def plot(result, path):
    panels = [(s, f) for s, f in (('packet', 'kpps'), ('packet', 'gbit'), ('children', 'gbit')) if of_sweep(result, s)]
    text = [f'set terminal svg size {420 * len(panels)},400 font "sans,12" background "white"\nset output "{path}"',
            'set logscale x 2\nset yrange [0:*]\nset grid ytics lc "#dddddd"',
            f'set multiplot layout 1,{len(panels)}']
    for sweep, figure in panels:
        some = of_sweep(result, sweep)
        lines = []
        for s in part(some, 2):
            text += curve(some, sweep, s, figure)
            lines.append(f'${sweep}_{s}_{figure} using 1:2:3:4 with yerrorlines pt 7 ps 0.5 lw 1.5 '
                         f'lc "{COLORS[s]}" title "{NAMES[s]}"')
        xs = part(some, 1)
        ticks = ','.join(x for x in xs if x not in ('320', '768'))
        text += [f'set title "{"Thousand packets" if figure == "kpps" else "Gbit"} a second taken in"',
                 f'set key {"top" if figure == "kpps" else "bottom"} right',
                 f'set xlabel "{SWEEPS[sweep][0]}"\nset xtics ({ticks})',
                 f'set xrange [{xs[0]} / 1.3:{xs[-1]} * 1.3]', 'plot ' + ', '.join(lines)]
    subprocess.run(['gnuplot'], input='\n'.join([*text, 'unset multiplot', '']), text=True, check=True)


def as_json(head, result, runs, command):
    out = [{'sweep': k[0], 'x': int(k[1]), 'system': k[2], 'elements': k[3],
            **{f: dict(zip(('median', 'min', 'max'), v)) for f, v in result[k[:3]].items()},
            'runs': [point(k, ranks) for ranks in repeats.values()]} for k, repeats in runs.items()]
    return json.dumps({'command': command, **head, 'figures': FIGURES, 'results': out}, indent=1)


def main(log, folder, command):
    head, runs = read(log)
    result = summary(runs)
    open(folder + '/sweep.md', 'w').write(markdown(head, result, runs, command))
    open(folder + '/sweep.json', 'w').write(as_json(head, result, runs, command) + '\n')
    plot(result, folder + '/sweep.svg')


main(*sys.argv[1:])
