# examples.mk: the example programs, and the CUDA toolkit that some of them need.

# Only examples and tests use the CUDA toolkit; the library needs none. The search
# starts no process, because every make pays for it. Libraries are linked by
# path: the toolkit's Python wheels have libNAME.so.13 and no libNAME.so.
ifneq ($(if $(CROSS),0,$(CUDA)),0)
CUDA_PLACES := $(if $(filter auto,$(CUDA)),$(CUDA_HOME) $(CUDA_PATH) \
    $(patsubst %/bin,%,$(subst :,$(space),$(PATH))) /usr/local/cuda,$(CUDA))
CUDA_FOUND  := $(wildcard $(addsuffix /bin/nvcc,$(CUDA_PLACES)))
cuda_root    = $(realpath $(dir $(realpath $(1)))/..)
cuda_inc     = $(patsubst %/nvrtc.h,%,$(firstword $(wildcard $(addsuffix /nvrtc.h, \
    $(addprefix $(cuda_root)/,include targets/x86_64-linux/include)))))
# A bin/nvcc without nvrtc.h may be a script that calls that of a toolkit.
CUDA_NVCC   := $(firstword $(foreach nvcc,$(CUDA_FOUND), \
    $(if $(call cuda_inc,$(nvcc)),$(nvcc))) $(CUDA_FOUND))
CUDA_ROOT   := $(call cuda_root,$(CUDA_NVCC))
CUDA_INC    := $(call cuda_inc,$(CUDA_NVCC))
CUDA_LIBS   := $(addprefix $(CUDA_ROOT)/,lib64 lib lib/x86_64-linux-gnu \
    targets/x86_64-linux/lib)
cuda_lib     = $(firstword $(wildcard $(addsuffix /lib$(1).so,$(CUDA_LIBS)) \
    $(addsuffix /lib$(1).so.*,$(CUDA_LIBS))))
CUDART      := $(call cuda_lib,cudart)
NVRTC       := $(call cuda_lib,nvrtc)
CUDA_LACKS  := $(if $(CUDA_NVCC),$(firstword $(if $(CUDA_INC),,nvrtc.h) \
    $(if $(CUDART),,libcudart.so) $(if $(NVRTC),,libnvrtc.so)),bin/nvcc)
NVCC        := $(if $(CUDA_LACKS),,$(CUDA_NVCC))
# libnvrtc opens libnvrtc-builtins.so and has no path of its own. It inherits the
# program's RPATH, but no RUNPATH.
CUDA_LINK    = $(NVRTC) $(CUDART) -Wl,--disable-new-dtags \
    $(addprefix -Wl$(comma)-rpath$(comma),$(sort $(dir $(CUDART) $(NVRTC))))
ifneq ($(CUDA_LACKS),)
ifneq ($(CUDA),auto)
$(error testlog: CUDA=$(CUDA) has no $(CUDA_LACKS); CUDA=auto looks for a toolkit, CUDA=0 does without)
endif
endif
endif

CUDA_LEFT_OUT := $(if $(NVCC),,$(if $(filter 0,$(CUDA)),CUDA=0,$(if $(CUDA_NVCC), \
    $(CUDA_ROOT) has no $(CUDA_LACKS),no CUDA toolkit) (set CUDA=/path)))

# OpenCL's headers, and a loader by its path: without its -dev package it has no
# libOpenCL.so. Only examples and tests need them.
OPENCL_LIB := $(if $(wildcard /usr/include/CL/cl_icd.h),$(firstword $(wildcard \
    $(addsuffix /libOpenCL.so.1,/usr/lib/$(MACHINE) $(if $(CROSS),,/usr/lib64 /usr/lib)))))

# Only the bridge from glib's log needs glib.
GLIB := $(shell pkg-config --exists glib-2.0 2>/dev/null && echo found)

