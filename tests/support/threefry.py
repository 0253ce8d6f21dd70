"""Threefry-2x32, 20 rounds (Salmon et al., "Parallel random numbers", SC 2011), as MLX uses it."""

import numpy as np

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def threefry(
    key: tuple[int, int], first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The block function: two words of counter to two words of noise."""
    with np.errstate(over="ignore"):
        words = [np.uint32(key[0]), np.uint32(key[1])]
        schedule = [*words, words[0] ^ words[1] ^ PARITY]
        x = np.asarray(first, np.uint32) + schedule[0]
        y = np.asarray(second, np.uint32) + schedule[1]
        for group in range(5):
            for rotation in ROTATIONS[group % 2]:
                x = x + y
                y = (y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))
                y = y ^ x
            x = x + schedule[(group + 1) % 3]
            y = y + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def bits(key: tuple[int, int], size: int) -> np.ndarray:
    """`size` random words: counters 0 … n-1, the first half beside the second."""
    half = (size + 1) // 2
    counters = np.arange(2 * half, dtype=np.uint32)
    if size % 2:
        counters[-1] = 0
    return np.concatenate(threefry(key, counters[:half], counters[half:]))[:size]
