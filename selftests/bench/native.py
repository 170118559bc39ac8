#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Table, JSON and plot of what native.sh printed.

  native.py LOG FOLDER COMMAND

Writes native.md, native.json and native.svg into FOLDER.
"""
import json
import re
import subprocess
import sys

WAYS = ('hot', '512', 'memory', 'scattered')
ROW = re.compile(r'(\S.*?)\s+(\S+)' + r'\s+(-?[\d.]+)' * len(WAYS) + '$')
LIMIT = 'b += a'
GOALS = (60, 85, None, 150)  # ns of a received fragment, of the best implementation
CPUS_GOAL = 1.8  # times what one does, on two that have one job
CPUS = re.compile(r'int32 memory 1 CPU .*?([\d.]+) times')
COLORS = {LIMIT: '#999999', 'int32 receive': '#0b62a4', 'fp32 receive': '#5f7f2f', 'bf16 receive': '#8a6d3b',
          'fixed receive': '#c8501e', 'XDP': '#7a4ea3'}
NOTE = re.compile(r'.* CPUs? .*fragments/s|lost updates: ')


def read(path):
    head, rows, notes = {}, [], []
    for line in open(path):
        row = ROW.match(line.strip())
        if row:
            rows.append((row[1], row[2], [float(x) for x in row.groups()[2:]]))
        elif line.split()[:1] and line.split()[0] in ('host', 'machine', 'megabytes'):
            word, rest = line.strip().split(maxsplit=1)
            head[word] = rest
        elif NOTE.match(line):
            notes.append(' '.join(line.split()))
    if not rows:
        sys.exit('native.py: no rows in ' + path)
    return head, rows, notes


def best(rows, name):
    """Of all implementations; of the loop that of all programs."""
    return [min(ns) for ns in zip(*(ns for n, _, ns in rows if n == name))]


def goal_cpus(notes):
    times = next((float(m[1]) for m in map(CPUS.match, notes) if m), 0)
    return (f'* memory: two CPUs aggregate one job {times:.2f} times as fast as one,'
            f' goal {CPUS_GOAL:g} ({"met" if times >= CPUS_GOAL else "MISSED"})')


def goals(rows, notes):
    got = best(rows, 'int32 receive')
    text = [f'* {way}: {ns:.1f} ns, goal {goal} ({"met" if ns <= goal else "MISSED"})'
            for way, ns, goal in zip(WAYS, got, GOALS) if goal]
    text += [f'* {way}: {b / ns:.0%} of the speed of `{LIMIT}`, goal 85% ({"met" if b / ns >= .85 else "MISSED"})'
             for way, ns, b in zip(WAYS, got, best(rows, LIMIT))]
    return [*text, goal_cpus(notes)]


def plot(rows, path):
    names = [name for name in COLORS if best(rows, name)]
    columns = [best(rows, name) for name in names]
    bars = ', '.join(f'$ns using {i + 2}:xtic(1) lc "{COLORS[name]}" title "{name}"' for i, name in enumerate(names))
    text = [f'set terminal svg size 860,420 font "sans,12" background "white"\nset output "{path}"', '$ns << EOD',
            *(' '.join([way, *(f'{x:.1f}' for x in ns)]) for way, ns in zip(WAYS, zip(*columns))), 'EOD',
            'set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.9 noborder',
            'set yrange [0:*]\nset grid ytics lc "#dddddd"\nset key outside bottom center horizontal',
            'set title "ns for a fragment of 256 elements, best implementation (less is better)"', 'plot ' + bars, '']
    subprocess.run(['gnuplot'], input='\n'.join(text), text=True, check=True)


def markdown(head, rows, notes, command):
    limit = best(rows, LIMIT)
    text = ['# Nanoseconds for a fragment of 256 elements', '',
            f"Measured with `{command}` on the machine itself: {head['machine']}, {head['host']}.",
            f"*memory* and *scattered*: {head['megabytes']} MB. In parentheses the speed in parts of that of a",
            'plain loop `b += a` over the same memory. `Documentation/bench/peers.rst` has the rest.', '',
            '![ns of a fragment](native.svg)', '', '## Goals', '', 'Of int32 that is received:', '', *goals(rows, notes), '',
            '## Figures', '', '| | | ' + ' | '.join(WAYS) + ' |', '|' + '---|' * (2 + len(WAYS))]
    for name, kind, ns in rows:
        cells = [f'{x:.1f} ({b / x:.0%})' if x > 0 else f'{x:.1f}' for x, b in zip(ns, limit)]
        text.append(f'| {name} | {kind} | ' + ' | '.join(cells) + ' |')
    return '\n'.join([*text, '', *('* ' + note for note in notes), ''])


def main(log, folder, command):
    head, rows, notes = read(log)
    open(folder + '/native.md', 'w').write(markdown(head, rows, notes, command))
    out = [{'name': n, 'implementation': k, 'ns': dict(zip(WAYS, ns))} for n, k, ns in rows]
    plot(rows, folder + '/native.svg')
    json.dump({'command': command, **head, 'results': out, 'notes': notes}, open(folder + '/native.json', 'w'), indent=1)


main(*sys.argv[1:])
