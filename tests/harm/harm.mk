# `make harm` breaks the disk, the files and the limits under a store in use.
# Each way, what was answered and the line in the log: build/proof/harm/rows.tsv.
# `make e2e`, and so `make test`, runs these tests among the others.
harm_tools := $(addprefix $(BUILD)/tests/,world.so reader)
proof_files += $(harm_tools)
e2e harm coverage-programs valgrind-programs: $(harm_tools)
$(BUILD)/tests/world.so: tests/e2e/world.c
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) -std=gnu11 -D_GNU_SOURCE $(WARN) -Wno-pedantic \
		-shared -fPIC -o $@ $<
$(BUILD)/tests/reader: tests/e2e/reader.c
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) -std=c11 -D_GNU_SOURCE $(WARN) -o $@ $< -llmdb

# LONG=1: what is stopped stands still for 30 seconds, not for four, and 2,000
# processes come at once, not 300.
.PHONY: harm
harm: all $(for_e2e)
	@rm -rf $(BUILD)/proof/harm $(BUILD)/proof/harm.tsv
	@BUILD='$(BUILD)' $(PYTHON) tests/e2e/run.py --name harm test_harm_
