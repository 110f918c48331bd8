# SPDX-License-Identifier: BSD-2-Clause
# The kernel module in guests, by programs that run there: kmod/README.md.

KMOD_BIN := $(B)/tests/kmod
KMOD_PROGRAMS := $(patsubst tests/kmod/%.c,$(KMOD_BIN)/%,\
	$(wildcard tests/kmod/*_test.c))
KMOD_HELP := $(patsubst %.c,$(B)/obj/%.o,\
	$(filter-out %_test.c,$(wildcard tests/kmod/*.c)))
KMOD_TESTS := $(KMOD_BIN)/kmod_6.1 $(KMOD_BIN)/kmod_6.12 $(KMOD_BIN)/kmod_7.3
KMOD_DEEP := $(KMOD_BIN)/kmod_debug
TESTS_SLOW += $(KMOD_TESTS) tests/kmod/probe_test.sh
TESTS_DEEP += $(KMOD_DEEP)

$(KMOD_PROGRAMS): $(KMOD_BIN)/%: $(B)/obj/tests/kmod/%.o $(KMOD_HELP)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka

$(KMOD_TESTS) $(KMOD_DEEP): tests/kmod/kmod_test.sh tests/kmod/guest.sh $(KMOD_PROGRAMS)
	$(Q)ln -sf $(abspath $<) $@

.PHONY: check-kmod
check-kmod: $(KMOD_TESTS) tests/kmod/probe_test.sh
	$(Q)scripts/run-tests $^
