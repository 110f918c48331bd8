# SPDX-License-Identifier: BSD-2-Clause
# The main job and what goes wrong with it, between two namespaces.

DEMO_TESTS := $(B)/tests/demo/demo_test $(B)/tests/demo/bad_input_test
TESTS_SLOW += $(DEMO_TESTS)

$(DEMO_TESTS): $(B)/tests/%: tests/%.bats
	$(Q)mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)printf '#!/bin/bash\nexec bats --tap %s\n' '$(CURDIR)/$<' >$@
	$(Q)chmod +x $@
