# SPDX-License-Identifier: BSD-2-Clause
# warpbell.  make help lists the targets.
#
# Each directory has a build.mk that adds to the lists below and gives its
# own rules.  Objects go to build/obj/<path>.o, programs to build/bin,
# libraries to build/lib, tests to build/tests/<path>.

B := build
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-6s %s\n' '$(1)' '$(2)')

CC ?= gcc
WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
	-Wwrite-strings -Wno-unused-parameter -Werror
OPT ?= -O2 -g
CPPFLAGS_ALL := -Iinclude -D_GNU_SOURCE
CFLAGS_ALL = -std=gnu11 $(WARN) $(OPT) -fPIC -fvisibility=hidden -pthread
DEPS = -MMD -MP

# These need no more than is there; module builds need a compiler only.
NO_SETUP := clean help setup check-gpu modules modules_install dkms_install
ifneq ($(filter-out $(NO_SETUP),$(or $(MAKECMDGOALS),all)),)
ifeq ($(SETUP_DONE),)
# Installs what is missing, says what and why; silent when all is there.
setup_rc := $(shell scripts/setup >&2; echo $$?)
ifneq ($(setup_rc),0)
$(error scripts/setup failed; see above)
endif
export SETUP_DONE := 1
endif
endif

ALL :=        # what `make` builds
TESTS_FAST := # executables that print TAP; make check-fast (< 60 s in all)
TESTS_SLOW := # the rest of make check
TESTS_DEEP := # make check-deep: on the debug kernel
BENCHES :=    # executables that write build/bench/<area>.json
CLEAN :=

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

include $(wildcard */build.mk */*/build.mk)

.PHONY: all help setup modules modules_install dkms_install demo check \
	check-fast check-deep check-gpu bench lint clean install
all: $(ALL)

help:
	@echo 'make            build everything into build/'
	@echo 'make modules    the kernel modules, KDIR=headers of the kernel'
	@echo 'make dkms_install  sources for DKMS, udev rule, modprobe.d; DESTDIR='
	@echo 'make demo       two namespaces, a kernel sends a file over RoCEv2 (FILE=path)'
	@echo 'make check      lint and every test'
	@echo 'make check-fast the tests of the inner loop'
	@echo 'make check-model   models of the queue protocol, by spin'
	@echo 'make check-budget  instructions of device code, by nvcc'
	@echo 'make check-gpu  what a machine with a GPU can run'
	@echo 'make check-kmod  the kernel module in guests: 6.1, 6.12, 7.3'
	@echo 'make check-interop Linux rdma_rxe in guests as the peer'
	@echo 'make check-dpdk24  the engine built and tested with DPDK 24.11'
	@echo 'make check-vm   kernel modules in guests with stock kernels'
	@echo 'make check-deep the same on a kernel with KASAN, lockdep, kmemleak, faults'
	@echo 'make soak       simulator and fuzzers until told to stop'
	@echo 'make bench      speed, beside a floor program; build/bench/*.json'
	@echo 'make bench-goals  every row of docs/benchmarks.md, beside peers'
	@echo 'make lint       include rules, headers alone, format, cppcheck, shellcheck'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'make setup      install the Debian packages all this needs'

setup:
	scripts/setup

# The kernel modules, for the running kernel or that of KDIR.
KDIR ?= /lib/modules/$(shell uname -r)/build
KBUILD_MAKE = $(MAKE) -C '$(KDIR)' M='$(abspath $(B)/module)'

modules:
	$(Q)[ -e '$(KDIR)/Makefile' ] || { echo "modules: no kernel headers in \
	$(KDIR): install linux-headers-$$(uname -r), or name theirs by KDIR=" \
	>&2; exit 2; }
	$(Q)scripts/module-tree . $(B)/module
	$(Q)$(KBUILD_MAKE) modules

modules_install: modules
	$(Q)$(KBUILD_MAKE) modules_install

# What DKMS builds from, and what goes with the modules on any machine.
DKMS_VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' kmod/dkms.conf)
DKMS_DIR = $(DESTDIR)/usr/src/warpbell-$(DKMS_VERSION)

dkms_install:
	$(Q)mkdir -p $(DKMS_DIR)/include $(DESTDIR)/usr/lib/udev/rules.d \
		$(DESTDIR)/usr/lib/modprobe.d
	$(Q)cp -r Kbuild kmod LICENSES $(DKMS_DIR)/
	$(Q)cp -r include/wbell $(DKMS_DIR)/include/
	$(Q)mv $(DKMS_DIR)/kmod/dkms.conf $(DKMS_DIR)/
	$(Q)cp kmod/60-warpbell.rules $(DESTDIR)/usr/lib/udev/rules.d/
	$(Q)cp kmod/warpbell.conf $(DESTDIR)/usr/lib/modprobe.d/

demo: all
	scripts/demo $(if $(FILE),'$(FILE)')

check: all $(TESTS_FAST) $(TESTS_SLOW)
	$(Q)scripts/run-tests lint $(TESTS_FAST) $(TESTS_SLOW)

check-fast: all $(TESTS_FAST)
	$(Q)scripts/run-tests $(TESTS_FAST)

# The kernel is built first: that has no time limit of a test.
check-deep: all $(TESTS_DEEP)
	$(Q)scripts/lab fetch debug
	$(Q)WBELL_TEST_TIMEOUT=1200 scripts/run-tests $(TESTS_DEEP)

bench: all $(BENCHES)
	$(Q)mkdir -p $(B)/bench
	$(Q)for b in $(BENCHES); do $$b || exit 1; done

lint:
	$(Q)scripts/lint

clean:
	rm -rf $(B) $(CLEAN)

# One rule for all C objects; a directory adds flags by CFLAGS_<dir>, where
# <dir> is the path with / turned to _.  "private" headers are found by path.
dirflags = $(CFLAGS_$(subst /,_,$(patsubst %/,%,$(dir $(1)))))
$(B)/obj/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(call dirflags,$<) $(DEPS) -c $< -o $@

# What is below $(B)/dpdk24 was built elsewhere (tests/versions/).
-include $(shell find $(B) -path $(B)/dpdk24 -prune -o -name '*.d' -print \
	2>/dev/null)
