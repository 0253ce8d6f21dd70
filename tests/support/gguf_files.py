"""GGUF files written field by field, and what their blocks stand for, element by element."""

import struct

import numpy as np

# Number, elements of a block, bytes of a block, where its float16 numbers are.
TYPES = {
    "F32": (0, 1, 4, ()),
    "F16": (1, 1, 2, ()),
    "Q4_0": (2, 32, 18, (0,)),
    "Q4_1": (3, 32, 20, (0, 2)),
    "Q5_0": (6, 32, 22, (0,)),
    "Q5_1": (7, 32, 24, (0, 2)),
    "Q8_0": (8, 32, 34, (0,)),
    "Q8_1": (9, 32, 36, (0, 2)),
    "Q2_K": (10, 256, 84, (80, 82)),
    "Q3_K": (11, 256, 110, (108,)),
    "Q4_K": (12, 256, 144, (0, 2)),
    "Q5_K": (13, 256, 176, (0, 2)),
    "Q6_K": (14, 256, 210, (208,)),
    "Q8_K": (15, 256, 292, ()),
    "I8": (24, 1, 1, ()),
    "I16": (25, 1, 2, ()),
    "I32": (26, 1, 4, ()),
    "I64": (27, 1, 8, ()),
    "F64": (28, 1, 8, ()),
    "BF16": (30, 1, 2, ()),
}
VALUES = {
    "u8": (0, "B"),
    "i8": (1, "b"),
    "u16": (2, "H"),
    "i16": (3, "h"),
    "u32": (4, "I"),
    "i32": (5, "i"),
    "f32": (6, "f"),
    "bool": (7, "B"),
    "text": (8, None),
    "list": (9, None),
    "u64": (10, "Q"),
    "i64": (11, "q"),
    "f64": (12, "d"),
}


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    if kind == "text":
        return text(content)
    if kind == "list":
        inner, items = content
        head = struct.pack("<IQ", VALUES[inner][0], len(items))
        return head + b"".join(value(inner, item) for item in items)
    return struct.pack("<" + VALUES[kind][1], content)


def gguf(tensors, metadata=(), alignment=None, version=3, offsets=None):
    """The bytes of a file: tensors are (name, type, shape, bytes), metadata (key, type, value)."""
    if alignment is not None:
        metadata = [*metadata, ("general.alignment", "u32", alignment)]
    alignment = alignment or 32
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, kind, content in metadata:
        out += text(key) + struct.pack("<I", VALUES[kind][0]) + value(kind, content)
    at, data = 0, b""
    for i, (name, kind, shape, content) in enumerate(tensors):
        out += text(name) + struct.pack("<I", len(shape))
        out += b"".join(struct.pack("<Q", length) for length in reversed(shape))
        number = TYPES[kind][0] if kind in TYPES else kind
        out += struct.pack("<IQ", number, at if offsets is None else offsets[i])
        data += content + b"\0" * (-len(content) % alignment)
        at = len(data)
    return out + b"\0" * (-len(out) % alignment) + data


def blocks(kind, elements, seed=0):
    """Random blocks whose scales are small finite numbers."""
    rng = np.random.default_rng(seed)
    _, each, size, halves = TYPES[kind]
    raw = rng.integers(0, 256, (elements // each, size), dtype=np.uint8)
    for at in halves:
        scales = rng.normal(size=len(raw)).astype(np.float16)
        raw[:, at : at + 2] = scales.view(np.uint8).reshape(-1, 2)
    if kind == "Q8_K":
        scales = rng.normal(size=len(raw)).astype(np.float32)
        raw[:, :4] = scales.view(np.uint8).reshape(-1, 4)
    return raw.tobytes()


def half(block, at):
    return float(np.frombuffer(block, np.float16, 1, at)[0])


def signed(byte):
    return byte - 256 if byte > 127 else byte


def scale_and_minimum(packed, group):
    """The six bits of scale and minimum of a group, of Q4_K and Q5_K."""
    if group < 4:
        return packed[group] & 63, packed[group + 4] & 63
    low, high = packed[group + 4] & 15, packed[group + 4] >> 4
    return low | packed[group - 4] >> 6 << 4, high | packed[group] >> 6 << 4


def expand(kind, block):
    """The elements of one block."""
    d = half(block, TYPES[kind][3][0]) if TYPES[kind][3] else None
    if kind in ("Q4_0", "Q4_1"):
        low = [b & 15 for b in block[-16:]] + [b >> 4 for b in block[-16:]]
        return [d * (q - 8) if kind == "Q4_0" else d * q + half(block, 2) for q in low]
    if kind in ("Q5_0", "Q5_1"):
        high = int.from_bytes(block[-20:-16], "little")
        low = [b & 15 for b in block[-16:]] + [b >> 4 for b in block[-16:]]
        full = [q | (high >> i & 1) << 4 for i, q in enumerate(low)]
        return [d * (q - 16) if kind == "Q5_0" else d * q + half(block, 2) for q in full]
    if kind in ("Q8_0", "Q8_1"):
        return [d * signed(q) for q in block[-32:]]
    if kind == "Q8_K":
        scale = struct.unpack("<f", block[:4])[0]
        return [scale * signed(q) for q in block[4:260]]
    if kind == "Q2_K":
        out = []
        for part in range(2):
            for shift in range(0, 8, 2):
                for start in (0, 16):
                    own = block[len(out) // 16]
                    q = block[16 + 32 * part + start :][:16]
                    step, offset = d * (own & 15), half(block, 82) * (own >> 4)
                    out += [step * (b >> shift & 3) - offset for b in q]
        return out
    if kind == "Q3_K":
        packed = block[96:108]
        scales = [packed[i] & 15 for i in range(8)] + [packed[i] >> 4 for i in range(8)]
        scales = [s | (packed[8 + i % 4] >> 2 * (i // 4) & 3) << 4 for i, s in enumerate(scales)]
        out = []
        for part in range(2):
            for j in range(4):
                for start in (0, 16):
                    step = d * (scales[len(out) // 16] - 32)
                    for i in range(start, start + 16):
                        low = block[32 + 32 * part + i] >> 2 * j & 3
                        third = block[i] >> (4 * part + j) & 1
                        out.append(step * (low - (0 if third else 4)))
        return out
    if kind in ("Q4_K", "Q5_K"):
        nibbles = block[48:] if kind == "Q5_K" else block[16:]
        out = []
        for group in range(8):
            scale, least = scale_and_minimum(block[4:16], group)
            for i in range(32):
                q = nibbles[group // 2 * 32 + i] >> 4 * (group % 2) & 15
                if kind == "Q5_K":
                    q += 16 * (block[16 + i] >> group & 1)
                out.append(d * scale * q - half(block, 2) * least)
        return out
    assert kind == "Q6_K"
    out = [0.0] * 256
    for part in range(2):
        low, high = block[64 * part :], block[128 + 32 * part :]
        scales = [signed(s) for s in block[192 + 8 * part :][:8]]
        for i in range(32):
            quarters = (low[i] & 15, low[i + 32] & 15, low[i] >> 4, low[i + 32] >> 4)
            for j, q in enumerate(quarters):
                q |= (high[i] >> 2 * j & 3) << 4
                out[128 * part + 32 * j + i] = d * scales[2 * j + i // 16] * (q - 32)
    return out


def elements(kind, data):
    """The elements of blocks, in float64."""
    size = TYPES[kind][2]
    return np.array(
        [x for i in range(0, len(data), size) for x in expand(kind, data[i : i + size])]
    )
