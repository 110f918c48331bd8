# SPDX-License-Identifier: BSD-2-Clause
# The warpbell command.

CLI_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard userlib/cli/*.c))

ALL += $(B)/bin/warpbell

$(B)/bin/warpbell: $(CLI_OBJS) $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(CLI_OBJS) -L$(B)/lib -lwarpbell \
		-Wl,-rpath,'$$ORIGIN/../lib' -o $@
