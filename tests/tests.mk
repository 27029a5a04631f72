# Every tests/check_NAME.c is a suite, built against both libraries; what else
# lies in tests/ is shared by them. Suites run side by side with make -j.

CHECK_CFLAGS := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)
SUITES := $(patsubst tests/check_%.c,%,$(sort $(wildcard tests/check_*.c)))
TEST_SHARED := $(filter-out tests/check_% tests/fuzz_%,$(sort $(wildcard tests/*.c)))
SUITE_BINARIES := $(foreach s,$(SUITES),$(BUILD)/tests/check_$(s) $(BUILD)/tests/check_$(s)_f64)

$(BUILD)/tests/check_%_f64: $(BUILD)/f64/tests/check_%.o $(call objects,f64,$(TEST_SHARED)) \
		$(call objects,f64,$(SHARED)) $(BUILD)/libattn_f64.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(CHECK_LIBS) $(LIBS)
$(BUILD)/tests/check_%: $(BUILD)/f32/tests/check_%.o $(call objects,f32,$(TEST_SHARED)) \
		$(call objects,f32,$(SHARED)) $(BUILD)/libattn.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(CHECK_LIBS) $(LIBS)
$(BUILD)/f32/tests/%.o $(BUILD)/f64/tests/%.o: COMMON += $(CHECK_CFLAGS) -Itests -Itrain
