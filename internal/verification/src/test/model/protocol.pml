/*
 * The lock protocol, for Spin. docs/internals/model.md has the overview: properties, what is left out, figures.
 *
 * Each inline under "The store" is one transaction of R__syncguard_schema.sql, or one Lua script. Each step of a
 * process is one atomic step of a caller, of the store, of the network or of time; between two steps anything else may
 * happen, so a process may pause anywhere.
 *
 * Time is what is left of something, in ticks. Nothing counts the time since the start, so the search ends.
 *
 * A caller is one lock id. When nothing is left of it, it begins again as another caller with a fresh lock id.
 *
 * Steps, and where the code has them:
 *
 *   first_look, proved          first statements of _acquire; EXISTS in grant_free.lua
 *   attempt                     _acquire, _own_lease; acquire.lua; Acquirer.attempt
 *   look_at, delete_lapsed      _blockers, _delete_lapsed; delete_lapsed_leases
 *   draw, grant                 _next_fence, _grant; next_fence, write_grant
 *   attempt_in_batch            _acquire_batch, _queue_batch; batch.lua; Batcher, AsyncBatcher
 *   extend_judge, extend_commit _extend; extend.lua; Heartbeat, LeaseRenewer
 *   release, hand_over          _remove, _hand_over, _hand_out; release.lua; LockReleaser, BackgroundReleaser
 *   get_reply, lose_reply, look_at_once  the reply of a release; LockReleaser, WaiterRegistry
 *   take_along                  _queue_and_hand_over; ReleaseSender
 *   leave, wake_behind, wake_next  _leave, _wake; wake_ups.lua; BackgroundReleaser.leaveQueue
 *   wake_beside                 _wake_beside; wake_ups.lua
 *   renew                       _renew_waiters; renew_waiters.lua; WaiterRegistry.poll
 *   sweep                       _sweep; expiry of keys; PostgresSweeper
 *   forgetter                   _forget; PEXPIREAT in next_fence; PostgresCounterSweeper
 *   hold, check_holder          Confirmation, Lease
 *   pinned, the commit          FOR KEY SHARE; PostgresPins, GuardedLease
 *   in_doubt, late              BackgroundReleaser.releaseInDoubt
 *   loss of a message           NOTIFY; PUBLISH; Waiter.handOver, Waiter.wake
 *
 * -DNAME removes one rule; the names are the #ifdef and #ifndef below, and Removal.java lists them.
 */

#ifndef N
#define N 2 /* callers */
#endif
#ifndef KEYS
#define KEYS 1
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef WAITER_TTL
#define WAITER_TTL 1
#endif
#ifndef PERIOD
#define PERIOD 1 /* in which a request may execute after its caller has given up: the in-doubt period */
#endif
#ifdef WITHOUT_TOLERANCE
#define TOLERANCE 0
#else
#ifndef TOLERANCE
#define TOLERANCE 1
#endif
#endif
#ifndef RETENTION
#define RETENTION 1 /* fences by the clock: what is kept of an idle counter */
#endif
#define LEAD 1 /* fences by the clock: how many grants more than ticks */
/* Without waiters, one process matters for batches only. */
#if defined(ALL_TRY) && !defined(TOGETHER)
#if KEYS > 1
#define TOGETHER
#else
#define APART
#endif
#endif
/* A replayed run has times in milliseconds, and all its fences. Its driver includes this file. */
#ifdef REPLAY
#define COUNT int
#define FENCE int
#else
#define COUNT byte
#define FENCE byte
#endif

/* ---- Properties. A violated one is the text of pan's assertion. ---- */

hidden byte one_holder, one_lease, fences_grow, no_stale_commit, lost_is_refused, no_foreign_release, no_leak,
    lease_or_entry, in_order, within_permits, not_forgotten;

#define check(property, condition) if :: (condition) -> skip :: else -> assert(property) fi

/* ---- State ---- */

/* A lease: is there a row, what is left of it with the tolerance, its fence, and who else locks the row. */
bool row[N];
COUNT left[N];
FENCE fence[N];
bool pinned[N];   /* by the transaction of a guarded commit */
COUNT stalled[N]; /* by an extension that has judged the lease and has not committed: 1 + what it leaves */

/* A queue entry: is there a row, what is left of it, and its place in the queue of the key. */
bool entry[N];
COUNT kept[N];
byte place[N];

/* A key: its fence counter; the largest fence that was granted, and the largest that was committed. */
FENCE counter[KEYS];
#ifdef CLOCK_FENCES
byte by_clock[KEYS];
#endif
FENCE largest[KEYS];
FENCE committed[KEYS];

/* A caller. */
#define OUT 0    /* not there, or dead */
#define FIRST 1  /* sends its first request */
#define QUEUED 2 /* has a queue entry and sends no request */
#define AGAIN 3  /* sends another request */
#define HELD 4   /* has a handle */
#define ENDING 5
byte state[N];
#define is_waiting(p) (state[p] == QUEUED || state[p] == AGAIN)
#define in_batch(p) (state[p] == FIRST && answer[p] == NO_ANSWER && look[p] == NO_LOOK)
#ifdef LIVENESS
bool looked[N]; /* since the last tick */
#define has_looked(p) looked[p] = true
#else
#define has_looked(p) skip
#endif
byte key[N];
bool shared[N];
#ifdef PERMITS
byte limit[N]; /* how many shared leases the key may have with it; 0: no limit */
#define limited(p) (limit[p] > 0)
#else
#define limited(p) false
#endif
#define TRY 0  /* refused, it gives up */
#define WAITS 1 /* refused, it queues */
#define LAST 2  /* refused, it leaves the queue */
byte mode[N];
COUNT own[N];   /* by its own clock: what is left until the deadline; of a waiter: the deadline of a hand-over */
COUNT asked[N]; /* the same for the request that is under way */

/* A request: its answer, and what its first look found. */
#define NO_ANSWER 0
#define GRANTED 1
#define WAIT 2
#define REFUSED 3
#define LOOK 4
#define NO_LEASE 5
#define BUSY 6
#define RELEASED 7
#define REPLY_LOST 8
byte answer[N];
#define NO_LOOK 0
#define FREE 1       /* neither leases nor queue, and the counter that it saw is unchanged */
#define FREE_NEW 2   /* the same, and there was no counter */
#define NOT_BLOCKED 3
#define BLOCKED 4
#define CHANGED 5
byte look[N];

