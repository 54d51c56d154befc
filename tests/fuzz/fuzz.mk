# `make fuzz`: libFuzzer on everything that reads bytes from outside.
#   SECONDS=  for each target (default 3600; fuzz-short: 30)
#   SEED=     of the first target's random numbers (default: drawn, printed)
#   TARGETS=  names, by spaces (default: all of tests/fuzz/targets.h)
#   NJOBS=    targets at a time (fuzz-short: 2)
# `make fuzz-merge` takes what was found since into the corpora of the tree (not
# while a target runs).
# `make fuzz-mutants` breaks the readers in a hundred places, one at a time, and
# asks whether the target turns red (SECONDS= for each, default 60).
# The corpora alone are run by `make unit`, too, where there is no clang.

fuzz     := $(BUILD)/fuzz
fuzz_all := $(shell sed -n 's/^	X(\([a-z]*\)).*/\1/p' tests/fuzz/targets.h)
fuzz_kit := $(patsubst %,tests/fuzz/%.c,\
	kit slow slow_json slow_multipart) tests/unit/json_slow.c
FUZZ_CC  ?= clang
FUZZ_SAN := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all

$(fuzz)/o/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(FUZZ_CC) $(FUZZ_SAN) -fsanitize=fuzzer-no-link,address,undefined \
		$(IDEM_CPP) $(IDEM_C) -Itests/unit -MMD -MP -c -o $@ $<
$(fuzz)/main/%.o: tests/fuzz/main.c
	@mkdir -p $(@D)
	@$(FUZZ_CC) $(FUZZ_SAN) -fsanitize=fuzzer-no-link,address,undefined \
		$(IDEM_CPP) $(IDEM_C) -DFUZZ_TARGET=fuzz_$* -c -o $@ $<
$(fuzz)/lib.a: $(call objects,$(fuzz)/o,$(lib_src) $(fcgi_src) $(fuzz_kit) \
	$(filter-out %/main.c,$(wildcard fcgi/guard/*.c fcgi/tasks/*.c)))
$(addprefix $(fuzz)/,$(fuzz_all)): $(fuzz)/%: $(fuzz)/main/%.o \
		$(fuzz)/o/tests/fuzz/%.o $(fuzz)/lib.a
	@echo '  LINK $@'
	@$(FUZZ_CC) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ $^ \
		$(LIBS)

# The same targets on their corpora, by the compiler of the unit tests.
$(BUILD)/san/o/tests/fuzz/%.o: IDEM_CPP += -Itests/unit
$(BUILD)/san/o/tests/unit/test_fuzz.o: IDEM_CPP += -Itests/fuzz
$(BUILD)/san/test_fuzz: $(BUILD)/san/o/tests/unit/test_fuzz.o \
		$(call objects,$(BUILD)/san/o,$(patsubst %,tests/fuzz/%.c,\
		kit slow slow_json slow_multipart $(fuzz_all))) $(san_program) $(BUILD)/san/libkit.a \
		$(BUILD)/san/libguard.a $(BUILD)/san/libfront.a \
		$(BUILD)/san/libidem.a
	@echo '  LINK $@'
	@$(CC) $(SAN) -o $@ $^ $(LIBS) -lcmocka

TARGETS    ?= $(fuzz_all)
ifneq ($(filter fuzz% test,$(MAKECMDGOALS)),)
$(foreach t,$(or $(strip $(TARGETS)),""),$(if $(filter $(t),$(fuzz_all)),,\
	$(error TARGETS=$(t): there is no such target; there are: $(fuzz_all))))
endif
fuzz_files := $(addprefix $(fuzz)/,$(TARGETS))
fuzz_run    = BUILD='$(BUILD)' $(PYTHON) tests/fuzz/run.py
.PHONY: fuzz fuzz-short fuzz-merge fuzz-mutants fuzz-files
fuzz-files: $(fuzz_files)
fuzz: deps $(fuzz_files)
	@NJOBS='$(NJOBS)' $(fuzz_run) long $(TARGETS)
fuzz-short: deps
	@$(MAKE) --no-print-directory -j$(NJOBS) fuzz-files
	@NJOBS=2 $(fuzz_run) short $(TARGETS)
fuzz-merge: $(fuzz_files)
	@$(fuzz_run) merge $(TARGETS)
fuzz-mutants: $(fuzz_files)
	@BUILD='$(BUILD)' $(PYTHON) tests/fuzz/mutants.py $(TARGETS)

proofs      += fuzz-short
proof_files += $(fuzz_files)
