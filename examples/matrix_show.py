#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read the file that examples/matrix.c has written, check it, and make a picture of it.

    python3 matrix_show.py FILE.npy [PICTURE.png]
Needs numpy."""
import struct
import sys
import zlib
import numpy as np


def png(path, grey):
    """A picture of bytes, one a pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows, columns = grey.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), grey], axis=1)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + chunk(b"IEND", b""))


a = np.load(sys.argv[1], mmap_mode="r")
y, x = ((np.arange(n) + 0.5) / n for n in a.shape)
expected = sum(np.sin(60 * np.hypot(x - at[0], (y - at[1])[:, None])) for at in ((0.3, 0.4), (0.7, 0.6)))
if not np.allclose(a, expected, rtol=0, atol=1e-12):
    sys.exit(f"{sys.argv[1]}: {np.count_nonzero(~np.isclose(a, expected, rtol=0, atol=1e-12))} elements are wrong")
print(f"{sys.argv[1]}: {a.shape[0]} x {a.shape[1]}, as expected")
if len(sys.argv) > 2:
    png(sys.argv[2], np.uint8(np.round((a + 2) * 63.75)))
