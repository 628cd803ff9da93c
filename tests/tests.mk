# tests.mk: the project's own test programs, and what they load and run.

deps-cupti: ## download older versions of NVIDIA's libcupti, for tests: 33 MB
	@./.ci/deps-cupti build/cupti

deps-opencl: ## install PoCL, an OpenCL device that is the processor: 255 MB
	@./.ci/deps ocl-icd-libopencl1 pocl-opencl-icd opencl-c-headers

TEST_LIB := $(addprefix tests/support/,support.c cases.c programs.c formats.c e2e.c sampled.c \
    calls.c chrome.c page.c runs.c view_server.c)
NO_UNITS := $(if $(MICROHTTPD),,$(wildcard tests/unit/runners/runners_view_*_test.c))
TEST_SRC := $(filter-out $(NO_UNITS),$(sort $(shell find tests -name '*_test.c')))

# The unit tests of a folder are one program: those of tests/unit/trace/base are
# trace_base_test. Each other file is a program of its own.
program_of = $(if $(filter tests/unit/%,$(1)), \
    $(subst /,_,$(patsubst tests/unit/%/,%,$(dir $(1))))_test,$(notdir $(basename $(1))))
ALL_TESTS := $(addprefix $(B)/tests/,$(sort $(foreach source,$(TEST_SRC),$(call program_of,$(source)))))

# `make test` leaves these out, unless a FILTER may ask for them: each takes five seconds of
# processor time or more, for every macro with every compiler, valgrind, job schedulers,
# other frameworks, other tools, extreme loads.
SLOW  := $(addprefix $(B)/tests/,$(addsuffix _test,$(addprefix e2e_,all bisect build_systems compile disk \
    frameworks functions gpu_script import instructions line_ends lines link links merge opencl pack races \
    reports_of_frameworks samples schedulers scratch server shards stack_builds stacks timers tools verdicts) \
    model_recording soak_death soak_faults soak_follow soak_limits soak_size))
TESTS := $(if $(FILTER),$(ALL_TESTS),$(filter-out $(SLOW),$(ALL_TESTS)))

# The tests that .ci/run repeats with sanitizers. In most of them our code runs in the test's
# process. In the others, `testlog` reads what somebody else has written.
SANITIZED := $(filter-out $(B)/tests/e2e_% %/bench_test,$(ALL_TESTS)) $(patsubst %,$(B)/tests/e2e_%_test,capture children \
    compressed core expect filter import join joined_run jump kept_runs leaving log long losses merge \
    outcomes pack record reports_of_frameworks server survivors trace trust verdicts view view_trend\
    worker)

TEST_OBJ := $(TEST_LIB:%.c=$(L)/%.o)

# Optimizing the tests would take most of the time that they take to build.
ifeq ($(origin CFLAGS),file)
$(TEST_SRC:%.c=$(B)/%.o) $(TEST_OBJ): private CFLAGS := -O0 -g
endif

$(B)/tests/unit/trace/calls/%.o: private TRACED += $(FUNCTIONS_CFLAGS)
$(B)/tests/unit/trace/calls/trace_lines_test.o: private TRACED += $(LINED)
$(B)/tests/e2e/build/e2e_line_ends_test.o: private TRACED += \
    -DLINES_CFLAGS='"$(LINES_CFLAGS)"' -DLINES_CFLAGS_CLANG='"$(LINES_CFLAGS_CLANG)"'

# testlog opens these libraries when it needs them; tests write files with them.
ZSTD_LIBS    := $(or $(shell pkg-config --libs libzstd 2>/dev/null),-lzstd)
ARCHIVE_LIBS := $(shell pkg-config --libs libarchive 2>/dev/null)

# gold links in half the time of the default linker.
FAST_LD := $(shell $(CC) -fuse-ld=gold -Wl,--version >/dev/null 2>&1 && echo -fuse-ld=gold)

$(foreach source,$(TEST_SRC),$(eval \
    $(B)/tests/$(strip $(call program_of,$(source))): $(source:%.c=$(B)/%.o)))

$(ALL_TESTS): $(TEST_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(FAST_LD) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LIBS) $(CJSON_LIBS) -lpthread -lm

$(B)/tests/runners_test: private CJSON_LIBS += $(ZSTD_LIBS) $(ARCHIVE_LIBS)
$(B)/tests/runners_test: $(filter-out %/testlog.o,$(RUNNERS))

$(addprefix $(B)/tests/,e2e_perfetto_test trace_read_test): $(addprefix $(L)/runners/export/, \
    folded.o ops.o perfetto.o perfetto_samples.o proto.o speedscope.o)

# The device code runs in the test program itself, with a libcupti that plays
# recorded activity back.
PLAYBACK     := $(L)/tests/playback.so
OLD_PLAYBACK := $(L)/tests/playback-old.so
DRIVER       := $(L)/tests/driver/libcuda.so.1