/*
 * POLL: within so many ticks a waiter looks again, whatever happens. Here leases end by lapsing alone, messages arrive,
 * and a waiter looks only when it is time.
 */
#ifdef POLL
COUNT next_look[N];
#endif

/* Whether the callers 0 and 1 are threads of one process: their requests may travel together. A third is another's. */
bool one_process;
#ifdef REPLAY
#define local(p, q) false
#else
#define local(p, q) (one_process && p != q && p < 2 && q < 2 && key[p] == key[q])
#endif

/* The replies of releases that are under way. */
byte reply[N];  /* 1 + the waiter of the same process that is handed the key in it */
bool along[N];  /* the answer of a request that went along is in it */
bool unsure[N]; /* a reply was lost before */

/* The network. */
bool late_release[N]; /* a release that may still execute, and whose reply nobody will read */
bool late[N];  /* a request whose caller has given up, and that may still execute */
COUNT doubt[N]; /* what is left of the in-doubt period */
#define MESSAGE_NONE 0
#define MESSAGE_WAKE 1
#define MESSAGE_GRANT 2
byte message[N];
bool missed[N]; /* a message was lost or an entry lapsed, which is a time to look; and it has not looked since */

#ifdef CLOCK_BEFORE_LOCK
COUNT elapsed[N]; /* 1 + the time since the transaction of a release read the clock */
#define since(p) (elapsed[p] - 1)
#else
#define since(p) 0
#endif

bool lag; /* the store's clock is one tick ahead of the callers' clocks: rounding, drift */

/* Variables of one step. */
hidden byte blocking, lapsing, used, more;
#ifdef PERMITS
hidden byte there, living, most, unlimited;
#ifdef BATCH_FORGETS_GRANT
hidden byte forgotten; /* 1 + the caller that the batch has granted */
#define counts(p) (forgotten != p + 1)
#else
#define counts(p) true
#endif
#endif
hidden byte i, j, v, first, before, reading;
hidden FENCE next;

/* ---- Fences: only their order counts, so values that nobody uses are left out. ---- */

#ifdef CLOCK_FENCES
#define LAST_FENCE (N + RETENTION + LEAD + 6)
#define may_draw(p) (counter[key[p]] < by_clock[key[p]] + LEAD)
#else
#define LAST_FENCE (N + 4)
#define may_draw(p) true
#endif

inline compress(k) {
#ifndef REPLAY
    v = 1;
    do
    :: v >= LAST_FENCE -> break
    :: else ->
        used = (counter[k] == v || largest[k] == v || committed[k] == v);
        more = (counter[k] > v || largest[k] > v || committed[k] > v);
        for (j : 0 .. N - 1) {
            used = used || (key[j] == k && fence[j] == v);
            more = more || (key[j] == k && fence[j] > v)
        }
#ifdef CLOCK_FENCES
        used = used || v + RETENTION >= by_clock[k];
        more = more || by_clock[k] > v;
#endif
        if
        :: used -> v++
        :: !used && !more -> break
        :: else ->
            counter[k] = counter[k] - (counter[k] > v -> 1 : 0);
            largest[k] = largest[k] - (largest[k] > v -> 1 : 0);
            committed[k] = committed[k] - (committed[k] > v -> 1 : 0);
#ifdef CLOCK_FENCES
            by_clock[k] = by_clock[k] - 1;
#endif
            for (j : 0 .. N - 1) {
                fence[j] = fence[j] - (key[j] == k && fence[j] > v -> 1 : 0)
            }
        fi
    od
#else
    skip
#endif
}

/* ---- The store ---- */

#define conflict(p, q) (key[p] == key[q] && !(shared[p] && shared[q]))
#define keeps_order(p, q) (key[p] == key[q] && !(shared[p] && shared[q] && !limited(p) && !limited(q)))
#define in_the_way(p, q) (conflict(p, q) || (p != q && key[p] == key[q] && limited(p) && shared[q]))
#define live(p) (row[p] && left[p] > 0)
#define queues(p) (entry[p] && kept[p] > 0)
#define in_front(q, p) (q != p && queues(q) && keeps_order(p, q) && !(queues(p) && place[p] < place[q]))

#ifdef NEWCOMER_PASSES_QUEUE
#define seen_in_front(q, p) (queues(p) && in_front(q, p))
#elif defined(LARGER_NUMBER_PASSES)
#define seen_in_front(q, p) (in_front(q, p) && !(limited(q) && limit[p] > limit[q]))
#else
#define seen_in_front(q, p) in_front(q, p)
#endif

/* Whether another transaction locks the row, so that a takeover, a release and a cleanup skip it. */
#ifdef PIN_NOT_KEY_STRENGTH
#define locked(p) (stalled[p] > 0)
#else
#define locked(p) (pinned[p] || stalled[p] > 0)
#endif

/* Draws the next fence of the key for a lease: _next_fence, next_fence. */
inline draw(p) {
#ifdef CLOCK_FENCES
    next = by_clock[key[p]];
#ifndef CLOCK_FENCE_WITHOUT_LAST
    next = (counter[key[p]] + 1 > next -> counter[key[p]] + 1 : next);
#endif
#else
    next = counter[key[p]] + 1;
#endif
    check(fences_grow, next > largest[key[p]]);
    counter[key[p]] = next;
    largest[key[p]] = (next > largest[key[p]] -> next : largest[key[p]]);
#ifdef COMMITS
    fence[p] = next;
#endif
    for (j : 0 .. N - 1) {
        look[j] = (look[j] == FREE && key[j] == key[p] -> CHANGED : look[j])
    }
    compress(key[p])
}

inline delete_entry(p) {
    for (j : 0 .. N - 1) {
        place[j] = place[j] - (entry[j] && key[j] == key[p] && place[j] > place[p] -> 1 : 0)
    }
    entry[p] = false;
    kept[p] = 0;
    place[p] = 0
}

inline delete_lease(p) {
    row[p] = false;
    left[p] = 0;
#ifdef FENCE_DELETED_WITH_ROW
    counter[key[p]] = 0
#endif
}

