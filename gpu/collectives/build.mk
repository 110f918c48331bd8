# SPDX-License-Identifier: BSD-2-Clause
# Collectives: kernels and their host side, for CPU threads and for CUDA.

coll_lib := $(B)/lib/libwbell-coll-host.a
coll_lib_cuda := $(B)/lib/libwbell-coll-cuda.a
coll_host_objs := $(patsubst %.c,$(B)/obj/%.o, \
	$(filter-out %/kernels.c,$(wildcard gpu/collectives/*.c)))

CFLAGS_gpu_collectives := -O3

ALL += $(coll_lib)

$(coll_lib): $(coll_host_objs) $(B)/obj/gpu/collectives/kernels.o
$(coll_lib_cuda): $(coll_host_objs) $(B)/obj-cuda/gpu/collectives/kernels.o
$(coll_lib) $(coll_lib_cuda):
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