$(B)/tests/devices_test: $(DEVICE_SRC:%.c=$(L)/%.o) \
    $(addprefix $(L)/tests/support/,devices.o compilers.o) \
    | $(PLAYBACK) $(OLD_PLAYBACK) $(DRIVER) $(GPU) $(AUDIT)

# The old one cannot sample counters.
$(PLAYBACK): tests/playback/pm.c
$(PLAYBACK) $(OLD_PLAYBACK): tests/playback/playback.c $(wildcard tests/playback/*.h) \
    trace/devices/cupti/pm.h $(L)/flags | $(STAGED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_C) -fPIC $(LDFLAGS) -shared -MF /dev/null -o $@ $(filter %.c,$^) -lpthread

$(DRIVER): tests/playback/driver.c $(L)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_C) -fPIC $(LDFLAGS) -shared -MF $(L)/tests/driver.d -o $@ $< -lpthread

# `make test` loads this instead of Criterion's libgit2, which takes two thirds of the
# time that a test takes to start.
LAZY := $(L)/tests/lazy/libgit2.so

$(LAZY): tests/support/lazy_libgit2.c $(firstword $(ALL_TESTS))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)LD_LIBRARY_PATH= ldd $(lastword $^) | sed -n 's/.*\(libgit2[^ ]*\) => \(\/[^ ]*\).*/\1 \2/p' | \
	while read -r name path; do \
	    $(CC) -shared -fPIC -DLIBGIT2="\"$$path\"" -Wl,-soname,$$name -o $@ $< -ldl && \
	    ln -sf $(@F) $(@D)/$$name; \
	done

test check-all: $(LAZY)
test check-all: private SETTINGS += \
    LD_LIBRARY_PATH='$(CURDIR)/$(dir $(LAZY))'"$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}"

# Tests of decimal commas need a locale that has one.
LOCALE := $(L)/tests/locale/de_DE.UTF-8

$(LOCALE):
	@mkdir -p $(@D); localedef -i de_DE -f UTF-8 $@ >/dev/null 2>&1 || true

$(ALL_TESTS): | $(LOCALE)

# ---- Programs that end-to-end tests run ----

# e2e_program() finds tests/programs/NAME.c, built in one of these ways, as
# tests/programs/WAY/NAME_test in the build folder.
plain      := annotated annotated_cxx capture expect expect_cxx expecting expecting_cxx gpu knowing \
    helper new_assert none outcomes passing small starter throws whole
traced     := allocator alone annotated annotated_cxx bisected bounded busy capture chars_cxx children ci counting crasher crashing device dying early expect \
    expect_cxx expecting expecting_cxx faulty forging gpu gpu_early gpu_held gpu_sampled hanging helper hostile knowing leaving \
    jumping large late limited long long_new losing losses many \
    nesting new_assert noise none outcomes passing races sampled sandboxed sending serial service simulated slow small starter starting steps storm survivors throws traced tracees \
    times unborn undumpable unsteady whole
info       := annotated annotated_cxx expect expecting expecting_cxx small
all        := gpu passing whole whole_cxx
traced-all := whole
core       := in_process # without Criterion

flags_traced     := -DTRACING
flags_info       := -DTRACING -DLOG_STATIC_MAX=info
flags_all        := -Wl,-u,test_log_all
flags_traced-all := -DTRACING -Wl,-u,test_log_all
flags_core       := -DTRACING

traced     += $(if $(OPENCL_LIB),opencl zones)

PROGRAMS := $(foreach way,plain traced info all traced-all core, \
    $($(way):%=$(L)/tests/programs/$(way)/%_test))

# They are compiled in tests/, so the target of their call sites is programs::NAME.
.SECONDEXPANSION:
$(PROGRAMS): $$(wildcard tests/programs/$$(patsubst %_test,%,$$(@F)).c*) $(LIB) $(CORE) $(PUBLIC)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)cd tests && $(if $(filter %.cpp,$<),$(CXX),$(CC)) -D_GNU_SOURCE -O0 -g $(SAN) $(FAST_LD) \
	    $(flags_$(notdir $(@D))) -I '$(CURDIR)/$(L)/include' \
	    $(if $(filter core,$(notdir $(@D))),,$(CRITERION_CFLAGS)) -o '$(CURDIR)/$@' programs/$(<F) \
	    $(if $(filter core,$(notdir $(@D))),'$(CURDIR)/$(CORE)' $(PCRE2_LIBS), \
	    '$(CURDIR)/$(LIB)' $(LIBS)) -lpthread

$(L)/tests/programs/traced/opencl_test $(L)/tests/programs/traced/zones_test: private LIBS += $(OPENCL_LIB)

# A program without testlog, and a stand-in for libtestlog-gpu.so that records what
# the program asks it to.
ANY  := $(L)/tests/programs/any/gpu_any
STUB := $(L)/tests/programs/stub/libtestlog-gpu.so

$(ANY): tests/programs/gpu_any.c tests/programs/gpu_init.h
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -g -o $@ $< -ldl

