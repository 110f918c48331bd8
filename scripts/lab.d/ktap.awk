# SPDX-License-Identifier: BSD-2-Clause
# From results of KUnit suites (KTAP, as debugfs has them) to flat TAP, one line
# for each case.  NAME goes ahead of each.  A suite that did not end, ran less
# than planned or failed without a failed case counts as a test that failed.

function say(ok, name)
{
	printf "%sok %d - %s%s\n", ok ? "" : "not ", ++n, NAME, name
}

function suite_end(ok, name)
{
	if (ran != planned)
		say(0, name ": " ran " of " planned " cases ran")
	else if (!ok && !failed)
		say(0, name ": failed without a failed case")
	suite = ""
	suites++
}

BEGIN {
	suite = ""
}

/^    # Subtest: / {
	if (suite != "")
		say(0, suite ": did not end")
	suite = $3
	ran = failed = planned = 0
}

/^    1\.\.[0-9]+$/ {
	planned = substr($1, 4) + 0
}

/^    (not )?ok [0-9]+ / {
	ok = $1 == "ok"
	name = $0
	sub(/^ *(not )?ok [0-9]+ (- )?/, "", name)
	ran++
	failed += !ok
	say(ok, suite "." name)
}

/^    # .*(EXPECTATION|ASSERTION) FAILED/ {
	more = 4
}

more > 0 {
	print "#" $0
	more--
}

/^(not )?ok [0-9]+ / {
	suite_end($1 == "ok", $NF)
}

END {
	if (suite != "")
		say(0, suite ": did not end")
	if (!suites)
		say(0, "no suite ran")
	printf "1..%d\n", n
}
