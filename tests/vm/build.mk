# SPDX-License-Identifier: BSD-2-Clause
# The kernel module and what the lab needs for it, in guests: docs/lab.md.

VM_TESTS := tests/vm/module_test.bats
TESTS_SLOW += $(VM_TESTS)

.PHONY: check-vm
check-vm: $(VM_TESTS)
	$(Q)scripts/run-tests $^
