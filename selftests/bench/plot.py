# SPDX-License-Identifier: GPL-2.0
"""Plots over time and bars as SVG, panel beside panel. Imported, never run."""
import html

COLORS = ('#0b62a4', '#c8501e', '#5f7f2f', '#7a4ea3', '#8a6d3b', '#999999')
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 300, 56, 16, 40, 46


class Panel:
    """One pair of axes at a place of a drawing."""

    def __init__(self, title, x_label, y_label, x_max, y_max):
        self.x_max, self.y_max, self.out = x_max, y_max, []
        self.right, self.bottom, self.keys = WIDTH - RIGHT, HEIGHT - BOTTOM, 0
        self.text(LEFT, 18, title, 'start', ' font-size="14"')
        self.text((LEFT + self.right) / 2, HEIGHT - 10, x_label)
        self.text(14, (TOP + self.bottom) / 2, y_label, 'middle', f' transform="rotate(-90 14 {(TOP + self.bottom) / 2})"')
        for i in range(6):
            y = y_max * i / 5
            self.line(LEFT, self.y(y), self.right, self.y(y), 'stroke="#ddd"')
            self.text(LEFT - 6, self.y(y) + 4, f'{y:.3g}', 'end')
        self.line(LEFT, self.bottom, self.right, self.bottom, 'stroke="#333"')

    def x(self, x):
        return LEFT + (self.right - LEFT) * min(x, self.x_max) / self.x_max

    def y(self, y):
        return self.bottom - (self.bottom - TOP) * min(max(y, 0), self.y_max) / self.y_max

    def text(self, x, y, words, anchor='middle', extra=''):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(str(words))}</text>')

    def line(self, x1, y1, x2, y2, style):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>')

    def key(self, name, color):
        x = LEFT + 8 + 96 * self.keys
        self.keys += 1
        self.line(x, TOP - 10, x + 16, TOP - 10, f'stroke="{color}" stroke-width="3"')
        self.text(x + 20, TOP - 6, name, 'start')

    def ticks(self, step):
        x = 0
        while x <= self.x_max:
            self.line(self.x(x), self.bottom, self.x(x), self.bottom + 4, 'stroke="#333"')
            self.text(self.x(x), self.bottom + 16, f'{x:g}')
            x += step

    def curve(self, name, points, color, width=1.5):
        self.key(name, color)
        path = ' '.join(f'{self.x(x):.1f},{self.y(y):.1f}' for x, y in points)
        self.out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>')

    def mark(self, x, words):
        self.line(self.x(x), TOP, self.x(x), self.bottom, 'stroke="#555" stroke-dasharray="3 3"')
        self.text(self.x(x) + 3, self.bottom - 6, words, 'start', ' font-size="10" fill="#555"')

    def bars(self, bars):
        """@bars: [(name, median, least, most, color)]"""
        step = (self.right - LEFT) / len(bars)
        for i, (name, median, least, most, color) in enumerate(bars):
            x = LEFT + step * (i + 0.2)
            self.out.append(f'<rect x="{x:.1f}" y="{self.y(median):.1f}" width="{step * 0.6:.1f}" '
                            f'height="{self.bottom - self.y(median):.1f}" fill="{color}"/>')
            middle = x + step * 0.3
            self.line(middle, self.y(least), middle, self.y(most), 'stroke="#333"')
            self.text(middle, self.y(most) - 4, f'{median:.3g}')
            self.text(middle, self.bottom + 16, name, 'middle', ' font-size="11"')


def drawing(panels, columns=2):
    rows = -(-len(panels) // columns)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * columns} {HEIGHT * rows}" '
           'font-family="sans-serif" font-size="12" fill="#333">',
           f'<rect width="{WIDTH * columns}" height="{HEIGHT * rows}" fill="#fff"/>']
    for i, panel in enumerate(panels):
        out += [f'<g transform="translate({WIDTH * (i % columns)} {HEIGHT * (i // columns)})">', *panel.out, '</g>']
    return '\n'.join([*out, '</svg>', ''])


def rates(samples, column, every):
    """[(seconds, Mbit/s)] of cumulative bytes: [(seconds, [bytes])], mean of @every seconds each."""
    out, start = [], 0
    for i in range(1, len(samples)):
        span = samples[i][0] - samples[start][0]
        if span >= every:
            more = samples[i][1][column] - samples[start][1][column]
            out.append(((samples[i][0] + samples[start][0]) / 2, more * 8e-6 / span))
            start = i
    return out


def mean_rate(samples, column, start, end):
    """Mbit/s between two times."""
    inside = [s for s in samples if start <= s[0] <= end]
    if len(inside) < 2:
        return 0
    return (inside[-1][1][column] - inside[0][1][column]) * 8e-6 / (inside[-1][0] - inside[0][0])


def table(head, rows):
    return ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head),
            *('| ' + ' | '.join(str(c) for c in row) + ' |' for row in rows), '']
