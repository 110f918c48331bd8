# SPDX-License-Identifier: BSD-2-Clause
# Other people's device code on our queues: libwarpbell over the software NIC
# on a wire in memory.  Plain, and with the sanitizers (patterns for asan in
# tests/unit/build.mk, for tsan in tests/lib/build.mk).

COMPAT_BIN := $(B)/tests/compat
COMPAT_NAMES := late_test view_test threads_test
COMPAT_SRC := tests/compat/rig.c tests/compat/poster.c \
	$(filter-out userlib/prov_engine.c,$(wildcard userlib/*.c)) \
	$(wildcard dpdk_path/nic/*.c dpdk_path/roce/*.c)
COMPAT_LINK = $(CC) -pthread $(1) $^ -o $@ -lcmocka

CFLAGS_tests_compat := -Iuserlib

TESTS_FAST += $(COMPAT_NAMES:%=$(COMPAT_BIN)/%) $(COMPAT_BIN)/layout.sh
TESTS_SLOW += $(COMPAT_NAMES:%=$(COMPAT_BIN)/%.asan) \
	$(COMPAT_BIN)/threads_test.tsan $(COMPAT_BIN)/mutants.sh

$(COMPAT_NAMES:%=$(COMPAT_BIN)/%): $(COMPAT_BIN)/%: \
	$(B)/obj/tests/compat/%.o $(COMPAT_SRC:%.c=$(B)/obj/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call COMPAT_LINK)

$(COMPAT_NAMES:%=$(COMPAT_BIN)/%.asan): $(COMPAT_BIN)/%.asan: \
	$(B)/asan/tests/compat/%.o $(COMPAT_SRC:%.c=$(B)/asan/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call COMPAT_LINK,$(UNIT_ASAN))

$(COMPAT_BIN)/threads_test.tsan: $(B)/lib-tsan/tests/compat/threads_test.o \
	$(COMPAT_SRC:%.c=$(B)/lib-tsan/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call COMPAT_LINK,$(LIBT_TSAN))

# The mutants are linked with the objects of the whole.
$(COMPAT_BIN)/mutants.sh: $(COMPAT_BIN)/late_test
$(COMPAT_BIN)/layout.sh $(COMPAT_BIN)/mutants.sh: $(COMPAT_BIN)/%: \
	tests/compat/%
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@