/* The shared leases beside that of a limited request, lapsed ones included, and the live ones of them. */
#ifdef PERMITS
inline count(p) {
    there = 0;
    living = 0;
    for (v : 0 .. N - 1) {
        there = there + (row[v] && v != p && key[v] == key[p] && shared[v] && counts(v) -> 1 : 0);
        living = living + (live(v) && v != p && key[v] == key[p] && shared[v] && counts(v) -> 1 : 0)
    }
}
#define lacks_room(p) (limited(p) && there >= limit[p])
#define is_full(p) (limited(p) && living >= limit[p])
#else
inline count(p) {
    skip
}
#define lacks_room(p) false
#define is_full(p) false
#endif

/* What blocks a request: live leases, and entries in front. lapsing: a lapsed lease is in the way. _blockers. */
inline look_at(p) {
    blocking = false;
    lapsing = false;
    for (i : 0 .. N - 1) {
        blocking = blocking || (live(i) && conflict(p, i)) || seen_in_front(i, p);
        lapsing = lapsing || (row[i] && left[i] == 0 && conflict(p, i))
    }
    count(p);
    blocking = blocking || is_full(p);
    lapsing = lapsing || lacks_room(p)
}

/* Deletes the lapsed leases in the way. A row that another transaction locks blocks. _delete_lapsed. */
inline delete_lapsed(p) {
    for (i : 0 .. N - 1) {
        if
        :: row[i] && left[i] == 0 && in_the_way(p, i) ->
            if
#ifdef LAPSED_IS_FILTERED
            :: i != p
#endif
            :: locked(i) -> blocking = blocking || conflict(p, i)
            :: else ->
                printf("%d loses its lapsed lease\n", i);
                delete_lease(i)
            fi
        :: else
        fi
    }
    count(p);
#ifdef LAPSED_IS_NOT_COUNTED
    blocking = blocking || is_full(p)
#else
    blocking = blocking || lacks_room(p)
#endif
}

/*
 * The lease is the only live one, or those beside it are shared, too. If all of them are limited, the last one was
 * granted within its number.
 */
inline check_lease(p) {
    for (i : 0 .. N - 1) {
        check(one_lease, i == p || !live(p) || !live(i) || !conflict(p, i))
    }
#ifdef PERMITS
    living = 0;
    most = 0;
    unlimited = false;
    for (i : 0 .. N - 1) {
        living = living + (live(i) && shared[i] && key[i] == key[p] -> 1 : 0);
        most = (live(i) && shared[i] && key[i] == key[p] && limit[i] > most -> limit[i] : most);
        unlimited = unlimited || (live(i) && shared[i] && key[i] == key[p] && !limited(i))
    }
    check(within_permits, unlimited || living <= most);
    skip
#endif
}

inline grant(p) {
    for (i : 0 .. N - 1) {
        check(in_order, !in_front(i, p))
    }
#ifdef POLL
    lapsing = entry[p];
#elif defined(PERMITS)
    lapsing = entry[p] && limited(p);
#endif
    if
    :: entry[p] -> delete_entry(p)
    :: else
    fi;
    row[p] = true;
    left[p] = TTL + TOLERANCE;
    printf("%d is granted the key\n", p);
    check_lease(p);
    draw(p);
    answer[p] = GRANTED;
#if (defined(PERMITS) || defined(POLL)) && !defined(GRANT_WAKES_NOBODY)
    if
#ifdef GRANT_TELLS_NOBODY
    :: lapsing -> wake_next(key[p])
#else
    :: lapsing -> wake_beside(key[p])
#endif
    :: else
    fi
#else
    skip
#endif
}

inline delete_lapsed_entries(k) {
    for (i : 0 .. N - 1) {
        if
        :: entry[i] && kept[i] == 0 && key[i] == k -> delete_entry(i)
        :: else
        fi
    }
}

/* Whether nothing is in the way of the entry q. _front_waiters deletes lapsed entries before. */
inline grantable(q) {
    blocking = false;
    for (j : 0 .. N - 1) {
        blocking = blocking || (live(j) && conflict(q, j)) || in_front(j, q)
    }
    count(q);
    blocking = blocking || is_full(q)
}

/* The same if all leases that lapse before its next poll have lapsed. */
inline soon_grantable(q) {
#ifdef POLL
    blocking = false;
    used = 0;
    for (j : 0 .. N - 1) {
        blocking = blocking || (left[j] > POLL && row[j] && conflict(q, j)) || in_front(j, q);
        used = used + (left[j] > POLL && row[j] && key[j] == key[q] && shared[j] -> 1 : 0)
    }
#ifdef PERMITS
    blocking = blocking || (limited(q) && used >= limit[q])
#endif
#else
    grantable(q)
#endif
}

inline wake(q) {
    message[q] = (message[q] == MESSAGE_NONE && state[q] != OUT -> MESSAGE_WAKE : message[q])
}

/* Wakes the waiters that can be granted the key: _wake_next. */
inline wake_next(k) {
    delete_lapsed_entries(k);
    for (i : 0 .. N - 1) {
        if
        :: entry[i] && key[i] == k ->
            grantable(i);
            if
            :: !blocking -> wake(i)
            :: else
            fi
        :: else
        fi
    }
}

/* Wakes the waiters behind one that was granted the key, if there is room or a lapse makes room soon: _wake_beside. */
inline wake_beside(k) {
    delete_lapsed_entries(k);
    for (i : 0 .. N - 1) {
        if
        :: entry[i] && key[i] == k ->
            soon_grantable(i);
            if
            :: !blocking -> wake(i)
            :: else
            fi
        :: else
        fi
    }
}

/* Wakes those, and the front behind an entry that has left its place: _wake_behind. */
inline wake_behind(k, was_shared) {
    delete_lapsed_entries(k);
    for (i : 0 .. N - 1) {
        if
        :: entry[i] && key[i] == k ->
            grantable(i);
            used = false; /* a writer in front */
            more = false; /* anybody in front */
            for (j : 0 .. N - 1) {
                more = more || (entry[j] && key[j] == k && place[j] < place[i]);
                used = used || (entry[j] && key[j] == k && place[j] < place[i] && !shared[j])
            }
            if
            :: !blocking || (!used && place[i] >= before && (!was_shared || (!shared[i] && !more))) -> wake(i)
            :: else
            fi
        :: else
        fi
    }
}

inline leave(p) {
    printf("%d leaves the queue\n", p);
    before = place[p];
    delete_entry(p);
#ifndef LEAVE_WITHOUT_WAKE_UP
    wake_behind(key[p], shared[p])
#endif
}

