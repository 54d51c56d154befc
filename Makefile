# Idem.  Two commands do everything on a fresh Debian machine:
#   make run     builds and serves tasks.fcgi on 127.0.0.1:8080 (SERVER=apache, PORT=)
#   make test    every test; `make check` is the quick half
# All variables can be set on the command line, as packagers expect.

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
AR      ?= ar
PYTHON  ?= /usr/bin/python3 -B
NJOBS   ?= $(shell nproc)
PORT    ?= 8080
SERVER  ?= lighttpd

VERSION := 0.1.0
WARN := -Wall -Wextra -Werror -Wpedantic -Wconversion -Wshadow -Wvla \
	-Wswitch-enum -Wmissing-prototypes -Wstrict-prototypes -Wundef \
	-Wpointer-arith -Wwrite-strings -Wunused
OPT  ?= -O2 -g
HARD := -fstack-protector-strong
SAN  := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -DIDEM_FAILPOINTS
CPPFLAGS += -D_FORTIFY_SOURCE=2
FLAVOUR  :=
IDEM_CPP := -Iinclude -Isrc -Ifcgi -D_GNU_SOURCE $(FLAVOUR) \
	-DIDEM_VERSION='"$(VERSION)"'
IDEM_C   := -std=c11 $(WARN) $(HARD)
LDFLAGS  += -Wl,-z,relro,-z,now
# Only SHA-256 is taken from it: as a shared library, whose 21,000 relocations
# every start has to do, it doubles what a plain CGI request costs.
CRYPTO   ?= $(if $(findstring /,$(shell $(CC) -print-file-name=libcrypto.a)),\
	-l:libcrypto.a,-lcrypto)
LIBS     := -llmdb $(CRYPTO) -lcjson -lunistring -lpthread

