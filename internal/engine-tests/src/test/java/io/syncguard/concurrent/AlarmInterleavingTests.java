package io.syncguard.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import io.syncguard.testing.LongInterleavings;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An alarm is set before its thread waits, while it waits, and while its task runs. */
@LongInterleavings
@Tag("verification")
public class AlarmInterleavingTests {

    private static final int RUNS = 60;

    @Test
    void each_ring_runs_the_task() {
        assertThat(Interleavings.explore(RUNS, List.of(Rings.class))).allMatch(found -> found.startsWith("holds"));
    }

    public static final class Rings implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Semaphore runs = new Semaphore(0);
            try (Alarm alarm = new Alarm("test", new ModelTime(), () -> {
                runs.release();
                return Time.NEVER;
            })) {
                alarm.ringAt(0);
                runs.acquire();
                alarm.ringAt(0);
                runs.acquire();
            }
        }
    }
}
