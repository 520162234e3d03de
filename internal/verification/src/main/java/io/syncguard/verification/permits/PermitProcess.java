package io.syncguard.verification.permits;

import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockUnavailableException;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.testing.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A process whose callers work with permits, and tell a {@link PlaceCounter}. Its commands are in {@link #answer}. */
public final class PermitProcess {

    /** The length of a lease; a queue entry lives as long, so that a release hands over. */
    static final Duration TTL = Duration.ofSeconds(2);

    /** The callers stop, and what they hold is released. */
    static final String END = "end";

    /** No caller gives its permit back from now on. */
    static final String HOLD = "hold";

    static final String GO_ON = "go-on";

    /** The failed calls. */
    static final String FAILURES = "failures";

    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration WAIT = Duration.ofMinutes(2);
    private static final int STARTS = 20;
    private static final long MILLI = 1_000_000;
    private static final long LOOK_MILLIS = 200;

    private final LockEngine locks;
    private final int port;
    private final Random random;
    private final List<Thread> callers = new ArrayList<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();

    /** Callers share it while they give permits back; {@link #HOLD} keeps it from all of them. */
    private final ReadWriteLock giveBack = new ReentrantReadWriteLock();

    private volatile boolean ended;

    private PermitProcess(LockEngine locks, int port, Random random) {
        this.locks = locks;
        this.port = port;
        this.random = random;
    }

    /**
     * Callers of one key.
     *
     * @param permits how many may hold it
     * @param told the number that the counter is told
     * @param drains so many per mille of the calls are exclusive
     * @param callers their number
     * @param millis the longest work
     */
    record Work(String key, int permits, int told, int drains, int callers, int millis) {

        String command() {
            return String.join(
                    " ",
                    key,
                    String.valueOf(permits),
                    String.valueOf(told),
                    String.valueOf(drains),
                    String.valueOf(callers),
                    String.valueOf(millis));
        }

        static Work of(String[] words) {
            return new Work(
                    words[0],
                    Integer.parseInt(words[1]),
                    Integer.parseInt(words[2]),
                    Integer.parseInt(words[3]),
                    Integer.parseInt(words[4]),
                    Integer.parseInt(words[5]));
        }
    }

    static ChildJvm start(String url, PlaceCounter counter, String batching, long seed) {
        return ChildJvm.start(PermitProcess.class, url, String.valueOf(counter.port()), batching, String.valueOf(seed));
    }

    static LockEngine locks(String url, String batching) {
        return new LockEngine(
                ApplicationBackend.on(
                        url,
                        8,
                        NETWORK_TIMEOUT,
                        TTL,
                        property -> property.equals(ApplicationBackend.BATCHING) ? batching : null),
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.of());
    }

    /** @param arguments the URL of the locks, the port of the counter, the batching and a seed */
    public static void main(String[] arguments) throws IOException {
        PermitProcess process = new PermitProcess(
                locks(arguments[0], arguments[2]),
                Integer.parseInt(arguments[1]),
                new Random(Long.parseLong(arguments[3])));
        process.connect();
        ChildJvm.serve(process::answer);
    }

    /** Several processes start at once, so the first connection may take too long. */
    private void connect() {
        for (int tries = 1; ; tries++) {
            try {
                locks.isLocked("connects");
                return;
            } catch (LockException ex) {
                if (tries == STARTS) {
                    throw ex;
                }
            }
        }
    }

    private String answer(String command) {
        switch (command) {
            case HOLD -> giveBack.writeLock().lock();
            case GO_ON -> giveBack.writeLock().unlock();
            case END -> end();
            case FAILURES -> {
                return failures.stream().distinct().limit(3).toList().toString().replace('\n', ' ');
            }
            default -> begin(Work.of(command.split(" ")));
        }
        return "done";
    }

    private void begin(Work work) {
        for (int i = 0; i < work.callers; i++) {
            Random own = new Random(random.nextLong());
            Thread caller = new Thread(() -> call(work, own), "caller");
            caller.setDaemon(true);
            caller.start();
            callers.add(caller);
        }
    }

    private void end() {
        ended = true;
        for (Thread caller : callers) {
            try {
                caller.join();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    private void call(Work work, Random own) {
        try (Place place = new Place(port)) {
            while (!ended) {
                boolean drains = own.nextInt(1000) < work.drains;
                LockRequest request = LockRequest.of(work.key).ttl(TTL).waitTime(WAIT);
                try {
                    LockHandle lock = locks.acquire(drains ? request : request.permits(work.permits));
                    work(work.key + " " + (drains ? PlaceCounter.EXCLUSIVE : work.told), lock, place, work.millis, own);
                } catch (LockLostException | LockUnavailableException ex) {
                    // On a busy machine an answer may be late. The counter judges who works nevertheless.
                } catch (LockException ex) {
                    failures.add(ex.toString());
                }
            }
        } catch (IOException | InterruptedException | RuntimeException ex) {
            failures.add(ex.toString());
        }
    }

    private void work(String at, LockHandle lock, Place place, int millis, Random own)
            throws IOException, InterruptedException {
        place.keep(at, lock);
        LockSupport.parkNanos(own.nextLong(millis * MILLI));
        boolean mayGiveBack = giveBack.readLock().tryLock();
        while (!mayGiveBack && lock.isHeld()) {
            place.keep(at, lock);
            mayGiveBack = giveBack.readLock().tryLock(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
        place.leave();
        if (mayGiveBack) {
            try {
                lock.release();
            } finally {
                giveBack.readLock().unlock();
            }
        }
    }

    /** The connection of one caller to the counter, which knows of its work before it begins and after it has ended. */
    private static final class Place implements AutoCloseable {

        private final Socket socket;
        private final Writer lines;
        private final BufferedReader answers;

        Place(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            lines = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.US_ASCII);
            answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        }

        void keep(String at, LockHandle lock) throws IOException {
            long now = System.nanoTime();
            say(at + " " + (now + lock.remaining().toNanos()));
        }

        void leave() throws IOException {
            say("leave");
        }

        private void say(String line) throws IOException {
            lines.write(line + "\n");
            lines.flush();
            answers.readLine();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
