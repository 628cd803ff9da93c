# bench.mk: the benchmarks, and the tracers that they are compared with.

# The peers that bench-deps installs.
BENCH_DEPS := liblttng-ust-dev lttng-tools librust-tracing-dev librust-tracing-subscriber-dev \
    cargo libspdlog-dev uftrace linux-perf valgrind

BENCH     := $(L)/tests/bench
BENCH_SRC := $(filter-out tests/bench/tests.c %_test.c,$(wildcard tests/bench/*.c))
BENCHES   := $(BENCH)/bench $(BENCH)/tests_plain $(BENCH)/tests_logged \
    $(L)/tests/simulate $(L)/tests/peak $(TESTLOG)

$(BENCH)/bench: $(BENCH_SRC:%.c=$(L)/%.o) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) $(CJSON_LIBS) $(ZSTD_LIBS) -lpthread

$(BENCH)/%.o: private TRACED := -DTRACING -DBENCH_PACKAGES='"$(BENCH_DEPS)"'

$(BENCH)/called.o: private TRACED := $(FUNCTIONS_CFLAGS) \
    -finstrument-functions-exclude-function-list=keep,now_ns

$(BENCH)/lined.o: private TRACED := $(LINED)

# The same thousand tests with testlog and with Criterion alone.
$(BENCH)/tests_plain.o: tests/bench/tests.c $(L)/flags | $(STAGED)
	$(call say,CC,$<, plain)
	@mkdir -p $(@D)
	$(Q)$(CC_C) -c -o $@ $<

$(BENCH)/tests_plain: $(BENCH)/tests_plain.o
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(CRITERION_LIBS)

$(BENCH)/tests_logged: $(BENCH)/tests.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread

# Peers are built if their packages are installed, with their own flags.
$(BENCH)/peers/%: private SAN :=
$(BENCH)/peers/hooks: tests/bench/peers/called.c tests/bench/peers/peer.h
	$(call say,PEER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -DHOOKS -finstrument-functions -o $@ $<

$(BENCH)/peers/uftrace: tests/bench/peers/called.c tests/bench/peers/peer.h
	$(call say,PEER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -pg -o $@ $<
	$(Q)ln -sf '$(CURDIR)/tests/bench/peers/uftrace.sh' $@.sh

$(BENCH)/peers/burn: tests/bench/peers/burn.c tests/bench/peers/peer.h $(SAMPLE)
	$(call say,PEER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -fno-omit-frame-pointer -o $@ $<
	$(Q)$(CC) -O2 -D_GNU_SOURCE -o $(@D)/no_perf tests/programs/no_perf.c
	$(Q)ln -sf '$(CURDIR)/tests/bench/peers/sampled.sh' $(@D)

# It runs burn.
$(BENCH)/peers/perf: $(BENCH)/peers/burn
	$(Q)ln -sf "$$(command -v perf)" $@

$(BENCH)/peers/opencl: tests/bench/peers/opencl.c tests/bench/peers/peer.h $(GPU)
	$(call say,PEER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Itests/bench/peers -o $@ $< $(OPENCL_LIB)

$(BENCH)/peers/lttng: $(wildcard tests/bench/peers/lttng.*) tests/bench/peers/peer.h
	$(call say,PEER,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Itests/bench/peers -o $@ tests/bench/peers/lttng.c \
	    $$(pkg-config --cflags --libs lttng-ust) -ldl
	$(Q)ln -sf '$(CURDIR)/tests/bench/peers/lttng.sh' $@.sh

$(BENCH)/peers/spdlog: tests/bench/peers/spdlog.cpp tests/bench/peers/peer.h
	$(call say,PEER,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -o $@ $< $$(pkg-config --cflags --libs spdlog) -lpthread

$(BENCH)/peers/rust: $(wildcard tests/bench/peers/rust/*.toml tests/bench/peers/rust/src/*)
	$(call say,PEER,$@)
	@mkdir -p $(@D)/cargo
	@cp -r tests/bench/peers/rust/. $(@D)/cargo
	$(Q)cd $(@D)/cargo && CARGO_HOME=$$PWD/home cargo build --quiet --release --offline \
	    --config 'source.crates-io.replace-with="debian"' \
	    --config 'source.debian.directory="/usr/share/cargo/registry"'
	@cp $(@D)/cargo/target/release/rust $@

$(B)/tests/bench_test: | $(BENCHES)

# ---- Goals ----

.PHONY: bench run-bench bench-deps

bench: ## measure costs, as ratios in one run
	@$(MAKE) --no-print-directory run-bench PEERS="$$(tests/bench/peers/installed)"
	@$(MAKE) --no-print-directory bench-web

run-bench: $(BENCHES) $(PEERS:%=$(BENCH)/peers/%)
	@$(BENCH)/bench $(if $(filter 1,$(CALLGRIND)),--instructions) $(BENCHFLAGS) \
	    --json=$(BENCH)/bench.json
	@echo 'All figures: $(BENCH)/bench.json'

bench-deps: ## install the tracers that bench compares with
	@./.ci/deps $(BENCH_DEPS)
