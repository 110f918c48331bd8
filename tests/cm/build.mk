# SPDX-License-Identifier: BSD-2-Clause
# The communication manager: its messages beside what others sent, its states
# under a clock of the test's, and QP 1 on the core; each also under ASan and
# UBSan (rule in tests/unit/build.mk).

CM_TESTS := mad_test conn_test loss_test hostile_test gsi_test
CM_SRC := $(wildcard dpdk_path/cm/*.c dpdk_path/roce/*.c) tests/cm/net.c \
	tests/cm/fixture.c
CM_BIN := $(B)/tests/cm

CFLAGS_tests_cm := -I$(B)/gen

TESTS_FAST += $(CM_TESTS:%=$(CM_BIN)/%) $(CM_TESTS:%=$(CM_BIN)/%.asan)

$(B)/gen/seen_mads.h: tests/cm/mads.py tests/cm/mads.json
	$(Q)mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 $< header tests/cm/mads.json $@

$(B)/obj/tests/cm/mad_test.o $(B)/asan/tests/cm/mad_test.o: | $(B)/gen/seen_mads.h

$(CM_TESTS:%=$(CM_BIN)/%): $(CM_BIN)/%: $(B)/obj/tests/cm/%.o \
	$(CM_SRC:%.c=$(B)/obj/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka

$(CM_TESTS:%=$(CM_BIN)/%.asan): $(CM_BIN)/%.asan: \
	$(B)/asan/tests/cm/%.o $(CM_SRC:%.c=$(B)/asan/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(UNIT_ASAN) $^ -o $@ -lcmocka
