/*
 * Replays what a run has written about one key. It reads numbers: a number for an operation, and its arguments. For each
 * transaction of the store these are the time that has passed, the steps of the model that it has to be, and what is in
 * the tables after it. What is left of a lease includes the tolerance. A transaction that is not these steps is printed by its number, and ends the replay.
 */

#define REPLAY
#define TTL ttl
#define WAITER_TTL waiter_ttl
int ttl;
int waiter_ttl;
int transaction;

#define TOLERANCE 1000
#include "protocol.pml"

inline reject(p) {
    printf("rejected: transaction %d, lock %d: lease %d for %d, ", transaction, p, row[p], left[p]);
    printf("entry %d for %d at %d, fence %d\n", entry[p], kept[p], place[p], counter[0]);
    assert(false)
}

inline pass(time) {
    transaction++;
    for (i : 0 .. N - 1) {
        left[i] = (left[i] > time -> left[i] - time : 0);
        kept[i] = (kept[i] > time -> kept[i] - time : 0)
    }
}

inline try(p, time, waiter_time, expected) {
    ttl = time - TOLERANCE;
    waiter_ttl = waiter_time;
    answer[p] = NO_ANSWER;
    attempt(p);
    if
    :: answer[p] == expected
    :: else -> reject(p)
    fi
}

inline end_lease(p, to, time, lapsed_too) {
    handed = to;
    waiter_ttl = time - TOLERANCE;
    deletes_lapsed = lapsed_too;
    answer[p] = NO_ANSWER;
    release(p, 0);
    if
    :: answer[p] == RELEASED
    :: else -> reject(p)
    fi
}

inline renew_entry(p, time) {
    waiter_ttl = time;
    if
    :: queues(p) -> renew(p)
    :: else -> reject(p)
    fi
}

inline extend(p, time) {
    ttl = time - TOLERANCE;
    answer[p] = NO_ANSWER;
    extend_judge(p);
    if
    :: answer[p] == NO_ANSWER -> extend_commit(p)
    :: else -> reject(p)
    fi
}

inline expect(p, has_row, row_left, has_entry, entry_left, at) {
    if
    :: row[p] == has_row && left[p] == row_left && entry[p] == has_entry && kept[p] == entry_left && place[p] == at
    :: else -> reject(p)
    fi
}

inline expect_fence(number) {
    if
    :: counter[0] == number
    :: else -> reject(0)
    fi
}

/* Reads a number that ends with a space. */
chan STDIN;
int symbol;
inline read(number) {
    number = 0;
    do
    :: STDIN ? symbol;
        if
        :: symbol >= 48 && symbol <= 57 -> number = number * 10 + symbol - 48
        :: else -> break
        fi
    od
}

int operation, p, a, b, c, d, e;

init {
    atomic {
        do
        :: read(operation);
            if
            :: operation == 0 -> break
            :: operation == 1 -> read(a); pass(a)
            :: operation == 2 -> read(p); read(a); shared[p] = a; mode[p] = WAITS
            :: operation == 3 -> read(p); read(a); read(b); read(c); try(p, a, b, c)
            :: operation == 4 -> read(p); read(a); read(b); read(c); end_lease(p, a, b, c)
            :: operation == 5 -> read(p); read(a); renew_entry(p, a)
            :: operation == 6 -> read(p); read(a); extend(p, a)
            :: operation == 7 -> read(p); leave(p)
            :: operation == 8 -> read(p); sweep(p)
            :: operation == 9 -> delete_lapsed_entries(0)
            :: operation == 10 -> read(p); read(a); pinned[p] = a
            :: operation == 11 ->
                read(p);
                read(a);
                read(b);
                read(c);
                read(d);
                read(e);
                expect(p, a, b, c, d, e)
            :: operation == 12 -> read(a); expect_fence(a)
            fi
        od
    }
    printf("accepted: %d transactions\n", transaction)
}
