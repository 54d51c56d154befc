# `make flip` breaks data.mdb: bits, pages, older pages, a file cut short.
# And each prefix of what the readers of bytes from outside are tested with.
# ROUNDS= damaged files (default 73,728: each byte of the meta pages and as many
# of each other kind); SECONDS= ends it earlier; SEED= the same ones again.
$(BUILD)/tests/flip: $(addprefix $(BUILD)/o/tests/flip/,flip.o damage.o probe.o) \
		$(BUILD)/libfront.a $(BUILD)/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
flip_files := $(BUILD)/tests/flip $(BUILD)/tasks.fcgi $(BUILD)/guard.fcgi \
	$(BUILD)/idem $(addprefix $(BUILD)/san/test_edge_,request values files) \
	$(BUILD)/san/test_fuzz
.PHONY: flip flip-short
flip: $(flip_files)
	@BUILD='$(BUILD)' $(PYTHON) tests/flip/flip.py
flip-short: $(flip_files)
	@BUILD='$(BUILD)' ROUNDS=$${ROUNDS:-2500} SECONDS=$${SECONDS:-10} \
		$(PYTHON) tests/flip/flip.py
proofs += flip-short
proof_files += $(flip_files)
