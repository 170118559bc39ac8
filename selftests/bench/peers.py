#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, JSON and plot of the comparison with other systems out of what peers.sh printed.

  peers.py LOG FOLDER COMMAND

Writes peers.md, peers.json and peers.svg into FOLDER.
"""
import collections
import json
import statistics
import subprocess
import sys

NAMES = {'ina': 'ina', 'udp': 'UDP sockets', 'tcp': 'TCP sockets', 'xdp': 'XDP, one CPU',
         'xdplock': 'XDP, locked', 'xdpframes': 'XDP throughout', 'mpi': 'Open MPI', 'gloo': 'Gloo'}
COLORS = {'ina': '#0b62a4', 'udp': '#5f7f2f', 'tcp': '#c8501e', 'xdp': '#7a4ea3',
          'xdplock': '#b08fd0', 'xdpframes': '#d9c7ea', 'mpi': '#8a6d3b', 'gloo': '#999999'}
REGIMES = {'S': 'super-packets', 'W': 'single frames of 1500 bytes', 'J': 'single frames of 9000 bytes',
           'L': 'super-packets over links with a rate'}
MODES = {'tree': 'through the aggregator and the root', 'hop': 'the aggregator is the root'}
PING = 8  # elements of the rounds that measure latency
GOALS = [('S', 'udp', 1.25), ('S', 'xdp', 2.5), ('S', 'tcp', 1.5), ('J', 'xdp', 2), ('J', 'tcp', 1.5),
         ('W', 'tcp', 1), ('W', 'udp', 1), ('W', 'xdp', None),
         ('S', 'xdpframes', None), ('W', 'xdpframes', None), ('J', 'xdpframes', None)]


def read(path):
    """Head lines, and {(regime, mode, system, elements): {repeat: [a run of each rank]}}."""
    head, runs = {'lost': []}, collections.OrderedDict()
    for line in open(path):
        words = line.split(maxsplit=6)
        if words[:1] == ['run']:
            regime, mode, system, repeat, frame = words[1:6]
            run = json.loads(words[6])
            run['frame'] = int(frame)
            key = regime, mode, system, run['elements']
            runs.setdefault(key, collections.OrderedDict()).setdefault(repeat, []).append(run)
        elif words[:1] in (['host'], ['scale'], ['machine'], ['vm'], ['rate'], ['gro']):
            head[words[0]] = line.strip().split(maxsplit=1)[1]
        elif words[:1] == ['lost']:
            head['lost'].append(words[1:5])
    if not runs:
        sys.exit('peers.py: no runs in ' + path)
    return head, runs


def figures(ranks):
    """One repetition: the slowest worker counts."""
    worst = max(ranks, key=lambda r: r['seconds'])
    size = worst['workers'] * worst['elements'] * 4 * worst['rounds']
    return {'gbit': size * 8 / worst['seconds'] / 1e9, 'ms': worst['seconds'] * 1e3 / worst['rounds'],
            'cpu': worst['cpu_seconds'] / size * 1e9,
            'p50': max(r['p50_us'] for r in ranks), 'p99': max(r['p99_us'] for r in ranks),
            'frame': worst['frame']}


def summary(runs):
    """{key: {figure: (median, least, most)}}"""
    out = collections.OrderedDict()
    for key, repeats in runs.items():
        each = [figures(ranks) for ranks in repeats.values()]
        out[key] = {f: (statistics.median(e[f] for e in each), min(e[f] for e in each),
                        max(e[f] for e in each)) for f in each[0]}
    return out


def part(runs, index):
    return list(dict.fromkeys(key[index] for key in runs))


def number(x):
    return f'{x:.0f}' if x >= 100 else f'{x:.3g}'


def cell(figure, base, higher):
    """A median, its spread, and how many times ina is better."""
    median, least, most = figure
    text = f'{number(median)} ({number(least)}-{number(most)})'
    if base and base is not figure and median and base[0]:
        text += f' **×{base[0] / median if higher else median / base[0]:.2f}**'
    return text


def table(head, rows):
    return ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head),
            *('| ' + ' | '.join(row) + ' |' for row in rows), '']


def sizes(result):
    return [e for e in part(result, 3) if e != PING]


def size_name(elements, scale):
    return f'{elements * 4 * scale / 1e6:.0f} MB / {scale}'


def figure_table(result, regime, figure, higher, scale, modes=MODES):
    columns = [(m, e) for m in modes for e in sizes(result)
               if any(k[0] == regime and k[1] == m and k[3] == e for k in result)]
    rows = []
    for system in part(result, 2):
        row = [NAMES[system]]
        for mode, elements in columns:
            got = result.get((regime, mode, system, elements))
            base = result.get((regime, mode, 'ina', elements))
            row.append(cell(got[figure], base and base[figure], higher) if got else '')
        rows += [row] if any(row[1:]) else []
    return table(['', *(f'{m}, {size_name(e, scale)}' for m, e in columns)], rows)


def latency_table(result, regime):
    rows = []
    for mode in MODES:
        for system in part(result, 2):
            got = result.get((regime, mode, system, PING))
            base = result.get((regime, mode, 'ina', PING))
            if got:
                rows.append([f'{NAMES[system]}, {mode}',
                             *(cell(got[f], base and base[f], False) for f in ('p50', 'p99'))])
    return table(['8 elements', 'p50, µs', 'p99, µs'], rows)


def frames(result, regime):
    """What really travelled, with the largest gradients."""
    got = {s: result[regime, 'tree', s, e]['frame'][0] for s in part(result, 2)
           for e in sizes(result)[-1:] if (regime, 'tree', s, e) in result}
    return 'Bytes of a packet at the aggregator, on average: ' + ', '.join(
        f'{NAMES[s]} {f:.0f}' for s, f in got.items()) + '.'


def ratio(result, regime, system, figure, elements):
    """ina to the system; of XDP with and without a lock, to the faster."""
    ina = result.get((regime, 'tree', 'ina', elements))
    peers = ('xdp', 'xdplock') if system == 'xdp' else (system,)
    got = [result[regime, 'tree', s, elements][figure][0] for s in peers
           if (regime, 'tree', s, elements) in result]
    return ina[figure][0] / max(got) if ina and got and max(got) else None


def verdict(text, value, met):
    return f'* {text}: {value:.2f} ({"met" if met else "MISSED"})'


def goals(result):
    big, text = sizes(result)[-1], []
    for regime, system, goal in GOALS:
        r = ratio(result, regime, system, 'gbit', big)
        if r is not None and goal is None:
            text.append(f'* {regime}: Gbit/s to {NAMES[system].split(",")[0]}, no goal: {r:.2f}')
        elif r is not None:
            text.append(verdict(f'{regime}: Gbit/s to {NAMES[system].split(",")[0]}, goal {goal:g}', r, r >= goal))
    for regime in part(result, 0):
        for system in ('mpi', 'gloo'):
            r = ratio(result, regime, system, 'cpu', big)
            if r:
                text.append(verdict(f'{regime}: CPU of {NAMES[system]} to that of ina, goal 2', 1 / r, r <= 1 / 2))
        r = ratio(result, regime, 'mpi', 'p50', PING)
        if r:
            text.append(verdict(f'{regime}: latency of 8 elements to that of Open MPI, goal 1/3', r, r <= 1 / 3))
    return [*text, ''] if text else ['No figures of ina.', '']


def measured(head, command):
    """Where; logs that do not tell all of it are older. What lost a packet has nothing for that."""
    lost = ', '.join(f'{NAMES[system]} ({where}, {point}, {repeat})' for where, point, system, repeat in head['lost'])
    vm = f" ({head['vm']})" if 'vm' in head else ''
    machine = f" on {head['machine']}" if 'machine' in head else ''
    again = f' Once more, as a packet was lost: {lost}.' if lost else ''
    return f"Measured with `{command}` in a VM{vm}{machine}: {head['host']}.{again}"


def markdown(head, result, runs, command):
    scale = int(head['scale'])
    count = max(len(r) for r in runs.values())
    text = ['# ina beside other ways to sum gradients', '',
            measured(head, command),
            f'Gradients of 25, 97 and 233 MB [XAgg], divided by {scale}. Medians of {count} repetitions, in',
            f"parentheses the lowest and the highest; ×: how many times ina is better. GRO in W and J: {head['gro']}.",
            'What is measured, and how: `Documentation/bench/peers.rst`.', '',
            '![Gbit/s and CPU](peers.svg)', '', '## Goals', '',
            f'With the largest gradients, {MODES["tree"]}.', '', *goals(result)]
    for regime in part(result, 0):
        rate = f": {head['rate']} Mbit/s" if regime == 'L' else ''
        text += [f'## {regime}: {REGIMES[regime]}{rate}', '', frames(result, regime), '',
                 'Gbit/s that the aggregator takes in, all workers together:', '',
                 *figure_table(result, regime, 'gbit', True, scale),
                 'CPU seconds of the whole machine for a GB of that:', '',
                 *figure_table(result, regime, 'cpu', False, scale),
                 'Milliseconds of an all-reduce of one gradient, of all rounds on average:', '',
                 *figure_table(result, regime, 'ms', False, scale, ('tree',)),
                 *latency_table(result, regime)]
    return '\n'.join(text)


def data_block(name, result, figure):
    """The largest gradients: a line for each regime, a column of three for each system."""
    big, lines = sizes(result)[-1], [f'${name} << EOD']
    for regime in (r for r in part(result, 0) if r != 'L'):  # there all are as fast as the links
        line = [regime]
        for system in part(result, 2):
            got = result.get((regime, 'tree', system, big))
            line += [f'{x:.6g}' for x in got[figure]] if got else ['NaN'] * 3
        lines.append(' '.join(line))
    return [*lines, 'EOD']


def plot(result, path):
    systems = part(result, 2)
    text = [f'set terminal svg size 960,420 font "sans,12" background "white"\nset output "{path}"',
            *data_block('gbit', result, 'gbit'), *data_block('cpu', result, 'cpu'),
            'set style data histograms\nset style histogram errorbars gap 2 lw 1',
            'set style fill solid 0.9 noborder\nset yrange [0:*]\nset grid ytics lc "#dddddd"',
            'set errorbars linecolor "#444444"\nset key outside bottom center horizontal\nset multiplot layout 1,2']
    for name, title in (('gbit', 'Gbit/s taken in (more is better)'),
                        ('cpu', 'CPU seconds per GB (less is better)')):
        bars = ', '.join(f'${name} using {3 * i + 2}:{3 * i + 3}:{3 * i + 4}:xtic(1) lc "{COLORS[s]}" '
                         f'title "{NAMES[s]}"' for i, s in enumerate(systems))
        text += [f'set title "{title}"', 'plot ' + bars]
    subprocess.run(['gnuplot'], input='\n'.join([*text, 'unset multiplot', '']), text=True, check=True)


def as_json(head, result, runs, command):
    out = [{'regime': k[0], 'mode': k[1], 'system': k[2], 'elements': k[3],
            **{f: dict(zip(('median', 'min', 'max'), v)) for f, v in result[k].items()},
            'runs': [figures(ranks) for ranks in runs[k].values()]} for k in result]
    return json.dumps({'command': command, **head, 'figures': {
        'gbit': 'Gbit/s that the aggregator takes in', 'ms': 'of an all-reduce',
        'cpu': 'CPU seconds of the machine per GB',
        'p50': 'us', 'p99': 'us', 'frame': 'bytes of a packet'}, 'results': out}, indent=1)


def main(log, folder, command):
    head, runs = read(log)
    result = summary(runs)
    open(folder + '/peers.md', 'w').write(markdown(head, result, runs, command))
    open(folder + '/peers.json', 'w').write(as_json(head, result, runs, command) + '\n')
    plot(result, folder + '/peers.svg')


if __name__ == '__main__':
    main(*sys.argv[1:])
