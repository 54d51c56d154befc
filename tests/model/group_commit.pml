/*
 * group_commit.pml - the group commit as src/store/group*.c has it: slots whose
 * owners come, die, give up and leave; leaders that are cut off at any step;
 * power cuts.
 *
 * Three slots, each served by a chain of processes; each process has OPS
 * requests:
 *   k=0  claim of one key that all want: at most one lives that was told so
 *   k=1  a handler's effect, a bit that must be there once, or not at all
 *
 * One statement (or atomic, d_step) is what no other process can see half done.
 * A death may come before any statement; what the kernel does at exit (locks,
 * robust mutex) is one step.  A process that stands still is one that is not
 * scheduled: waiting has no clock, so a waiter may give up at any time.
 *
 * Load, all 0 or absent by default but those with a value:
 *   OPS=2 CRASHES=1 CUTS=0 INC=2 (processes a slot)
 *   GIVEUPS=n   that many times somebody waits no longer
 *   RECFAILS=n  that many times a dead leader's batch cannot be looked at
 *   FAILS=n     that many commits fail
 *   POISON      slot 2's handler spoils the batch that it runs in
 *   REFUSE      slot 1's handler fails by itself, in its child transaction
 *   LONG        slot 1's handler is too long for a slot: it leads with it
 *   FOREIGN     slot 2's handler can be run by its own process only
 *   KILLER      slot 2's handler kills whoever runs it
 *   OTHER       another group commits to the same store, once, at any time
 *   LAZY        a process may stop asking at any time
 *   ONLY=s      only the processes of slot s are killed
 *   COLD        nobody is attached at first (else the first of each slot is)
 *   FINE        what others can hardly tell apart is taken step by step
 *
 * A part taken away, each with a counter-example:
 *   V_UNLOCK_FIRST    unlock, then verdicts with a plain store
 *   V_REEXEC          no intent: what is still pending is run again
 *   V_INTENT_LATE     the intent is written after the commit
 *   V_CLEAR_EARLY     the intent goes before the verdicts
 *   V_NONET           sleeps without an end
 *   V_NOLEAD          to ask for a lead is a wake only, the word stays
 *   V_NOCONT          who hands off asks one, asleep or not
 *   V_SCAN_EARLY      the next leader is looked for before the unlock
 *   V_NOSCAN          no hand-off where no batch was run
 *   V_ATTACH_NOSCAN   no hand-off after a slot was taken over
 *   V_NOSEQ           the word has no number, a slot is taken without the mutex
 *   V_ATTACH_NOLOCK   a slot is taken without the mutex
 *   V_NOSYNC          recovery does not flush
 *   V_FLUSH_LATE      recovery flushes after it has looked
 *   V_FIRST_NOFLUSH   the first to attach does not flush
 *   V_STALE           after a power cut the old file is believed
 *   V_ONEMARK         the store keeps one batch number for all groups
 *   V_NOTAKEN         a leader does not mark what it takes
 *   V_FORGET          what a leader has taken is taken back all the same
 *   V_KEEPTOKEN       who is in doubt keeps his token
 *   V_NOALONE         what spoils a batch fails all of it
 *   V_NOBLAME         a request that killed is tried for ever
 */
#define N 3
#ifndef OPS
#define OPS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef INC
#define INC 2
#endif
#ifndef GIVEUPS
#define GIVEUPS 0
#endif
#ifndef RECFAILS
#define RECFAILS 0
#endif
#ifndef FAILS
#define FAILS 0
#endif

#define IDLE 0
#define PEND 1
#define LEAD 2
#define TAKEN 3
#define DONE 4
#define NOBODY 9
#define NOTOKEN 9

#define OP(s,i,k) ((((s) * INC) + (i)) * OPS + (k))     /* 18 at most */
#define BIT(x)    (1 << (x))
#define KIND(o)   ((o) % OPS)

/* ---- the shared file ---- */
byte st[N], seq[N];          /* a slot's word: always one store or one CAS */
byte rop[N];                 /* the request: which operation */
byte res[N], vop[N];         /* its verdict, and (ghost) of which operation */
bool open; byte blist, bseq[N]; /* the intent; its number: see cb */
byte mo = NOBODY; bool mdead;   /* the robust mutex */
#ifdef KILLER
byte ncr[N], running;
#endif

