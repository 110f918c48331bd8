# SPDX-License-Identifier: BSD-2-Clause
# The transport core against Linux rdma_rxe in guests: docs/lab.md.

INTEROP_BIN := $(B)/tests/interop
INTEROP_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/interop/*.c)) \
	$(NEIGHBOUR_SRC:%.c=$(B)/obj/%.o)

# Two programs for each kernel: each has a time limit of its own.
INTEROP_TESTS := $(patsubst %,$(INTEROP_BIN)/%,rxe_6.1 rxe_6.12 cm_6.1 cm_6.12)
TESTS_SLOW += $(INTEROP_TESTS) tests/interop/lab_test.bats

$(INTEROP_BIN)/peer: $(INTEROP_OBJS) $(ENGINE_CM_A) $(ENGINE_ROCE_A)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread -O3 -flto=auto $(filter %.o %.a,$^) -o $@

$(INTEROP_TESTS): tests/interop/rxe_test.sh $(INTEROP_BIN)/peer
	$(Q)ln -sf $(abspath $<) $@

.PHONY: check-interop
check-interop: $(INTEROP_TESTS)
	$(Q)scripts/run-tests $^
