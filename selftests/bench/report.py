#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Table and plot of the loss benchmark out of what loss.sh printed.

  report.py LOG loss.rst loss.svg

The table replaces what is between the two marks in loss.rst; the rest of it is
written by hand.
"""
import collections
import math
import re
import statistics
import sys

MARKS = ('.. begin of the figures', '.. end of the figures')
NAMES = {'ina': 'ina', 'cubic': 'TCP cubic', 'bbr': 'TCP bbr'}
COLORS = {'ina': '#0b62a4', 'cubic': '#c8501e', 'bbr': '#5f7f2f'}
SATURATED = 90  # percent of a link
BUSY = 45  # percent of two CPUs; with less than that, none of them is busy all the time
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 190, 50, 60


def read(path):
    """Head lines, and the runs as {(delay, loss, system): [fields]}."""
    head, runs = [], collections.OrderedDict()
    for line in open(path):
        words = line.split()
        if words[:1] == ['run']:
            fields = {'goodput': float(words[6]), 'link': float(words[8]), 'cpu': int(words[10]),
                      'lost': int(words[12]), 'packets': int(words[14])}
            key = float(words[1]), float(words[2]), words[4]
            runs.setdefault(key, []).append(fields)
        elif words and words[0] in ('kernel', 'links', 'job'):
            head.append(line.strip())
    if not runs:
        sys.exit('report.py: no runs in ' + path)
    return head, runs


def median(runs, delay, loss, system, what='goodput'):
    return statistics.median(r[what] for r in runs[delay, loss, system])


def part(runs, index):
    return list(dict.fromkeys(key[index] for key in runs))


def table(runs, delay):
    """One delay, as a grid of the medians."""
    systems = part(runs, 2)
    head = ['loss', *(f'{NAMES[s]}, Mbit/s' for s in systems), 'of loss-free',
            *(f'ina / {NAMES[s]}' for s in systems[1:]), 'link use', 'CPU', 'lost packets']
    rows = []
    for loss in part(runs, 1):
        ina = median(runs, delay, loss, 'ina')
        row = [f'{loss:g} %']
        for s in systems:
            all_runs = [r['goodput'] for r in runs[delay, loss, s]]
            row.append(f'{median(runs, delay, loss, s):.2f} ({min(all_runs):.2f}-{max(all_runs):.2f})')
        row.append(', '.join(
            f'{median(runs, delay, loss, s) / median(runs, delay, 0, s):.1%}' for s in systems))
        row += [f'{ina / median(runs, delay, loss, s):.2f}' for s in systems[1:]]
        row.append(', '.join(f"{median(runs, delay, loss, s, 'link'):.0f} %" for s in systems))
        row.append(', '.join(f"{median(runs, delay, loss, s, 'cpu'):.0f} %" for s in systems))
        row.append(', '.join('{:.3%}'.format(
            sum(r['lost'] for r in runs[delay, loss, s]) /
            sum(r['packets'] for r in runs[delay, loss, s])) for s in systems))
        rows.append(row)
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    rule = '  '.join('=' * w for w in widths)
    lines = ['  '.join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in [head, *rows]]
    return [rule, lines[0], rule, *lines[1:], rule]


def goal(runs, delay):
    """What the figures say about the goal, if it was the links that bounded them."""
    use = {s: median(runs, delay, 0, s, 'link') for s in part(runs, 2)}
    if use['ina'] < SATURATED:
        return [f'* No verdict: without loss ina used {use["ina"]:.0f} % of the links, not'
                f' {SATURATED} % at least: something else was measured.']
    kept = median(runs, delay, 0.1, 'ina') / median(runs, delay, 0, 'ina')
    text = [f'* At 0.1 % loss ina loses {1 - kept:.1%} of its loss-free goodput'
            f" ({'met' if kept > 0.97 else 'MISSED'}: less than 3 %)."]
    for s in part(runs, 2)[1:]:
        ahead = all(median(runs, delay, l, 'ina') > median(runs, delay, l, s)
                    for l in part(runs, 1) if l > 0.01)
        verdict = 'met' if ahead else 'MISSED'
        if use[s] < SATURATED and median(runs, delay, 0, s, 'cpu') >= BUSY:
            verdict = (f'no verdict: without loss {NAMES[s]} used {use[s]:.0f} % of the links,'
                       ' the rest may be for the emulated CPUs')
        text.append(f'* ina is {"" if ahead else "NOT "}ahead of {NAMES[s]} at every loss rate'
                    f' above 0.01 % ({verdict}).')
    return text


def rst(head, runs):
    count = len(next(iter(runs.values())))
    text = ['', '.. image:: loss.svg', '   :alt: goodput against loss, ina and TCP', '', '::', '', *('    ' + h for h in head), '',
            f'Medians of {count} runs, in parentheses the lowest and the highest. Where a column has',
            'several figures they are in the order ' + ', '.join(NAMES[s] for s in part(runs, 2)) + '.']
    for delay in part(runs, 0):
        title = f'Delay {delay:g} ms'
        text += ['', title, '-' * len(title), '', *table(runs, delay), '', *goal(runs, delay)]
    return text + ['']


def x_of(loss):
    """Logarithmic from 0.01 % to 10 %; no loss has a place of its own at the left."""
    span = WIDTH - LEFT - RIGHT
    if not loss:
        return LEFT + 20
    return LEFT + 90 + (span - 90) * (math.log10(loss) + 2) / 3


def svg(runs, rate, delays):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT

    def y_of(goodput):
        return bottom - (bottom - TOP) * goodput / rate

    def text(x, y, words, anchor='middle', extra=''):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{words}</text>')

    def line(x1, y1, x2, y2, style):
        out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>')

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12" fill="#333">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    text(LEFT, 26, 'Goodput of an all-reduce against loss', 'start', ' font-size="16"')
    for tick in range(0, rate + 1, max(1, rate // 5)):
        line(LEFT, y_of(tick), right, y_of(tick), 'stroke="#ddd"')
        text(LEFT - 8, y_of(tick) + 4, tick, 'end')
    for loss in (0, 0.01, 0.1, 1, 5):
        line(x_of(loss), bottom, x_of(loss), bottom + 5, 'stroke="#333"')
        text(x_of(loss), bottom + 20, f'{loss:g}')
    line(LEFT, bottom, LEFT + 46, bottom, 'stroke="#333"')
    line(LEFT + 60, bottom, right, bottom, 'stroke="#333"')
    for x in (LEFT + 46, LEFT + 60):  # the axis is broken here
        line(x - 3, bottom + 5, x + 3, bottom - 5, 'stroke="#333"')
    text((LEFT + right) / 2, HEIGHT - 16, 'packets lost, percent, on each link and each way')
    text(18, (TOP + bottom) / 2, f'Mbit/s per worker (links: {rate})', 'middle',
         f' transform="rotate(-90 18 {(TOP + bottom) / 2})"')
    legend = TOP + 10
    for n, delay in enumerate(delays):
        for system in part(runs, 2):
            style = f'stroke="{COLORS[system]}" stroke-width="{2.5 if not n else 1.5}"'
            style += ' stroke-dasharray="5 4"' if n else ''
            points = []
            for loss in part(runs, 1):
                goodputs = [r['goodput'] for r in runs[delay, loss, system]]
                x, y = x_of(loss), y_of(statistics.median(goodputs))
                points.append(f'{x:.1f},{y:.1f}')
                line(x, y_of(min(goodputs)), x, y_of(max(goodputs)), f'stroke="{COLORS[system]}"')
                out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3.5 if not n else 2.5}" '
                           f'fill="{COLORS[system]}"/>')
            out.append(f'<polyline points="{" ".join(points)}" fill="none" {style}/>')
            line(right + 16, legend - 4, right + 46, legend - 4, style)
            text(right + 54, legend, f'{NAMES[system]}, {delay:g} ms', 'start')
            legend += 20
    return '\n'.join([*out, '</svg>', ''])


def main(log, rst_path, svg_path):
    head, runs = read(log)
    rate = int(re.search(r'^links (\d+) ', '\n'.join(head), re.M).group(1))
    lines = open(rst_path).read().split('\n')
    begin, end = (lines.index(mark) for mark in MARKS)
    lines[begin + 1:end] = rst(head, runs)
    open(rst_path, 'w').write('\n'.join(lines))
    open(svg_path, 'w').write(svg(runs, rate, part(runs, 0)))


main(*sys.argv[1:])
