# SPDX-License-Identifier: BSD-2-Clause
# The transport core and the software NIC on wires in memory; each test also
# under ASan and UBSan ($(B)/asan/, rule in tests/unit/build.mk).

CORE_TESTS := address_test counter_test data_test doorbell_test error_test \
	golden_test nic_test plain_test rebuild_test rules_test seen_test \
	types_test
CORE_SRC := $(wildcard dpdk_path/roce/*.c dpdk_path/nic/*.c) \
	tests/core/pair.c tests/core/craft.c
CORE_BIN := $(B)/tests/core

CFLAGS_tests_core := -I$(B)/gen

TESTS_FAST += $(CORE_TESTS:%=$(CORE_BIN)/%) $(CORE_TESTS:%=$(CORE_BIN)/%.asan)

$(CORE_TESTS:%=$(B)/obj/tests/core/%.o) $(CORE_TESTS:%=$(B)/asan/tests/core/%.o): \
	| $(B)/gen/vectors.h

$(CORE_TESTS:%=$(CORE_BIN)/%): $(CORE_BIN)/%: $(B)/obj/tests/core/%.o \
	$(CORE_SRC:%.c=$(B)/obj/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka -lz

$(CORE_TESTS:%=$(CORE_BIN)/%.asan): $(CORE_BIN)/%.asan: \
	$(B)/asan/tests/core/%.o $(CORE_SRC:%.c=$(B)/asan/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(UNIT_ASAN) $^ -o $@ -lcmocka -lz
