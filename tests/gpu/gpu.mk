# gpu.mk: the programs that tests/gpu/run.sh runs on a machine with a GPU.

GPU_TOOLS := $(addprefix $(B)/tests/gpu/,ab bench count gate probe record_fixture sampled standin.so \
    $(if $(NVCC),launches.so))

$(B)/tests/gpu/bench $(B)/tests/gpu/gate $(B)/tests/gpu/record_fixture: $(B)/tests/gpu/cupti_min.o

$(B)/tests/gpu/count $(B)/tests/gpu/sampled: $(LIB)

$(filter-out %.so,$(GPU_TOOLS)): %: %.o
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(PCRE2_LIBS) $(CJSON_LIBS) -lpthread -ldl

$(B)/tests/gpu/standin.so: $(B)/tests/gpu/standin.o
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -shared -o $@ $^ -ldl

# The benchmark needs the example without annotations.
$(B)/tests/gpu/cuda_jit.o: examples/cuda_jit.c $(L)/flags | $(STAGED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC_C) -fPIC -isystem $(CUDA_INC) -c -o $@ $<

$(B)/tests/gpu/launches.so: $(B)/tests/gpu/launches.o $(B)/tests/gpu/cuda_jit.o
	$(call say,LD,$@)
	$(Q)$(CXX) $(LDFLAGS) -shared -o $@ $^ $(CUDA_LINK) -lpthread -ldl

$(B)/tests/gpu/cuda_jit.o $(B)/tests/gpu/launches.so: private SAN :=

$(filter $(B)/tests/e2e_gpu_%,$(ALL_TESTS)): | $(GPU_TOOLS) $(PLAYBACK) $(DRIVER) $(PLAYBACK:%=$(GPU))

# ---- Goals ----

.PHONY: gpu-tests gpu-tools test-gpu-bare toolkit

toolkit:
	@echo 'testlog: CUDA toolkit: $(if $(NVCC),$(CUDA_ROOT) ($(NVCC)),none: $(strip $(CUDA_LEFT_OUT)))'

gpu-tests: toolkit ## run what needs a GPU: tests/gpu/run.sh $(FLAGS), such as --dry-run
	@CUDA='$(CUDA)' tests/gpu/run.sh $(FLAGS)

test-gpu-bare: private FILTER := e2e_gpu_script/runs_on_a_bare_machine
test-gpu-bare: $(TESTLOG) $(B)/tests/e2e_gpu_script_test ## tests/gpu/run.sh --dry-run in a bare system, as root: minutes
	@CHROOT=1; export CHROOT; exec env $(call RUN,$(B)/tests/e2e_gpu_script_test)

# A separate goal, so that run.sh has the tools even if other goals fail.
gpu-tools: $(GPU_TOOLS) left-out $(PLAYBACK) $(DRIVER)
