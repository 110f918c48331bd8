# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of the transport's pure parts: ICRC and parser.

UNIT_ROCE := dpdk_path/roce/icrc dpdk_path/roce/icrc_pclmul \
	dpdk_path/roce/icrc_vpclmul dpdk_path/roce/pkt
UNIT_BIN := $(B)/tests/unit
UNIT_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -O1

CFLAGS_tests_unit := -Idpdk_path/roce -I$(B)/gen

UNIT_PKT := pkt_test headers_test
UNIT_TESTS := icrc_test $(UNIT_PKT)
UNIT_TESTS_ASAN := $(UNIT_PKT:%=%.asan)

TESTS_FAST += $(UNIT_TESTS:%=$(UNIT_BIN)/%) $(UNIT_TESTS_ASAN:%=$(UNIT_BIN)/%)
ALL += $(B)/bin/icrc-bench

# The vectors as C arrays, for every test: #include "vectors.h".
$(B)/gen/vectors.h: tests/unit/vectors.py tests/vectors.json
	$(Q)mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 $^ $@

$(UNIT_TESTS:%=$(B)/obj/tests/unit/%.o) \
	$(UNIT_PKT:%=$(B)/asan/tests/unit/%.o): | $(B)/gen/vectors.h

# Objects with the address and undefined-behaviour sanitizers.
$(B)/asan/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$< [asan])
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(call dirflags,$<) \
		$(UNIT_ASAN) $(DEPS) -c $< -o $@

$(UNIT_TESTS:%=$(UNIT_BIN)/%): $(UNIT_BIN)/%: $(B)/obj/tests/unit/%.o \
	$(UNIT_ROCE:%=$(B)/obj/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka -lz -lisal

$(UNIT_TESTS_ASAN:%=$(UNIT_BIN)/%): $(UNIT_BIN)/%.asan: \
	$(B)/asan/tests/unit/%.o $(UNIT_ROCE:%=$(B)/asan/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(UNIT_ASAN) $^ -o $@ -lcmocka

$(B)/bin/icrc-bench: $(B)/obj/tests/unit/icrc_bench.o \
	$(UNIT_ROCE:%=$(B)/obj/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@
