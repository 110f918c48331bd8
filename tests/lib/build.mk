# SPDX-License-Identifier: BSD-2-Clause
# Tests of libwarpbell on the fake NIC, plain and with the sanitizers.  They
# link its objects, not the library, as some look inside.

LIBT_BIN := $(B)/tests/lib
LIBT_NAMES := open_test mem_test queue_test seen_test text_test threads_test
LIBT_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -O1
LIBT_TSAN := -fsanitize=thread -fno-omit-frame-pointer -O1
LIBT_TSAN_OBJS := $(patsubst %.c,$(B)/lib-tsan/%.o,$(wildcard userlib/*.c))
LIBT_ASAN_OBJS := $(patsubst %.c,$(B)/lib-asan/%.o,$(wildcard userlib/*.c))
LIBT_ENGINES := $(LIBT_BIN)/stale-engine.so $(LIBT_BIN)/empty-engine.so

CFLAGS_tests_lib := -Iuserlib -Itests/lib -I$(B)/gen \
	-DSTALE_ENGINE='"$(LIBT_BIN)/stale-engine.so"' \
	-DEMPTY_ENGINE='"$(LIBT_BIN)/empty-engine.so"'

TESTS_FAST += $(LIBT_NAMES:%=$(LIBT_BIN)/%) $(LIBT_NAMES:%=$(LIBT_BIN)/%.asan) \
	$(LIBT_BIN)/threads_test.tsan tests/lib/symbols_test
TESTS_SLOW += tests/lib/install_test

$(B)/lib-asan/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$< [asan])
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(call dirflags,$<) \
		$(LIBT_ASAN) $(DEPS) -c $< -o $@

$(B)/lib-tsan/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$< [tsan])
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(call dirflags,$<) \
		$(LIBT_TSAN) $(DEPS) -c $< -o $@

$(LIBT_BIN)/threads_test.tsan: $(B)/lib-tsan/tests/lib/threads_test.o \
	$(LIBT_TSAN_OBJS)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(LIBT_TSAN) $^ -o $@ -lcmocka

$(B)/obj/tests/lib/text_test.o $(B)/lib-asan/tests/lib/text_test.o: \
	| $(B)/gen/vectors.h

$(LIBT_NAMES:%=$(LIBT_BIN)/%): $(LIBT_BIN)/%: $(B)/obj/tests/lib/%.o \
	$(LIB_OBJS) | $(LIBT_ENGINES)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $^ -o $@ -lcmocka

$(LIBT_NAMES:%=$(LIBT_BIN)/%.asan): $(LIBT_BIN)/%.asan: \
	$(B)/lib-asan/tests/lib/%.o $(LIBT_ASAN_OBJS) | $(LIBT_ENGINES)
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(LIBT_ASAN) $^ -o $@ -lcmocka

$(LIBT_BIN)/%-engine.so: tests/lib/stale_engine.c include/wbell/provider.h
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -shared \
		$(if $(filter stale,$*),-DSTALE) $< -o $@

tests/lib/symbols_test: $(LIB_SO) $(LIB_A)
