#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Our description of NCCL's queue pair beside the headers of an installed
# NCCL: each field where that code looks for it; and that code, compiled on
# our struct.  NCCL_INCLUDE names the headers' folder when it is not one of
# the usual ones.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
doca=nccl_device/gin/gdaki/doca_gpunetio

find_nccl() {
	local d

	for d in ${NCCL_INCLUDE:+"$NCCL_INCLUDE"} /usr/local/cuda/include \
		/usr/include /usr/local/include; do
		[ -f "$d/$doca/common/doca_gpunetio_verbs_dev.h" ] || continue
		echo "$d"
		return
	done
}

# STRUCT OURS THEIRS: a field of both.
fields() { # version
	local v=$1 ds

	echo "CQ cqe cqe_daddr"
	echo "CQ cqn cq_num"
	echo "CQ cqe_num cqe_num"
	echo "CQ dbrec dbrec"
	echo "CQ ci cqe_ci"
	echo "CQ cqe_mask cqe_mask"
	echo "CQ cqe_size cqe_size"
	echo "CQ reserved cqe_rsvd"
	echo "CQ mem_type mem_type"
	echo "QP sq_reserved sq_rsvd_index"
	echo "QP sq_ready sq_ready_index"
	echo "QP sq_pi sq_wqe_pi"
	echo "QP qpn sq_num"
	echo "QP qpn_shift8 sq_num_shift8"
	echo "QP qpn_shift8_be sq_num_shift8_be"
	for ds in $(seq $((v + 3))); do
		echo "QP qpn_ds_be[$((ds - 1))] sq_num_shift8_be_${ds}ds"
	done
	echo "QP sq_lock sq_lock"
	echo "QP sq_num sq_wqe_num"
	echo "QP sq_mask sq_wqe_mask"
	echo "QP sq sq_wqe_daddr"
	echo "QP sq_dbrec sq_dbrec"
	echo "QP sq_db sq_db"
	echo "QP cq_sq cq_sq"
	echo "QP nic_handler nic_handler"
	echo "QP mem_type mem_type"
	[ "$v" = 1 ] || return
	echo "QP rq_num rq_num"
	echo "QP rq_pi rq_wqe_pi"
	echo "QP rq_wqe_num rq_wqe_num"
	echo "QP rq_wqe_mask rq_wqe_mask"
	echo "QP rq rq_wqe_daddr"
	echo "QP rq_dbrec rq_dbrec"
	echo "QP rq_wqe_size rcv_wqe_size"
	echo "QP rq_reserved rq_rsvd_index"
	echo "QP rq_ready rq_ready_index"
	echo "QP rq_lock rq_lock"
	echo "QP cq_rq cq_rq"
}

# A program that compares both and prints what differs.
program() { # version
	local s ours theirs

	cat <<END
#include <cstddef>
#include <cstdio>
#include <$doca/common/doca_gpunetio_verbs_dev.h>
#include <wbell/compat_doca.h>
typedef wbell_doca_qp_v$1 our_QP;
typedef wbell_doca_cq_v$1 our_CQ;
typedef doca_gpu_dev_verbs_qp their_QP;
typedef doca_gpu_dev_verbs_cq their_CQ;
static int bad;
static void same(const char *what, size_t ours, size_t theirs)
{
	if (ours == theirs)
		return;
	printf("%s: ours %zu, theirs %zu\n", what, ours, theirs);
	bad = 1;
}
int main()
{
	same("size of QP", sizeof(our_QP), sizeof(their_QP));
	same("size of CQ", sizeof(our_CQ), sizeof(their_CQ));
	same("CPU_PROXY", WBELL_DOCA_CPU_PROXY,
	     DOCA_GPUNETIO_VERBS_NIC_HANDLER_CPU_PROXY);
	same("GPU_SM_DB", WBELL_DOCA_GPU_SM_DB,
	     DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB);
	same("MEM_HOST", WBELL_DOCA_MEM_HOST,
	     DOCA_GPUNETIO_VERBS_MEM_TYPE_HOST);
	same("MEM_GPU", WBELL_DOCA_MEM_GPU, DOCA_GPUNETIO_VERBS_MEM_TYPE_GPU);
END
	while read -r s ours theirs; do
		echo "	same(\"$s.$theirs\", offsetof(our_$s, $ours),"
		echo "	     offsetof(their_$s, $theirs));"
		echo "	same(\"size of $s.$theirs\", sizeof(our_$s::$ours),"
		echo "	     sizeof(their_$s::$theirs));"
	done < <(fields "$1")
	echo '	return bad;'
	echo '}'
}

layout() { # include folder, version
	program "$2" >"$dir/layout.cc"
	if timeout 60 g++ -std=c++17 -w -Iinclude -isystem "$1" \
		"$dir/layout.cc" -o "$dir/layout" >"$dir/log" 2>&1 &&
		timeout 10 "$dir/layout" >"$dir/log" 2>&1; then
		result ok "v$2 has the layout of the headers in $1"
		return
	fi
	sed 's/^/# /' "$dir/log" | head -20
	result "not ok" "v$2 has the layout of the headers in $1"
}

# What v2 has and v1 lacks.
version_of() { # include folder
	grep -q sq_num_shift8_be_5ds \
		"$1/$doca/common/doca_gpunetio_verbs_dev.h" && echo 2 || echo 1
}

compile() { # include folder, architecture
	local name="sm_$2: NCCL's put, value, signal, counter and wait on it"

	if timeout 120 "$nvcc" -std=c++17 -arch="sm_$2" -ptx -Iinclude -I"$1" \
		"-DVIEW=struct wbell_doca_qp_v1" tests/compat/nccl.cu \
		-o "$dir/out.ptx" >"$dir/log" 2>&1; then
		result ok "$name"
	else
		sed 's/^/# /' "$dir/log" | head -20
		result "not ok" "$name"
		return
	fi
	if grep -q 'atom\.max\.relaxed\.sys\.u64' "$dir/out.ptx"; then
		result ok "sm_$2: it rings by a relaxed max at system scope"
	else
		result "not ok" "sm_$2: it rings by a relaxed max at system scope"
	fi
}

nccl=$(find_nccl)
if [ -z "$nccl" ]; then
	skip "layout of NCCL's queue pair" \
		"no NCCL with GIN headers: set NCCL_INCLUDE"
	echo "1..$count"
	exit 0
fi
version=$(version_of "$nccl")
layout "$nccl" "$version"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
	skip "NCCL's device code compiles on a view" "no nvcc"
elif [ "$version" != 1 ]; then
	skip "NCCL's device code compiles on a view" "nccl.cu is for v1"
else
	compile "$nccl" 90
fi
echo "1..$count"
exit $failed
