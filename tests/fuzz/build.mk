# SPDX-License-Identifier: BSD-2-Clause
# libFuzzer against the transport, its communication manager, the software NIC
# and bootstraps.  Where
# clang has no libFuzzer nothing is built and the script says so.

FUZZ_BIN := $(B)/fuzz
FUZZ_CC := clang-14
FUZZ_LIB := $(wildcard $(shell $(FUZZ_CC) \
	-print-file-name=libclang_rt.fuzzer-x86_64.a 2>/dev/null))
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_ROCE := $(wildcard dpdk_path/roce/*.c)
FUZZ_NIC := $(FUZZ_ROCE) $(wildcard dpdk_path/nic/*.c)
FUZZ_NAMES := frames wqes boot neighbours mads
FUZZ_frames := tests/fuzz/frames.c $(FUZZ_ROCE)
FUZZ_neighbours := tests/fuzz/neighbours.c $(NEIGHBOUR_SRC)
FUZZ_wqes := tests/fuzz/wqes.c $(FUZZ_NIC)
FUZZ_mads := tests/fuzz/mads.c $(filter-out %/gsi.c,$(wildcard dpdk_path/cm/*.c))
FUZZ_boot := tests/fuzz/boot.c gpu/demo/boot.c gpu/stream.c gpu/endpoint.c userlib/host.c \
	$(FUZZ_NIC)

TESTS_SLOW += $(B)/tests/fuzz/fuzz.sh

ifneq ($(FUZZ_LIB),)
FUZZ_BUILT := $(FUZZ_NAMES:%=$(FUZZ_BIN)/%) $(FUZZ_BIN)/corpus/made
endif

$(FUZZ_BIN)/obj/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$< [fuzz])
	$(Q)$(FUZZ_CC) $(CPPFLAGS_ALL) -std=gnu11 -w -O1 -g \
		-fsanitize=fuzzer-no-link $(FUZZ_SAN) $(DEPS) -c $< -o $@

define fuzz_rule
$(FUZZ_BIN)/$(1): $(FUZZ_$(1):%.c=$(FUZZ_BIN)/obj/%.o)
	$(call say,LD,$$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer $(FUZZ_SAN) $$^ -o $$@
endef
$(foreach n,$(FUZZ_NAMES),$(eval $(call fuzz_rule,$(n))))

$(FUZZ_BIN)/corpus/made: tests/fuzz/corpus.py tests/vectors.json \
	tests/cm/mads.json
	$(Q)mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 $^ $(@D)
	$(Q)touch $@

$(B)/tests/fuzz/fuzz.sh: tests/fuzz/fuzz.sh $(FUZZ_BUILT)
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@

.PHONY: fuzz soak soak-fuzz
fuzz: $(B)/tests/fuzz/fuzz.sh
	$(Q)$<

# Five, two at a time: a third of the time each (make -j2 soak has the simulator
# beside them).
soak: soak-fuzz
soak-fuzz: $(B)/tests/fuzz/fuzz.sh
	$(Q)FUZZ_SECONDS=$$(($${SOAK_SECONDS:-86400} / 3)) $<
