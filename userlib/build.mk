# SPDX-License-Identifier: BSD-2-Clause
# libwarpbell: shared and static.  It needs libc and nothing else.

LIB_VERSION := 0.1.0
LIB_SONAME := libwarpbell.so.0
LIB_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard userlib/*.c))
LIB_SO := $(B)/lib/libwarpbell.so
LIB_A := $(B)/lib/libwarpbell.a
PREFIX ?= /usr/local
LIB_DIR = $(DESTDIR)$(PREFIX)/lib
LIB_INSTALL := install

ALL += $(LIB_SO) $(LIB_A)

$(LIB_SO).$(LIB_VERSION): $(LIB_OBJS) userlib/wbell.map
	$(Q)mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -pthread -Wl,-soname,$(LIB_SONAME) -Wl,-z,defs \
		-Wl,-z,now -Wl,--version-script,userlib/wbell.map \
		$(LIB_OBJS) -o $@

$(LIB_SO): $(LIB_SO).$(LIB_VERSION)
	$(Q)ln -sf $(notdir $<) $(B)/lib/$(LIB_SONAME)
	$(Q)ln -sf $(LIB_SONAME) $@

# One object with every inner name made local: an application's own names
# cannot clash with ours.
$(LIB_A): $(LIB_OBJS)
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)$(LD) -r $^ -o $(B)/lib/libwarpbell.o
	$(Q)objcopy --localize-hidden $(B)/lib/libwarpbell.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/lib/libwarpbell.o

# The engine and the demo are installed where they have been built.
.PHONY: install-lib
install: install-lib
install-lib: all
	$(Q)$(LIB_INSTALL) -d $(LIB_DIR)/pkgconfig $(LIB_DIR)/warpbell \
		$(DESTDIR)$(PREFIX)/include/wbell $(DESTDIR)$(PREFIX)/bin
	$(Q)$(LIB_INSTALL) -m 755 $(LIB_SO).$(LIB_VERSION) $(LIB_DIR)
	$(Q)ln -sf $(notdir $(LIB_SO)).$(LIB_VERSION) $(LIB_DIR)/$(LIB_SONAME)
	$(Q)ln -sf $(LIB_SONAME) $(LIB_DIR)/libwarpbell.so
	$(Q)$(LIB_INSTALL) -m 644 $(LIB_A) $(LIB_DIR)
	$(Q)$(LIB_INSTALL) -m 644 include/wbell/*.h \
		$(DESTDIR)$(PREFIX)/include/wbell
	$(Q)sed -e 's|@prefix@|$(PREFIX)|' -e 's|@version@|$(LIB_VERSION)|' \
		userlib/wbell.pc.in > $(LIB_DIR)/pkgconfig/warpbell.pc
	$(Q)$(LIB_INSTALL) -m 755 $(B)/bin/warpbell $(DESTDIR)$(PREFIX)/bin
	$(Q)for f in $(wildcard $(B)/lib/libwarpbell-engine.so); do \
		$(LIB_INSTALL) -m 755 $$f $(LIB_DIR)/warpbell || exit 1; done
	$(Q)for f in $(wildcard $(B)/bin/warpbell-demo* $(B)/bin/warpbell-bench*); do \
		$(LIB_INSTALL) -m 755 $$f $(DESTDIR)$(PREFIX)/bin || exit 1; \
		done
