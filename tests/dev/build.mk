# SPDX-License-Identifier: BSD-2-Clause
# Device code on CPU threads: plain, under ThreadSanitizer, under Address-
# and UndefinedBehaviorSanitizer.  Sources are built whole per variant.

DEV_BIN := $(B)/tests/dev
DEV_NAMES := wqe_test ring_test error_test post_test order_test sched_test \
	launch_test forms_test set_test debug_test
DEV_SCRIPTS := budget mutants
DEV_SRC := tests/dev/nic_model.c gpu/launch_host.c userlib/host.c
DEV_HDR := $(wildcard tests/dev/*.h include/wbell/*.h gpu/*.h)
# To gcc, a failed assert_int_equal() goes on, with a ticket that is not set.
DEV_FLAGS := $(CPPFLAGS_ALL) -I. -I$(B)/gen -Itests/dev -std=gnu11 $(WARN) \
	-Wno-maybe-uninitialized -g -pthread
DEV_TESTS := $(DEV_NAMES:%=$(DEV_BIN)/%) $(DEV_NAMES:%=$(DEV_BIN)/%.tsan) \
	$(DEV_NAMES:%=$(DEV_BIN)/%.asan)

CFLAGS_tests_dev := -I. -I$(B)/gen

# Thousands of fibers are slow to a sanitizer; the scripts compile a lot.
DEV_SLOW := $(DEV_BIN)/forms_test.tsan $(DEV_BIN)/forms_test.asan \
	$(DEV_SCRIPTS:%=$(DEV_BIN)/%.sh)
TESTS_FAST += $(filter-out $(DEV_SLOW),$(DEV_TESTS))
TESTS_SLOW += $(DEV_SLOW)

.PHONY: check-budget
check-budget: $(DEV_BIN)/budget.sh
	$(Q)$<

$(DEV_TESTS): $(DEV_SRC) $(DEV_HDR) $(B)/gen/vectors.h tests/dev/build.mk
$(DEV_BIN)/%: tests/dev/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(DEV_FLAGS) -O2 $< $(DEV_SRC) -o $@ -lcmocka

$(DEV_BIN)/%.tsan: tests/dev/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(DEV_FLAGS) -O1 -fsanitize=thread $< $(DEV_SRC) -o $@ \
		-lcmocka

$(DEV_BIN)/%.asan: tests/dev/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(DEV_FLAGS) -O1 -fsanitize=address,undefined \
		-fno-sanitize-recover=undefined $< $(DEV_SRC) -o $@ -lcmocka

# Scripts stay where they are; the list names what the runner starts.
$(DEV_SCRIPTS:%=$(DEV_BIN)/%.sh): $(DEV_BIN)/%.sh: tests/dev/%.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@