/* ---- the kernel ---- */
bool alive[N];               /* the slot's lock is held */
byte tok[N] = NOTOKEN;       /* whose token is locked: his incarnation */
bool slp[N];                 /* asleep on the own word */
bool kill_[N], fin[N];
byte inc[N];

/* ---- the store: in the page cache, for readers, on the disk ---- */
int  eff, shown, effD;
byte rec, recD;              /* the key: 0, or 1 + slot * INC + inc of who has it */
bool cb, cbD;                /* its batch number is the intent's */
bool txn;                    /* its own lock */

/* ---- ghosts ---- */
byte crashes = CRASHES, cuts = CUTS;
#if GIVEUPS > 0
byte giveups = GIVEUPS;
#endif
#if RECFAILS > 0
byte recfails = RECFAILS;
#endif
#if FAILS > 0
byte fails = FAILS;
bool failed;
#endif
#ifdef KILLER
byte nkilled;
#endif
#ifdef OTHER
bool other;
#endif
bool owns[N];                /* lives and was told CLAIMED */
bool crashed;
int  gone;                   /* taken back: never to be carried out */

#define CLAIMED 1
#define RUNNING 2
#define DID 3
#define ERR 4

#define OWNERSLOT(r) (((r) - 1) / INC)
#define OWNERINC(r)  (((r) - 1) % INC)
#define LIVE(r)      (tok[OWNERSLOT(r)] == OWNERINC(r))
#define WAITS(s)     (st[s] == PEND || st[s] == LEAD || st[s] == TAKEN)
#define DURABLE(x)   (((x) & ~effD) == 0)

/* He was told, or he waits and will be. */
#define KNOWS(s)     (owns[s] || (st[s] != IDLE && rop[s] == OP(s, inc[s], 0)))

#ifdef V_NOSEQ
#define SAMESEQ(s,q) true
#else
#define SAMESEQ(s,q) (seq[s] == q)
#endif

/* All who live sleep or are through: only a time-out can move anything. */
#define RESTS(s) (!alive[s] || slp[s] || fin[s])
#define QUIET    (RESTS(0) && RESTS(1) && RESTS(2))

#ifdef FOREIGN
#define FOREIGNOP(s) (s == 2 && me != 2 && KIND(rop[s]) == 1)
#else
#define FOREIGNOP(s) false
#endif
#ifdef POISON
#define SPOILS(s) (s == 2)
#else
#define SPOILS(s) false
#endif
#ifdef REFUSE
#define REFUSES(s) (s == 1)
#else
#define REFUSES(s) false
#endif
#ifdef LONG
#define ISLONG(s,k) (s == 1 && k == 1)
#else
#define ISLONG(s,k) false
#endif

/* All that the kernel does at exit. */
inline die(s) {
	alive[s] = false; slp[s] = false; owns[s] = false; tok[s] = NOTOKEN;
	fin[s] = false;
	if
	:: mo == s -> mdead = true; txn = false
	:: else
	fi;
	kill_[s] = true
}

/* ---- a leader's steps; tr, te, tl, tq, spoiled, kills, al, own are his ---- */

inline claim(s) {
	te = te | BIT(rop[s]);
	if
	:: tr != 0 && tr != 1 + rop[s] / OPS && LIVE(tr) ->
		assert(KNOWS(OWNERSLOT(tr)));    /* or the key hangs */
		res[s] = RUNNING
	:: else -> tr = 1 + rop[s] / OPS; res[s] = CLAIMED
	fi
}

inline exec(s) {
	vop[s] = rop[s];
	if
	:: KIND(rop[s]) == 0 -> claim(s)
	:: else ->
#ifdef KILLER
		if
		:: s == 2 && ncr[2] >= 2 -> res[s] = ERR
		:: s == 2 && ncr[2] < 2 -> kills = true
		:: else -> te = te | BIT(rop[s]); res[s] = DID
		fi
#else
		if
		:: SPOILS(s) -> spoiled = true
		:: REFUSES(s) -> res[s] = ERR
		:: else -> te = te | BIT(rop[s]); res[s] = DID
		fi
#endif
	fi
}