#define is_told_nothing(p) (state[p] == QUEUED && message[p] == MESSAGE_NONE && !missed[p])
#define stands_before(q, p) \
    ((conflict(p, q) && row[q]) || (keeps_order(p, q) && q != p && entry[q] && place[q] < place[p]))

/* Whether the process of a release will see that it has handed the key over. */
#ifdef LOST_REPLY_LOOKED_ONCE
#define will_tell(q, p) (reply[q] == p + 1)
#else
#define will_tell(q, p) (reply[q] == p + 1 || unsure[q])
#endif

/*
 * A waiter that nothing tells: neither a message nor what is in its way, whose end is the time of its next look; or that
 * it was handed the key.
 */
inline check_queues(k) {
    for (i : 0 .. N - 1) {
        check(lease_or_entry, !(live(i) && entry[i]));
        if
        :: key[i] == k && is_told_nothing(i) && (queues(i) || live(i)) ->
            blocking = false;
            for (j : 0 .. N - 1) {
                used = (live(i) -> local(i, j) && will_tell(j, i) : stands_before(j, i));
                blocking = blocking || used
            }
            count(i);
            blocking = blocking || (!live(i) && lacks_room(i));
            check(not_forgotten, blocking)
        :: else
        fi
    }
}

/* A waiter that can be granted the key by a lapse, of which nothing tells, knew when to look. */
inline check_looks() {
#ifdef POLL
    for (i : 0 .. N - 1) {
        if
        :: queues(i) && is_told_nothing(i) && next_look[i] > 0 ->
            grantable(i);
            check(not_forgotten, blocking)
        :: else
        fi
    }
#endif
    skip
}

/* The time of the next look: when the first lease or entry in the way ends. A locked row is tried again at once. */
inline tell(p) {
#ifdef POLL
    next_look[p] = POLL;
    more = 0; /* how many in front would take a place, if the first can be granted the key */
#ifdef PERMITS
    for (first : 0 .. N - 1) {
        if
        :: queues(first) && first != p && key[first] == key[p] && place[first] == 1 -> grantable(first); used = blocking
        :: else
        fi
    }
    for (i : 0 .. N - 1) {
        more = more + (!used && in_front(i, p) -> 1 : 0)
    }
#endif
    count(p);
    for (i : 0 .. N - 1) {
#ifdef PERMITS
        used = limited(p) && shared[i] && key[i] == key[p] && living + more >= limit[p];
#else
        used = false;
#endif
        used = row[i] && i != p && (used || conflict(p, i));
        next_look[p] = (used && left[i] < next_look[p] -> left[i] : next_look[p]);
        next_look[p] = (in_front(i, p) && kept[i] < next_look[p] -> kept[i] : next_look[p])
    }
#endif
    skip
}

/* The look without a lock, in _acquire. Most refused tries end here. */
inline first_look(p) {
    look_at(p);
    used = false;
    for (i : 0 .. N - 1) {
        used = used || ((row[i] || entry[i]) && key[i] == key[p])
    }
    printf("%d looks\n", p);
    if
    :: !used && counter[key[p]] > 0 -> look[p] = FREE
    :: !used && counter[key[p]] == 0 -> look[p] = FREE_NEW
    :: used && blocking && mode[p] == TRY -> answer[p] = REFUSED
    :: else -> look[p] = (blocking -> BLOCKED : NOT_BLOCKED)
    fi
}

/* The proof that a free key is still free. */
#ifdef FREE_KEY_WITHOUT_PROOF
#define proved(p) (look[p] == FREE || look[p] == FREE_NEW || look[p] == CHANGED)
#else
#define proved(p) (look[p] == FREE || (look[p] == FREE_NEW && counter[key[p]] == 0))
#endif

/* A refused waiter gets an entry or renews the one that it has; another one leaves. */
inline queue_or_leave(p) {
    if
    :: mode[p] == WAITS && queues(p) -> kept[p] = WAITER_TTL
    :: mode[p] == WAITS && !queues(p) ->
        if
        :: entry[p] -> delete_entry(p)
        :: else
        fi;
        place[p] = 1;
        for (j : 0 .. N - 1) {
            place[p] = place[p] + (entry[j] && key[j] == key[p] -> 1 : 0)
        }
        entry[p] = true;
        kept[p] = WAITER_TTL
    :: mode[p] != WAITS && entry[p] -> leave(p)
    :: else
    fi;
    if
    :: mode[p] == WAITS ->
        tell(p);
        answer[p] = WAIT;
        printf("%d is refused and queues\n", p);
        state[p] = (state[p] != OUT && !late[p] -> QUEUED : state[p])
    :: else ->
        answer[p] = REFUSED;
        printf("%d is refused\n", p)
    fi
}

/* A reply that hands the key to an earlier request does not count. */
inline ignore_replies(p) {
    for (j : 0 .. N - 1) {
        reply[j] = (reply[j] == p + 1 -> 0 : reply[j])
    }
}

/* One attempt under the serialising row, in _acquire; acquire.lua. */
inline attempt(p) {
    has_looked(p);
    ignore_replies(p);
    message[p] = MESSAGE_NONE;
    missed[p] = false;
    if
    :: proved(p) -> grant(p)
#ifndef NO_OWN_GRANT_LOOKUP
    :: live(p) && mode[p] != TRY ->
        left[p] = TTL + TOLERANCE;
        printf("%d finds its own grant\n", p);
        answer[p] = GRANTED
#endif
    :: else ->
        look_at(p);
#ifdef NO_LOOK_UNDER_ROW_LOCK
        blocking = blocking && look[p] != NOT_BLOCKED;
#endif
#ifdef QUEUE_WITHOUT_ROW_LOCK
        blocking = blocking || look[p] == BLOCKED;
#endif
#ifdef CHECK_WITHOUT_ROW_LOCK
        blocking = (look[p] == BLOCKED);
#endif
#ifdef ALONG_AFTER_RELEASE
        blocking = blocking || along[p];
#endif
        if
        :: !blocking && lapsing -> delete_lapsed(p)
        :: else
        fi;
        if
        :: blocking -> queue_or_leave(p)
        :: else -> grant(p)
        fi
    fi;
    look[p] = NO_LOOK;
    check_queues(key[p]);
    skip /* a loop must not end a d_step */
}

/* The run says which entry was handed the key: not each accepts that, and not each release does it. */
#ifdef REPLAY
byte handed = N;
bool deletes_lapsed;
#define accepts(q) (handed == q)
#else
#define deletes_lapsed true
#ifdef POLL
#define accepts(q) false /* its ttl is shorter than that of the first lease */
#else
#define accepts(q) true
#endif
#endif

