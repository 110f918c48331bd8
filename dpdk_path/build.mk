# SPDX-License-Identifier: BSD-2-Clause
# The software NIC: libwarpbell-engine.so, which libwarpbell loads, and its
# DPDK-free parts as static libraries for tests and the virtual ConnectX.

ENGINE_DPDK_CFLAGS := $(shell pkg-config --cflags libdpdk)
# Drivers register themselves when loaded: no symbol names them.
ENGINE_LIBS := -Wl,--no-as-needed -lrte_net_ring -lrte_net_memif \
	-lrte_net_af_packet -lrte_mempool_stack -lrte_mempool_ring \
	-lrte_bus_vdev -Wl,--as-needed $(shell pkg-config --libs libdpdk)

ENGINE_SRC := $(wildcard dpdk_path/*.c dpdk_path/port/*.c)
ENGINE_OBJS := $(ENGINE_SRC:%.c=$(B)/obj/%.o)
ENGINE_NIC_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard dpdk_path/nic/*.c))
ENGINE_ROCE_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard dpdk_path/roce/*.c))
# ARP and neighbour discovery, without DPDK.
NEIGHBOUR_SRC := $(patsubst %,dpdk_path/port/%.c,neighbour arp nd mld icmp6) \
	dpdk_path/nic/gid.c
ENGINE_SO := $(B)/lib/libwarpbell-engine.so
ENGINE_ROCE_A := $(B)/lib/libroce.a
ENGINE_CM_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard dpdk_path/cm/*.c))
ENGINE_CM_A := $(B)/lib/libcm.a
ENGINE_NIC_A := $(B)/lib/libnic.a

CFLAGS_dpdk_path := $(ENGINE_DPDK_CFLAGS)
CFLAGS_dpdk_path_port := $(ENGINE_DPDK_CFLAGS)
CFLAGS_dpdk_path_roce := -O3 -flto=auto
CFLAGS_dpdk_path_nic := -O3 -flto=auto

ALL += $(ENGINE_SO) $(ENGINE_ROCE_A) $(ENGINE_NIC_A) $(ENGINE_CM_A)

$(ENGINE_SO): $(ENGINE_OBJS) $(ENGINE_NIC_OBJS) $(ENGINE_ROCE_OBJS) \
	dpdk_path/engine.map
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -pthread -O3 -flto=auto -Wl,-z,defs -Wl,-z,now \
		-Wl,--version-script,dpdk_path/engine.map \
		$(filter %.o,$^) -o $@ $(ENGINE_LIBS)

$(ENGINE_ROCE_A): $(ENGINE_ROCE_OBJS)
$(ENGINE_NIC_A): $(ENGINE_NIC_OBJS)
$(ENGINE_CM_A): $(ENGINE_CM_OBJS)
$(ENGINE_ROCE_A) $(ENGINE_NIC_A) $(ENGINE_CM_A):
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
