package io.syncguard.verification.matrix;

import io.syncguard.LockErrorCode;
import io.syncguard.verification.matrix.Call.Kind;
import java.util.stream.Stream;

/** Calls of one key for the tests of the rules. Times are milliseconds after a time that is long ago. */
final class Calls {

    static final String KEY = "order-1";
    static final long WAIT_MILLIS = 2000;

    private static final long MILLI = 1_000_000;

    private Calls() {}

    /** A call that was granted the key, and held it until it released it. */
    static Call used(String process, Kind kind, long start, long granted, long end, long fence) {
        return call(process, kind, start, granted, end, fence, Call.OK);
    }

    /** @param words process, kind, start, grant, end and fence */
    static Call used(String words) {
        String[] each = words.split(" ");
        long[] numbers = Stream.of(each).skip(2).mapToLong(Long::parseLong).toArray();
        return used(each[0], Kind.valueOf(each[1]), numbers[0], numbers[1], numbers[2], numbers[3]);
    }

    static Call lost(String process, long start, long granted, long end) {
        return call(process, Kind.PLAIN, start, granted, end, 1, LockErrorCode.LOST.name());
    }

    /** A call that was not granted the key. */
    static Call refused(String process, long start, long end) {
        return call(process, Kind.PLAIN, start, 0, end, 0, LockErrorCode.ACQUISITION_TIMEOUT.name());
    }

    static long nanos(long millis) {
        return millis * MILLI;
    }

    private static Call call(
            String process, Kind kind, long start, long granted, long end, long fence, String outcome) {
        long held = granted == 0 ? 0 : end;
        return new Call(
                process,
                1,
                kind,
                KEY,
                nanos(start),
                nanos(granted),
                nanos(held),
                nanos(end),
                WAIT_MILLIS,
                fence,
                outcome);
    }
}
