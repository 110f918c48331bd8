# SPDX-License-Identifier: BSD-2-Clause
# Running kernels: on CPU threads always, on a GPU where nvcc is.  A program
# links one of the two next to its kernels, and libwarpbell.

gpu_launch_host := $(B)/lib/libwbell-launch-host.a
gpu_launch_cuda := $(B)/lib/libwbell-launch-cuda.a
ALL += $(gpu_launch_host)

$(gpu_launch_host): $(B)/obj/gpu/launch_host.o
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

gpu_nvcc := $(firstword $(shell command -v nvcc) \
	$(wildcard /usr/local/cuda/bin/nvcc))
gpu_archs := 80 90 100
gpu_nvcc_flags := -O3 -std=c++17 -Iinclude -I. -Xcompiler -fPIC \
	$(foreach a,$(gpu_archs),-gencode arch=compute_$(a),code=sm_$(a))

# .c sources hold kernels too: nvcc is told that they are CUDA.
$(B)/obj-cuda/%.o: %.cu
	$(Q)mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(gpu_nvcc) $(gpu_nvcc_flags) -MMD -MF $(@:.o=.d) -c $< -o $@

$(B)/obj-cuda/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(gpu_nvcc) $(gpu_nvcc_flags) -MMD -MF $(@:.o=.d) -x cu -c $< -o $@

$(gpu_launch_cuda): $(B)/obj-cuda/gpu/launch_cuda.o
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
