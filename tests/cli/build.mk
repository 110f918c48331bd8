# SPDX-License-Identifier: BSD-2-Clause
# Tests of the warpbell command.

CLIT_BIN := $(B)/tests/cli

TESTS_FAST += tests/cli/warpbell.bats
tests/cli/warpbell.bats: $(B)/bin/warpbell $(CLIT_BIN)/holder

$(CLIT_BIN)/holder: $(B)/obj/tests/cli/holder.o $(LIB_OBJS)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@
