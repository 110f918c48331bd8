#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turn tests/vectors.json into C arrays: vectors.py IN.json OUT.h"""
import json
import os
import sys

STRUCTS = """
#include <stdint.h>

struct vec_frame {
	const char *id;
	const char *cls; /* "published-good", "published-bad", "derived" */
	const char *encap;
	const uint8_t *frame; /* from the destination MAC, ICRC included */
	uint32_t len;
	uint32_t icrc; /* the right one, as a number */
	int good;      /* the frame ends in it */
};

struct vec_wrong {
	const char *id;
	const uint8_t *frame;
	uint32_t len;
	uint32_t icrc;
};

struct vec_payload {
	const char *id;
	const uint8_t *data; /* what UDP carries */
	uint32_t len;
	uint32_t udp_len; /* of the UDP header; 0: the right one */
};

struct vec_cqe {
	const char *id;
	uint8_t cqe[64];
	const char *opcode_name;
	const char *wc_status_name;
	const char *wqe_opcode_name; /* NULL: not a send opcode */
	uint32_t opcode;
	uint32_t owner;
	uint32_t syndrome;
	uint32_t vendor_syndrome;
	uint32_t wc_status;
	uint32_t wqe_opcode;
	uint32_t qpn;
	uint32_t wqe_counter;
	uint32_t srqn_uidx;
};

struct vec_wqe {
	const char *id;
	const char *what;
	uint8_t wqe[64];
};

struct vec_sport {
	uint32_t flow_label;
	uint16_t sport;
};

#define VEC_COUNT(a) (sizeof(a) / sizeof((a)[0]))
"""


def c_string(s):
    return "NULL" if s is None else json.dumps(s)


def c_bytes(data):
    return ", ".join("0x%02x" % b for b in data)


def number(v):
    return int(v, 0) if isinstance(v, str) else int(v)


class Header:
    def __init__(self):
        self.lines = []

    def blob(self, name, data):
        """Exactly sized, so that a sanitizer sees a read behind it."""
        self.lines.append("static const uint8_t %s[%d] = { %s };"
                          % (name, len(data), c_bytes(data)))
        return name

    def array(self, ctype, name, rows):
        self.lines.append("static const %s %s[] = {" % (ctype, name))
        self.lines += ["\t{ %s }," % ", ".join(r) for r in rows]
        self.lines.append("};")


def field(name, value):
    return ".%s = %s" % (name, value)


def frames(h, vectors):
    rows = []
    for i, v in enumerate(vectors):
        data = bytes.fromhex(v["frame_hex"])
        icrc = int.from_bytes(bytes.fromhex(v["computed_icrc_wire_hex"]),
                              "little")
        if icrc != number(v["crc32_value"]):
            sys.exit("%s: ICRC bytes and number differ: mend the vectors"
                     % v["id"])
        rows.append([
            field("id", c_string(v["id"])), field("cls", c_string(v["cls"])),
            field("encap", c_string(v["decoded"]["encap"])),
            field("frame", h.blob("vec_frame_%d" % i, data)),
            field("len", len(data)), field("icrc", "0x%08x" % icrc),
            field("good", int(v["frame_icrc_matches"]))])
    h.array("struct vec_frame", "vec_frames", [map(str, r) for r in rows])


def wrong(h, vectors):
    rows = []
    for i, v in enumerate(vectors):
        data = bytes.fromhex(v["frame_hex"])
        icrc = int.from_bytes(bytes.fromhex(v["right_icrc_wire_hex"]),
                              "little")
        rows.append([field("id", c_string(v["id"])),
                     field("frame", h.blob("vec_wrong_%d" % i, data)),
                     field("len", len(data)), field("icrc", "0x%08x" % icrc)])
    h.array("struct vec_wrong", "vec_wrongs", rows)


def payloads(h, vectors):
    rows = []
    for i, v in enumerate(vectors):
        data = bytes.fromhex(v["udp_payload_hex"])
        rows.append([field("id", c_string(v["id"])),
                     field("data", h.blob("vec_payload_%d" % i, data)),
                     field("len", len(data)),
                     field("udp_len", v.get("udp_len_field", 0))])
    h.array("struct vec_payload", "vec_payloads", rows)


def cqes(h, vectors):
    rows = []
    for v in vectors:
        e = v["expect"]
        rows.append([
            field("id", c_string(v["id"])),
            field("cqe", "{ %s }" % c_bytes(bytes.fromhex(v["cqe_hex"]))),
            field("opcode_name", c_string(e["cqe_opcode_name"])),
            field("wc_status_name", c_string(e["wc_status_name"])),
            field("wqe_opcode_name", c_string(e["wqe_opcode_name"])),
            field("opcode", e["cqe_opcode"]), field("owner", e["owner"])]
            + [field(k, "0x%x" % number(e[k]))
               for k in ("syndrome", "vendor_syndrome", "wc_status",
                         "wqe_opcode", "qpn", "wqe_counter", "srqn_uidx")])
    h.array("struct vec_cqe", "vec_cqes", rows)


def wqes(h, vectors):
    h.array("struct vec_wqe", "vec_wqes", [
        [field("id", c_string(v["id"])), field("what", c_string(v["what"])),
         field("wqe", "{ %s }" % c_bytes(bytes.fromhex(v["wqe_hex"])))]
        for v in vectors])


def tables(h, v):
    h.lines.append("static const uint32_t vec_rnr_timer_us[] = { %s };"
                   % ", ".join(map(str, v["rnr_timer_usec"]["values"])))
    h.array("struct vec_sport", "vec_sports",
            [[fl, str(port)] for fl, port
             in v["flow_label_to_udp_sport"]["values"].items()])


def header(v):
    h = Header()
    frames(h, v["roce_icrc_vectors"])
    wrong(h, v["wrong_icrc_frames"])
    payloads(h, v["malformed_udp_payloads"])
    cqes(h, v["mlx5_error_cqes"])
    wqes(h, v["mlx5_wqes"])
    tables(h, v)
    return ("/* SPDX-License-Identifier: BSD-2-Clause */\n"
            "/* Made from tests/vectors.json by tests/unit/vectors.py. */\n"
            "#ifndef VECTORS_H\n#define VECTORS_H\n"
            "#include <stddef.h>" + STRUCTS + "\n"
            + "\n".join(h.lines) + "\n#endif /* VECTORS_H */\n")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: vectors.py IN.json OUT.h")
    try:
        with open(sys.argv[1], encoding="ascii") as f:
            text = header(json.load(f))
    except (OSError, ValueError, KeyError) as e:
        sys.exit("%s: %r: give it tests/vectors.json" % (sys.argv[1], e))
    tmp = sys.argv[2] + ".tmp"
    with open(tmp, "w", encoding="ascii") as f:
        f.write(text)
    os.replace(tmp, sys.argv[2])


main()
