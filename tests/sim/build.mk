# SPDX-License-Identifier: BSD-2-Clause
# The simulator of the transport: schedules by seed, their judges, mutants.

SIM_BIN := $(B)/tests/sim
SIM_SRC := $(wildcard tests/sim/*.c) $(wildcard dpdk_path/roce/*.c)
SIM_SCRIPTS := schedules mutants

TESTS_SLOW += $(SIM_SCRIPTS:%=$(SIM_BIN)/%.sh)

$(SIM_BIN)/sim: $(SIM_SRC:%.c=$(B)/obj/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@

$(SIM_BIN)/sim.asan: $(SIM_SRC:%.c=$(B)/asan/%.o)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(UNIT_ASAN) $^ -o $@

$(SIM_SCRIPTS:%=$(SIM_BIN)/%.sh): $(SIM_BIN)/%.sh: tests/sim/%.sh \
	$(SIM_BIN)/sim $(SIM_BIN)/sim.asan
	$(Q)mkdir -p $(@D)
	$(Q)ln -sf $(abspath $<) $@

# New seeds until told to stop (SOAK_SECONDS, default: a day).
.PHONY: soak soak-sim
soak: soak-sim
soak-sim: $(SIM_BIN)/sim $(SIM_BIN)/sim.asan
	$(Q)$(SIM_BIN)/sim.asan --seed=$$(date +%s)000000 \
		--seconds=$${SOAK_SECONDS:-86400}
