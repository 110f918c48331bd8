# SPDX-License-Identifier: BSD-2-Clause
# Benches: make bench writes build/bench/transport.json, make bench-goals all
# rows of docs/benchmarks.md.

BENCH_BIN := $(B)/tests/bench
BENCH_TRANSPORT := $(BENCH_BIN)/run
BENCH_HASWELL := $(B)/haswell
# Programs by what they stand on: the whole stack; the software NIC or the
# core in memory.
BENCH_STACK := transport figure icrc
BENCH_NIC := loss scale
BENCH_PROGRAMS := $(BENCH_STACK) $(BENCH_NIC) pingpong row count

CFLAGS_tests_bench := -O3 $(ENGINE_DPDK_CFLAGS) -Idpdk_path
BENCH_PORT_OBJS := $(patsubst %.c,$(B)/obj/%.o,dpdk_path/wire.c dpdk_path/nic/gid.c \
	dpdk_path/eal.c $(wildcard dpdk_path/port/*.c))
bench_o = $(1:%=$(B)/obj/tests/bench/%.o)

BENCHES += $(BENCH_TRANSPORT)

.PHONY: bench-goals
bench-goals: all $(BENCH_TRANSPORT)
	$(Q)$(BENCH_TRANSPORT) goals

$(BENCH_TRANSPORT): tests/bench/run.sh tests/bench/peers.sh \
	$(BENCH_PROGRAMS:%=$(BENCH_BIN)/%)
	$(Q)ln -sf $(abspath $<) $@

$(BENCH_STACK:%=$(BENCH_BIN)/%): $(BENCH_BIN)/%: \
	$(call bench_o,% stack floor row place) $(ENGINE_ROCE_A) \
	$(LIB_SO) | $(ENGINE_SO)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(filter %.o %.a,$^) -o $@ -L$(B)/lib -lwarpbell \
		-Wl,-rpath,'$$ORIGIN/../../lib'

# Ports of its own beside the engine, in one EAL: a second thread registers.
$(BENCH_BIN)/pingpong: $(call bench_o,pingpong raw stack place) \
	$(BENCH_PORT_OBJS) $(LIB_SO) | $(ENGINE_SO)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(filter %.o,$^) -o $@ -L$(B)/lib -lwarpbell \
		$(ENGINE_LIBS) -Wl,-rpath,'$$ORIGIN/../../lib'

$(BENCH_BIN)/row: $(call bench_o,row row_main)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $^ -o $@

# Linked as the engine is: link-time optimisation, no call across a library.
$(BENCH_NIC:%=$(BENCH_BIN)/%): $(BENCH_BIN)/%: \
	$(call bench_o,% nicpair row place) $(ENGINE_NIC_OBJS) \
	$(ENGINE_ROCE_OBJS)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread -O3 -flto=auto $^ -o $@

# What callgrind counts: all of it for one CPU, so that machines agree.
BENCH_COUNT_SRC := tests/bench/count.c tests/bench/nicpair.c \
	$(wildcard dpdk_path/nic/*.c dpdk_path/roce/*.c)
BENCH_COUNT_OBJS := $(BENCH_COUNT_SRC:%.c=$(BENCH_HASWELL)/%.o)

$(BENCH_HASWELL)/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$< for haswell)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -O3 -flto=auto -march=haswell \
		$(DEPS) -c $< -o $@

$(BENCH_BIN)/count: $(BENCH_COUNT_OBJS)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread -g -O3 -flto=auto -march=haswell $^ -o $@

TESTS_FAST += $(BENCH_BIN)/row_test
$(BENCH_BIN)/row_test: tests/bench/row_test.sh $(BENCH_BIN)/row
	$(Q)ln -sf $(abspath $<) $@