inline hand_to(p, q, waited) {
    delete_entry(q);
    row[q] = true;
    left[q] = (WAITER_TTL + TOLERANCE > waited -> WAITER_TTL + TOLERANCE - waited : 0);
    printf("%d is handed the key\n", q);
    check_lease(q);
    draw(q);
    if
    :: local(p, q) -> reply[p] = q + 1
    :: else -> message[q] = (state[q] != OUT -> MESSAGE_GRANT : MESSAGE_NONE)
    fi
}

#if N > 2
#define held_alone(k) (is_alone(0, k) || is_alone(1, k) || is_alone(2, k))
#else
#define held_alone(k) (is_alone(0, k) || is_alone(1, k))
#endif
#define is_alone(p, k) (row[p] && key[p] == k && !shared[p])

/*
 * Grants the key to the first waiter if it is a live writer and no lease is left; else wakes. The reply of the release
 * tells a waiter of the same process, and a message another, in _hand_over. Limited waiters are granted the key one
 * after the other, as far as there is room.
 */
inline hand_over(p, k, waited) {
    first = N;
    for (i : 0 .. N - 1) {
        first = (entry[i] && key[i] == k && place[i] == 1 -> i : first)
    }
    if
    :: first < N ->
        used = false;
        for (i : 0 .. N - 1) {
            if
            :: row[i] && deletes_lapsed && left[i] == 0 && key[i] == k && shared[i] && !locked(i) -> delete_lease(i)
            :: else
            fi;
            used = used || (row[i] && key[i] == k)
        }
        if
        :: !used && queues(first) && !shared[first] && accepts(first) -> hand_to(p, first, waited)
#ifdef PERMITS
        :: limited(first) ->
            count(first);
            do
            :: first < N && queues(first) && accepts(first) && limited(first) && !lacks_room(first) && !held_alone(k) ->
                hand_to(p, first, waited);
                first = N;
                for (i : 0 .. N - 1) {
                    first = (entry[i] && key[i] == k && place[i] == 1 -> i : first)
                }
                if
                :: first < N -> count(first)
                :: else
                fi
            :: else -> break
            od;
            wake_beside(k)
#endif
#ifndef RELEASE_WITHOUT_WAKE_UP
        :: else -> wake_next(k)
#else
        :: else
#endif
        fi
    :: else
    fi
}

/* Ends the lease or the queue entry with this lock id: _hand_over, release.lua. */
inline release(p, waited) {
    first = p;
#ifdef RELEASE_WITHOUT_LOCK_ID
    for (i : 0 .. N - 1) {
        first = (live(i) && key[i] == key[p] -> i : first)
    }
#endif
    if
    :: live(first) && locked(first) -> answer[p] = BUSY
    :: live(first) && !locked(first) ->
        check(no_foreign_release, first == p);
        printf("%d releases\n", first);
        delete_lease(first);
        answer[p] = RELEASED;
        hand_over(p, key[p], waited)
    :: !live(first) && entry[p] ->
        leave(p);
        answer[p] = NO_LEASE
    :: else -> answer[p] = NO_LEASE
    fi;
    check_queues(key[p]);
    skip /* a loop must not end a d_step */
}

/* Renews a queue entry: _renew_waiters, renew_waiters.lua. */
inline renew(p) {
    has_looked(p);
    if
    :: queues(p) ->
        kept[p] = WAITER_TTL;
        printf("%d renews its entry\n", p);
        tell(p);
        look_at(p);
#ifdef POLL
        next_look[p] = (blocking -> next_look[p] : 0);
#endif
        answer[p] = (blocking -> WAIT : LOOK)
    :: else -> answer[p] = LOOK
    fi
}

/* An extension locks the row and judges it, then commits: _extend. */
inline extend_judge(p) {
    if
    :: live(p) && stalled[p] == 0 -> 
        printf("%d is found live by its extension\n", p);
        stalled[p] = 1 + TTL + TOLERANCE
    :: else -> answer[p] = NO_LEASE
    fi
}

inline extend_commit(p) {
    printf("%d is extended\n", p);
    left[p] = stalled[p] - 1;
    stalled[p] = 0;
    check_lease(p);
    answer[p] = GRANTED
}

/* Deletes a lapsed lease that was seen before, and lapsed entries: _sweep. */
inline sweep(q) {
    if
#ifdef SWEEP_WITHOUT_SECOND_LOOK
    :: row[q] ->
#else
    :: row[q] && left[q] == 0 && !locked(q) ->
#endif
        printf("%d is swept\n", q);
        delete_lease(q)
    :: else
    fi;
#ifndef SWEEP_WITHOUT_WAKE_UP
    wake_next(key[q]);
#endif
    check_queues(key[q]);
    skip
}

#ifndef REPLAY
/* ---- Callers ---- */

inline check_holder(p) {
    for (i : 0 .. N - 1) {
        check(one_holder, i == p || !conflict(p, i) || state[i] != HELD || own[i] == 0)
    }
}

/* The handle is held until one ttl after its request was sent. */
inline hold(p, until) {
    printf("%d holds the key\n", p);
    state[p] = HELD;
    own[p] = until;
    asked[p] = 0;
    answer[p] = NO_ANSWER;
    message[p] = MESSAGE_NONE;
    missed[p] = false;
#ifdef POLL
    next_look[p] = 0;
#endif
    check_holder(p)
}

#ifdef DEADLINE_FROM_REPLY
#define deadline(p) TTL
#else
#define deadline(p) asked[p]
#endif

/* From the request that got or renewed the entry: a hand-over is younger. */
#define confirmed_entry(p) (asked[p] > TTL - WAITER_TTL -> asked[p] - (TTL - WAITER_TTL) : 0)
#ifdef HAND_OVER_DEADLINE_FROM_MESSAGE
#define hand_over_deadline(p) WAITER_TTL
#else
#define hand_over_deadline(p) own[p]
#endif

/* Whether the answer to a release is the last one of a request in doubt. */
#ifdef RELEASED_ONCE
#define ends_doubt(p) true
#else
#ifdef RELEASED_ENDS_DOUBT
#define ends_doubt(p) (doubt[p] == 0 || answer[p] == RELEASED)
#else
#define ends_doubt(p) (doubt[p] == 0)
#endif
#endif

