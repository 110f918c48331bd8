# SPDX-License-Identifier: BSD-2-Clause
# Functions of more than 60 lines or 6 parameters.  In this style only a
# function body has a line that is "{" alone.  The device API is free to take
# more parameters: its calls are inlined and their arguments stay in registers,
# where a struct would go through a thread's memory; a stand-in has the
# prototypes of what it stands for.

function reset()
{
	head = ""
	body = 0
}

# Arguments of the last parenthesis of a signature, at its own depth.
function arguments(text, depth, i, c, count)
{
	count = text ~ /\([ \t]*(void)?[ \t]*\)[^()]*$/ ? 0 : 1
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "(")
			depth++
		else if (c == ")")
			depth--
		else if (c == "," && depth == 1)
			count++
	}
	return count
}

FNR == 1 {
	reset()
}

/^\{$/ {
	body = FNR
	if (head ~ /\(/ && arguments(head) > 6 &&
	    FILENAME !~ /^include\/wbell\/device/ && head !~ /nvidia_p2p_/)
		print FILENAME ":" FNR ": " arguments(head) " parameters (at most 6)"
	next
}

/^\}/ {
	if (body && FNR - body - 1 > 60)
		print FILENAME ":" body ": function of " FNR - body - 1 \
		      " lines (at most 60)"
	reset()
	next
}

body {
	next
}

/^[ \t]*$|;[ \t]*$|^[#\/]|^ \*/ {
	head = ""
	next
}

{
	head = head $0
}