lib_src  := $(wildcard src/*/*.c)
fcgi_src := $(wildcard fcgi/settings/*.c fcgi/process/*.c \
	fcgi/exchange/*.c)
programs := tasks guard idem
objects   = $(patsubst %.c,$(1)/%.o,$(2))
tests    := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
helpers  := $(filter-out $(wildcard tests/unit/test_*.c),$(wildcard tests/unit/*.c))

.PHONY: all
all: $(BUILD)/tasks.fcgi $(BUILD)/guard.fcgi $(BUILD)/idem
	@:

# --- the programs --------------------------------------------------------
$(BUILD)/tasks.fcgi: $(call objects,$(BUILD)/o,$(wildcard fcgi/tasks/*.c))
$(BUILD)/guard.fcgi: $(call objects,$(BUILD)/o,$(wildcard fcgi/guard/*.c))
$(BUILD)/idem: $(call objects,$(BUILD)/o,$(wildcard fcgi/command/*.c))
$(BUILD)/tasks.fcgi $(BUILD)/guard.fcgi $(BUILD)/idem: \
		$(BUILD)/libfront.a $(BUILD)/libidem.a
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ \
		$(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(BUILD)/libidem.a: $(call objects,$(BUILD)/o,$(lib_src))
$(BUILD)/libfront.a: $(call objects,$(BUILD)/o,$(fcgi_src))
$(BUILD)/san/libidem.a: $(call objects,$(BUILD)/san/o,$(lib_src))
$(BUILD)/san/libkit.a: $(call objects,$(BUILD)/san/o,$(helpers))
$(BUILD)/san/libcommand.a: $(filter-out %/main.o,\
	$(call objects,$(BUILD)/san/o,$(wildcard fcgi/command/*.c)))
$(BUILD)/san/libguard.a: $(filter-out %/main.o,\
	$(call objects,$(BUILD)/san/o,$(wildcard fcgi/guard/*.c)))
$(BUILD)/san/libfront.a: $(call objects,$(BUILD)/san/o,$(fcgi_src))
%.a:
	@mkdir -p $(@D) && rm -f $@
	@$(AR) rcs $@ $^

$(BUILD)/o/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(CC) $(OPT) $(CFLAGS) $(CPPFLAGS) $(IDEM_CPP) $(IDEM_C) -MMD -MP -c -o $@ $<
$(BUILD)/san/o/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(CC) $(SAN) $(IDEM_CPP) $(IDEM_C) -MMD -MP -c -o $@ $<
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- the same without any shared library: one file to upload ---------------
# No name service is asked (-DIDEM_STATIC).  cJSON comes as source, as Debian
# has no static library of it.  Each program is linked twice: what the linker
# took the first time stands in --version.
static     := $(BUILD)/static
static_web := $(foreach p,tasks guard,$(if $(wildcard fcgi/$(p)/main.c),$(p)))
static_all := $(addprefix $(static)/,$(static_web:=.fcgi) idem)
STATIC_C   := -DIDEM_STATIC -ffunction-sections -fdata-sections -fPIE
STATIC_LD  := -static-pie -s -Wl,--gc-sections $(LDFLAGS)
static_cc   = $(CC) $(OPT) $(CFLAGS) $(CPPFLAGS) $(STATIC_C)
static_link = $(CC) $(OPT) $(CFLAGS) $(STATIC_LD) $(filter %.o,$^) $(1) \
	$(filter %.a,$^) $(filter-out -lcjson,$(LIBS))
.PHONY: static
static: $(static_all)
$(foreach p,$(static_web),$(eval $(static)/$(p).fcgi: \
	$(call objects,$(static)/o,$(wildcard fcgi/$(p)/*.c))))
$(static)/idem: $(call objects,$(static)/o,$(wildcard fcgi/command/*.c))
$(static)/libidem.a: $(call objects,$(static)/o,$(lib_src))
$(static)/libfront.a: $(call objects,$(static)/o,$(fcgi_src))
$(static)/libcjson.a: $(static)/o/cJSON.o
$(static_all): $(static)/libfront.a $(static)/libidem.a $(static)/libcjson.a
	@echo '  LINK $@'
	@$(call static_link,-Xlinker -t -Xlinker -t) -o $@.first >$@.trace
	@inside=$$(tools/inside.sh $(static)/cjson/version $@.trace) && \
		$(static_cc) $(IDEM_CPP) "-DIDEM_INSIDE=\"$$inside\"" \
		$(IDEM_C) -c -o $@.version.o fcgi/process/version.c
	@$(call static_link,$@.version.o) -o $@
	@rm -f $@.first $@.trace $@.version.o
# For the tests, which skip it where the source of cJSON cannot be had.
.PHONY: static-if-possible
static-if-possible:
	@test -s $(static)/cjson/cJSON.c || \
		tools/cjson-source.sh $(static)/cjson || test $$? = 3
	@test ! -s $(static)/cjson/cJSON.c || $(MAKE) --no-print-directory static
$(static)/cjson/cJSON.c:
	@tools/cjson-source.sh $(@D)
$(static)/o/cJSON.o: $(static)/cjson/cJSON.c
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(static_cc) $(HARD) -c -o $@ $<
$(static)/o/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(static_cc) $(IDEM_CPP) $(IDEM_C) -MMD -MP -c -o $@ $<

# The same programs with places where tests may kill them; nobody ships these.
.PHONY: fail
fail:
	@$(MAKE) --no-print-directory BUILD='$(BUILD)/fail' \
		FLAVOUR=-DIDEM_FAILPOINTS all

# --- the unit tests: under AddressSanitizer and UndefinedBehaviorSanitizer -
# A test of fcgi/tasks or fcgi/command links that program's objects but main.o;
# helpers, the command and the guard come from libraries: a test holds what it
# uses.
san_program = $(filter-out %/main.o,$(call objects,$(BUILD)/san/o,\
	$(wildcard fcgi/tasks/*.c)))
$(BUILD)/san/test_%: $(BUILD)/san/o/tests/unit/test_%.o \
		$(san_program) $(BUILD)/san/libkit.a $(BUILD)/san/libcommand.a \
		$(BUILD)/san/libguard.a $(BUILD)/san/libfront.a $(BUILD)/san/libidem.a
	@echo '  LINK $@'
	@$(CC) $(SAN) -o $@ $^ $(LIBS) -lcmocka

.SECONDARY:
.PHONY: unit programs-of-unit
programs-of-unit: $(addprefix $(BUILD)/san/,$(tests))
unit: $(addprefix $(BUILD)/san/,$(tests))
	@tests/run-unit.sh $^

# --- what is missing on this machine, and the quick half of the tests -------
.PHONY: deps
deps:
	@tools/deps.sh

.PHONY: lint
lint:
	@tests/lint/run.sh

.PHONY: shipped
shipped: all $(BUILD)/san/libidem.a
	@tests/lint/shipped.sh $(BUILD)/san/libidem.a \
		$(BUILD)/tasks.fcgi $(BUILD)/guard.fcgi $(BUILD)/idem

# The model of the group commit; model-short: under a minute.
.PHONY: model model-short
model:
	@CC='$(CC)' tests/model/run.sh all
model-short:
	@CC='$(CC)' tests/model/run.sh short

.PHONY: check
check: deps
	@$(MAKE) --no-print-directory -j$(NJOBS) all programs-of-unit
	@$(MAKE) --no-print-directory -j1 -k unit lint shipped

# --- the programs behind real servers, and all tests -----------------------
.PHONY: run
run:
	@tools/deps.sh run
	@$(MAKE) --no-print-directory all
	@PROGRAM='$(abspath $(BUILD))/tasks.fcgi' \
		tools/run.sh '$(SERVER)' '$(PORT)'

.PHONY: experiment
experiment: deps
	@$(MAKE) --no-print-directory all
	@BUILD='$(BUILD)' $(PYTHON) tests/e2e/experiment.py

# What only the tests start.
for_e2e := $(addprefix $(BUILD)/tests/,killat.so ledger.fcgi newer)
$(BUILD)/tests/ledger.fcgi: $(BUILD)/o/tests/e2e/ledger.o \
		$(BUILD)/libfront.a $(BUILD)/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/tests/killat.so: tests/e2e/killat.c
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) -std=gnu11 -D_GNU_SOURCE $(WARN) -Wno-pedantic \
		-shared -fPIC -o $@ $<
$(BUILD)/tests/newer: tests/e2e/newer.c
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) -std=c11 $(WARN) -o $@ $< -llmdb

.PHONY: e2e
e2e: all $(for_e2e) static-if-possible
	@BUILD='$(BUILD)' $(PYTHON) tests/e2e/run.py

# --- proof: what is broken on purpose, each in a folder of its own ----------
# Each adds its short form to `proofs` and what it compiles to `proof_files`.
# ROUNDS=, SECONDS= and SEED= make one longer, or the same once more.
export ROUNDS SECONDS SEED
proofs :=
proof_files :=
include $(wildcard tests/*/*.mk)

