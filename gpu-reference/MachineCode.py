"""Machine code of kernels, read from a cubin: its loops, and how many
instructions a warp executes. For inspect-kernels; needs no disassembler.

From sm_70 to sm_100 an instruction is 16 bytes, its opcode the low 12 bits,
its guard bits 12..15, the width of a load bits 73..75, and a branch holds its
distance. Held against nvdisasm 12.4 on sm_80 and sm_90.
"""

import collections
import heapq
import struct

# Opcodes, low 12 bits; the top bits of some say where operands come from.
LOAD, STORE, BRANCH, EXIT = 0x981, 0x986, 0x947, 0x94d
DOT, MMA, CONVERT = 0x226, 0x237, 0x311  # IDP.4A, IMMA, F2I
ELSEWHERE = {0x943, 0x944, 0x949, 0x94a, 0x94c, 0x950}  # CALL, BRX, JMP, RET


def texts(path):
    """Mangled name -> machine code, from the sections of an ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3c)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i)
               for i in range(count)]
    found = {}
    for header in headers:
        at = headers[names][4] + header[0]
        name = data[at:data.index(b"\0", at)].decode()
        if name.startswith(".text."):
            found[name[6:]] = data[header[4]:header[4] + header[5]]
    return found


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


class Loop:
    """Instructions of a loop that has no other inside."""

    def __init__(self, words, first, last):
        self.first, self.last = first, last
        self.size = last + 1 - first
        body = words[first:last + 1]
        self.opcodes = collections.Counter(low & 0xfff for low, _ in body)
        self.widths = collections.Counter(
            (high >> 9) & 7 for low, high in body if low & 0xfff == LOAD)

    def work(self):
        """Greatest for the loop that does the work; checked sums have loops
        of their own."""
        dots = self.opcodes[DOT]
        return (self.opcodes[MMA], dots,
                0 if dots else self.opcodes[CONVERT], -self.size)


class Kernel:
    """The instructions of one kernel."""

    def __init__(self, text, arch):
        self.arch = arch
        self.words = [struct.unpack_from("<QQ", text, at)
                      for at in range(0, len(text), 16)]

    def opcode(self, at):
        return self.words[at][0] & 0xfff

    def guarded(self, at):
        """Whether an instruction has a predicate before it."""
        return self.words[at][0] >> 12 & 0xf != 7

    def target(self, at):
        """Where a branch goes."""
        low, high = self.words[at]
        # In words of 4 bytes from the next instruction on.
        distance = low >> 34 | (high & 0x3ffff) << 30
        if self.arch >= 90:  # 8 bits of it lie apart
            distance = (distance << 8 | low >> 16 & 0xff) & (1 << 48) - 1
        return at + 1 + signed(distance, 48) // 4

    def ways(self, at):
        """Which instructions can come next."""
        code = self.opcode(at)
        if code in ELSEWHERE:
            return []
        if code == EXIT and not self.guarded(at):
            return []
        if code != BRANCH:
            return [at + 1]
        high = self.words[at][1]
        if high >> 27 & 1:  # BRA.DIV: a warp whose lanes have parted
            return [at + 1]
        always = not self.guarded(at) and high >> 23 & 0xf == 7
        return [self.target(at)] if always else [at + 1, self.target(at)]

    def backward(self):
        """(target, branch) of branches that go back."""
        branches = [at for at in range(len(self.words))
                    if self.opcode(at) == BRANCH]
        pairs = [(self.target(at), at) for at in branches]
        return [(first, last) for first, last in pairs if 0 <= first <= last]

    def main_loop(self):
        found = self.backward()
        inner = [Loop(self.words, a, b) for a, b in found
                 if not any(a <= c and d < b
                            for c, d in found if (a, b) != (c, d))]
        return max(inner, key=Loop.work)

    def executed(self, turns, dots, stores):
        """Instructions a warp executes: the shortest way from the entry to
        the end that goes `turns` times through the main loop and through no
        other, takes `dots` dot products outside of it and stores `stores`
        results. Nothing shorter does that work, and what is longer does more
        than it: the other arms of the kernels' branches. None: no such way.

        Instructions whose predicate is false are issued, hence counted.
        """
        main = self.main_loop()
        closed = set()
        for first, last in self.backward():
            around = first <= main.first and main.last <= last
            if not around and len(self.ways(last)) == 2:
                closed.update(range(first, last + 1))
        queue, seen = [(0, 0, 0, 0, False)], set()
        while queue:
            cost, at, done, stored, worked = heapq.heappop(queue)
            if (at, done, stored, worked) in seen:
                continue
            seen.add((at, done, stored, worked))
            if at == main.first and turns > 0 and not worked:
                heapq.heappush(queue, (cost + turns * main.size, main.last + 1,
                                       done, stored, True))
                continue
            if (main.first <= at <= main.last or at in closed
                    or at >= len(self.words)):
                continue
            cost += 1
            done += self.opcode(at) == DOT
            stored += self.opcode(at) == STORE
            if done > dots or stored > stores:
                continue
            ways = self.ways(at)
            if (not ways and self.opcode(at) == EXIT
                    and (done, stored, worked) == (dots, stores, turns > 0)):
                return cost
            for way in ways:
                heapq.heappush(queue, (cost, way, done, stored, worked))
        return None
