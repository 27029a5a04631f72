# make            everything into build/: two libraries and the programs
# make demo       installs what is missing (says what first), builds, trains the default task
# make test       format, layers, headers, and all suites
# make test-long  the slower checks
# make install    libraries, headers, programs (named attn-train, ...), data, pkg-config files
#
# CC=clang        another compiler (use another BUILD too)
# BUILD=DIR       where to build
# SANITIZE=LIST   address,undefined or thread (use another BUILD too)
# WERROR=1        warnings are errors
# PREFIX=DIR      where make install puts things (/usr/local); DESTDIR=DIR stands before it

BUILD ?= build
CC = gcc
CFLAGS ?= -O3 -g
PREFIX ?= /usr/local
VERSION := $(shell sed -n 's/^#define ATTN_VERSION "\(.*\)"/\1/p' include/attn/version.h)

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
           -Wcast-qual -Wwrite-strings -Wvla -Wundef $(if $(WERROR),-Werror)
SANITIZER = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
COMMON = -std=gnu11 $(WARNINGS) -Iinclude -Isrc -I$(BUILD)/gen -MMD -MP -ffp-contract=off \
         -fno-math-errno $(SANITIZER) $(CFLAGS)
FLOAT = $(COMMON) -Wdouble-promotion
DOUBLE = $(COMMON) -DATTN_DOUBLE
LINK = $(CC) $(SANITIZER) $(CFLAGS) $(LDFLAGS)
LIBS = -lm -lpthread

# Kernels: one body, a file per instruction set, each with its own flags.
X86 := $(shell echo __x86_64__ | $(CC) -E -P -x c - | grep -qx 1 && echo yes)
KERNEL_SKIP := $(if $(X86),,src/kernels/kernels_avx2.c src/kernels/kernels_avx512.c)
# clang's "fast" fuses within basic blocks only, which sanitizers cut differently
# in each function: with "on" it fuses within statements, the same everywhere.
KERNEL = -ffp-contract=$(if $(findstring clang,$(shell $(CC) --version)),on,fast)
ISA_kernels_avx2 = -mavx2 -mfma
ISA_kernels_avx512 = -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512

SOURCES := $(filter-out $(KERNEL_SKIP),$(sort $(wildcard src/*/*.c)))
HEADERS := $(sort $(wildcard include/attn/*.h))
SHARED := $(filter-out %_main.c,$(sort $(wildcard train/*.c)))
EMBEDDED := $(sort $(foreach kind,gp html css js,$(wildcard scripts/*.$(kind))))
GENERATED := $(EMBEDDED:scripts/%=$(BUILD)/gen/%.inc)
PROGRAMS := $(addprefix $(BUILD)/,train train64 gradcheck attend attend32 bench study)

objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2))

all: $(BUILD)/libattn.a $(BUILD)/libattn_f64.a $(PROGRAMS)

$(BUILD)/libattn.a: $(call objects,f32,$(SOURCES))
$(BUILD)/libattn_f64.a: $(call objects,f64,$(SOURCES))
$(BUILD)/%.a:
	@rm -f $@
	$(AR) rcs $@ $^

extra = $(if $(findstring /kernels/,$<),$(KERNEL) $(ISA_$(basename $(notdir $<))))
$(BUILD)/f32/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLOAT) $(extra) -c $< -o $@
$(BUILD)/f64/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(DOUBLE) $(extra) -c $< -o $@

# gnuplot scripts and the parts of a page travel inside the programs, as string literals.
$(BUILD)/gen/%.inc: scripts/%
	@mkdir -p $(@D)
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' $< > $@
$(call objects,f32,$(SHARED)) $(call objects,f64,$(SHARED)): | $(GENERATED)

# program: name, main, precision, library
define program
$(BUILD)/$(1): $(BUILD)/$(3)/train/$(2)_main.o $$(call objects,$(3),$$(SHARED)) $(BUILD)/$(4)
	$$(LINK) -o $$@ $$^ $$(LIBS)
endef
$(eval $(call program,train,train,f32,libattn.a))
$(eval $(call program,train64,train,f64,libattn_f64.a))
$(eval $(call program,gradcheck,gradcheck,f64,libattn_f64.a))
$(eval $(call program,attend,attend,f64,libattn_f64.a))
$(eval $(call program,attend32,attend,f32,libattn.a))
$(eval $(call program,bench,bench,f32,libattn.a))
$(eval $(call program,study,study,f32,libattn.a))

include tests/tests.mk

demo: ; @scripts/demo.sh $(MAKE) $(BUILD)

# pkg_config: library, precision, what its users define
pkg_config = sed -e "s|@PREFIX@|$(PREFIX)|" -e "s|@NAME@|$(1)|" -e "s|@PRECISION@|$(2)|" \
             -e "s|@VERSION@|$(VERSION)|" -e "s|@DEFINE@|$(3)|" scripts/attn.pc.in > "$(TO)/lib/pkgconfig/$(1).pc"
TO = $(DESTDIR)$(PREFIX)
install: all
	install -d "$(TO)/bin" "$(TO)/lib/pkgconfig" "$(TO)/include/attn" "$(TO)/share/attn/experiments"
	for p in $(notdir $(PROGRAMS)); do install -m 755 $(BUILD)/$$p "$(TO)/bin/attn-$$p" || exit 1; done
	install -m 644 $(BUILD)/libattn.a $(BUILD)/libattn_f64.a "$(TO)/lib"
	install -m 644 $(HEADERS) "$(TO)/include/attn"
	install -m 644 $(wildcard data/*.*) scripts/peer_torch.py "$(TO)/share/attn"
	install -m 644 $(wildcard data/experiments/*) "$(TO)/share/attn/experiments"
	$(call pkg_config,attn,single,)
	$(call pkg_config,attn_f64,double, -DATTN_DOUBLE)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all demo install clean
.DELETE_ON_ERROR:
.SECONDARY:
