# SECONDS: how long the load lasts (600; soak-short 20).
soak_files := $(BUILD)/soak/load
proofs += soak-short
proof_files += $(soak_files)

$(BUILD)/soak/load: $(BUILD)/o/tests/soak/load.o $(BUILD)/o/tests/soak/mix.o \
		$(BUILD)/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^

.PHONY: soak soak-short
soak: all $(soak_files)
	@BUILD='$(BUILD)' SECONDS='$(or $(SECONDS),600)' $(PYTHON) \
		tests/soak/soak.py
soak-short: all $(soak_files)
	@BUILD='$(BUILD)' SECONDS='$(or $(SECONDS),20)' $(PYTHON) \
		tests/soak/soak.py
