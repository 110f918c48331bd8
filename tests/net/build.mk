# SPDX-License-Identifier: BSD-2-Clause
# Tests of the engine's ports, and of engines that talk over real wires.

NET_BIN := $(B)/tests/net
NET_PORT_OBJS := $(patsubst %.c,$(B)/obj/%.o,dpdk_path/wire.c dpdk_path/eal.c \
	dpdk_path/nic/gid.c $(wildcard dpdk_path/port/*.c))

CFLAGS_tests_net := -Idpdk_path

NET_NEIGHBOUR := $(addprefix $(NET_BIN)/,arp_test nd_test nd_hostile_test)

TESTS_FAST += $(NET_BIN)/wire_test $(NET_NEIGHBOUR)
TESTS_SLOW += $(NET_BIN)/port_test $(NET_BIN)/o23_test \
	$(NET_BIN)/two_test $(NET_BIN)/engine_test $(NET_BIN)/kernel_test

$(NET_NEIGHBOUR:$(B)/%=$(B)/obj/%.o) $(NET_NEIGHBOUR:$(B)/%=$(B)/asan/%.o): \
	CFLAGS_tests_net += -Idpdk_path/port

$(NET_BIN)/wire_test: $(B)/obj/tests/net/wire_test.o $(B)/obj/dpdk_path/wire.o \
	$(B)/obj/dpdk_path/nic/gid.o
$(NET_NEIGHBOUR): $(NET_BIN)/%: $(B)/obj/tests/net/%.o \
	$(NEIGHBOUR_SRC:%.c=$(B)/obj/%.o)
$(NET_BIN)/wire_test $(NET_NEIGHBOUR):
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka

$(NET_BIN)/port_test $(NET_BIN)/o23_test: $(NET_BIN)/%: \
	$(B)/obj/tests/net/%.o $(NET_PORT_OBJS)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka $(ENGINE_LIBS)

# The same with the sanitizers ($(B)/asan/%.o: tests/unit/build.mk).
NET_ASAN := $(NET_BIN)/wire_test.asan $(NET_NEIGHBOUR:%=%.asan)
NET_ASAN_DPDK := $(NET_BIN)/port_test.asan $(NET_BIN)/o23_test.asan
TESTS_SLOW += $(NET_ASAN) $(NET_ASAN_DPDK)
$(NET_BIN)/wire_test.asan: $(B)/asan/dpdk_path/wire.o \
	$(B)/asan/dpdk_path/nic/gid.o
$(NET_NEIGHBOUR:%=%.asan): $(NEIGHBOUR_SRC:%.c=$(B)/asan/%.o)
$(NET_ASAN_DPDK): $(NET_PORT_OBJS:$(B)/obj/%=$(B)/asan/%)
$(NET_ASAN) $(NET_ASAN_DPDK): $(NET_BIN)/%.asan: $(B)/asan/tests/net/%.o
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(UNIT_ASAN) $(sort $(filter %.o,$^)) -o $@ \
		-lcmocka $(if $(filter $@,$(NET_ASAN_DPDK)),$(ENGINE_LIBS))

# Two of these talk over a wire; the scripts beside it run them.
NET_PEER := $(NET_BIN)/peer
$(NET_PEER) $(NET_BIN)/engine_test $(NET_BIN)/kernel_test: $(NET_BIN)/%: $(B)/obj/tests/net/%.o \
	$(LIB_SO) | $(ENGINE_SO)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(filter %.o,$^) -o $@ -L$(B)/lib -lwarpbell \
		$(if $(filter %_test,$@),-lcmocka) -Wl,-rpath,'$$ORIGIN/../../lib'

$(NET_BIN)/two_test: tests/net/two_test.sh $(NET_PEER)
	$(Q)install -m 755 $< $@
