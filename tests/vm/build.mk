# SPDX-License-Identifier: BSD-2-Clause
# The kernel module and what the lab needs for it, in guests: docs/lab.md.

VM_BIN := $(B)/tests/vm
# One program for each kernel: each has a time limit of its own.
VM_KUNIT := $(addprefix $(VM_BIN)/kunit_,6.1 6.12 7.3)
VM_NVP2P := $(addprefix $(VM_BIN)/nvp2p_,6.1 6.12 7.3)
VM_TESTS := $(VM_KUNIT) $(VM_NVP2P) $(addprefix tests/vm/,kunit_test.bats module_test.bats \
	loop_test.bats package_test.bats)
TESTS_SLOW += $(VM_TESTS)

$(VM_KUNIT): tests/vm/kunit_test.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@

# On the debug kernel.
DEEP_KUNIT := $(VM_BIN)/kunit_debug
DEEP_NVP2P := $(VM_BIN)/nvp2p_debug
TESTS_DEEP += $(DEEP_KUNIT) $(DEEP_NVP2P) tests/vm/deep_test.bats

$(DEEP_KUNIT): tests/vm/kunit_test.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@

$(VM_NVP2P) $(DEEP_NVP2P): tests/vm/nvp2p_test.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@

.PHONY: check-vm
check-vm: $(VM_TESTS)
	$(Q)scripts/run-tests $^
