# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom.  Reads the project's file names from LIST, then lines
# "file:number:#include ..."; prints each include that the table forbids.
#
# A row: the files it speaks of, what they may include (a path in the tree,
# or <name>), and why.  The first row that matches a file decides.

function row(files, may, why)
{
	n++
	row_files[n] = files
	row_may[n] = may
	row_why[n] = why
}

BEGIN {
	# C library without sockets and clocks; then all of it
	pure = "^<(assert|ctype|errno|inttypes|limits|stdarg|stdatomic|" \
	       "pthread|stdbool|stddef|stdint|stdio|stdlib|string|strings|endian|" \
	       "byteswap|math|sys/queue|sys/types|sys/param|linux/types|" \
	       "(x86|i|t|s|e|p|n|w|a)[a-z]*intrin|cpuid|arm_[a-z]+)\\.h>$"
	libc = pure "|^<(dirent|dlfcn|fcntl|fnmatch|getopt|glob|ifaddrs|" \
	       "libgen|locale|netdb|poll|pwd|grp|sched|semaphore|" \
	       "setjmp|signal|spawn|syslog|termios|time|ucontext|unistd|" \
	       "wchar|malloc|execinfo|link|elf|threads|regex|" \
	       "(arpa|net|netinet|netpacket|sys|linux|asm|sanitizer)/[a-z0-9_/]+)\\.h>$"

	row("^include/wbell/(queue|roce|uapi)\\.h$", "^<linux/types\\.h>$",
	    "contracts include <linux/types.h> only")
	row("^include/wbell/layout\\.h$",
	    "^include/wbell/(queue|roce|uapi)\\.h$",
	    "layout.h includes the contracts it checks")
	row("^include/wbell/device[a-z_]*\\.h$",
	    "^include/wbell/(queue|device[a-z_]*)\\.h$",
	    "device headers include queue.h and each other: no CUDA, no libc")
	row("^include/wbell/wbell\\.h$",
	    "^<std(def|int)\\.h>$|^include/wbell/queue\\.h$",
	    "the host API has no CUDA, verbs or DPDK type")
	row("^include/wbell/compat\\.h$",
	    "^include/wbell/(wbell|compat_[a-z]+)\\.h$",
	    "views include the host API and the structs they fill")
	row("^include/wbell/compat_[a-z]+\\.h$", "^<linux/types\\.h>$",
	    "descriptions of other people's structs stand alone")
	row("^include/wbell/provider\\.h$",
	    "^<std(def|int)\\.h>$|^include/wbell/(queue|wbell)\\.h$",
	    "a provider's contract has no CUDA, verbs or DPDK type")
	row("^kmod/", "^<(linux|asm|net|kunit|rdma|trace|uapi/linux)/[^>]+>$|" \
	    "^kmod/|^include/wbell/(uapi|queue)\\.h$|^<nv-p2p\\.h>$",
	    "the module includes its own header, uapi.h and queue.h")
	row("^userlib/cli/",
	    libc "|^userlib/cli/|^include/wbell/(wbell|device|queue)\\.h$",
	    "the CLI is a client: public headers only")
	row("^userlib/plugins/", libc "|^userlib/plugins/|" \
	    "^include/wbell/(wbell|device|queue)\\.h$|^<(nccl|cuda)[^>]*>$",
	    "a plugin is a client: public headers only")
	row("^userlib/", libc "|^userlib/[^/]+$|^include/wbell/|" \
	    "^<infiniband/[^>]+>$",
	    "the library includes its own header and include/")
	row("^gpu/selftest/rig\\.c$", libc "|^gpu/|^dpdk_path/nic/nic\\.h$|" \
	    "^include/wbell/(queue|device)\\.h$",
	    "the self test's NIC is the engine's, without DPDK")
	row("^gpu/", libc "|^gpu/|^<(cuda[a-z_]*|mpi|openssl/[a-z]+)\\.h>$|" \
	    "^include/wbell/(wbell|device|device_arch|queue)\\.h$",
	    "kernels and their hosts are clients: public headers only")
	row("^dpdk_path/roce/",
	    pure "|^dpdk_path/roce/|^include/wbell/(queue|roce|layout)\\.h$",
	    "the transport core has no DPDK, no socket and no clock")
	row("^dpdk_path/cm/gsi\\.[ch]$",
	    pure "|^dpdk_path/cm/|^dpdk_path/(roce/core|nic/gid)\\.h$",
	    "queue pair 1 uses the core as any of its users")
	row("^dpdk_path/cm/", pure "|^dpdk_path/cm/|^dpdk_path/nic/gid\\.h$",
	    "the communication manager has no queue pair, socket or clock")
	row("^dpdk_path/", libc "|^dpdk_path/|^<(rte_|ethdev_)[^>]+>$|" \
	    "^include/wbell/(provider|queue|roce|layout)\\.h$",
	    "the engine includes provider.h, not the host API")
	row("^scripts/lab\\.d/kunit/", "^<(linux|kunit)/",
	    "what goes with KUnit knows the kernel only")
	row("^tests/vnic/", libc "|^tests/vnic/|^dpdk_path/roce/|" \
	    "^include/wbell/(queue|roce)\\.h$|^<linux/mlx5/[^>]+>$",
	    "a judge shares nothing with the judged")
	row("^tests/", "^<|^(tests|gpu|include|dpdk_path|userlib)/",
	    "tests do not include the kernel module")

	while ((getline line < LIST) > 0)
		known[line] = 1
	split(". include dpdk_path dpdk_path/roce dpdk_path/nic " \
	      "dpdk_path/port userlib gpu tests", roots, " ")
	# headers that the build makes
	made["vectors.h"] = "tests/vectors.h"
	made["seen_mads.h"] = "tests/seen_mads.h"
	made["api.h"] = "kmod/api.h"
}

