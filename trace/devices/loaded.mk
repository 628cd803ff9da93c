# Files that are loaded into programs, or run beside them: the libraries for GPUs,
# for compilers that are looked up with dlsym, for samples and for crashes, and the
# program that takes stacks.

# libtestlog-gpu.so is loaded into programs that use a GPU or NVTX. It has a recorder of
# its own (RECORD_SRC), for programs without one.
RECORD_SRC  := $(filter-out %/leave_crash.c,$(call sources,trace/base trace/read trace/record)) \
    trace/calls/load_map.c
DEVICE_SRC  := $(filter-out $(COMPILE_SRC) $(LOADER_SRC) %/audit.c,$(call sources,trace/devices))
GPU_SRC     := $(RECORD_SRC) $(COMPILE_SRC) $(LOADER_SRC) $(DEVICE_SRC)
LIBDW       := $(shell pkg-config --exists libdw 2>/dev/null && echo found)
STACKS_SRC  := $(filter-out runners/stacks/$(if $(LIBDW),no_)frames.c, \
    $(wildcard runners/stacks/*.c))

$(L)/gpu/%.o: %.c $(L)/flags | $(STAGED)
	$(call say,CC,$< for $(GPU))
	@mkdir -p $(@D)
	$(Q)$(CC_C) -fPIC -DTRACE_BUILD -DTRACE_INJECTED -DTRACE_API= -c -o $@ $<

# Programs without a sanitizer load these.
$(GPU) $(AUDIT) $(SAMPLE) $(CRASH) $(L)/gpu/%.o $(L)/tests/playback.so $(L)/tests/playback-old.so $(L)/tests/driver/%: private SAN :=

# Objects that it does not use stay in the archive.
$(L)/gpu/trace.a: $(RECORD_SRC:%.c=$(L)/gpu/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar rcs $@ $^

$(GPU): $(patsubst %.c,$(L)/gpu/%.o,$(filter-out $(RECORD_SRC),$(GPU_SRC))) $(L)/gpu/trace.a trace/devices/inject/exports
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-z,nodelete \
	    -Wl,--version-script=trace/devices/inject/exports -o $@ $(filter %.o %.a,$^) -lpthread -ldl

# It is linked without libgcc, where aarch64 has such functions.
INLINE_ATOMICS := $(if $(filter aarch64%,$(MACHINE)),-mno-outline-atomics)

$(AUDIT): trace/devices/compilers/audit.c $(L)/flags
	$(call say,LD,$@)
	@mkdir -p $(L)/$(<D)
	$(Q)$(CC_C) -fPIC -fno-stack-protector $(INLINE_ATOMICS) $(LDFLAGS) -shared -nostdlib \
	    -Wl,-z,defs -Wl,-soname,$(@F) -MF $(L)/$(<:.c=.d) -o $@ $<

$(SAMPLE): trace/samples/inject/sample.c trace/samples/inject/exports $(L)/flags
	$(call say,LD,$@)
	@mkdir -p $(L)/$(<D)
	$(Q)$(CC_C) -fPIC -fno-stack-protector $(LDFLAGS) -shared -Wl,-z,defs \
	    -Wl,-z,nodelete -Wl,-soname,$(@F) -Wl,--version-script=trace/samples/inject/exports \
	    -MF $(L)/$(<:.c=.d) -o $@ $< -lpthread -ldl

$(CRASH): $(patsubst %,$(L)/gpu/trace/record/%.o,inject/leave_crash crash_handler)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,-soname,$(@F) -o $@ $^

# It inspects other processes, including those that run with a sanitizer.
$(L)/testlog-stacks $(STACKS_SRC:%.c=$(L)/%.o): private SAN :=

$(L)/testlog-stacks: $(STACKS_SRC:%.c=$(L)/%.o)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(if $(LIBDW),-ldw -lelf -lstdc++)
