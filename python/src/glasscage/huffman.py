"""Deflate blocks (RFC 1951) with the Huffman codes that miniz chooses, as in `start_dynamic_block` and the functions that it calls."""

from collections.abc import Iterator, Sequence

_END = 256
_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
_STATIC = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
_EXTRA_OF_RUN = {16: 2, 17: 3, 18: 7}

Code = int | tuple[int, int]


class BitWriter:
    """Writes bits, lowest first."""

    def __init__(self) -> None:
        self.whole = bytearray()
        self._bits, self._n = 0, 0

    def put(self, bits: int, n: int) -> None:
        self._bits |= bits << self._n
        self._n += n
        n_bytes = self._n // 8
        if n_bytes:
            self.whole += (self._bits & ((1 << 8 * n_bytes) - 1)).to_bytes(n_bytes, "little")
            self._bits >>= 8 * n_bytes
            self._n %= 8

    def pad(self) -> None:
        self.put(0, -self._n % 8)

    def finish(self) -> bytes:
        self.pad()
        return bytes(self.whole)

    def save(self) -> tuple[int, int, int]:
        return len(self.whole), self._bits, self._n

    def load(self, saved: tuple[int, int, int]) -> None:
        """Discards everything written since `save`."""
        length, self._bits, self._n = saved
        del self.whole[length:]


def write_block(writer: BitWriter, codes: Sequence[Code], data: bytes, may_be_stored: bool, is_last: bool) -> None:
    """Writes the literals and matches of `data` as one block. Stores `data` uncompressed if that is shorter."""
    writer.put(int(is_last), 1)
    saved = writer.save()
    if len(data) < 48:
        writer.put(1, 2)
        tables = _STATIC, [5] * 32
    else:
        tables = _put_dynamic_tables(writer, codes)
    _put_codes(writer, codes, *(_canonical(sizes) for sizes in tables))
    if may_be_stored and len(data) > 32 and len(writer.whole) - saved[0] + 1 >= len(data):
        writer.load(saved)
        writer.put(0, 2)
        writer.pad()
        writer.put(len(data), 16)
        writer.put(~len(data) & 0xFFFF, 16)
        writer.put(int.from_bytes(data, "little"), 8 * len(data))


def _put_codes(writer: BitWriter, codes: Sequence[Code], literals: list[tuple[int, int]], distances: list[tuple[int, int]]) -> None:
    for code in codes:
        if isinstance(code, int):
            writer.put(*literals[code])
        else:
            for table, (symbol, bits, n_bits) in zip((literals, distances), (_length(code[0]), _distance(code[1])), strict=True):
                writer.put(*table[symbol])
                writer.put(bits, n_bits)
    writer.put(*literals[_END])


def _length(length: int) -> tuple[int, int, int]:
    """Returns symbol, extra bits, and number of extra bits of a match length."""
    if length == 258:
        return 285, 0, 0
    n = length - 3
    n_bits = max(0, n.bit_length() - 3)
    return 257 + (n if n < 8 else 4 * (n_bits + 1) + (n >> n_bits & 3)), n & ((1 << n_bits) - 1), n_bits


def _distance(distance: int) -> tuple[int, int, int]:
    """Returns symbol, extra bits, and number of extra bits of a match distance."""
    n = distance - 1
    n_bits = max(0, n.bit_length() - 2)
    return n if n < 4 else 2 * (n_bits + 1) + (n >> n_bits & 1), n & ((1 << n_bits) - 1), n_bits


def _put_dynamic_tables(writer: BitWriter, codes: Sequence[Code]) -> tuple[list[int], list[int]]:
    counts, distance_counts = [0] * 288, [0] * 32
    counts[_END] = 1
    for code in codes:
        if isinstance(code, int):
            counts[code] += 1
        else:
            counts[_length(code[0])[0]] += 1
            distance_counts[_distance(code[1])[0]] += 1
    literals, distances = code_sizes(counts, 15), code_sizes(distance_counts, 15)
    n_literals = max(257, *(i + 1 for i in range(286) if literals[i]))
    n_distances = max([1, *(i + 1 for i in range(30) if distances[i])])
    runs = list(_runs(literals[:n_literals] + distances[:n_distances]))
    run_counts = [0] * 19
    for symbol, _ in runs:
        run_counts[symbol] += 1
    run_sizes = code_sizes(run_counts, 7)
    n_sizes = max([4, *(i + 1 for i in range(19) if run_sizes[_ORDER[i]])])
    for bits, n_bits in ((2, 2), (n_literals - 257, 5), (n_distances - 1, 5), (n_sizes - 4, 4)):
        writer.put(bits, n_bits)
    for symbol in _ORDER[:n_sizes]:
        writer.put(run_sizes[symbol], 3)
    run_codes = _canonical(run_sizes)
    for symbol, extra in runs:
        writer.put(*run_codes[symbol])
        writer.put(extra, _EXTRA_OF_RUN.get(symbol, 0))
    return literals, distances


