# SPDX-License-Identifier: BSD-2-Clause
# The engine with another DPDK than this machine's: docs/lab.md.

# All that DPDK, or the compiler beside it, can change.
VERSIONS_TESTS := $(CORE_TESTS:%=$(CORE_BIN)/%) $(UNIT_PKT:%=$(UNIT_BIN)/%) \
	$(NET_NEIGHBOUR) $(addprefix $(NET_BIN)/,wire_test port_test o23_test \
	engine_test kernel_test two_test) \
	$(addprefix $(B)/tests/lib/,open_test mem_test queue_test text_test)

# With what is installed here, or in the folder of scripts/trixie.
.PHONY: check-engine check-engine-build
check-engine-build: $(VERSIONS_TESTS) $(ENGINE_SO)
check-engine: check-engine-build
	$(Q)scripts/run-tests $(VERSIONS_TESTS)

VERSIONS_DPDK24 := $(B)/tests/versions/dpdk24
TESTS_SLOW += $(VERSIONS_DPDK24)

# The folder is made before the test's time begins; the test says why not.
$(VERSIONS_DPDK24): tests/versions/dpdk24_test.sh scripts/trixie
	$(Q)mkdir -p $(@D) $(B)/dpdk24
	$(Q)scripts/trixie fetch || true
	$(Q)ln -sf $(abspath $<) $@

.PHONY: check-dpdk24
check-dpdk24: $(VERSIONS_DPDK24)
	$(Q)scripts/run-tests $^