OPENCL_ANY := $(if $(OPENCL_LIB),$(L)/tests/programs/any/opencl_answers)

$(OPENCL_ANY): tests/programs/opencl_answers.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -g -o $@ $< $(OPENCL_LIB) -lpthread

$(STUB): $(patsubst %.c,$(L)/gpu/%.o,tests/programs/gpu_stub.c $(RECORD_SRC))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^ -lpthread

# A stand-in for many machines, and a program that measures another one's memory.
SIMULATE := $(L)/tests/simulate
PEAK     := $(L)/tests/peak

$(SIMULATE) $(PEAK): $(L)/tests/%: $(L)/tests/support/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread

# End-to-end tests run programs of the build folder.
E2E := $(filter $(addprefix $(B)/tests/,devices_% e2e_% soak_%),$(ALL_TESTS))

$(E2E): | $(TESTLOG) $(SHARED) $(CORE_SO) $(HELPERS) $(PROGRAMS) $(ANY) $(OPENCL_ANY) $(STUB) $(SIMULATE) $(PEAK) $(PLAYBACK) $(DRIVER)

RAW_SRC := $(addprefix trace/devices/cupti/,raw.c raw_notes.c state.c process_names.c library.c pci.c graph_nodes.c kinds.c)

$(L)/tests/tsan_main: tests/model/tsan_main.c $(TRACE_SRC) $(RAW_SRC) $(call sources,log) | $(STAGED)
	$(call say,TSAN,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(OURS) $(CPPFLAGS) $(CFLAGS) -MF $(L)/tests/tsan_main.d \
	    -DTRACING -DTRACE_BUILD -fsanitize=thread -o $@ $(filter %.c,$^) $(PCRE2_LIBS) -lpthread

# ---- Goals ----

.PHONY: traced-tests sanitized-tests test-threads test-criterion test-chroot test-cross test-packages test-noise \
    test-mutants soak fuzz

# TRACING changes a test if it changes what the preprocessor makes of its own lines. A test
# that runs programs of its variant names VARIANT_DIR.
traced-tests: $(STAGED) # prints the programs of `make test` that TRACING changes
	@text() { $(CC_C) $(BUILT_IN) $(CJSON_CFLAGS) -MF /dev/null -E "$$@" $$source | \
	    awk -v source="\"$$source\"" '/^# [0-9]/ { own = $$3 == source } own' | cksum; }; \
	for test in $(foreach source,$(TEST_SRC),$(source):$(strip $(call program_of,$(source)))); do \
	    source=$${test%:*}; \
	    [ "$$(text)" = "$$(text -DTRACING -UVARIANT_DIR -DVARIANT_DIR)" ] || \
	        echo "build/base-trace/tests/$${test#*:}"; \
	done | sort -u | grep -vxF $(SLOW:$(B)/%=-e build/base-trace/%)

sanitized-tests: # prints the programs that .ci/run repeats with sanitizers
	@printf '%s\n' $(SANITIZED)

test-threads: $(L)/tests/tsan_main ## run the recorder under ThreadSanitizer
	@$<

soak: $(TESTLOG) $(filter $(B)/tests/soak_%,$(ALL_TESTS)) ## extreme loads, faults and limits, at full size; SOAK_SEED=
	@seed='$(SOAK_SEED)'; seed=$${seed:-$$(date +%s)}; echo "testlog: SOAK_SEED=$$seed"; \
	SOAK=1 SOAK_SEED=$$seed; export SOAK SOAK_SEED; \
	exec env $(call RUN,$(filter $(B)/tests/soak_%,$(ALL_TESTS)))

fuzz: $(STAGED) $(PAGES_C) ## random filters, recordings, formats; FUZZ_SECONDS=600 each
	@FUZZ_CC='$(FUZZ_CC)' FUZZ_SECONDS='$(FUZZ_SECONDS)' INCLUDE='$(L)/include' \
	    PCRE2_LIBS='$(PCRE2_LIBS)' tests/fuzz/fuzz.sh build/fuzz

test-criterion: $(LIB) ## run Criterion's own samples and tests with testlog
	@CC='$(CC)' CXX='$(CXX)' FLAGS='$(SAN)' tests/criterion.sh $(L)

test-noise: $(TESTLOG) $(L)/tests/programs/traced/noise_test ## count what `testlog diff` finds and misses beside busy loops: minutes
	@tests/noise.sh $(L)

test-mutants: $(TESTLOG) $(HELPERS) ## break the code in 40 places, one after the other, and count what the tests find: an hour
	@python3 tests/mutants/mutants.py $(TESTLOG)

test-chroot: ## run examples/shards in bare systems of mmdebstrap's, as root: minutes
	@tests/chroot.sh

test-cross: ## build for aarch64, and run the unit tests in qemu, as root: minutes
	@tests/aarch64.sh

test-packages: ## build and use the Debian packages in bare systems, as root: minutes
	@tests/packages.sh
