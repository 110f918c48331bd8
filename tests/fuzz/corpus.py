#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""First inputs of the fuzzers from vectors: corpus.py FRAMES.json MADS.json DIR"""
import json
import os
import struct
import sys


def put(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def raw(frame, kind=0):
    """A record of tests/fuzz/frames.c: a frame as it is, or sealed (1)."""
    return bytes([kind]) + struct.pack("<H", len(frame)) + frame


def built(qp, opcode, psn, payload, ext=b"", ackreq=True):
    """A frame that queue qp believes: its ICRC, addresses and keys are right."""
    how = qp | 0x20 | (0x40 if ackreq else 0)
    return bytes([5, how, opcode, psn & 0xFF]) + struct.pack(
        "<HH", payload, 64) + ext


def turn(us=100):
    return bytes([2, 3]) + struct.pack("<H", us)


def work(qp, op, length):
    return bytes([3, qp, op, 1]) + struct.pack("<HH", length, 0)


def recv(qp):
    return bytes([4, qp]) + struct.pack("<HH", 0, 4096)


def neighbours(folder):
    """Records of tests/fuzz/neighbours.c: a want, a frame to mend, time."""
    us, peer = (bytes.fromhex("fd09" + "00" * 13) + bytes([n]) for n in (1, 2))
    group = bytes.fromhex("ff02" + "00" * 9 + "01ff000001")
    mac = bytes([2, 0, 0, 0, 0, 2])

    def ipv6(how, hops, following, src, dst, rest):
        head = bytes(6) + mac + b"\x86\xdd\x60\0\0\0\0\0"
        f = head + bytes([following, hops]) + src + dst + rest
        return b"\0\x02\x02\0" + bytes([how]) + struct.pack("<H", len(f)) + f

    later = b"\x01\xe8\x03"
    ask = bytes([135]) + bytes(7) + us + b"\x01\x01" + mac
    tell = bytes([136]) + bytes(3) + b"\x60\0\0\0" + peer + b"\x02\x01" + mac
    query = bytes.fromhex("3a00050200000000") + bytes([130]) + bytes(23)
    put(folder, "ask", ipv6(1, 255, 58, peer, group, ask) + later)
    put(folder, "tell", ipv6(1, 255, 58, peer, us, tell) + later)
    put(folder, "query", ipv6(2, 1, 0, b"\xfe\x80" + bytes(13) + b"\x02",
                              b"\xff\x02" + bytes(13) + b"\x01", query) + later)
    arp = b"\xff" * 6 + mac + bytes.fromhex("0806000108000604000102" + "00" * 4)
    arp += b"\x02" + bytes([10, 9, 0, 2]) + bytes(6) + bytes([10, 9, 0, 1])
    put(folder, "arp", b"\x01\x02\x02\0\0" + struct.pack("<H", len(arp)) + arp)


def ext_of(opcode):
    """Bytes behind the BTH that frames.c takes for a believed opcode."""
    table = {0x0C: 16, 0x13: 28, 0x14: 28, 0x11: 4, 0x12: 12, 0x0D: 4,
             0x0F: 4, 0x10: 4, 0x16: 4, 0x17: 4, 0x64: 8, 0x65: 12, 0x81: 16}
    base = opcode - 0x20 if 0x20 <= opcode <= 0x2B else opcode
    table.update({0x03: 4, 0x05: 4, 0x06: 16, 0x09: 4, 0x0A: 16, 0x0B: 20})
    return bytes(table.get(opcode, table.get(base, 0)))


def shaped(opcode, qp, psn):
    """A packet of the length that its opcode demands (path MTU 1024)."""
    base = opcode - 0x20 if 0x20 <= opcode <= 0x2B else opcode
    whole = base in (0, 1, 6, 7, 0x0D, 0x0E)
    ext = bytearray(ext_of(opcode))
    if len(ext) in (16, 20):
        ext[12], ext[15] = (2, 0) if base == 6 else (0, 16)
    return built(qp, opcode, psn, 1024 if whole else
                 0 if base in (0x0C, 0x11, 0x12, 0x13, 0x14) else 16,
                 bytes(ext))


def every_opcode(folder):
    for opcode in list(range(0x18)) + list(range(0x20, 0x2C)) + [
            0x64, 0x65, 0x81]:
        for qp in range(6):
            data = recv(qp) + work(qp, 2, 3000) + work(qp, 3, 1500) + turn()
            for psn in (0, 2, 1):
                data += shaped(opcode, qp, psn)
            put(folder, "op%02x_%u" % (opcode, qp), data + turn(20000))


def aeth(qp, syndrome, psn):
    return built(qp, 0x11, psn, 0, bytes([syndrome, 0, 0, 1]))


def conversations(folder):
    for qp in (0, 1, 2, 5):
        ask = work(qp, 2, 3000) + work(qp, 3, 1500) + work(qp, 5, 8) + turn()
        first = built(qp, 0x0D, 3, 1024, bytes(4))
        last = built(qp, 0x0F, 4, 476, bytes(4))
        atomic = built(qp, 0x12, 5, 0, bytes(12))
        put(folder, "answers_%u" % qp,
            ask + aeth(qp, 0x1F, 2) + first + last + atomic + turn())
        for syndrome in (0x20, 0x21, 0x60, 0x61, 0x62, 0x63, 0x64, 0x40):
            put(folder, "nak%02x_%u" % (syndrome, qp),
                ask + aeth(qp, syndrome, 1) + turn() + aeth(qp, 0x1F, 2) +
                last + turn(5000) + first + last + turn())
        put(folder, "send_%u" % qp, recv(qp) + recv(qp) + b"".join(
            shaped(op, qp, i) for i, op in enumerate(
                (0, 2, 6, 8, 0x0C, 0x13, 0x14, 4, 4))) + turn())
        put(folder, "early_%u" % qp, recv(qp) + b"".join(
            shaped(op, qp, i) for i, op in (
                (1, 2), (3, 10), (4, 0x0C), (5, 0x13), (0, 0), (2, 10))) +
            turn() + turn())


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        v = json.load(f)
    top = sys.argv[3]

    frames = os.path.join(top, "frames")
    for x in v["roce_icrc_vectors"] + v["wrong_icrc_frames"]:
        data = bytes.fromhex(x["frame_hex"])
        put(frames, x["id"] + "_as_is", raw(data) + turn())
        put(frames, x["id"] + "_sealed", raw(data, 1) + turn())
    every_opcode(frames)
    conversations(frames)

    wqes = os.path.join(top, "wqes")
    for x in v["mlx5_wqes"]:
        data = bytes.fromhex(x["wqe_hex"])
        for how in (0, 3, 0x13, 0x23):
            one = b"\x06\x10\x00" + bytes([how]) + data
            put(wqes, "%s_%x" % (x["id"], how), b"\x00" + (
                one + b"\x05\x64\x00") * 3)

    neighbours(os.path.join(top, "neighbours"))

    boot = os.path.join(top, "boot")
    put(boot, "address", b"\x01\x01\x00")
    put(boot, "address6", b"\x01\x03\x00")
    for kind, size in ((1, 24 + 128), (2, 24 + 128), (3, 0), (4, 81), (5, 81)):
        head = b"WBDP" + struct.pack(">HHI", 1, kind, size)
        alive = b"WBDP" + struct.pack(">HHI", 1, 6, 0)
        put(boot, "message%u" % kind,
            bytes([0, kind - 1]) + alive + head + bytes(size))

    with open(sys.argv[2], encoding="utf-8") as f:
        seen = json.load(f)["mads"]
    mads = os.path.join(top, "mads")
    go = bytes([5])
    for i, x in enumerate(seen):
        mad = bytes.fromhex(x["mad"])
        put(mads, "seen%02u" % i,
            bytes([0, 0, 0]) + struct.pack("<H", 256) + mad + go)
    ask = bytes([1, 0, 0, 9, 1, 255]) + bytes(12) + go
    for kind in range(11):
        put(mads, "kind%02u" % kind, ask + bytes(
            [3, 0, 14, 0, 1]) + go + bytes([1, kind, 0, 9, 1, 0, 0]) + go)


main()
