# ThreadSanitizer, where it applies; what it can see and what not stands at the
# head of crowd.c.
#   make tsan           ROUNDS: requests of each thread (2,000)
# SEED=: there is no chance in it but the machine's own.
tsan_c := -O1 -g -fsanitize=thread -Wno-tsan
tsan_wrap := -Wl,--wrap=pthread_mutex_clocklock \
	-Wl,--wrap=pthread_mutex_consistent
# Their processes are forked, which it bears; one has a thread of its own.
tsan_tests := test_group test_group_requests test_group_recover \
	test_group_file test_backend_fcgi
.PHONY: tsan
$(BUILD)/tsan/crowd: $(BUILD)/san/o/tests/tsan/crowd.o \
		$(BUILD)/san/libkit.a $(BUILD)/san/libcommand.a \
		$(BUILD)/san/libguard.a $(BUILD)/san/libfront.a \
		$(BUILD)/san/libidem.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	@$(CC) $(SAN) -Wl,--wrap=mmap,--wrap=munmap,--wrap=kill -o $@ $^ \
		$(LIBS) -lcmocka
tsan:
	@mkdir -p '$(BUILD)/tsan'
	@$(CC) $(tsan_c) $(IDEM_CPP) $(IDEM_C) -c -o '$(BUILD)/tsan/robust.o' \
		tests/tsan/robust.c
	@$(MAKE) --no-print-directory -j$(NJOBS) BUILD='$(BUILD)/tsan' \
		SAN='$(tsan_c) -DIDEM_FAILPOINTS -Itests/unit' \
		LIBS='$(tsan_wrap) $(BUILD)/tsan/robust.o $(LIBS)' \
		'$(BUILD)/tsan/tsan/crowd' \
		$(addprefix '$(BUILD)'/tsan/san/,$(tsan_tests))
	@BUILD='$(BUILD)' tests/tsan/run.sh '$(BUILD)/tsan/tsan/crowd' \
		$(addprefix '$(BUILD)'/tsan/san/,$(tsan_tests))
