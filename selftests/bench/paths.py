#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, JSON and plots of what a job gets out of four paths, out of what paths.sh printed.

  paths.py LOG FOLDER COMMAND

Writes paths.md, paths.json and paths.svg into FOLDER. A goal that was missed is said to be; a figure that is
missing, or not positive, is an error.
"""
import collections
import json
import statistics
import sys

sys.dont_write_bytecode = True
from plot import COLORS, Panel, drawing, mean_rate, rates, table  # noqa: E402

SPINES = ('s1', 's2', 's3', 's4')
RUNS = {*(('bandwidth', 'ina', n) for n in (1, 2, 3, 4)), ('bandwidth', 'udp', 1), ('bandwidth', 'tcp', 4),
        *((e, 'ina', 4) for e in ('follow', 'added', 'cut', 'small')), *(('small', f'ecmp-{s}', 1) for s in SPINES),
        ('silence', 'ina', 4), ('cpu', 'ina', 1), ('cpu', 'ina', 4)}
EVERY = 0.2   # seconds of a point of a plot
SETTLE = 2.0  # seconds after an event that are not in the means
TITLES = {'follow': 'Others send on s1, s2, s3', 'added': 'Paths added one by one',
          'cut': 'Paths cut one by one, silently'}


def read(path):
    """Head lines, {(experiment, system, paths): [figure]}, {experiment: samples}, {experiment: marks}."""
    head, runs = {}, collections.OrderedDict()
    loads, marks = collections.OrderedDict(), collections.OrderedDict()
    for line in open(path):
        words = line.split()
        if words[:1] == ['run']:
            if len(words) != 6 or not float(words[5]) > 0:
                sys.exit('paths.py: no figure: ' + line.strip())
            runs.setdefault((words[1], words[2], int(words[3])), []).append(float(words[5]))
        elif words[:1] == ['load']:
            loads.setdefault(words[1], []).append((int(words[2]) / 1e6, [int(w) for w in words[3:]]))
        elif words[:1] == ['mark']:
            marks.setdefault(words[1], []).append((int(words[2]) / 1e6, ' '.join(words[3:])))
        elif words[:1] in (['host'], ['link'], ['columns']):
            head[words[0]] = ' '.join(words[1:])
    missing = [' '.join(map(str, r)) for r in sorted(RUNS - set(runs))] + \
              [f'load of {e}' for e in TITLES if not loads.get(e) or not marks.get(e)]
    if missing:
        sys.exit(f'paths.py: missing in {path}: ' + ', '.join(missing))
    return head, runs, loads, marks


def own(samples):
    """Bytes of the job on each spine: of the first three without what others got by it."""
    return [(t, [b[i] - (b[4 + i] if i < 3 else 0) for i in range(4)]) for t, b in samples]


def stages(marks):
    """[(text, start, end)] of the times between events."""
    return [(text, at, marks[i + 1][0]) for i, (at, text) in enumerate(marks[:-1])]


def stage_rates(samples, marks):
    """[(text, [Mbit/s of each spine])], after each event has had its effect"""
    return [(text, [mean_rate(samples, i, start + min(SETTLE, (end - start) / 2), end) for i in range(4)])
            for text, start, end in stages(marks)]


def spread(values):
    return f'{statistics.median(values):.1f} ({min(values):.1f}-{max(values):.1f})'


def bandwidth(runs, link):
    got = {k[1:]: v for k, v in runs.items() if k[0] == 'bandwidth'}
    one = statistics.median(got['ina', 1])
    names = {'ina': 'ina, {} path(s)', 'udp': 'UDP, one flow over ECMP', 'tcp': 'TCP, {} streams over ECMP'}
    rows = [[names[s].format(n), spread(v), f'{statistics.median(v) / one:.2f}',
             f'{statistics.median(v) / link / 4:.0%}'] for (s, n), v in got.items()]
    times = statistics.median(got['ina', 4]) / one
    return ['## Bandwidth ([Maestro Fig. 8])', '',
            *table(['', 'Mbit/s of data (median, least-most)', 'of ina on one path', 'of all four links'], rows),
            f'* Four paths carry {times:.2f} times what one does: goal 3.6 ({"met" if times >= 3.6 else "MISSED"}).', '']


def of_stages(experiment, loads, marks):
    rows = [[text, *(f'{r:.2f}' for r in each), f'{sum(each):.2f}']
            for text, each in stage_rates(own(loads[experiment]), marks[experiment])]
    return table(['after', *SPINES, 'together, Mbit/s'], rows)


def follow(loads, marks, link):
    after = dict(stage_rates(own(loads['follow']), marks['follow']))['others send']
    free = [link * (1 - f) for f in (0.25, 0.5, 0.75, 0)]
    error = max(abs(a - f) / f for a, f in zip(after, free))
    return ['## Load follows what others send ([Maestro Fig. 12c])', '',
            'They send a quarter, a half and three quarters of what a link can on s1, s2 and s3. The job\'s own'
            ' bytes, in Mbit/s:', '', *of_stages('follow', loads, marks),
            f'* Free are {", ".join(f"{f:g}" for f in free)} Mbit/s; used of them '
            f'{", ".join(f"{a / f:.0%}" for a, f in zip(after, free))} (farthest off {error:.0%}).', '']


def added(loads, marks):
    return ['## Paths added one by one ([Maestro Fig. 12d])', '', *of_stages('added', loads, marks)]


def cut(loads, marks, runs):
    each = stage_rates(own(loads['cut']), marks['cut'])
    whole = sum(each[0][1])
    return ['## Paths cut one by one ([Maestro Fig. 12e])', '',
            'A spine takes packets and passes none on; nobody is told. No round failed and no sum was wrong.', '',
            *of_stages('cut', loads, marks),
            '* Of the load with four paths: ' + ', '.join(f'{text} {sum(r) / whole:.0%}' for text, r in each[1:]) + '.', '']


def small(runs):
    got = {k[1]: v[0] for k, v in runs.items() if k[0] == 'small'}
    ecmp = [v for k, v in got.items() if k.startswith('ecmp')]
    return ['## Small rounds ([Maestro Fig. 12f])', '',
            'Delays of 10, 20, 30 and 40 ms each way, 3 ms of jitter; rounds of 8 elements, one after the other.', '',
            *table(['', 'half of the rounds within, ms'],
                   [['ina, four paths', f'{got["ina"]:.1f}'],
                    *([f'one path, {k[5:]}', f'{v:.1f}'] for k, v in got.items() if k != 'ina')]),
            f'* ECMP takes any of them: {statistics.mean(ecmp):.1f} ms on average, {statistics.mean(ecmp) / got["ina"]:.2f}'
            ' times as long ([Maestro]: up to 2).', '']


def silence(runs):
    got = runs['silence', 'ina', 4]
    return ['## Silence', '', 'Links without a rate, devices with 20 Mbit/s; from when a spine was told to pass nothing on until its path is missed,'
            ' with the timeout that paths have unless told otherwise, 50 ms:', '',
            f'* {statistics.median(got):.0f} ms ({min(got):.0f} to {max(got):.0f}, {len(got)} times): goal at most 50'
            f' ({"met" if max(got) <= 50 else "MISSED"}).', '']


def cpu(runs):
    one, four = runs['cpu', 'ina', 1], runs['cpu', 'ina', 4]
    pairs = sorted((b / a - 1) / 3 for a, b in zip(one, four))
    each = statistics.median(pairs)
    verdict = 'met' if each < 0.02 else 'MISSED'
    return ['## CPU', '', 'Links without a rate, one processor load for all namespaces:', '',
            *table(['', 'CPU seconds for a GB of gradients'], [['one path', spread(one)], ['four paths', spread(four)]]),
            f'* Each path more costs {each:.1%}, the median of {len(pairs)} pairs of runs ({pairs[0]:.1%} to {pairs[-1]:.1%}): goal'
            f' under 2 % ({verdict}; [Maestro]: about 6 %).', '']


def markdown(head, runs, loads, marks, command):
    link = float(head['link'])
    return '\n'.join(
        ['# Paths', '', f"Measured with `{command}` in a VM: {head['host']}. Two leaves, four spines, the kernel's own",
         f'multipath routing by ports; each spine has {link:g} Mbit/s each way by tbf. What is measured, and how:',
         '`Documentation/bench/paths.rst`.', '', '![Load of each path over time](paths.svg)', '',
         *bandwidth(runs, link), *follow(loads, marks, link), *added(loads, marks), *cut(loads, marks, runs),
         *small(runs), *silence(runs), *cpu(runs)])


def over_time(experiment, samples, marks, link):
    start = marks[0][0]
    panel = Panel(TITLES[experiment], 'seconds', 'Mbit/s', marks[-1][0] - start, link * 1.2)
    panel.ticks(5)
    samples = [s for s in own(samples) if start <= s[0] <= marks[-1][0]]
    for i, spine in enumerate(SPINES):
        panel.curve(spine, [(t - start, r) for t, r in rates(samples, i, EVERY)], COLORS[i])
    for at, text in marks[1:-1]:
        panel.mark(at - start, text)
    return panel


def bars(runs, link):
    panel = Panel('Bandwidth', '', 'Mbit/s of data', 1, link * 4.8)
    got = [(k, v) for k, v in runs.items() if k[0] == 'bandwidth']
    names = {'ina': 'ina, {}', 'udp': 'UDP', 'tcp': 'TCP, {}'}
    panel.bars([(names[k[1]].format(k[2]), statistics.median(v), min(v), max(v),
                 COLORS[('ina', 'tcp', 'udp').index(k[1])]) for k, v in got])
    return panel


def as_json(head, runs, loads, marks, command):
    return json.dumps({'command': command, **head,
                       'runs': [{'experiment': k[0], 'system': k[1], 'paths': k[2], 'values': v} for k, v in runs.items()],
                       'stages': {e: [{'after': t, 'mbit': r} for t, r in stage_rates(own(loads[e]), marks[e])]
                                  for e in loads}}, indent=1)


def main(log, folder, command):
    head, runs, loads, marks = read(log)
    open(folder + '/paths.md', 'w').write(markdown(head, runs, loads, marks, command))
    open(folder + '/paths.json', 'w').write(as_json(head, runs, loads, marks, command) + '\n')
    panels = [bars(runs, float(head['link'])),
              *(over_time(e, loads[e], marks[e], float(head['link'])) for e in loads)]
    open(folder + '/paths.svg', 'w').write(drawing(panels))


main(*sys.argv[1:])
