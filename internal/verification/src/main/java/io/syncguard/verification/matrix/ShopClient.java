package io.syncguard.verification.matrix;

import io.syncguard.Fence;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.Recording;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationNotAllowedException;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** One thread of an application. It uses a few orders at random, with pauses. */
final class ShopClient implements Runnable {

    /** Begins a line of the output that fails the run. */
    static final String UNEXPECTED = "unexpected: ";

    private static final int KEYS = 4;
    private static final int MOST_THINKING_MILLIS = 60;
    private static final int MOST_WORK_MILLIS = 12;

    /** Longer than a lease, so that heartbeats must keep the lock. */
    private static final int LONG_WORK_MILLIS = 1300;

    /** The number of short bodies for each long one. */
    private static final int SHORT_BODIES = 40;

    private static final long MILLI = 1_000_000;

    /** Half a minute on the clock that all processes of a machine share. */
    private static final long NAME_NANOS = 30_000 * MILLI;

    /** The calls of each thread that are not granted yet, by key. */
    private static final ThreadLocal<Map<String, Visit>> WAITING = ThreadLocal.withInitial(HashMap::new);

    private final Orders orders;
    private final LockTemplate template;
    private final Recording recording;
    private final CallLog log;
    private final List<Kind> kinds;
    private final long waitMillis;
    private final int names;
    private final Random random;
    private final BooleanSupplier goesOn;

    /**
     * @param waitMillis the configured wait time
     * @param names number of names that each key has in turn, so that the history of each name stays short
     */
    ShopClient(
            Orders orders,
            LockTemplate template,
            Recording recording,
            CallLog log,
            List<Kind> kinds,
            long waitMillis,
            int names,
            Random random,
            BooleanSupplier goesOn) {
        this.orders = orders;
        this.template = template;
        this.recording = recording;
        this.log = log;
        this.kinds = kinds;
        this.waitMillis = waitMillis;
        this.names = names;
        this.random = random;
        this.goesOn = goesOn;
    }

    /** Notes each grant. A caller of two keys holds the first while it waits for the second. */
    static LockListener grants() {
        return new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                Visit visit = WAITING.get().remove(event.key());
                if (visit != null) {
                    visit.granted(event.fence());
                }
            }
        };
    }

    /** The keys that every process uses all the time. */
    static List<String> keys() {
        return IntStream.range(0, KEYS).mapToObj(number -> "order-" + number).toList();
    }

    private String key(int number) {
        String key = keys().get(number);
        return names == 1 ? key : key + ":" + System.nanoTime() / NAME_NANOS % names;
    }

    @Override
    public void run() {
        while (goesOn.getAsBoolean()) {
            LockSupport.parkNanos(random.nextLong(MOST_THINKING_MILLIS * MILLI));
            Kind kind = kinds.get(random.nextInt(kinds.size()));
            int number = random.nextInt(KEYS);
            if (kind == Kind.PAIR) {
                pair(key(number), key((number + 1 + random.nextInt(KEYS - 1)) % KEYS));
            } else {
                single(kind, key(number));
            }
            WAITING.get().clear();
            Thread.interrupted();
        }
    }

    private void single(Kind kind, String key) {
        Visit visit = new Visit(kind, key, null);
        visit.begin();
        String outcome = outcomeOf(() -> {
            switch (kind) {
                case GUARDED -> orders.guarded(key, visit);
                case INSIDE -> orders.inside(key, random.nextInt(4) == 0, visit);
                case FENCED -> orders.fenced(key, visit);
                case PLAIN -> orders.plain(key, visit);
                case READ -> orders.read(key, visit);
                case PERMIT -> orders.permitted(key, visit);
                default -> tryOnce(key, visit);
            }
        });
        visit.end(outcome);
    }

    /** Locks two keys in their order. The caller holds the first while it waits for the second. */
    private void pair(String key, String other) {
        boolean inOrder = key.compareTo(other) < 0;
        Visit second = new Visit(Kind.PAIR, inOrder ? other : key, null);
        Visit first = new Visit(Kind.PAIR, inOrder ? key : other, second);
        first.begin();
        String outcome = outcomeOf(() -> orders.pair(key, other, inOrder ? first : second, inOrder ? second : first));
        first.end(outcome);
        second.end(outcome);
    }

    private void tryOnce(String key, Visit visit) {
        template.tryExecute(LockRequest.of(key), lock -> {
            visit.accept(lock);
            return key;
        });
    }

    private static String outcomeOf(Runnable call) {
        try {
            call.run();
            return Call.OK;
        } catch (LockException ex) {
            return ex.code().name();
        } catch (DataAccessException | TransactionException ex) {
            return Call.DATABASE;
        } catch (BeanCreationNotAllowedException ex) {
            // The application ends.
            return Call.DATABASE;
        } catch (RuntimeException | Error ex) {
            System.out.println(UNEXPECTED + ex);
            ex.printStackTrace(System.out);
            return UNEXPECTED;
        }
    }

    /** The body of one call. It notes the grant, works, and notes until when the lock was held. */
    private final class Visit implements Consumer<LockHandle> {

        private final Kind kind;
        private final String key;
        private final @Nullable Visit next;
        private @Nullable Call call;

        /** @param next the visit that begins when this one is granted */
        Visit(Kind kind, String key, @Nullable Visit next) {
            this.kind = kind;
            this.key = key;
            this.next = next;
        }

        void begin() {
            call = log.begin(kind, key, kind == Kind.TRY ? 0 : waitMillis);
            WAITING.get().put(key, this);
        }

        private void granted(Fence fence) {
            note(begun().granted(fence.value()));
            if (next != null) {
                next.begin();
            }
        }

        @Override
        public void accept(LockHandle lock) {
            holds(lock);
            if (random.nextInt(10) == 0) {
                joins(lock);
            }
            work();
            holds(lock);
            if (TransactionSynchronizationManager.isSynchronizationActive()) {
                recording.mayPin(lock);
            }
        }

        private void work() {
            boolean isLong = random.nextInt(SHORT_BODIES) == 0;
            LockSupport.parkNanos((isLong ? LONG_WORK_MILLIS : 0) * MILLI + random.nextLong(MOST_WORK_MILLIS * MILLI));
        }

        private void holds(LockHandle lock) {
            long at = System.nanoTime();
            if (recording.isHeld(lock)) {
                note(begun().held(at));
            }
        }

        private void joins(LockHandle outer) {
            LockHandle inner = template.manager().acquire(outer.request());
            if (!inner.fence().equals(outer.fence())) {
                System.out.println(UNEXPECTED + "a nested request has fence " + inner.fence() + " in " + outer);
            }
            inner.release();
        }

        void end(String outcome) {
            if (call != null) {
                note(call.ended(outcome));
            }
        }

        private Call begun() {
            return Objects.requireNonNull(call, "a grant of a call that has not begun");
        }

        private void note(Call changed) {
            call = log.write(changed);
        }
    }
}
