# Power cuts: ROUNDS= disks to rebuild and judge, SEED= of loads and choices.
# SECONDS= means nothing here.
cut_in := $(BUILD)/powercut

cut_record := $(addprefix tests/powercut/,record.c record_files.c record_log.c)
$(cut_in)/record.so: $(cut_record) tests/powercut/record.h \
		tests/powercut/trace.h
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) -std=gnu11 -D_GNU_SOURCE $(WARN) -Wno-pedantic \
		-shared -fPIC -o $@ $(cut_record)
$(cut_in)/load: $(call objects,$(BUILD)/o,\
	$(addprefix tests/powercut/,load.c load_deed.c deed.c)) $(BUILD)/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
cut_parts := powercut.c lane.c deed.c disk.c state.c state_write.c told.c judge.c \
	books.c whole.c
$(cut_in)/powercut: $(call objects,$(BUILD)/o,\
	$(addprefix tests/powercut/,$(cut_parts))) $(BUILD)/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
cut_files := $(addprefix $(cut_in)/,record.so load powercut) \
	$(BUILD)/idem $(BUILD)/tasks.fcgi
proofs += powercut-short
proof_files += $(cut_files)

.PHONY: powercut powercut-short
powercut: $(cut_files)
	@BUILD='$(BUILD)' $(PYTHON) tests/powercut/powercut.py
powercut-short: $(cut_files)
	@BUILD='$(BUILD)' $(PYTHON) tests/powercut/powercut.py --short
