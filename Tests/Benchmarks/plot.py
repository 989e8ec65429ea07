"""A plot of a few lines with logarithmic axes, written as PNG without a library."""

import math
import struct
import zlib

WIDTH, HEIGHT = 1090, 560
LEFT, RIGHT, TOP, BOTTOM = 80, 420, 40, 60
COLOURS = [(31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189)]
BLACK, GREY = (0, 0, 0), (225, 225, 225)
# Letters of 3 by 5 points, each point drawn as 2 by 2 pixels: an octal digit is a row, its bits are the points.
FONT = dict(zip(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.,-/ ",
    "75557 26227 71747 71717 55711 74717 74757 71244 75757 75717 75755 65656 34443 65556 74647 74644 34553 55755 "
    "72227 11152 55655 44447 57555 65555 75557 75744 75573 75655 34216 72222 55557 55552 55575 55255 55222 71247 "
    "00002 00024 00700 11244 00000".split()))


class Plot:
    """Lines over the same `positions`; `up` and `across` are the titles of the axes."""

    def __init__(self, up, across, positions):
        self.up, self.across, self.positions, self.series = up, across, positions, []

    def add(self, name, values):
        self.series.append((name, values))

    def write(self, path):
        self.points = bytearray(b"\xff" * (WIDTH * HEIGHT * 3))
        tops = [value for _, values in self.series for value in values]
        self.floor, self.top = 10 ** math.floor(math.log10(min(tops))), 10 ** math.ceil(math.log10(max(tops)))
        self.axes()
        for number, (name, values) in enumerate(self.series): self.draw(number, name, values)
        rows = b"".join(b"\0" + self.points[y * WIDTH * 3:(y + 1) * WIDTH * 3] for y in range(HEIGHT))
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in (
                (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)),
                (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))))

    def axes(self):
        self.text(LEFT, 12, self.up)
        self.text(LEFT, HEIGHT - 20, self.across)
        value = self.floor
        while value <= self.top:
            y = self.y(value)
            self.line((LEFT, y), (WIDTH - RIGHT, y), GREY)
            self.text(10, y - 5, f"{value:,}")
            value *= 10
        for position in self.positions:
            x = self.x(position)
            self.line((x, TOP), (x, HEIGHT - BOTTOM), GREY)
            self.text(x - 20, HEIGHT - BOTTOM + 10, f"{position:,}")

    def draw(self, number, name, values):
        """Draws a line: thin for the first engine, thick for the second."""
        half = (len(self.series) + 1) // 2
        colour, thick = COLOURS[number % half % len(COLOURS)], number >= half
        corners = [(self.x(position), self.y(value)) for position, value in zip(self.positions, values)]
        beside = WIDTH - RIGHT + 15, TOP + 24 * number
        for start, end in [*zip(corners, corners[1:]), (beside, (beside[0] + 25, beside[1]))]:
            for shift in range(3 if thick else 1):
                self.line((start[0], start[1] + shift), (end[0], end[1] + shift), colour)
        self.text(beside[0] + 32, beside[1] - 4, name)

    def x(self, position):
        share = math.log(position / self.positions[0]) / max(math.log(self.positions[-1] / self.positions[0]), 1)
        return round(LEFT + 20 + share * (WIDTH - LEFT - RIGHT - 40))

    def y(self, value):
        share = math.log(value / self.floor) / math.log(self.top / self.floor)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM))

    def line(self, start, end, colour):
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            self.dot(*(round(a + (b - a) * step / steps) for a, b in zip(start, end)), colour)

    def text(self, x, y, text):
        for number, letter in enumerate(text.upper()):
            for row, bits in enumerate(FONT.get(letter, "00000")):
                for column in range(3):
                    if int(bits) & 4 >> column: self.block(x + 8 * number + 2 * column, y + 2 * row)

    def block(self, x, y):
        for down in (0, 1):
            for across in (0, 1): self.dot(x + across, y + down, BLACK)

    def dot(self, x, y, colour):
        if 0 <= x < WIDTH and 0 <= y < HEIGHT:
            position = (y * WIDTH + x) * 3
            self.points[position:position + 3] = bytes(colour)
