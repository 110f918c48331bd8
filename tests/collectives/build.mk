# SPDX-License-Identifier: BSD-2-Clause
# Collectives: their parts alone, then N ranks on a wire of their own.

COLL_BIN := $(B)/tests/collectives
COLL_ASAN := -O1 -g -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined
COLL_SRC := tests/collectives/parts_test.c gpu/bench/fit.c gpu/bench/value.c \
	gpu/launch_host.c userlib/host.c

TESTS_FAST += $(COLL_BIN)/parts_test
COLL_SCRIPTS := $(COLL_BIN)/sweep $(COLL_BIN)/mutants
TESTS_SLOW += $(COLL_SCRIPTS) $(COLL_BIN)/bench_test

$(COLL_BIN)/parts_test: $(COLL_SRC) $(wildcard gpu/*.h gpu/*/*.h) \
	$(wildcard include/wbell/*.h)
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS_ALL) -I. -std=gnu11 $(WARN) $(COLL_ASAN) \
		-pthread $(COLL_SRC) -o $@ -lcmocka -lm

# Scripts stay where they are; the list names what the runner starts.
$(COLL_SCRIPTS): $(COLL_BIN)/%: tests/collectives/%.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@

$(COLL_BIN)/bench_test: tests/collectives/bench_test.bats
	$(Q)mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)printf '#!/bin/bash\nexec bats --tap %s\n' '$(CURDIR)/$<' >$@
	$(Q)chmod +x $@
