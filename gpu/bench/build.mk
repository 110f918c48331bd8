# SPDX-License-Identifier: BSD-2-Clause
# warpbell-bench, ranks that meet over TCP; where MPI is, warpbell-bench-mpi,
# ranks that mpirun starts; where nvcc is, warpbell-bench-cuda.

COLLBENCH := $(B)/bin/warpbell-bench
COLLBENCH_LIB := $(B)/lib/libwbell-coll-host.a
COLLBENCH_LIB_CUDA := $(B)/lib/libwbell-coll-cuda.a
COLLBENCH_OBJS := $(patsubst %.c,$(B)/obj/%.o, \
	$(filter-out %/boot_tcp.c %/boot_mpi.c,$(wildcard gpu/bench/*.c)))
COLLBENCH_LIBS := -L$(B)/lib -lwarpbell -lm
COLLBENCH_TCP := $(patsubst %,$(B)/obj/gpu/%.o,bench/boot_tcp stream endpoint)
COLLBENCH_MPI := $(B)/obj/gpu/bench/boot_mpi.o

ALL += $(COLLBENCH)

$(COLLBENCH): $(COLLBENCH_OBJS) $(COLLBENCH_TCP) $(COLLBENCH_LIB) $(gpu_launch_host) \
	| $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ $(COLLBENCH_LIBS) -Wl,-rpath,'$$ORIGIN/../lib'

bench_mpicc := $(shell command -v mpicc)
ifneq ($(bench_mpicc),)
ALL += $(COLLBENCH)-mpi

$(COLLBENCH_MPI): CPPFLAGS_ALL += $(shell pkg-config --cflags ompi-c)
$(COLLBENCH)-mpi: $(COLLBENCH_OBJS) $(COLLBENCH_MPI) $(COLLBENCH_LIB) $(gpu_launch_host) \
	| $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(bench_mpicc) -pthread $^ -o $@ $(COLLBENCH_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../lib'
endif

ifneq ($(gpu_nvcc),)
ALL += $(COLLBENCH)-cuda

$(COLLBENCH)-cuda: $(COLLBENCH_OBJS) $(COLLBENCH_TCP) $(COLLBENCH_LIB_CUDA) \
	$(gpu_launch_cuda) | $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(gpu_nvcc) -cudart static $^ -o $@ $(COLLBENCH_LIBS) \
		-Xlinker -rpath -Xlinker '$$ORIGIN/../lib'
endif