inline no_request(p) {
    ignore_replies(p);
    along[p] = false;
    own[p] = 0;
    asked[p] = 0;
    answer[p] = NO_ANSWER;
    look[p] = NO_LOOK;
    message[p] = MESSAGE_NONE;
    missed[p] = false;
#ifdef POLL
    next_look[p] = 0;
#endif
    fence[p] = 0;
    compress(key[p])
}

/* The caller ends, and believes that it leaves nothing in the store. */
inline end_call(p) {
    check(no_leak, !live(p) && !entry[p] && !late[p]);
    printf("%d ends\n", p);
    no_request(p);
    state[p] = OUT;
    mode[p] = TRY;
    doubt[p] = 0;
    late_release[p] = false /* it finds nothing */
}

#define other(p) (1 - p)
#define has_company(p) (p < 2 && local(other(p), p))

/* The waiters of the process look at once. */
inline look_at_once(p) {
    for (i : 0 .. N - 1) {
        missed[i] = missed[i] || (local(i, p) && is_waiting(i))
    }
}

/* The reply of a release arrives: a waiter gets its grant, and the request that went along its answer. */
inline get_reply(p) {
    for (i : 0 .. N - 1) {
        if
        :: reply[p] == i + 1 && state[i] == QUEUED ->
            printf("%d hears of its grant in the reply\n", i);
            message[i] = MESSAGE_GRANT;
#ifdef HAND_OVER_DEADLINE_FROM_REPLY
            own[i] = WAITER_TTL
#endif
        :: else
        fi;
        along[i] = along[i] && !local(i, p)
    }
#ifndef LOST_REPLY_LOOKED_ONCE
    if
    :: unsure[p] && answer[p] == NO_LEASE -> look_at_once(p)
    :: else
    fi;
#endif
    reply[p] = 0;
    unsure[p] = unsure[p] && answer[p] == BUSY;
    check_queues(key[p]);
    skip
}

inline lose_reply(p) {
    printf("%d does not get the answer to its release\n", p);
    for (i : 0 .. N - 1) {
#ifdef ALONG_NOT_IN_DOUBT
        answer[i] = (along[i] && local(i, p) -> REFUSED : answer[i]);
#else
        answer[i] = (along[i] && local(i, p) -> REPLY_LOST : answer[i]);
#endif
        along[i] = along[i] && !local(i, p)
    }
    reply[p] = 0;
    answer[p] = NO_ANSWER;
#ifndef LOST_REPLY_UNNOTICED
    unsure[p] = has_company(p);
    look_at_once(p);
#endif
    check_queues(key[p]);
    skip
}

/* A request of the same process that a release may take along: its first one, which queues if it is refused. */
#define may_go_along(p) (has_company(p) && in_batch(other(p)) && mode[other(p)] == WAITS)

#define took_along(p) (p < 2 && along[other(p)])

/* Before the release, in the same transaction. */
inline take_along(p) {
    printf("%d takes a request along\n", p);
    along[other(p)] = true;
    attempt(other(p))
}

inline die(p) {
    pinned[p] = false;
    stalled[p] = 0;
    printf("%d dies\n", p);
    no_request(p);
    state[p] = OUT;
    mode[p] = TRY
}

inline send(p, time) {
    printf("%d sends a request\n", p);
    asked[p] = time;
    answer[p] = NO_ANSWER
}

/* Whether requests get into doubt, answers are lost and processes are killed. */
#ifdef WITHOUT_FAULTS
#define faults false
#else
#define faults true
#endif

/* The reply of a release arrives or is lost. */
inline end_release(p) {
    if
    :: d_step { get_reply(p) };
        if
        :: answer[p] != BUSY -> end_call(p); goto begin
        :: else -> answer[p] = NO_ANSWER; goto releasing
        fi
    :: d_step { lose_reply(p) };
        goto releasing
    fi
}

