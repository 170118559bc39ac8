#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Table and JSON of what native.sh printed.

  native.py LOG FOLDER COMMAND

Writes native.md and native.json into FOLDER.
"""
import json
import re
import sys

WAYS = ('hot', '512', 'memory', 'scattered')
ROW = re.compile(r'(\S.*?)\s+(\S+)' + r'\s+(-?[\d.]+)' * len(WAYS) + '$')
LIMIT = 'b += a'
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


def limit(rows):
    """The best of the plain loops: several programs have one."""
    loops = [ns for name, _, ns in rows if name == LIMIT]
    return [min(ns) for ns in zip(*loops)]


def markdown(head, rows, notes, command):
    best = limit(rows)
    text = ['# Nanoseconds for a fragment of 256 elements', '',
            f"Measured with `{command}` on the machine itself: {head['machine']}, {head['host']}.",
            f"*memory* and *scattered*: {head['megabytes']} MB. In parentheses the speed in parts of that of a",
            'plain loop `b += a` over the same memory. `Documentation/bench/peers.rst` has the rest.', '',
            '| | | ' + ' | '.join(WAYS) + ' |', '|' + '---|' * (2 + len(WAYS))]
    for name, kind, ns in rows:
        cells = [f'{x:.1f} ({b / x:.0%})' if x > 0 else f'{x:.1f}' for x, b in zip(ns, best)]
        text.append(f'| {name} | {kind} | ' + ' | '.join(cells) + ' |')
    return '\n'.join([*text, '', *('* ' + note for note in notes), ''])


def main(log, folder, command):
    head, rows, notes = read(log)
    open(folder + '/native.md', 'w').write(markdown(head, rows, notes, command))
    out = [{'name': n, 'implementation': k, 'ns': dict(zip(WAYS, ns))} for n, k, ns in rows]
    json.dump({'command': command, **head, 'results': out, 'notes': notes}, open(folder + '/native.json', 'w'), indent=1)


main(*sys.argv[1:])
