# Every allocation fails once.  ROUNDS: how many of each scenario's allocations
# fail in either way; 0, the long form, all of them.
oom_src  := $(filter-out %/fault.c,$(wildcard tests/oom/*.c))
oom_unit := $(BUILD)/san/oom
oom_so   := $(BUILD)/tests/oom.so
proofs   += oom-short
proof_files += $(oom_unit) $(oom_so)

# The allocator's front runs before AddressSanitizer is ready, so it is built
# without.
oom_flags := $(OPT) -std=gnu11 -D_GNU_SOURCE $(WARN) -Wno-pedantic -fPIC
$(oom_unit): $(call objects,$(BUILD)/san/o,$(oom_src)) \
		$(BUILD)/tests/oom-fault.o $(san_program) \
		$(BUILD)/san/libkit.a $(BUILD)/san/libguard.a \
		$(BUILD)/san/libfront.a $(BUILD)/san/libidem.a
	@echo '  LINK $@'
	@$(CC) $(SAN) -rdynamic -o $@ $^ $(LIBS) -lcmocka -ldl
$(oom_so): tests/oom/fault.c
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(oom_flags) -shared -o $@ $< -ldl
$(BUILD)/tests/oom-fault.o: tests/oom/fault.c tests/oom/fault.h
	@mkdir -p $(@D)
	@echo '  CC   $@'
	@$(CC) $(oom_flags) -c -o $@ $<

.PHONY: oom oom-short
oom: all $(oom_unit) $(oom_so)
	@BUILD='$(BUILD)' $(PYTHON) tests/oom/run.py
oom-short: all $(oom_unit) $(oom_so)
	@BUILD='$(BUILD)' $(PYTHON) tests/oom/run.py short
