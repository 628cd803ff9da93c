# tests.mk: the project's own test programs, and what they load and run.

TEST_LIB := tests/support.c tests/cases.c tests/programs.c tests/formats.c \
    tests/e2e.c tests/chrome.c tests/compilers.c
UNITS    := $(call program,$(wildcard tests/*_test.c))
TEST_OBJ := $(TEST_LIB:%.c=$(B)/%.o)

$(UNITS): $(B)/tests/%: $(B)/tests/%.o $(TEST_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) $(CJSON_LIBS) -lpthread

$(filter $(B)/tests/runners_%,$(UNITS)): $(filter-out %/testlog.o,$(RUNNER_SRC:%.c=$(B)/%.o))
$(filter $(B)/tests/runners_%,$(UNITS)): private CJSON_LIBS += $(ZSTD_LIBS)
$(filter $(B)/tests/runners_%,$(UNITS)): private LIBS := $(LIB) $(LIBS) # again: for these objects

# The device code runs in the test program itself, with a libcupti that plays
# recorded activity back.
PLAYBACK     := $(B)/tests/playback.so
DEVICE_UNITS := $(filter $(addprefix $(B)/tests/,cupti_% compilers_% inject_%),$(UNITS))

$(DEVICE_UNITS): $(DEVICE_SRC:%.c=$(B)/%.o) $(B)/tests/devices.o \
    | $(PLAYBACK) $(GPU) $(AUDIT)

$(PLAYBACK): tests/playback/playback.c $(B)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC_C) -fPIC $(LDFLAGS) -shared -MF $(B)/tests/playback.d -o $@ $< -lpthread

# End-to-end tests run programs of the build folder.
$(filter $(B)/tests/e2e_% $(B)/tests/soak_%,$(UNITS)): | $(TESTLOG) $(SHARED) $(GPU) $(AUDIT)

$(B)/tests/tsan_main: tests/tsan_main.c $(wildcard trace/*.c log/*.c) | $(STAGED)
	$(call say,TSAN,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(OURS) $(CPPFLAGS) $(CFLAGS) -MF $(B)/tests/tsan_main.d \
	    -DTRACING -DTRACE_BUILD -fsanitize=thread -o $@ $(filter %.c,$^) $(PCRE2_LIBS) -lpthread

# ---- Goals ----

.PHONY: test-threads test-criterion soak fuzz

test-threads: $(B)/tests/tsan_main ## run the recorder under ThreadSanitizer
	@$<

soak: $(TESTLOG) $(filter $(B)/tests/soak_%,$(UNITS)) ## extreme loads, faults and limits, at full size; SOAK_SEED=
	@seed='$(SOAK_SEED)'; seed=$${seed:-$$(date +%s)}; echo "testlog: SOAK_SEED=$$seed"; \
	SOAK=1 SOAK_SEED=$$seed; export SOAK SOAK_SEED; \
	$(call RUN,$(filter $(B)/tests/soak_%,$(UNITS)))

fuzz: $(STAGED) ## random filters, recordings, formats; FUZZ_SECONDS=600 each
	@FUZZ_CC='$(FUZZ_CC)' FUZZ_SECONDS='$(FUZZ_SECONDS)' INCLUDE='$(B)/include' \
	    PCRE2_LIBS='$(PCRE2_LIBS)' tests/fuzz.sh build/fuzz

test-criterion: $(LIB) ## run Criterion's own samples and tests with testlog
	@CC='$(CC)' CXX='$(CXX)' FLAGS='$(SAN)' tests/criterion.sh $(B)
