# SPDX-License-Identifier: BSD-2-Clause
# The self test of device code on CPU threads; that its build for GPUs builds;
# and on a GPU: make check-gpu, which is scripts/check-gpu and needs no make.

SELF_DIR := $(B)/tests/selftest
SELF_SRC := $(wildcard gpu/selftest/*.c)
SELF_NIC := $(wildcard dpdk_path/roce/*.c dpdk_path/nic/*.c)
SELF_TEST := $(SELF_DIR)/selftest

TESTS_FAST += $(SELF_TEST)
TESTS_SLOW += $(SELF_DIR)/compile.sh scripts/check-gpu

check-gpu:
	$(Q)scripts/check-gpu

$(SELF_TEST): $(SELF_SRC:%.c=$(B)/obj/%.o) $(SELF_NIC:%.c=$(B)/obj/%.o) \
	$(B)/obj/userlib/host.o $(gpu_launch_host)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@

$(SELF_DIR)/compile.sh: gpu/selftest/compile.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@