proctype caller(byte p) {
    bool refused_pin; /* the handle was lost already when the transaction pinned its lease */

begin:
    atomic {
        !row[p] && !entry[p] && !late[p] -> /* a fresh lock id */
        state[p] = FIRST;
        send(p, TTL);
#if KEYS > 1
        if
        :: p != 1 -> key[p] = 0
        :: p != 0 -> key[p] = 1 /* the third caller, or no other, may take either key */
        fi;
#endif
#ifdef PERMITS
        if
        :: shared[p] = false; limit[p] = 0
        :: shared[p] = true; limit[p] = 0
        :: shared[p] = true; limit[p] = 1
#if PERMITS > 1
        :: shared[p] = true; limit[p] = 2
#endif
        fi;
#elif defined(SHARED)
        if
        :: shared[p] = false
        :: shared[p] = true
        fi;
#endif
        if
#ifndef ALL_WAIT
        :: mode[p] = TRY
#endif
#ifndef ALL_TRY
        :: mode[p] = WAITS
#endif
        fi
    }

    if
    :: d_step { answer[p] == NO_ANSWER -> first_look(p) }
    :: atomic { faults && answer[p] == NO_ANSWER -> late[p] = true; goto in_doubt }
    :: answer[p] != NO_ANSWER && !along[p] -> goto answered /* in a batch, or along with a release */
    :: atomic { faults && along[p] -> goto in_doubt }
    fi;

look_again:
#ifdef CHECK_WITHOUT_ROW_LOCK
    skip;
    d_step { look_at(p); look[p] = (blocking -> BLOCKED : NOT_BLOCKED) }
#endif
    if
    :: d_step { answer[p] == NO_ANSWER && may_draw(p) -> attempt(p) }
    :: atomic { faults && answer[p] == NO_ANSWER -> late[p] = true; goto in_doubt }
    :: answer[p] != NO_ANSWER
    fi;

answered:
    if
    :: atomic {
        answer[p] == GRANTED && deadline(p) > 0 ->
        hold(p, deadline(p));
        goto held
    }
    :: atomic { answer[p] == GRANTED && deadline(p) == 0 -> goto in_doubt }
    :: atomic {
        answer[p] == WAIT ->
        own[p] = confirmed_entry(p);
        asked[p] = 0;
        answer[p] = NO_ANSWER;
        goto sleeping
    }
    :: atomic { answer[p] == REFUSED -> end_call(p); goto begin }
    :: atomic { faults || answer[p] == REPLY_LOST -> printf("%d does not get the answer\n", p); goto in_doubt }
    fi;

sleeping:
    if
    :: atomic { message[p] == MESSAGE_WAKE -> state[p] = AGAIN; send(p, TTL); own[p] = 0; goto look_again }
    :: atomic {
        message[p] == MESSAGE_GRANT && hand_over_deadline(p) > 0 ->
        hold(p, hand_over_deadline(p));
        goto held
    }
    :: atomic {
        message[p] == MESSAGE_GRANT && hand_over_deadline(p) == 0 ->
        state[p] = AGAIN;
        send(p, TTL);
        goto look_again
    }
#ifndef NO_SAFETY_POLL
#ifdef POLL
    :: atomic { next_look[p] == 0 -> send(p, WAITER_TTL) };
#else
    :: send(p, WAITER_TTL);
#endif
        d_step { renew(p) };
        if
        :: atomic {
            answer[p] == WAIT ->
            own[p] = asked[p];
            asked[p] = 0;
            answer[p] = NO_ANSWER;
            goto sleeping
        }
        :: atomic { answer[p] == LOOK -> state[p] = AGAIN; send(p, TTL); own[p] = 0; goto look_again }
#ifndef LIVENESS
        :: atomic { faults -> asked[p] = 0; answer[p] = NO_ANSWER; goto sleeping } /* the answer is lost */
#else
        :: faults -> goto ending
#endif
        fi
#endif
#if !defined(LIVENESS) && !defined(POLL)
    :: atomic { state[p] = AGAIN; mode[p] = LAST; send(p, TTL); own[p] = 0; goto look_again } /* the last attempt */
#ifdef LEAVE_DELETES_ENTRY_ONLY
    :: atomic {
        state[p] = ENDING; /* an option must not begin with if: its else would be that of all options */
        if
        :: entry[p] -> leave(p)
        :: else
        fi;
        end_call(p);
        goto begin
    }
#endif
    :: goto ending /* interrupted */
#endif
    :: faults -> goto dead
    fi;

held:
    if
    :: own[p] == 0 -> goto ending
#ifndef POLL
    :: goto ending
#endif
    :: faults -> goto dead
#if !defined(LIVENESS) && !defined(POLL)
    :: send(p, TTL);
        d_step { extend_judge(p) };
        if
        :: d_step { stalled[p] > 0 -> extend_commit(p) }
        :: stalled[p] == 0
        fi;
        if
        :: atomic { answer[p] == GRANTED && own[p] > 0 -> hold(p, deadline(p)); goto held }
        :: atomic { answer[p] == GRANTED && own[p] == 0 -> goto ending }
        :: atomic { answer[p] == NO_LEASE -> goto ending }
        :: atomic { faults -> asked[p] = 0; answer[p] = NO_ANSWER; goto held } /* the answer is lost */
        :: faults -> goto dead
        fi
#endif
#ifdef COMMITS
#ifndef NO_PIN
    :: d_step { row[p] -> pinned[p] = true; printf("%d pins\n", p); refused_pin = (own[p] == 0) }
#else
    :: d_step { refused_pin = (own[p] == 0) }
#endif
        if
#ifndef NO_JUDGEMENT
        :: own[p] > 0
        :: atomic { own[p] == 0 -> pinned[p] = false; refused_pin = false; goto ending }
#else
        :: skip
#endif
        fi;
        if
        :: atomic {
            printf("%d commits\n", p);
            check(no_stale_commit, fence[p] >= committed[key[p]]);
            check(lost_is_refused, !refused_pin);
            committed[key[p]] = fence[p];
            compress(key[p]);
            pinned[p] = false;
            refused_pin = false;
            goto held
        }
        :: atomic { refused_pin = false; goto dead }
        fi
#endif
    fi;

ending: /* releases the lease or leaves the queue, until that is answered */
    atomic { no_request(p); state[p] = ENDING; goto releasing }

in_doubt: /* releases until that is answered after the in-doubt period */
    atomic {
        printf("%d is in doubt, its request is under way: %d\n", p, late[p]);
        no_request(p);
        state[p] = ENDING;
        doubt[p] = PERIOD
    }

releasing:
#ifdef CLOCK_BEFORE_LOCK
    elapsed[p] = 1;
#endif
    if
    :: atomic {
        may_draw(p);
        if
#ifndef APART
        :: may_go_along(p) ->
#ifdef ALONG_AFTER_RELEASE
            d_step { release(p, since(p)); take_along(p) }
#else
            d_step { take_along(p); release(p, since(p)) }
#endif
#endif
        :: d_step { release(p, since(p)) }
        fi;
#ifdef CLOCK_BEFORE_LOCK
        elapsed[p] = 0;
#endif
        answer[p] = (ends_doubt(p) -> answer[p] : BUSY);
        if
        :: reply[p] == 0 && !took_along(p) -> end_release(p) /* nobody else waits for its reply */
        :: else
        fi
    }
#ifndef APART
    :: atomic {
        faults && has_company(p) && !late_release[p] && (row[p] || entry[p]) ->
        late_release[p] = true;
        d_step { lose_reply(p) };
        goto releasing
    }
#endif
    fi;
    atomic { end_release(p) }

dead: /* the process is killed: its transactions roll back, and its leases and entries lapse */
    atomic { die(p); goto begin }
}

/* ---- The rest of the world ---- */

active proctype network() {
    byte p;
    do
    :: atomic {
        if
        :: late[0] && may_draw(0) -> p = 0
        :: late[1] && may_draw(1) -> p = 1
#if N > 2
        :: late[2] && may_draw(2) -> p = 2
#endif
        fi;
        printf("%d executes late\n", p);
        d_step { reading = answer[p]; attempt(p); late[p] = false; answer[p] = reading; p = 0 }
    }
#ifndef APART
    :: atomic {
        if
        :: late_release[0] && reply[0] == 0 && may_draw(0) -> p = 0
        :: late_release[1] && reply[1] == 0 && may_draw(1) -> p = 1
#if N > 2
        :: late_release[2] && reply[2] == 0 && may_draw(2) -> p = 2
#endif
        fi;
        printf("%d releases late\n", p);
        d_step {
            reading = answer[p];
            release(p, 0);
            late_release[p] = false;
            reply[p] = 0;
            answer[p] = reading;
            check_queues(key[p]);
            p = 0
        }
    }
#endif
#ifndef POLL
    :: atomic {
        if
        :: message[0] != MESSAGE_NONE -> p = 0
        :: message[1] != MESSAGE_NONE -> p = 1
#if N > 2
        :: message[2] != MESSAGE_NONE -> p = 2
#endif
        fi;
        printf("%d misses a message\n", p);
        message[p] = MESSAGE_NONE;
        missed[p] = true;
        p = 0
    }
#endif
    od
}