.PHONY: test
test: deps
	@$(MAKE) --no-print-directory -j$(NJOBS) all programs-of-unit $(for_e2e) \
		static-if-possible $(proof_files)
	@$(MAKE) --no-print-directory -j1 -k unit lint shipped model-short \
		$(proofs) e2e

# --- the bench: `make bench` takes minutes and writes docs/bench.tsv and .svg --
bench_kit := pairs counts records sweep spawns json
bench_alone := bare barecgi
bench_programs := $(addprefix $(BUILD)/bench/,$(bench_kit) $(bench_alone))
$(addprefix $(BUILD)/bench/,$(bench_kit)): $(BUILD)/bench/%: \
		$(BUILD)/o/tests/bench/%.o $(BUILD)/o/tests/bench/kit.o \
		$(BUILD)/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(addprefix $(BUILD)/bench/,$(bench_alone)): $(BUILD)/bench/%: \
		tests/bench/%.c
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(CC) $(OPT) $(CFLAGS) -Wall -Wextra -Werror -o $@ $< -lfcgi

.PHONY: bench
bench: deps
	@$(MAKE) --no-print-directory all $(bench_programs)
	@$(PYTHON) tests/bench/bench.py

# The same load on middlewares of the field: fetches their packages by npm, and
# needs node, npm and redis-server, which make deps does not install.
.PHONY: bench-peers
bench-peers: deps
	@$(MAKE) --no-print-directory all $(bench_programs)
	@$(PYTHON) tests/bench/peers.py

# --- where packages put things ---------------------------------------------
inst := $(DESTDIR)$(PREFIX)
man  := idem.1 idem.conf.5 tasks.fcgi.8 guard.fcgi.8

.PHONY: install uninstall
install: all
	install -d '$(inst)/bin' '$(inst)/lib/idem'
	install -m 755 $(BUILD)/idem '$(inst)/bin/idem'
	install -m 755 $(BUILD)/tasks.fcgi '$(inst)/lib/idem/tasks.fcgi'
	install -m 755 $(BUILD)/guard.fcgi '$(inst)/lib/idem/guard.fcgi'
	@set -e; for page in $(man); do \
		section='$(inst)/share/man/man'$${page##*.}; \
		install -d "$$section"; \
		install -m 644 "man/$$page" "$$section/$$page"; \
	done
	install -d '$(inst)/share/doc/idem/examples'
	install -m 644 etc/idem.conf etc/routes/* lighttpd/*.conf \
		apache/*.conf nginx/*.conf systemd/* '$(inst)/share/doc/idem/examples'
	install -d '$(inst)/share/doc/idem/examples/shared-hosting'
	install -m 644 $(addprefix apache/shared-hosting/,.htaccess guard.fcgi \
		.htidem.conf .htidem.routes) \
		'$(inst)/share/doc/idem/examples/shared-hosting'

uninstall:
	rm -f '$(inst)/bin/idem' '$(inst)/lib/idem/tasks.fcgi' \
		'$(inst)/lib/idem/guard.fcgi'
	rm -f $(foreach page,$(man),'$(inst)/share/man/man$(lastword \
		$(subst ., ,$(page)))/$(page)')
	rm -rf '$(inst)/share/doc/idem'
	-rmdir '$(inst)/lib/idem'

# --- what the canonical form costs, beside SHA-256 and cJSON ---------------
.PHONY: bench-json
bench-json: $(BUILD)/bench/json
	@$<

# --- everything else is added here as it is built --------------------------
.PHONY: clean
clean:
	rm -rf $(BUILD)