EXAMPLE_LIB := $(filter-out %_test.c examples/cuda_%,$(wildcard examples/*.c))
DEMO_SRC := $(filter-out examples/failures% examples/cuda_% \
    $(if $(GLIB),,%_glib_test.c) $(if $(OPENCL_LIB),,examples/opencl_%), \
    $(wildcard examples/*_test.c examples/*_test.cpp))
CUDA_SRC := $(wildcard examples/cuda_*_test.c)
FAIL_SRC := $(wildcard examples/failures*_test.c)
DEMOS    := $(call program,$(DEMO_SRC) $(if $(NVCC),$(CUDA_SRC)))
FAILS    := $(call program,$(FAIL_SRC))

EXAMPLE_OBJ := $(EXAMPLE_LIB:%.c=$(B)/%.o)

$(B)/examples/functions_test.o: private TRACED += $(FUNCTIONS_CFLAGS)
$(B)/examples/lines_test.o: private TRACED += -O0 $(LINED)
$(B)/examples/samples_test.o: private TRACED += -fno-omit-frame-pointer

$(filter $(B)/examples/%,$(call program,$(filter %.c,$(DEMO_SRC) $(FAIL_SRC)))): \
$(B)/examples/%: $(B)/examples/%.o $(EXAMPLE_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread

# A program that is no test: it runs until it is stopped.
SERVER := $(B)/examples/server/server

$(SERVER): $(B)/examples/server/server.o $(EXAMPLE_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread

all test check-all: $(SERVER)

ifneq ($(GLIB),)
$(B)/examples/bridge_glib_test.o: private OURS += $(shell pkg-config --cflags glib-2.0)
$(B)/examples/bridge_glib_test: private LIBS += $(shell pkg-config --libs glib-2.0)
endif

$(B)/examples/opencl_waves_test: private LIBS += $(OPENCL_LIB)

$(call program,$(filter %.cpp,$(DEMO_SRC))): $(B)/%: $(B)/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CXX) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread

# nvcc's host compiler may differ from CXX, so it gets only flags that any
# compiler has, and no sanitizer.
NVCCFLAGS ?= -O2 -g

$(B)/%.o: %.cu $(L)/flags | $(STAGED)
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 $(NVCCFLAGS) $(TRACED) -I. -I$(L)/include -Xcompiler=-fPIC -MMD -MP \
	    -MF $(@:.o=.d) -c -o $@ $<

CUDA_OBJ := $(patsubst %,$(B)/%.o,$(basename $(filter-out $(CUDA_SRC), \
    $(wildcard examples/cuda_*.c examples/cuda_*.cu))))

$(B)/examples/cuda_%.o: private OURS += -isystem $(CUDA_INC)

$(call program,$(CUDA_SRC)): $(B)/examples/%: $(B)/examples/%.o $(CUDA_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CXX) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) $(CUDA_LINK) -lpthread -ldl

.PHONY: left-out
left-out:
	$(if $(CUDA_LEFT_OUT),@echo 'testlog: examples/cuda_* left out: $(strip $(CUDA_LEFT_OUT))')
	$(if $(OPENCL_LIB),,@echo 'testlog: examples/opencl_* left out: no OpenCL headers or loader (make deps-opencl)')
	$(if $(GLIB),,@echo 'testlog: examples/bridge_glib_test left out: no glib-2.0 (install libglib2.0-dev)')

# ---- Goals ----

.PHONY: demo demo-failures run-demo run-demo-failures

# http_test logs thousands of lines; its warnings are enough here.
DEMO_LOG := trace,http=warn

demo: ## run the passing examples, traced; open the report.html that it names
	@$(MAKE) --no-print-directory TRACING=1 LOG='$(or $(LOG),$(DEMO_LOG))' run-demo

demo-failures: ## the same with examples that fail, crash and hang on purpose
	@$(MAKE) --no-print-directory TRACING=1 LOG='$(or $(LOG),trace)' \
	    run-demo-failures

DEMO_RUNS := $(or $(TRACE_DIR),testlog-runs)/latest

DEMO_OPEN := '' 'Open:' \
    '  $(DEMO_RUNS)/report.html' \
    '      in a browser: each test, its log and its time line'

DEMO_NEXT := $(DEMO_OPEN) \
    '  $(DEMO_RUNS)/trace.json' \
    '      in https://ui.perfetto.dev: the run as a trace' \
    '  examples/store_test.c' \
    '      annotated tests of examples/store.c' 'Try:' \
    '  make demo-failures' \
    '      tests that fail, crash and hang on purpose' \
    '  $(TESTLOG) log "pool/*" --filter=trace --span-events=close' \
    '      what some tests recorded, and how long spans took'

# The closing line is the last one, as in every run.
run-demo: $(TESTLOG) $(HELPERS) $(DEMOS) left-out
ifeq ($(NOCAPTURE),1)
	@exec env $(call RUN,$(DEMOS))
else
	@closing=$$(exec env $(call RUN,$(DEMOS)) --show-output) && \
	    printf '%s\n' $(DEMO_NEXT) '' >&2; \
	code=$$?; printf '%s\n' "$$closing"; exit $$code
endif

run-demo-failures: $(TESTLOG) $(STACKS) $(GPU) $(FAILS)
ifeq ($(NOCAPTURE),1)
	@$(call RUN,$(FAILS)) || [ $$? = 1 ] # as they should
else
	@closing=$$(exec env $(call RUN,$(FAILS))) || [ $$? = 1 ] && \
	    printf '%s\n' $(DEMO_OPEN) '' >&2 && printf '%s\n' "$$closing"
endif
