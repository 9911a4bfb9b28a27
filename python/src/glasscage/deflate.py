"""Raw deflate with the same output as miniz_oxide 0.8 at level 10, so that Python and the page create identical links.

Any inflater can read it, but zlib would choose other matches. The search is that of miniz's `compress_normal`: hash chains over three bytes
and lazy matching. `huffman` writes the blocks. In pure Python this takes about a second for ten kilobytes; links have a few kilobytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from .huffman import BitWriter, write_block

_WINDOW = 1 << 15
_MASK = _WINDOW - 1
_MIN_MATCH = 3
_MAX_MATCH = 258
# A match of three bytes farther away than this costs more than it saves.
_FAR = 8 << 10
_CODE_BUFFER = 64 << 10
# Probes of level 10 (1500), by `probes_from_flags`: without and with a match of 32 bytes.
_PROBES = (1 + (1500 + 2) // 3, 1 + ((1500 >> 2) + 2) // 3)


def deflate(data: bytes) -> bytes:
    """Returns the same bytes as `miniz_oxide::deflate::compress_to_vec(data, 10)`."""
    writer = BitWriter()
    for block in _blocks(data):
        write_block(writer, block.codes, data[block.start : block.end], block.may_be_stored, block.is_last)
    return writer.finish()


@dataclass
class _Block:
    """The codes of `data[start:end]`: literals as bytes, matches as (length, distance)."""

    start: int
    codes: list[int | tuple[int, int]] = field(default_factory=list)
    end: int = 0
    n_matches: int = 0
    may_be_stored: bool = False
    is_last: bool = False

    def add(self, code: int | tuple[int, int]) -> None:
        self.codes.append(code)
        self.end += code[0] if isinstance(code, tuple) else 1
        self.n_matches += isinstance(code, tuple)

    @property
    def is_full(self) -> bool:
        """Whether the code buffer is full. A literal takes one byte of it, a match three, and each group of eight codes one more."""
        position = 1 + len(self.codes) + 2 * self.n_matches + len(self.codes) // 8
        n_bytes = self.end - self.start
        return position > _CODE_BUFFER - 8 or (n_bytes > 31 << 10 and (position * 115) >> 7 >= n_bytes)


def _blocks(data: bytes) -> Iterator[_Block]:
    finder = _Finder(data)
    block = _Block(0)
    position = 0
    literal, saved = 0, (0, 0)
    while position < len(data):
        length, distance = finder.find(position, saved[0] or _MIN_MATCH - 1)
        if (length == _MIN_MATCH and distance >= _FAR) or distance == position & _MASK:
            length, distance = 0, 0
        step = 1
        if saved[0] and length <= saved[0]:
            block.add(saved)
            step, saved = saved[0] - 1, (0, 0)
        elif distance == 0:
            block.add(data[position])
        else:
            if saved[0]:
                block.add(literal)
            if length >= 128:
                block.add((length, distance))
                step, saved = length, (0, 0)
            else:
                # A longer match may begin at the next byte.
                literal, saved = data[position], (length, distance)
        position += step
        finder.size = min(finder.size + step, _WINDOW)
        if block.is_full:
            block.may_be_stored = position - block.start <= finder.size
            yield block
            block = _Block(block.end, end=block.end)
    block.may_be_stored, block.is_last = position - block.start <= finder.size, True
    yield block


class _Finder:
    """Finds matches with hash chains over the last 32 kB. Positions are kept modulo 2^16, as in miniz."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._next = [0] * _WINDOW
        self._head = [0] * _WINDOW
        self._inserted = 0
        # Maximum distance of a match.
        self.size = 0

    def find(self, position: int, length: int) -> tuple[int, int]:
        """Returns length and distance of the first longest match at `position` with more than `length` bytes, or `length` and 0."""
        longest = min(_MAX_MATCH, len(self._data) - position)
        self._insert(position + longest - 2)
        self.size = min(_WINDOW - longest, self.size)
        data, distance = self._data, 0
        if longest <= length:
            return length, 0
        probe, left = position, _PROBES[length >= 32]
        start, ending = data[position : position + 2], data[position + length - 1 : position + length + 1]
        while True:
            left -= 1
            if left == 0:
                return length, distance
            for _ in range(3):
                place = self._next[probe & _MASK]
                back = (position - place) & 0xFFFF
                if place == 0 or back > self.size:
                    return length, distance
                probe = position - back
                if data[probe + length - 1 : probe + length + 1] == ending:
                    break
            else:
                continue
            if back == 0:
                return length, distance
            if data[probe : probe + 2] != start:
                continue
            common = self._common(probe, position, longest)
            if common > length:
                length, distance = common, back
                if common == longest:
                    return length, distance
                ending = data[position + length - 1 : position + length + 1]

    def _insert(self, end: int) -> None:
        """Adds every position before `end` to the hash chains, each with the two bytes after it."""
        data = self._data
        for place in range(self._inserted, end):
            hashed = (data[place] << 10 ^ data[place + 1] << 5 ^ data[place + 2]) & _MASK
            self._next[place & _MASK] = self._head[hashed]
            self._head[hashed] = place & 0xFFFF
        self._inserted = max(self._inserted, end)

    def _common(self, a: int, b: int, longest: int) -> int:
        data = self._data
        return next((n for n in range(2, longest) if data[a + n] != data[b + n]), longest)
