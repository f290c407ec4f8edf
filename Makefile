# poolmark: build, test, install. `make help` lists the targets; objects go to BUILD, one folder per MODE.
#
# MODE=release   what is installed (default)          -> build
# MODE=debug     assertions on                        -> build-debug
# MODE=tiny      tiny constants, assertions on        -> build-tiny
# MODE=asan      address and undefined sanitizers     -> build-asan    (core and its tests only)
# MODE=tsan      thread sanitizer                     -> build-tsan    (core and stress tests only)

MODE ?= release
BUILD ?= build$(if $(filter-out release,$(MODE)),-$(MODE))
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
RESULTS ?= $(BUILD)/results
CLANG_FORMAT ?= clang-format-14
ifeq ($(origin CC),default)
CC := gcc
endif

# --- flags -----------------------------------------------------------------------------------------------------------

FLAGS_release := -O2 -g -DNDEBUG
FLAGS_debug   := -O1 -g
FLAGS_tiny    := -O1 -g -DPOOLMARK_TINY
FLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan    := -O1 -g -fsanitize=thread -fno-omit-frame-pointer -Wno-error=tsan
ifndef FLAGS_$(MODE)
$(error MODE=$(MODE): must be release, debug, tiny, asan or tsan)
endif

WARNINGS ?= -Wall -Wextra -Werror
CPPFLAGS += -I. -D_GNU_SOURCE= -MMD -MP
# No builtins: gcc would turn calloc into a call of itself. No strict aliasing: a block is the program's data while it
# is used and a link while it is free.
MALLOC_FLAGS := -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free -fno-strict-aliasing
# Variables by alignment: the small ones, which start-up writes, then share pages instead of lying between large tables.
SHARED_FLAGS := -fPIC -fdata-sections -fvisibility=hidden -ftls-model=initial-exec -fno-semantic-interposition
ALL_FLAGS = -std=gnu17 $(FLAGS_$(MODE)) $(WARNINGS) $(MALLOC_FLAGS) $(SHARED_FLAGS) -pthread $(CFLAGS)

# Set to -Wl,-z,initfirst to have our constructor run before every other library's.
INITFIRST ?=
LIB_LDFLAGS := -shared -Wl,--sort-section=alignment -static-libgcc -Wl,-soname,libpoolmark.so -Wl,--version-script=interpose/exports.map \
	-Wl,--no-undefined -Wl,--as-needed -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,noexecstack -Wl,-z,noseparate-code $(INITFIRST)

# --- files: found, not listed ----------------------------------------------------------------------------------------

# These define functions that replace libc's (or need those that do), so they are in the shared object only.
SHIM := entry introspect exits exec sandbox signals start text

objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))
# In the order of their use: what only a dump needs lies together at the end, in pages that start-up does not touch.
LATE := report report_% print word dump freeze end exec exits signals sandbox process live introspect trim
ALL_OBJECTS  := $(call objects,interpose/*.c policies/*.c)
LATE_OBJECTS := $(filter $(LATE:%=$(BUILD)/interpose/%.o),$(ALL_OBJECTS))
LIB_OBJECTS  := $(filter-out $(LATE_OBJECTS),$(ALL_OBJECTS)) $(LATE_OBJECTS)
CORE_OBJECTS := $(filter-out $(SHIM:%=$(BUILD)/interpose/%.o),$(LIB_OBJECTS))
TOOL_OBJECTS := $(call objects,tools/*.c)
programs = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))
CRITERION_TESTS := $(call programs,tests/unit/test_*.c tests/policies/conformance.c tests/policies/test_*.c)
# Stress tests of the core. Those that include nothing of ours are for tests/preload/*.sh, which compile what they run.
STRESS_TESTS    := $(patsubst %.c,$(BUILD)/%,$(shell grep -sl '"interpose/' tests/stress/*.c))

CORE_SUITES := unit policies stress
PRODUCTS    := $(BUILD)/libpoolmark.so $(BUILD)/poolmark

GOAL   := $(PRODUCTS)
TESTS  := $(CRITERION_TESTS) $(STRESS_TESTS)
SUITES ?= $(CORE_SUITES)$(if $(filter release,$(MODE)), preload tools golden cases apps)
ifneq ($(filter asan tsan,$(MODE)),)
GOAL   := $(BUILD)/libcore.a
endif
ifeq ($(MODE),tsan)
TESTS  := $(STRESS_TESTS)
SUITES := stress
endif

# --- targets ---------------------------------------------------------------------------------------------------------

.PHONY: all tests check run-suites bench lint format install uninstall clean help
.DELETE_ON_ERROR:
.SECONDARY:

all: $(GOAL) ## the library and the command (default)

tests: all $(TESTS) ## the tests that are compiled, not run

check: all ## all tests; SUITES="unit stress" picks, MODE=debug|tiny|asan|tsan runs the core's under that build
	@rm -rf $(RESULTS)
	@$(MAKE) --no-print-directory -k tests || true # a test that does not compile is a suite that fails
	@$(MAKE) --no-print-directory run-suites
	@scripts/total $(RESULTS)

run-suites:
	@BUILD='$(abspath $(BUILD))' MODE=$(MODE) RESULTS='$(abspath $(RESULTS))' scripts/suites $(SUITES)

bench: all $(BUILD)/tests/bench/shapes ## shapes and real programs under several allocators; BENCH="--quick --only NAME"
	@BUILD='$(abspath $(BUILD))' scripts/bench $(BENCH)

$(BUILD)/tests/bench/shapes: tests/bench/shapes.c tests/bench/shapes_threads.c tests/bench/shapes.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu17 -O2 $(WARNINGS) $(MALLOC_FLAGS) -pthread -o $@ $(filter %.c,$^)

lint: all ## layout, layers, exports, instruction budget, headers, sizes
	@BUILD='$(abspath $(BUILD))' CLANG_FORMAT=$(CLANG_FORMAT) scripts/lint

format: ## lays out all C files
	scripts/c-files | xargs -r $(CLANG_FORMAT) -i

install: all ## to PREFIX (/usr/local), LIBDIR (PREFIX/lib), under DESTDIR
	install -D -m 644 $(BUILD)/libpoolmark.so $(DESTDIR)$(LIBDIR)/libpoolmark.so
	install -D -m 755 $(BUILD)/poolmark $(DESTDIR)$(PREFIX)/bin/poolmark

uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(LIBDIR)/libpoolmark.so $(DESTDIR)$(PREFIX)/bin/poolmark

clean: ## removes the build folders of all modes
	rm -rf $(BUILD) build build-debug build-tiny build-asan build-tsan build-clang

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 12

# --- rules -----------------------------------------------------------------------------------------------------------

# V=1 shows whole commands
say = $(if $(V),,@echo '$(1) $@';)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_FLAGS) -c -o $@ $<

$(BUILD)/libpoolmark.so: $(LIB_OBJECTS) interpose/exports.map
	$(call say,LD)$(CC) $(ALL_FLAGS) $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJECTS)

# Speed is for these; all else is built small, since every page of it is resident in every process.
FAST := entry slow thread bin pool account span unit chunk meta mapping native class counters lock
$(filter-out $(FAST:%=$(BUILD)/interpose/%.o),$(filter $(BUILD)/interpose/%,$(LIB_OBJECTS))): ALL_FLAGS += $(SMALL_$(MODE))
SMALL_release := -Os

# gcc would make a call of strlen out of the loop that is strlen.
$(BUILD)/interpose/text.o: ALL_FLAGS += -fno-builtin $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)

$(BUILD)/libcore.a: $(CORE_OBJECTS)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(BUILD)/poolmark: $(TOOL_OBJECTS) $(BUILD)/libcore.a
	$(call say,LD)$(CC) $(ALL_FLAGS) $(LDFLAGS) -o $@ $^ -ljansson -ldl

$(CRITERION_TESTS): LIBS := -lcriterion -ljansson
$(CRITERION_TESTS) $(STRESS_TESTS): $(BUILD)/%: %.c $(BUILD)/libcore.a Makefile
	@mkdir -p $(@D) && rm -f $@
	$(call say,CC)$(CC) $(CPPFLAGS) -MF $@.d $(ALL_FLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libcore.a $(LIBS) -ldl

-include $(wildcard $(BUILD)/*/*.d $(BUILD)/tests/*/*.d)
