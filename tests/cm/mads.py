#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""MADs that others sent, and what another program reads in them.

    mads.py take CAPTURE >mads.json      what tshark makes of a capture
    mads.py header mads.json OUT.h       as C arrays

tests/cm/two-guests.sh makes the capture: two guests with stock kernels, their
rdma_rxe, and the tools of rdmacm-utils and perftest; none of our code.
"""
import ipaddress
import json
import re
import subprocess
import sys

# tshark 4.0 reads these three of a REQ's path with masks that do not fit
# their place: 20 bits of flow label as 0x00c67 where the wire has c6 75 e.
MISREAD = {"prim_flowlabel", "prim_pktrate", "prim_reserved0",
           "alt_flowlabel", "alt_pktrate", "alt_reserved0"}


def number(text):
    """A value of tshark's as an integer, None where it is none."""
    if re.fullmatch("([0-9a-f]{2}:)*[0-9a-f]{2}", text):
        return int(text.replace(":", ""), 16)
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return None
    return int(ip) | (0xffff << 32 if ip.version == 4 else 0)


def fields(tree):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from fields(value)
        elif isinstance(value, str) and name.startswith("infiniband.cm."):
            yield name[len("infiniband.cm."):], value


def take(capture):
    shark = ["tshark", "-r", capture, "-Y",
             "infiniband.mad.mgmtclass == 7", "-T", "json"]
    out = subprocess.run(shark, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    mads = []
    for frame in json.loads(out):
        layers = frame["_source"]["layers"]
        ip = layers.get("ip", layers.get("ipv6"))
        ib = layers["infiniband"]
        kept = {}
        for name, value in fields(ib):
            n = number(value)
            short = name.split(".")[-1]
            if n is not None and n < 1 << 128 and short not in MISREAD:
                kept[name] = "%x" % n
        mads.append({
            "from": ip.get("ip.src") or ip["ipv6.src"],
            "to": ip.get("ip.dst") or ip["ipv6.dst"],
            "mad": ib["infiniband.mad"].replace(":", ""),
            "tshark": kept})
    version = subprocess.run(["tshark", "--version"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    json.dump({"from": "two guests, Debian's Linux 6.1.192 (addresses that"
                       " end in 6, server) and 6.12.95 (5, client),"
                       " rdma_rxe, rping and ib_write_bw -R",
               "read_by": version.split("\n", maxsplit=1)[0],
               "mads": mads}, sys.stdout, indent=1)
    print()


def array(data):
    return "{ " + ", ".join("0x%02x" % b for b in data) + " }"


def gid(text):
    ip = ipaddress.ip_address(text)
    return (int(ip) | (0xffff << 32 if ip.version == 4 else 0)).to_bytes(
        16, "big")


def header(source, target):
    with open(source, encoding="utf-8") as f:
        mads = json.load(f)["mads"]
    with open(target, "w", encoding="utf-8") as out:
        out.write("#include <stdint.h>\n\n"
                  "struct seen_field {\n\tconst char *name;\n"
                  "\tuint8_t value[16]; /* big-endian */\n};\n\n"
                  "struct seen_mad {\n\tuint8_t from[16], to[16];\n"
                  "\tuint8_t mad[256];\n"
                  "\tconst struct seen_field *field;\n"
                  "\tunsigned nfield;\n};\n\n")
        for i, m in enumerate(mads):
            out.write("static const struct seen_field seen_fields_%u[] = {\n"
                      % i)
            for name, value in m["tshark"].items():
                out.write('\t{ "%s", %s },\n' % (name, array(
                    int(value, 16).to_bytes(16, "big"))))
            out.write("};\n")
        out.write("static const struct seen_mad seen_mads[] = {\n")
        for i, m in enumerate(mads):
            out.write("\t{ %s,\n\t%s,\n\t%s,\n\tseen_fields_%u, %u },\n" % (
                array(gid(m["from"])), array(gid(m["to"])),
                array(bytes.fromhex(m["mad"])), i, len(m["tshark"])))
        out.write("};\n")


if sys.argv[1] == "take":
    take(sys.argv[2])
else:
    header(sys.argv[2], sys.argv[3])
