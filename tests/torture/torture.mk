# Real servers whose workers, supervisors and servers are killed and restarted
# under load; see torture.py.  ROUNDS is the number of kills.
.PHONY: torture torture-short torture-programs
proofs += torture-short
proof_files += torture-programs

torture-programs: all fail $(BUILD)/tests/charge
$(BUILD)/tests/charge: tests/torture/charge.c
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) -std=c11 $(WARN) -D_GNU_SOURCE -o $@ $<

torture: torture-programs
	@BUILD='$(BUILD)' $(PYTHON) tests/torture/torture.py
torture-short: torture-programs
	@BUILD='$(BUILD)' ROUNDS='$(or $(ROUNDS),200)' $(PYTHON) tests/torture/torture.py