# "a/b/../c" to "a/c"
function tidy(path)
{
	while (sub(/(^|\/)[^\/.]+\/\.\.\//, "/", path))
		sub(/^\//, "", path)
	while (sub(/(^|\/)\.\//, "/", path))
		sub(/^\//, "", path)
	return path
}

# The path in the tree that an include means, else the name as written.
function resolve(file, name, dir, i, path)
{
	dir = file
	while (sub(/\/?[^\/]*$/, "", dir) && dir != "") {
		path = tidy(dir "/" name)
		if (path in known)
			return path
	}
	for (i in roots) {
		path = tidy(roots[i] "/" name)
		if (path in known)
			return path
	}
	return (name in made) ? made[name] : ""
}

function check(file, line, target, i)
{
	for (i = 1; i <= n; i++) {
		if (file !~ row_files[i])
			continue
		if (target !~ row_may[i])
			print file ":" line ": includes " target ": " row_why[i]
		return
	}
	print file ":" line ": includes " target ": no rule for this file"
}

# A test that knows two components' insides ties them together.
function check_one_component(file, line, target, part)
{
	if (file !~ /^tests\/(unit|dev)\// ||
	    target !~ /^(userlib|dpdk_path|kmod)\//)
		return
	part = target
	sub(/\/.*/, "", part)
	if ((file in component) && component[file] != part)
		print file ":" line ": includes " target " beside " \
		      component[file] "/: one component's insides per unit test"
	component[file] = part
}

{
	split($0, at, ":")
	text = $0
	sub(/^[^#]*#[ \t]*include[ \t]*/, "", text)
	quoted = text ~ /^"/
	if (!match(text, /^["<][^">]+[">]/))
		next # a macro's value
	name = substr(text, 2, RLENGTH - 2)
	target = resolve(at[1], name)
	if (target == "") {
		if (quoted) {
			print at[1] ":" at[2] ": includes \"" name \
			      "\": no such file in the tree"
			next
		}
		target = "<" name ">"
	}
	check(at[1], at[2], target)
	check_one_component(at[1], at[2], target)
}
