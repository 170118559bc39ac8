#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What perfect packing would reach: the score if jobs never had to be scattered.

  bound.py [RATE...]     bytes a second without aggregation in the network, such as 12.5e9

Jobs are drawn and start as in ina-sim, on 128 racks of 8 machines whose switches aggregate for one
job at a time. At every moment machines may be exchanged at no cost: jobs of whole racks have them to
themselves, the others are spread evenly over the racks left, whatever their sizes, and nothing above
racks is in anybody's way. What a job then gains beside others in its rack, with greedy sharing, asked once, is
simulated all-reduce by all-reduce. Documentation/simulator.rst says what follows from it.
"""
import collections
import heapq
import json
import pathlib
import sys

TRACES = pathlib.Path(__file__).parent / 'traces'
RACKS, SIZE, JOBS, SEED = 128, 8, 2000, 1
LATENCY, SPEEDUP = 50e-6, 2
MOST, GROUPS, SECONDS = 8, 20, 40   # jobs in a rack; groups of them for each model, for how long
MASK = (1 << 64) - 1


class Random:
    """SplitMix64, as workload.c."""
    def __init__(self, seed):
        self.state = seed & MASK

    def bits(self):
        self.state = self.state + 0x9e3779b97f4a7c15 & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        return z ^ z >> 31

    def unit(self):
        return (self.bits() >> 11) * 2.0 ** -53

    def pick(self, weights):
        at = self.unit() * sum(weights)
        for i, weight in enumerate(weights):
            if at < weight:
                return i
            at -= weight
        return len(weights) - 1


class Model:
    """A step of training at one rate."""
    def __init__(self, trace, rate):
        self.step = trace['step']
        self.start = [op['start'] for op in trace['allreduces']]
        self.plain = [LATENCY + op['size'] / rate for op in trace['allreduces']]
        self.fast = [LATENCY + op['size'] / rate / SPEEDUP for op in trace['allreduces']]
        self.none, self.all = self.alone(self.plain), self.alone(self.fast)
        self.gain = self.none - self.all

    def alone(self, times):
        end = 0
        for start, time in zip(self.start, times):
            end = max(end, start) + time
        return max(end, self.step)


def share(models, random):
    """Part of the possible gain each of these jobs has when they share one switch."""
    events, ends, count = [], 0, len(models)
    first, last, steps = [0.0] * count, [0.0] * count, [0] * count
    for i, model in enumerate(models):
        first[i] = last[i] = random.unit() * model.all
        heapq.heappush(events, (first[i] + model.start[0], i, 0, first[i]))
    while events:
        now, i, op, began = heapq.heappop(events)
        model = models[i]
        if op == len(model.start):
            last[i] = now
            steps[i] += 1
            if now < SECONDS:
                heapq.heappush(events, (now + model.start[0], i, 0, now))
            continue
        fast = now >= ends
        end = now + (model.fast if fast else model.plain)[op]
        if fast:
            ends = end
        op += 1
        ready = began + (model.start[op] if op < len(model.start) else model.step)
        heapq.heappush(events, (max(end, ready), i, op, began))
    return [(m.none - (last[i] - first[i]) / steps[i]) / m.gain for i, m in enumerate(models)]


def efficiencies(models):
    """By jobs in a rack and model: the mean of share(), others met as often as they run long."""
    random, weights = Random(SEED), [m.all for m in models]
    table = {1: [1.0] * len(models)}
    for n in range(2, MOST + 1):
        table[n] = []
        for model in models:
            got = [share([model] + [models[random.pick(weights)] for _ in range(n - 1)], random)[0]
                   for _ in range(GROUPS)]
            table[n].append(sum(got) / len(got))
    return table


def draw(models, histogram, h):
    """The jobs of ina-sim: model, hosts, steps."""
    random, jobs = Random(SEED + 1000003 * h), []
    for _ in range(JOBS):
        model = random.bits() % len(models)
        hosts = histogram[random.pick([w for _, w in histogram])][0]
        jobs.append((model, hosts, 10 * (1 + random.bits() % 10)))
    return jobs


def score(models, table, jobs):
    """Start jobs in order, integrate what they gain: score, mean JCT, small jobs in a rack."""
    free, now, gained, possible, crowd, total, at = RACKS * SIZE, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    running, small = [], collections.Counter()
    whole = 0
    for model, hosts, steps in jobs:
        possible += steps * models[model].gain * (hosts > 1)
        total += steps * (models[model].none if hosts > 1 else models[model].step)
    while at < len(jobs) or running:
        while at < len(jobs) and jobs[at][1] <= free:
            model, hosts, steps = jobs[at]
            step = models[model].all if hosts > 1 else models[model].step
            heapq.heappush(running, (now + steps * step, at))
            free -= hosts
            whole += hosts // SIZE
            small[model] += 1 < hosts < SIZE
            at += 1
        end, gone = heapq.heappop(running)
        count = sum(small.values())
        racks = max(1, RACKS - whole)
        low, more = divmod(count, racks)
        for model, n in small.items():
            # Racks with one job more than others have more of the jobs, too.
            part = more * (low + 1) / count if count else 0
            rate = part * table[min(low + 1, MOST)][model] + \
                (1 - part) * table[min(max(low, 1), MOST)][model]
            gained += n * rate * (end - now) / models[model].all * models[model].gain
        crowd += (count / racks) * (end - now)
        model, hosts, steps = jobs[gone]
        if hosts >= SIZE:
            gained += steps * models[model].gain
        now, free = end, free + hosts
        whole -= hosts // SIZE
        small[model] -= 1 < hosts < SIZE
    return gained / possible, (total - gained) / len(jobs), crowd / now


def main():
    histograms = json.loads((TRACES / 'hosts.json').read_text())['histograms']
    traces = [json.loads(p.read_text()) for p in sorted(TRACES.glob('*.json')) if p.name != 'hosts.json']
    for rate in [float(a) for a in sys.argv[1:]] or [12.5e9, 25e9]:
        models = [Model(trace, rate) for trace in traces]
        table = efficiencies(models)
        results = []
        for h, histogram in enumerate(histograms):
            results.append(score(models, table, draw(models, histogram['hosts'], h)))
            got, jct, crowd = results[-1]
            print(f"{rate / 1e9:g} GB/s, trace {histogram['name']}: {got:.3f} ({jct:.3f} s); "
                  f"{crowd:.2f} small jobs in a rack")
        got, jct, _ = (sum(column) / len(results) for column in zip(*results))
        print(f'{rate / 1e9:g} GB/s, mean: {got:.3f} ({jct:.3f} s); of the gain of a job alone in a rack, '
              f'{", ".join(f"{sum(row) / len(row):.2f}" for row in table.values())} by jobs there',
              flush=True)


if __name__ == '__main__':
    main()
