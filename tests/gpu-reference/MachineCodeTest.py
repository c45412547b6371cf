"""gpu-reference/MachineCode.py on kernels of a few made-up instructions."""

import os
import struct
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "gpu-reference"))
import MachineCode as code  # noqa: E402

ALWAYS, IF = 7, 0  # guards: none, @P0
ADD = 0x210


def branch(at, target, arch, guard=ALWAYS, apart=False):
    """A BRA; `apart`: a BRA.DIV."""
    distance = 4 * (target - at - 1)
    low = code.BRANCH | guard << 12
    if arch >= 90:
        low |= (distance & 0xff) << 16
        distance >>= 8
    low |= (distance & (1 << 30) - 1) << 34
    return low, (distance >> 30 & 0x3ffff) | 7 << 23 | apart << 27


def plain(opcode, guard=ALWAYS):
    return opcode | guard << 12, 0


def kernel(arch):
    """Main loop 3..5; one dot product more at 7 unless skipped; at 8 lanes
    apart go to 16, at 9 a look leads to a loop of its own, 12..14."""
    words = [
        plain(ADD),
        branch(1, 6, arch, IF),  # around the loop
        plain(ADD),
        plain(code.DOT),
        plain(code.DOT),
        branch(5, 3, arch, IF),
        branch(6, 8, arch, IF),  # around the rest
        plain(code.DOT),
        branch(8, 16, arch, apart=True),
        branch(9, 12, arch, IF),
        plain(code.STORE),
        branch(11, 17, arch),
        plain(code.DOT),
        plain(code.STORE),
        branch(14, 12, arch, IF),
        plain(code.EXIT),
        branch(16, 9, arch),
        plain(code.EXIT, IF),
        plain(ADD),
        plain(code.EXIT),
    ]
    return code.Kernel(b"".join(struct.pack("<QQ", *word) for word in words),
                       arch)


class Executed(unittest.TestCase):
    def test_branches(self):
        for arch in (80, 90, 100):
            made = kernel(arch)
            self.assertEqual(made.ways(5), [6, 3])
            self.assertEqual(made.ways(11), [17])
            self.assertEqual(made.ways(8), [9])
            self.assertEqual(made.ways(17), [18])
            self.assertEqual(made.ways(19), [])

    def test_main_loop(self):
        for arch in (80, 90, 100):
            loop = kernel(arch).main_loop()
            self.assertEqual((loop.first, loop.size), (3, 3))

    def test_counts(self):
        for arch in (80, 90, 100):
            made = kernel(arch)
            # 0..2, the loop, 6, 8..11, 17..19.
            self.assertEqual(made.executed(1, 0, 1), 3 + 3 + 1 + 4 + 3)
            self.assertEqual(made.executed(4, 0, 1), 3 + 12 + 1 + 4 + 3)
            self.assertEqual(made.executed(4, 1, 1), 3 + 12 + 2 + 4 + 3)
            # 0, 1, 6.., without the loop.
            self.assertEqual(made.executed(0, 1, 1), 2 + 2 + 4 + 3)

    def test_other_loops_do_not_count(self):
        for arch in (80, 90, 100):
            made = kernel(arch)
            self.assertIsNone(made.executed(1, 2, 1))
            self.assertIsNone(made.executed(1, 0, 2))


if __name__ == "__main__":
    unittest.main()
