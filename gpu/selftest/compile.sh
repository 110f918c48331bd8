#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What scripts/check-gpu would build on a machine with a GPU builds here.
exec "$(dirname "$(readlink -f "$0")")/../../scripts/check-gpu" --compile
