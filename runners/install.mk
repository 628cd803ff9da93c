# `make install` and `make dist`: the libraries, testlog, its manual, and what pkg-config, CMake and
# suites that know only Criterion need.

PAGES       := $(wildcard */*.1 */*.3 */*.7)
PLACE := $(DESTDIR)$(PREFIX)
LIBS_PLACE := $(DESTDIR)$(LIBDIR)
PC_LIBDIR := $(LIBDIR:$(PREFIX)/%=$${prefix}/%)

# A pkg-config file: what links the library, the file's name, what it requires,
# and its template. Its flags suit nvcc, which rejects -Wl, and Criterion's -pthread.
define pc
sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(PC_LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@LIBRARY@|$(1)|; s|@REQUIRES@|$(3)|; \
    s|@FUNCTIONS_CFLAGS@|$(FUNCTIONS_CFLAGS)|; s|@FUNCTIONS_CXXFLAGS@|$(FUNCTIONS_CXXFLAGS)|; \
    s|@FUNCTIONS_CFLAGS_CLANG@|$(FUNCTIONS_CFLAGS_CLANG)|; \
    s|@LINES_CFLAGS@|$(LINES_CFLAGS)|; s|@LINES_CFLAGS_CLANG@|$(LINES_CFLAGS_CLANG)|; \
    s|@CRITERION_CFLAGS@|$(filter -I%,$(CRITERION_CFLAGS))|; \
    s|@CRITERION_LIBS@|$(CRITERION_LIBS)|; s| *$$||' \
    $(or $(4),testlog.pc.in) | install -m 644 /dev/stdin '$(LIBS_PLACE)/pkgconfig/$(2)'
endef
# Shared objects that a program loads find the functions in the program.
EXPORTS := -Xlinker --dynamic-list=$${prefix}/share/testlog/exports
RPATH := $(if $(filter-out /usr/lib%,$(LIBDIR)),-Xlinker -rpath=$${libdir} )

# A file of CMake's: its template without the suffix.
define cmake
sed 's|@VERSION@|$(VERSION)|g; s|@SONAME@|$(SONAME)|g; s|@CORE_SONAME@|$(CORE_SONAME)|g; \
    s|@FROM_LIBDIR@|$(subst $(space),/,$(patsubst %,..,$(subst /, ,$(LIBDIR:$(PREFIX)/%=%))))|g' \
    runners/cmake/$(1).in | install -m 644 /dev/stdin '$(LIBS_PLACE)/cmake/testlog/$(1)'
endef

# With these, a suite that knows only Criterion links testlog, too.
CRITERION_SONAME    = $(shell objdump -p "$$($(CC) -print-file-name=libcriterion.so)" 2>/dev/null | \
    sed -n 's/^ *SONAME *//p')
CRITERION_VERSION   = $(shell pkg-config --modversion criterion 2>/dev/null)
define shadow
sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(PC_LIBDIR)|; s|@FULL_LIBDIR@|$(LIBDIR)|g; \
    s|@SONAME@|$(SONAME)|; s|@CRITERION_SONAME@|$(CRITERION_SONAME)|; s|@RPATH@|$(RPATH)|; \
    s|@CRITERION_VERSION@|$(CRITERION_VERSION)|; s|@CRITERION_CFLAGS@|$(filter -I%,$(CRITERION_CFLAGS))|' \
    runners/shadow/$(1).in | install -m 644 /dev/stdin '$(LIBS_PLACE)/testlog/shadow/$(1)'
endef

install: $(LIB) $(SHARED) $(CORE) $(CORE_SO) $(TESTLOG) $(HELPERS) install-manual ## install into $(DESTDIR)$(PREFIX)
	$(if $(word 3,$(PREFIX) $(LIBDIR)),$(error testlog: PREFIX and LIBDIR cannot have blanks))
	$(if $(filter $(PREFIX)/%,$(LIBDIR)),,$(error testlog: LIBDIR=$(LIBDIR) must be below PREFIX=$(PREFIX)))
	install -d '$(PLACE)/bin' '$(LIBS_PLACE)/pkgconfig' '$(LIBS_PLACE)/testlog/shadow' \
	    '$(LIBS_PLACE)/cmake/testlog' '$(PLACE)/include/testlog'
	install -m 755 $(TESTLOG) '$(PLACE)/bin'
	install -m 644 $(LIB) $(CORE) '$(LIBS_PLACE)'
	install -m 755 $(HELPERS) '$(LIBS_PLACE)/testlog'
	install -m 644 $(PUBLIC) '$(PLACE)/include/testlog'
	install -m 644 $(SHARED) $(NONSHARED) '$(LIBS_PLACE)'
	install -m 755 $(SO) $(CORE_SO) '$(LIBS_PLACE)'
	install -D -m 644 -t '$(PLACE)/share/testlog' harness/valgrind.supp
	install -D -m 644 -t '$(PLACE)/share/testlog/adapters' $(wildcard examples/frameworks/*_adapter.*)
	ln -sf $(notdir $(SO)) '$(LIBS_PLACE)/$(SONAME)'
	ln -sf $(notdir $(CORE_SO)) '$(LIBS_PLACE)/$(CORE_SONAME)'
	ln -sf $(notdir $(CORE_SO)) '$(LIBS_PLACE)/libtestlog-core.so'
	{ echo '{' && nm -D --defined-only $(SO) | \
	    sed -n '/zone_source/d; s/@@.*//; s/.* \(trace_[a-z0-9_]*\|__cyg_profile_func_[a-z]*\|__sanitizer_cov_trace_pc\)$$/\1;/p' && echo '};'; } \
	    | install -m 644 /dev/stdin '$(PLACE)/share/testlog/exports'
	install -m 644 runners/cmake/testlogTests.cmake runners/cmake/testlogDiscover.cmake \
	    runners/cmake/testlogEntries.cmake '$(LIBS_PLACE)/cmake/testlog'
	$(call shadow,criterion.pc)
	$(call shadow,libcriterion.so)
	ln -sf ../../$(SONAME) '$(LIBS_PLACE)/testlog/shadow/$(SONAME)'
	$(call cmake,testlogConfig.cmake)
	$(call cmake,testlogConfigVersion.cmake)
	$(call pc,$(RPATH)-ltestlog,testlog.pc)
	$(call pc,-l:libtestlog.a $(EXPORTS),testlog-static.pc,libpcre2-8)
	$(call pc,$(RPATH)-ltestlog-core,testlog-core.pc,,testlog-core.pc.in)

# Lists the files of an installation elsewhere, and removes them here.
uninstall: ## remove what install has installed
	@there=$$(mktemp -d) && $(MAKE) --no-print-directory install DESTDIR="$$there" >/dev/null && \
	    (cd "$$there$(PREFIX)" && find . ! -type d) | sed 's|^\.|$(PLACE)|' | \
	    while read -r file; do rm -f "$$file"; done; rm -rf "$$there"
	@find '$(PLACE)/share/testlog' '$(PLACE)/include/testlog' '$(LIBS_PLACE)/testlog' \
	    '$(LIBS_PLACE)/cmake/testlog' -type d -empty -delete 2>/dev/null; true

install-manual: # the pages and the completion alone
	install -d '$(PLACE)/share/bash-completion/completions'
	install -m 644 runners/testlog.bash '$(PLACE)/share/bash-completion/completions/testlog'
	install -D -m 644 runners/testlog.zsh '$(PLACE)/share/zsh/vendor-completions/_testlog'
	install -D -m 644 runners/testlog.fish '$(PLACE)/share/fish/vendor_completions.d/testlog.fish'
	for page in $(PAGES); do \
	    install -D -m 644 -t '$(PLACE)'/share/man/man$${page##*.} $$page || exit 1; \
	done

# The commit's own files and date, so that everybody gets the same bytes.
dist: ## make build/testlog-VERSION.tar.gz of the last commit
	@mkdir -p build
	git archive --format=tar --prefix=testlog-$(VERSION)/ HEAD | gzip -9n >build/testlog-$(VERSION).tar.gz
	@echo build/testlog-$(VERSION).tar.gz

site: ## write README, manual and examples as HTML to build/site
	@.ci/site build/site
