"""Random tables for graph tests, and random bytes for link tests. They are the same in every run."""

import math
import random
from typing import Any


def tables(n_tables: int, seed: int = 18) -> list[dict[str, Any]]:
    """Returns input lines for `glasscage graph`: tables of all shapes, with zero rows, huge and tiny scores, and unmeasured cells."""
    rng = random.Random(seed)
    lines = []
    for number in range(n_tables):
        n, m = rng.randint(1 if number else 0, 6), rng.randint(2, 6)
        scale = rng.choice([1.0, 1.0, 1e-9, 1e9])
        rows = [[_cell(rng, scale) if j < n + i else None for j in range(n + m)] for i in range(m)]
        if number % 5 == 0:
            rows[0] = [None if cell is None else -abs(cell) for cell in rows[0]]
        output = sorted(rng.sample(range(m), rng.randint(1, m)))
        lines.append({"table": rows, "n_prompt": n, "output": output, "normalization": ("full", "nonnegative", "none")[number % 3]})
    return lines


def _cell(rng: random.Random, scale: float) -> float | None:
    kind = rng.random()
    if kind < 0.1:
        return None
    return 0.0 if kind < 0.2 else scale * math.exp(rng.gauss(0, 2)) * rng.choice([1, 1, -1])


def sample(kind: str, n: int) -> bytes:
    """Returns bytes to deflate, the same in every run."""
    rng = random.Random(n)
    if kind == "noise":
        return rng.randbytes(n)
    if kind == "skewed":
        return bytes(min(255, int(rng.expovariate(0.1))) for _ in range(n))
    if kind == "runs":
        return b"".join(bytes([rng.randrange(3)]) * rng.randint(1, 600) for _ in range(n))[:n]
    words = [bytes(rng.choices(b"etaoinshrdlu ", k=rng.randint(1, 9))) for _ in range(300)]
    return b" ".join(rng.choice(words) for _ in range(n))[:n]
