# SPDX-License-Identifier: BSD-2-Clause
# Benches: each writes build/bench/<area>.json and prints a table.

BENCH_TRANSPORT := $(B)/tests/bench/transport

CFLAGS_tests_bench := -O3

BENCHES += $(BENCH_TRANSPORT)

$(BENCH_TRANSPORT): $(B)/obj/tests/bench/transport.o \
	$(B)/obj/tests/bench/floor.o $(B)/obj/tests/bench/row.o \
	$(B)/lib/libroce.a $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(filter %.o %.a,$^) -o $@ -L$(B)/lib -lwarpbell \
		-Wl,-rpath,'$$ORIGIN/../../lib'