#define one_less(x) x = (x > 0 -> x - 1 : 0)

/* Liveness needs that a waiter that lives looks once in each tick: its safety poll is not paused. */
#if defined(LIVENESS) && !defined(NO_SAFETY_POLL)
#define waiters_in_time ((looked[0] || !is_waiting(0)) && (looked[1] || !is_waiting(1)))
#else
#define waiters_in_time true
#endif

active proctype clock() {
    byte p;
    do
    :: d_step {
        !lag && waiters_in_time ->
        for (p : 0 .. N - 1) {
            one_less(left[p]);
            for (i : 0 .. N - 1) {
                missed[i] = missed[i] || (kept[p] == 1 && i != p && key[i] == key[p] && state[i] == QUEUED)
            }
            one_less(kept[p]);
#ifdef POLL
            one_less(next_look[p]);
#endif
#ifdef LIVENESS
            looked[p] = false;
#endif
            stalled[p] = (stalled[p] > 1 -> stalled[p] - 1 : stalled[p]);
#ifdef CLOCK_BEFORE_LOCK
            elapsed[p] = (elapsed[p] > 0 && elapsed[p] < 3 -> elapsed[p] + 1 : elapsed[p])
#endif
        }
#ifdef CLOCK_FENCES
        for (p : 0 .. KEYS - 1) {
            by_clock[p] = by_clock[p] + 1;
            compress(p)
        }
#endif
        printf("%d the clock of the store ticks\n", 0);
        check_looks();
        lag = true;
        p = 0
    }
    :: d_step {
        lag ->
        for (p : 0 .. N - 1) {
            one_less(own[p]);
            one_less(asked[p]);
            one_less(doubt[p]);
            late[p] = late[p] && doubt[p] > 0
        }
        printf("%d the clocks of the callers tick\n", 0);
        lag = false;
        p = 0
    }
    od
}

active proctype sweeper() {
    byte q;
    do
    :: atomic {
        if
        :: row[0] && left[0] == 0 -> q = 0
        :: row[1] && left[1] == 0 -> q = 1
#if N > 2
        :: row[2] && left[2] == 0 -> q = 2
#endif
        fi
    }
        d_step { sweep(q); q = 0 }
    od
}

#ifdef CLOCK_FENCES
#ifdef FORGET_EARLY
#define idle(k) (counter[k] > 0)
#else
#define idle(k) (counter[k] > 0 && counter[k] + RETENTION < by_clock[k])
#endif
#endif
#ifdef FORGET_COUNTED
#define idle(k) (counter[k] > 0)
#endif

/* Deletes the counter of a key without leases and queue entries: _forget; PEXPIREAT in grants.lua. */
#ifdef idle
active proctype forgetter() {
    byte k;
    do
    :: d_step {
        idle(k) ->
        used = false;
        for (i : 0 .. N - 1) {
            used = used || ((row[i] || entry[i]) && key[i] == k)
        }
        if
#ifdef FORGET_BESIDE_LEASES
        :: true ->
#else
        :: !used ->
#endif
            printf("%d is forgotten\n", k);
            counter[k] = 0;
            for (i : 0 .. N - 1) {
                look[i] = (look[i] == FREE && key[i] == k -> CHANGED : look[i])
            }
            compress(k)
#ifndef FORGET_BESIDE_LEASES
        :: else
#endif
        fi
    }
#if KEYS > 1
    :: k = 1 - k
#endif
    od
}
#endif

/*
 * Several requests of a process in one transaction: _acquire_batch, batch.lua. Its reply is lost for all or for none.
 * Those for one key queue behind each other. Those for several keys are granted free keys; the others go alone.
 */
inline attempt_in_batch(p) {
    used = false;
    for (i : 0 .. N - 1) {
        used = used || ((row[i] || entry[i]) && key[i] == key[p])
    }
    if
    :: !used -> grant(p)
    :: else
    fi
}

#ifndef APART
active proctype batcher() {
    byte p;
    do
#if KEYS > 1
    :: atomic {
        one_process && in_batch(0) && in_batch(1) && key[0] != key[1] ->
        d_step { attempt_in_batch(0) };
        if
        :: d_step { attempt_in_batch(1) };
            if
            :: skip
            :: answer[0] = REPLY_LOST; answer[1] = REPLY_LOST
#ifdef BATCH_IN_DOUBT_FOR_ONE
            :: answer[1] == GRANTED -> answer[0] = REPLY_LOST; answer[1] = REFUSED
#endif
            fi
#ifdef BATCH_IN_PARTS
        :: answer[0] = NO_ANSWER /* it fails at its second request, and is repeated one by one */
#endif
        fi
    }
#else
    :: atomic {
        one_process && in_batch(0) && in_batch(1) ->
#ifdef BATCH_OF_ONE_LOOK
        d_step {
            first_look(0);
            first_look(1);
            blocking = (look[0] == BLOCKED || answer[0] == REFUSED);
            if
            :: !blocking -> grant(0); grant(1)
            :: else
            fi
        }
#else
        if
        :: p = 1 /* the other order */
        :: skip
        fi;
#ifdef BATCH_FORGETS_GRANT
        d_step { attempt(p); forgotten = p + 1; attempt(other(p)); forgotten = 0; p = 0 }
#else
        d_step { attempt(p); attempt(other(p)); p = 0 }
#endif
#endif
        if
        :: skip
        :: answer[0] = REPLY_LOST; answer[1] = REPLY_LOST
        fi
    }
#endif
    od
}
#endif

#ifdef LIVENESS
ltl served { [] (is_waiting(0) -> <> !is_waiting(0)) }
#endif

init {
    byte p;
    atomic {
        if
#ifndef APART
        :: one_process = true
#endif
#ifndef TOGETHER
        :: one_process = false
#endif
        fi;
#ifdef CLOCK_FENCES
        for (p : 0 .. KEYS - 1) {
            by_clock[p] = 1
        }
#endif
        for (p : 0 .. N - 1) {
            run caller(p)
        }
        p = 0
    }
}
#endif /* REPLAY */
