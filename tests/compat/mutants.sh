#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The NIC's half of late posters with one rule taken out must fail late_test.
# A mutant is a change to one line of a copy; everything else is as built.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

CC=${CC:-gcc}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/dpdk_path" && cp -r dpdk_path/nic dpdk_path/roce "$dir/dpdk_path"

objects() { # all of late_test's but one of nic/'s
	local o

	for o in build/obj/tests/compat/{late_test,rig,poster}.o \
		build/obj/userlib/*.o build/obj/dpdk_path/{nic,roce}/*.o; do
		case $o in
		*/prov_engine.o | "build/obj/$1.o") continue ;;
		esac
		echo "$o"
	done
}

build() { # file without .c, output
	local objs

	mapfile -t objs < <(objects "$1")
	timeout 120 "$CC" -std=gnu11 -D_GNU_SOURCE -Iinclude -O1 -c \
		"$dir/$1.c" -o "$dir/mutant.o" >"$dir/cc.log" 2>&1 &&
		timeout 120 "$CC" -pthread "${objs[@]}" \
			"$dir/mutant.o" -o "$2" -lcmocka >>"$dir/cc.log" 2>&1
}

must_fail() { # name, file without .c, sed program
	local name=$1 file=$2

	sed -E "$3" "$file.c" >"$dir/$file.c"
	if cmp -s "$file.c" "$dir/$file.c"; then
		result "not ok" "$name: the line it changes is not there"
	elif ! build "$file" "$dir/test"; then
		sed 's/^/# /' "$dir/cc.log" | head -20
		result "not ok" "$name: does not build"
	elif timeout 120 "$dir/test" >"$dir/log" 2>&1; then
		result "not ok" "$name: passes"
	else
		result ok "$name"
	fi
	cp "$file.c" "$dir/$file.c"
}

wqe=dpdk_path/nic/wqe
cqe=dpdk_path/nic/cqe
must_fail slots_not_filled_again $wqe 's/^\tlate_poison\(q, nbb\);//'
must_fail length_not_looked_at $wqe \
	's/if \(is_poison_half\(q, w, seg \* .*/if (0)/'
must_fail inline_not_looked_at $wqe 's/return SIGHT_DOUBT;/return 0;/'
must_fail operands_not_looked_at $wqe 's/(see_words\(q, p, )SIGHT_DOUBT/\10/'
must_fail segments_not_looked_at $wqe 's/(see_words\(q, p, )SIGHT_TORN/\10/'
must_fail control_half_looked_at $wqe 's/unsigned seg = 0; seg < w->ds/unsigned seg = 1; seg < w->ds/'
must_fail wait_half_looked_at $wqe \
	's/return is_poison\(q, p\) \? SIGHT_DOUBT : SIGHT_WHOLE/return 0/'
must_fail wait_one_early $wqe 's/(on->cq_pi - index\)) > 0/\1 >= 0/'
must_fail wait_passes_what_failed $wqe 's/else if \(on->cq_failed .*/else if (0)/'
must_fail wait_fails_what_was_good $cqe 's/cq_bad = q->cq_pi/cq_bad = 0/'
must_fail wait_without_end $wqe 's/\[SIGHT_WAITS\] = WAIT_NS/[SIGHT_WAITS] = ~0ULL/'
must_fail look_without_end $wqe 's/\[SIGHT_TORN\] = LATE_NS/[SIGHT_TORN] = ~0ULL/'
must_fail doubt_without_end $wqe 's/\[SIGHT_DOUBT\] = DOUBT_NS/[SIGHT_DOUBT] = ~0ULL/'
must_fail doubt_from_first_look $wqe 's/if \(q->stalled != sight\)/if (!q->stalled)/'
must_fail cqe_not_of_its_wqe $wqe 's/^\tq->cq_pi = q->fetched;.*//'
if build $wqe "$dir/test" && timeout 120 "$dir/test" >"$dir/log" 2>&1; then
	result ok whole_code_passes
else
	sed 's/^/# /' "$dir/cc.log" "$dir/log" | head -20
	result "not ok" whole_code_passes
fi
echo "1..$count"
exit $failed
