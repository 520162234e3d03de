package io.syncguard.check;

import io.syncguard.check.Finding.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Compares the clock of the server with the monotonic one of this machine, all the time. */
final class ClockWatch implements AutoCloseable {

    private static final long PAUSE_MILLIS = 50;

    /** Smaller differences may come from the network and the scheduler. */
    private static final long JUMP_MILLIS = 300;

    private final LongSupplier clock;
    private final Thread thread = new Thread(this::watch, "clock-watch");
    private final List<String> jumps = new ArrayList<>();
    private @Nullable Long offset;
    private long distance;

    /** @param clock of the server, in milliseconds */
    ClockWatch(LongSupplier clock) {
        this.clock = clock;
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    private void watch() {
        while (true) {
            try {
                Thread.sleep(PAUSE_MILLIS);
                look();
            } catch (InterruptedException ex) {
                return;
            } catch (RuntimeException ex) {
                // The server is away. The clock is compared again when it is back.
                continue;
            }
        }
    }

    /** Compares the clocks once. */
    synchronized void look() {
        long before = System.nanoTime();
        long now = clock.getAsLong();
        long after = System.nanoTime();
        distance = now - System.currentTimeMillis();
        long found = now - (before + after) / 2 / 1_000_000;
        long doubt = (after - before) / 1_000_000;
        if (offset != null && Math.abs(found - offset) > JUMP_MILLIS + doubt) {
            jumps.add((found - offset) + " ms");
        }
        if (offset == null || doubt < JUMP_MILLIS) {
            // An answer that was late says little about the clock.
            offset = found;
        }
    }

    synchronized Finding finding() {
        return jumps.isEmpty()
                ? Finding.holds(
                        Part.LOAD,
                        "clock",
                        "the clock of the server did not jump; it is " + distance + " ms from that of this machine")
                : Finding.broken(
                                Part.LOAD,
                                "clock",
                                "the clock of the server jumped " + jumps.size()
                                        + " times: after a jump of more than a second, a lease may end early",
                                "Let the clock be corrected gradually (chrony, without makestep after the start)")
                        .with(jumps);
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
