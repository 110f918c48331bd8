# SPDX-License-Identifier: BSD-2-Clause
# Models of the queue's protocol, searched by Spin: make check-model.

MODEL_TEST := $(B)/tests/model/model.sh

TESTS_SLOW += $(MODEL_TEST)

.PHONY: check-model
check-model: $(MODEL_TEST)
	$(Q)scripts/run-tests $(MODEL_TEST)

$(MODEL_TEST): tests/model/model.sh
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@
