# Every tests/check_NAME.c is a suite, built against both libraries; those in ONCE
# know no precision and are built once. Every tests/long_NAME.c is one that takes too
# long for make test, in float only. What else lies in tests/ is shared by them.
#
# make check        format, layers, headers alone, limits
# make test         that, the programs, and all suites side by side
# make suites       all suites alone; SUITES="softmax npy" runs some of them
# make suites-long  the long ones
# make test-long    these, and all with clang, sanitizers, other kernels, another locale

CHECK_CFLAGS := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)
ONCE := bench_faults bench_program chart cli cli_value error experiment experiment_measure \
        file file_failures healthy \
        heatmap heatmap_grid json library planted plot plot_child plot_curves plot_labels \
        plot_prelude programs progress readme report report_room reproduce scripts sha256 study study_play \
        study_plot study_plot_rules study_program study_show terminal text text_corpus threads xml
ALL := $(patsubst tests/check_%.c,%,$(sort $(wildcard tests/check_*.c)))
NUMERIC := $(filter-out $(ONCE),$(ALL))
# What other kernels can change; what threads run through; what reads and writes numbers.
ARITHMETIC := $(filter-out attend_refusals bench batch checkpoint gradcheck npy% recording run run_% \
        safetensors% settings table task% thread_counts train,$(NUMERIC))
THREADED := gemm_copies thread_counts threads train
# Trainings and plays that take long: what they run, other suites run too, and neither locale nor
# compiler makes them differ.
LONGEST := healthy study_play
TEXTUAL := $(filter-out $(LONGEST),$(ONCE)) attend npy npy_write recording run settings table train
SUITES := $(ALL)
TEST_SHARED := $(filter-out tests/check_% tests/long_% tests/fuzz_%,$(sort $(wildcard tests/*.c)))
F32_SUITES := $(patsubst %,$(BUILD)/tests/check_%,$(SUITES))
# The longest ones first: started last, one of them would run alone.
LONG := $(patsubst tests/%.c,%,$(sort $(wildcard tests/long_*.c)))
LONG_SUITES := $(addprefix $(BUILD)/tests/,long_reproduce long_healthy \
               $(filter-out long_reproduce long_healthy,$(LONG)))
F64_SUITES := $(patsubst %,$(BUILD)/tests/check_%_f64,$(filter-out $(ONCE),$(SUITES)))

# Archives, so that a suite takes from what is shared only what it uses.
$(BUILD)/tests_f32.a: $(call objects,f32,$(TEST_SHARED) $(SHARED))
$(BUILD)/tests_f64.a: $(call objects,f64,$(TEST_SHARED) $(SHARED))

$(BUILD)/tests/check_%_f64: $(BUILD)/f64/tests/check_%.o $(BUILD)/tests_f64.a $(BUILD)/libattn_f64.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(CHECK_LIBS) $(LIBS)
$(BUILD)/tests/%: $(BUILD)/f32/tests/%.o $(BUILD)/tests_f32.a $(BUILD)/libattn.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(CHECK_LIBS) $(LIBS)
$(BUILD)/f32/tests/%.o $(BUILD)/f64/tests/%.o: COMMON += $(CHECK_CFLAGS) -Itests -Itrain

# The jobs that the user gave to make, else one per processor.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN))
AGAIN = +@$(MAKE) --no-print-directory

check:
	@bad=0; for what in format layers headers limits; do scripts/check_$$what.sh || bad=1; done; exit $$bad

build-suites: all $(F32_SUITES) $(F64_SUITES)

# What the suites find in the environment says which build they test, and how to
# build a program like it.
suites:
	@echo "Building into $(BUILD)/ ..."
	$(AGAIN) -s $(PARALLEL) build-suites
	@ATTN_BUILD='$(BUILD)' ATTN_CC='$(CC) $(SANITIZER)' scripts/run_suites.sh $(F32_SUITES) $(F64_SUITES)

suites-long:
	$(AGAIN) -s $(PARALLEL) all $(LONG_SUITES)
	@CK_TIMEOUT_MULTIPLIER=5 scripts/run_suites.sh $(LONG_SUITES)

# Installs first: what pkg-config says is read when make starts.
test:
	@scripts/install.sh --tests
	$(AGAIN) -s check
	$(AGAIN) -s suites

test-long:
	@scripts/test_long.sh $(MAKE) '$(BUILD)'

.PHONY: check build-suites suites suites-long test test-long