def _runs(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Encodes code sizes as symbols with extra bits: 16 repeats the last size, 17 and 18 are runs of zeros."""
    at = 0
    while at < len(sizes):
        size = sizes[at]
        end = at
        while end < len(sizes) and sizes[end] == size:
            end += 1
        if size:
            yield size, 0
            at += 1
        longest, shortest = (6, 3) if size else (138, 3)
        while at < end:
            n = min(end - at, longest)
            at += n
            if n < shortest:
                yield from [(size, 0)] * n
            elif size:
                yield 16, n - 3
            else:
                yield (17, n - 3) if n <= 10 else (18, n - 11)


def code_sizes(counts: Sequence[int], limit: int) -> list[int]:
    """Returns the number of bits of each symbol's code: a Huffman code with at most `limit` bits per symbol."""
    symbols = sorted((i for i, count in enumerate(counts) if count), key=lambda i: counts[i])
    depths = _minimum_redundancy([counts[i] for i in symbols])
    n_of_size = [0] * 33
    for depth in depths:
        n_of_size[depth] += 1
    if len(symbols) > 1:
        _enforce_limit(n_of_size, limit)
    sizes, last = [0] * len(counts), len(symbols)
    for size in range(1, limit + 1):
        for i in symbols[last - n_of_size[size] : last]:
            sizes[i] = size
        last -= n_of_size[size]
    return sizes


def _minimum_redundancy(keys: Sequence[int]) -> list[int]:
    """Returns the depths of leaves with these ascending weights (Moffat and Katajainen 1995).

    If weights are equal, leaves come before nodes, as in miniz. The depths depend on this choice.
    """
    n = len(keys)
    if n < 2:
        return [1] * n
    nodes: list[int] = []
    parents: list[int] = []
    leaf = root = 0
    for _ in range(n - 1):
        weight = 0
        for _ in range(2):
            if leaf >= n or (root < len(nodes) and nodes[root] < keys[leaf]):
                weight += nodes[root]
                parents.append(len(nodes))
                root += 1
            else:
                weight += keys[leaf]
                leaf += 1
        nodes.append(weight)
    depths = [0] * len(nodes)
    for node in reversed(range(len(nodes) - 1)):
        depths[node] = depths[parents[node]] + 1
    # Each depth has as many leaves as free children of the nodes above it. The heaviest leaves get the smallest depths.
    found: list[int] = []
    free, depth = 1, 0
    while free:
        used = depths.count(depth)
        found += [depth] * (free - used)
        free, depth = 2 * used, depth + 1
    return found


def _enforce_limit(n_of_size: list[int], limit: int) -> None:
    """Shortens codes that are too long to `limit`, and lengthens others to make room."""
    n_of_size[limit] += sum(n_of_size[limit + 1 :])
    total = sum(n_of_size[size] << (limit - size) for size in range(1, limit + 1))
    for _ in range(total - (1 << limit)):
        n_of_size[limit] -= 1
        size = next((size for size in reversed(range(1, limit)) if n_of_size[size]), 0)
        if size:
            n_of_size[size] -= 1
            n_of_size[size + 1] += 2


def _canonical(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the canonical code of each size, with its first bit lowest, and its size."""
    following, code = {}, 0
    for size in range(1, 16):
        following[size] = code
        code = (code + sum(other == size for other in sizes)) << 1
    codes = []
    for size in sizes:
        bits = following.get(size, 0)
        codes.append((int(f"{bits:0{size}b}"[::-1], 2) if size else 0, size))
        following[size] = bits + 1
    return codes