/* Take slot s into the batch, or leave it. */
inline take(s) {
	if
	:: WAITS(s) && (s == me || (!al && !FOREIGNOP(s))) ->
#ifndef V_NOTAKEN
		st[s] = TAKEN;
#endif
		tl = tl | BIT(s); tq[s] = seq[s]
	:: else ->
		if
		:: st[s] == TAKEN -> st[s] = PEND
		:: else
		fi
	fi
}

inline work(s) {
	if
	:: tl & BIT(s) -> exec(s)
	:: else
	fi
}

/* Begin, take what waits, run it. */
inline attempt() {
#ifdef FINE
	d_step { txn = true; tr = rec; te = 0; spoiled = false; tl = 0; take(0) };
	d_step { take(1) };
	d_step { take(2) };
	d_step { work(0); work(1); work(2);
#else
	d_step { txn = true; tr = rec; te = 0; spoiled = false; tl = 0;
		take(0); take(1); take(2); work(0); work(1); work(2);
#endif
		if
		:: own -> te = te | BIT(OP(me, inc[me], k))
		:: else
		fi };
#ifdef KILLER
	if
	:: kills -> atomic { running = 3; nkilled++; assert(nkilled <= 2);
		crashed = true; die(me) }
	:: else
	fi
#endif
}

inline publish(s) {
	if
	:: pl & BIT(s) -> pl = pl & ~BIT(s);
#ifdef V_UNLOCK_FIRST
		st[s] = DONE
#else
		assert(mo == me);
		if
		:: SAMESEQ(s, tq[s]) && WAITS(s) -> st[s] = DONE
		:: else
		fi
#endif
	:: else
	fi
}

inline wake(s) {
	if
	:: (tl & BIT(s)) && s != me -> slp[s] = false
	:: else
	fi
}

inline verdicts() {
	do
	:: d_step { pl & 1 -> publish(0) }
	:: d_step { (pl & 3) == 2 -> publish(1) }
	:: d_step { pl == 4 -> publish(2) }
	:: d_step { pl == 0 -> wake(0)
#ifndef FINE
		; wake(1); wake(2)
#endif
		}; break
	od
#ifdef FINE
	; atomic { wake(1) };
	atomic { wake(2) }
#endif
}

/* The next to ask: his word changes. */
inline look(s) {
	if
	:: w == NOBODY && (st[s] == PEND || st[s] == LEAD) ->
#ifndef V_NOLEAD
		st[s] = LEAD;
#endif
		w = s
	:: else
	fi
}

/* Wake him; asleep: that is all, else the next is asked, too. */
inline handoff() {
#ifdef FINE
	atomic { look((me + 1) % N) };
	atomic { look((me + 2) % N) };
#else
	atomic { look((me + 1) % N); look((me + 2) % N) };
#endif
	if
	:: w == NOBODY
	:: atomic { w != NOBODY ->
#ifdef V_NOCONT
		asked = true;
#else
		asked = slp[w] || w == (me + 2) % N;
#endif
		slp[w] = false; w = NOBODY;
		if
		:: !asked -> look((me + 2) % N)
		:: else
		fi;
		asked = false };
		if
		:: w == NOBODY
		:: atomic { w != NOBODY -> slp[w] = false; w = NOBODY }
		fi
	fi
}

inline unlock() { mo = NOBODY }

inline clear() { d_step { open = false; blist = 0;
	bseq[0] = 0; bseq[1] = 0; bseq[2] = 0 } }

inline intent() {
#ifndef V_REEXEC
	atomic { cb = false; cbD = false; /* a number that never was */
		blist = tl; bseq[0] = tq[0]; bseq[1] = tq[1]; bseq[2] = tq[2];
		open = true }
#else
	skip
#endif
}

inline fail(s) {
	if
	:: tl & BIT(s) -> res[s] = ERR
	:: else
	fi
}

/* What cannot be: the same verdict for all in it. */
inline fail_all() { atomic { te = 0; txn = false; fail(0); fail(1); fail(2);
	lres = ERR; pl = tl } }

/* The store's commit: data flushed and the meta page written, that flushed. */
inline commit() {
	atomic { effD = eff; recD = rec; cbD = cb;
		assert((eff & te) == 0);     /* nothing is done twice */
		assert((te & gone) == 0);    /* nor what was taken back */
		cb = true; eff = eff | te; rec = tr; te = 0 };
	atomic { effD = eff; recD = rec; cbD = cb; tr = 0; shown = eff;
		txn = false; lres = DID; pl = tl }
}

/* Mutex held; unlocks.  own: the request in the leader's memory is in it. */
inline batch() {
	al = false;
	attempt();
	if
#ifndef V_NOALONE
	:: spoiled -> al = true; attempt()
	:: !spoiled
#else
	:: true
#endif
	fi;
	if
	:: spoiled -> fail_all()
	:: !spoiled ->
#ifndef V_INTENT_LATE
		intent();
#endif
#if FAILS > 0
		if
		:: atomic { fails > 0 -> fails--; txn = false; open = false };
			fail_all()
		:: true -> commit()
		fi
#else
		commit()
#endif
#ifdef V_INTENT_LATE
		; intent()
#endif
	fi;
#ifdef V_UNLOCK_FIRST
	clear(); unlock(); verdicts(); handoff();
	d_step { forget() }
#else
#ifdef V_CLEAR_EARLY
	clear();
#endif
	verdicts();
	clear();
#ifdef V_SCAN_EARLY
	handoff();
	d_step { unlock(); forget() }
#else
	d_step { unlock(); forget() };
	handoff()
#endif
#endif
}

inline forget() { tl = 0; tr = 0; te = 0; spoiled = false; al = false;
	own = false; tq[0] = 0; tq[1] = 0; tq[2] = 0 }

/* ---- recovery; mutex held ---- */

inline rpublish(s) {
	if
	:: (blist & BIT(s)) && WAITS(s) && SAMESEQ(s, bseq[s]) -> st[s] = DONE
	:: else
	fi
}

inline rwake(s) {
	if
	:: blist & BIT(s) -> slp[s] = false
	:: else
	fi
}

inline put_back(s) {
	if
	:: st[s] == TAKEN -> st[s] = PEND
	:: else
	fi
}

inline flush() { atomic { effD = eff; recD = rec; cbD = cb } }

/* The store's own recovery, in its next begin, shows readers what is there. */
inline find() { atomic { shown = eff; assert(DURABLE(shown)) } }

inline tidy() {
	put_back(0); put_back(1); put_back(2)
#ifdef KILLER
	; if
	:: running != 0 ->
#ifndef V_NOBLAME
		ncr[running - 1] = ncr[running - 1] + 1;
#endif
		running = 0
	:: else
	fi
#endif
}

/* sick: the batch could not be looked at. */
inline recover() {
	if
	:: d_step { !open -> tidy() }
#if RECFAILS > 0
	:: d_step { open && recfails > 0 -> recfails--; sick = true }
#endif
	:: open ->
#ifdef V_FLUSH_LATE
		find(); flush();
#else
#ifndef V_NOSYNC
		flush();
#endif
		find();
#endif
		if
		:: cb ->
			d_step { rpublish(0) };
			d_step { rpublish(1) };
			d_step { rpublish(2) };
			d_step { rwake(0); rwake(1); rwake(2) }
		:: !cb
		fi;
		clear();
		d_step { tidy() }
	fi
}

inline leave() {
	unlock();
#if !defined(V_NOSCAN) && !defined(V_SCAN_EARLY)
	handoff()
#else
	skip
#endif
}

/* ---- a process ---- */

/* What he was told is so, and is on the disk. */
inline check(o, verdict) {
	if
	:: verdict == ERR -> assert((eff & BIT(o)) == 0);
#if FAILS == 0 && !defined(KILLER)
		assert(KIND(o) == 1 && (SPOILS(me) || REFUSES(me)))
#endif
	:: else -> assert(DURABLE(BIT(o)))
	fi
}

inline hear() {
	assert(vop[me] == rop[me]);           /* the verdict is mine */
	if
	:: doubt -> skip
	:: else -> check(rop[me], res[me]);
		if
		:: KIND(rop[me]) == 0 && res[me] == CLAIMED ->
			assert(!(owns[0] && me != 0));
			assert(!(owns[1] && me != 1));
			assert(!(owns[2] && me != 2));
			owns[me] = true
		:: else
		fi
	fi;
	st[me] = IDLE; k++; doubt = false; vop[me] = 0; res[me] = 0; rop[me] = 0
}

/* Take it back, or give the token up and be in doubt. */
inline give_up() {
	if
#ifdef V_FORGET
	:: WAITS(me) ->
#else
	:: st[me] == PEND || st[me] == LEAD ->
#endif
		assert((eff & BIT(rop[me])) == 0 || doubt);
		if
		:: doubt
		:: else -> gone = gone | BIT(rop[me])
		fi;
		st[me] = IDLE; rop[me] = 0; k++; doubt = false
#ifndef V_FORGET
	:: st[me] == TAKEN && !doubt -> doubt = true;
#ifndef V_KEEPTOKEN
		tok[me] = NOTOKEN; owns[me] = false /* the key with it */
#endif
#endif
	:: else
	fi
}

inline lock() { atomic { (mo == NOBODY || mdead) -> mo = me; mdead = false;
	/* the store's own lock went with its owner */ txn = false } }

/* Nobody is attached: nothing in the file is believed. */
inline attach() {
	atomic {
		if
		:: !alive[0] && !alive[1] && !alive[2] ->
			shown = eff; txn = false;
#ifndef V_FIRST_NOFLUSH
			effD = eff; recD = rec;
#endif
#ifndef V_STALE
			mo = NOBODY; mdead = false; open = false; blist = 0;
			cb = false; cbD = false;
			bseq[0] = 0; bseq[1] = 0; bseq[2] = 0;
			st[0] = IDLE; st[1] = IDLE; st[2] = IDLE;
			seq[0] = 0; seq[1] = 0; seq[2] = 0;
			rop[0] = 0; rop[1] = 0; rop[2] = 0;
			vop[0] = 0; vop[1] = 0; vop[2] = 0;
			res[0] = 0; res[1] = 0; res[2] = 0
#ifdef KILLER
			; ncr[0] = 0; ncr[1] = 0; ncr[2] = 0; running = 0
#endif
#endif
		:: else
		fi;
		assert(DURABLE(shown));
		alive[me] = true; tok[me] = inc[me]
	}
}

proctype worker(byte me) {
	byte k, tr, tl, pl, tq[N], lres, w = NOBODY, heard;
	int te;
	bool spoiled, kills, al, own, asked, sick, doubt;

start:
	{
	if
#ifndef COLD
	:: inc[me] == 0 -> goto attached
	:: inc[me] != 0 ->
#else
	:: true ->
#endif
		attach()
	fi;
#if defined(V_NOSEQ) || defined(V_ATTACH_NOLOCK)
	d_step { seq[me] = seq[me] + 1; st[me] = IDLE };
#else
	/* what a dead owner left pending may be the answer of finished work */
	do
	:: lock(); recover();
		if
		:: sick -> leave(); sick = false; goto left
		:: !sick && WAITS(me) -> batch()
		:: else -> break
		fi
	od;
	atomic { seq[me] = seq[me] + 1; st[me] = IDLE; rop[me] = 0 };
	unlock();
#if !defined(V_ATTACH_NOSCAN) && !defined(V_SCAN_EARLY)
	handoff();
#endif
#endif
attached:
	do
	:: k < OPS && ISLONG(me, k) ->
		if
		:: lock();
			recover();
			if
			:: sick -> leave(); sick = false
			:: else -> own = true; batch();
				check(OP(me, inc[me], k), lres)
			fi
#if GIVEUPS > 0
		:: d_step { giveups > 0 -> giveups--;
			gone = gone | BIT(OP(me, inc[me], k)) }
#endif
		fi;
		d_step { lres = 0; k++ }
	:: atomic { k < OPS && !ISLONG(me, k) -> rop[me] = OP(me, inc[me], k);
			seq[me] = seq[me] + 1;
#ifdef KILLER
			ncr[me] = 0;
#endif
			st[me] = PEND };
		do
		:: atomic { st[me] == DONE -> hear(); break }
		:: st[me] == IDLE -> break               /* taken back */
		:: d_step { WAITS(me) ->
			if
			:: st[me] == LEAD -> st[me] = PEND
			:: else
			fi;
			heard = st[me] };
			if                                /* trylock */
			:: atomic { (mo == NOBODY || mdead) ->
				mo = me; mdead = false; txn = false; heard = 0 };
				recover();
				if
				:: sick -> leave(); sick = false;
					atomic { give_up() }
				:: !sick && WAITS(me) -> batch()
				:: else -> leave()
				fi
			:: !(mo == NOBODY || mdead) ->
				/* compare and sleep: one step */
				d_step {
					if
					:: st[me] == heard -> slp[me] = true
					:: else
					fi };
				if
				:: atomic { !slp[me] -> heard = 0 }
#ifndef V_NONET
				/* without a death nobody needs it */
				:: atomic { QUIET && slp[me] -> assert(crashed);
					slp[me] = false; heard = 0 }
#endif
#if GIVEUPS > 0
				:: atomic { giveups > 0 && slp[me] && WAITS(me)
					-> giveups--; slp[me] = false;
					heard = 0; give_up() }
#endif
				fi
			fi
#if GIVEUPS > 0 || RECFAILS > 0
		:: doubt -> goto left                     /* as it should */
#endif
		od
	:: atomic { k == OPS -> fin[me] = true }; break
#ifdef LAZY
	:: atomic { k < OPS -> fin[me] = true }; break
#endif
	od;
	/* lives on, idle, and keeps its key */
end:	false;
left:	atomic { alive[me] = false; tok[me] = NOTOKEN; owns[me] = false;
		doubt = false; k = 0; heard = 0 }
	} unless { atomic { kill_[me] ->
		kill_[me] = false;
		k = 0; tr = 0; tl = 0; pl = 0; te = 0; lres = 0; w = NOBODY; heard = 0;
		tq[0] = 0; tq[1] = 0; tq[2] = 0; spoiled = false; kills = false;
		al = false; own = false; asked = false; sick = false;
		doubt = false
	} };
	/* another process may take the slot over */
	if
	:: inc[me] + 1 < INC -> inc[me] = inc[me] + 1; goto start
	:: true
	fi
}

#ifdef ONLY
#define VICTIM(s) (s == ONLY)
#else
#define VICTIM(s) true
#endif

#define MORTAL(s) (VICTIM(s) && crashes > 0 && alive[s] && !kill_[s])

active proctype reaper() {
end:	do
	:: d_step { MORTAL(0) -> crashes--; crashed = true; die(0) }
	:: d_step { MORTAL(1) -> crashes--; crashed = true; die(1) }
	:: d_step { MORTAL(2) -> crashes--; crashed = true; die(2) }
#if CUTS > 0
	:: d_step { cuts > 0 && !kill_[0] && !kill_[1] && !kill_[2] &&
			alive[0] && alive[1] && alive[2] ->
		cuts--; crashed = true;
		die(0); die(1); die(2);
		eff = effD; rec = recD; cb = cbD;
		mdead = false /* no kernel knows the owner any more */ }
#endif
#ifdef OTHER
	/* the other group's number; it waits for the store's own lock */
	:: d_step { !other && !txn -> other = true; effD = eff; recD = rec;
#ifdef V_ONEMARK
		cb = false;
#endif
		cbD = cb }
#endif
	od
}

init { atomic {
#ifndef COLD
	alive[0] = true; alive[1] = true; alive[2] = true;
	tok[0] = 0; tok[1] = 0; tok[2] = 0;
#endif
	run worker(0); run worker(1); run worker(2)
} }
