# web.mk: report.html in real browsers: Debian's Chromium and Firefox, driven by
# playwright-core from npm. Without them, its goals say so and pass.

WEB := build/web

.PHONY: deps-web test-web bench-web screenshots lint-web

deps-web: ## install browsers and npm packages for the tests of report.html
	@command -v npm >/dev/null || ./.ci/deps nodejs npm
	@./.ci/deps chromium-headless-shell firefox-esr
	@mkdir -p $(WEB) && cp tests/web/package.json tests/web/package-lock.json $(WEB)
	@cd $(WEB) && npm ci --silent --ignore-scripts --no-audit --no-fund

# The page's scripts must also read what the runner writes.
REPORTS := $(WEB)/runs

web = @if command -v node >/dev/null; then node tests/web/$(1); \
    else echo 'testlog: $@ left out: no node (make deps-web)'; fi

PLAYED  := $(WEB)/played
NESTED  := $(WEB)/nested
NESTING := build/base/tests/programs/traced/nesting_test
SAMPLED := build/base/tests/programs/traced/sampled_test

# This program uses no GPU: it plays back records of one that leaks memory.
LEAKING := build/base/tests/programs/traced/gpu_test
playing  = TESTLOG_GPU_ROOT=$(CURDIR)/$(WEB)/driver TRACE_CUPTI=$(CURDIR)/$(PLAYBACK) \
    TESTLOG_GPU_LIBRARY=$(CURDIR)/$(GPU) PLAYBACK_FIXTURE=$(CURDIR)/tests/playback/leak.fixture

record = @rm -rf $(1); $(3) TRACE_DIR=$(1) LOG=trace build/base-trace/testlog run \
    $(2) >/dev/null 2>&1 || true

$(REPORTS): FORCE
	@mkdir -p $(WEB)
	@$(MAKE) --no-print-directory TRACING=1 all $(NESTING) $(SAMPLED) $(LEAKING) \
	    $(GPU) $(PLAYBACK)
	$(call record,$@,$(patsubst %,build/base-trace/examples/%_test,failures pool store \
	    $(if $(OPENCL_LIB),opencl_waves)))
	$(call record,$(NESTED),$(NESTING))
	@mkdir -p $(WEB)/driver/dev && : >$(WEB)/driver/dev/nvidiactl
	$(call record,$(PLAYED),$(LEAKING) -- --filter gpu/uses_it,$(playing))

test-web: $(REPORTS) ## test report.html in Chromium and Firefox
	$(call web,run.js)

# PAGE_BEFORE=REVISION also compares the page with that of an older revision.
bench-web: ## time to load and draw report.html of 1,000,000 slices
	$(call web,bench.js $(PAGE_BEFORE))

screenshots: $(REPORTS) ## pictures of report.html, in build/web/screenshots
	$(call web,screenshots.js)

lint-web: # the page's scripts and their tests
	@if [ -x $(WEB)/node_modules/.bin/eslint ] && command -v node >/dev/null; then \
	    $(WEB)/node_modules/.bin/eslint -c tests/web/eslint.config.js \
	        harness/run/page/report tests/web; \
	else echo 'lint: no eslint (make deps-web), so no rules for scripts'; fi
