# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034
# What a test script says in TAP; it ends with "exit $failed".
count=0
failed=0

result() { # ok-or-not, name
	count=$((count + 1))
	echo "$1 $count - $2"
	[ "$1" = ok ] || failed=1
}

skip() { # name, reason
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
