# SPDX-License-Identifier: BSD-2-Clause
# warpbell-demo; where nvcc is, also warpbell-demo-cuda from the same text.

DEMO_BIN := $(B)/bin/warpbell-demo
DEMO_OBJS := $(patsubst %.c,$(B)/obj/%.o, \
	$(filter-out %/kernels.c,$(wildcard gpu/demo/*.c))) \
	$(B)/obj/gpu/stream.o $(B)/obj/gpu/endpoint.o
DEMO_LIBS := -L$(B)/lib -lwarpbell -lcrypto

ALL += $(DEMO_BIN)

$(DEMO_BIN): $(DEMO_OBJS) $(B)/obj/gpu/demo/kernels.o $(gpu_launch_host) \
	| $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ $(DEMO_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../lib'

ifneq ($(gpu_nvcc),)
ALL += $(DEMO_BIN)-cuda

$(DEMO_BIN)-cuda: $(DEMO_OBJS) $(B)/obj-cuda/gpu/demo/kernels.o \
	$(gpu_launch_cuda) | $(B)/lib/libwarpbell.so
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(gpu_nvcc) -cudart static $^ -o $@ \
		$(DEMO_LIBS) -Xlinker -rpath -Xlinker '$$ORIGIN/../lib'
endif
