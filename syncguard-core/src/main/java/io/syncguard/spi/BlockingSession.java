package io.syncguard.spi;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session of the store's server whose transaction locks rows of a key: it commits under a lease of the key, or its
 * operations wait for it. For diagnostics. What the user of the library may not see is empty.
 *
 * @param id the number of the session, which the server's administrator ends it by
 * @param application how its client calls itself
 * @param user the user of the server
 * @param state such as {@code idle in transaction}
 * @param since the begin of its transaction, by the server's clock; {@code null} if it is not visible
 * @param statement the last statement, cut off after 200 characters. It may contain personal data
 * @param blockedBy the sessions for which it waits itself
 */
public record BlockingSession(
        int id,
        String application,
        String user,
        String state,
        @Nullable Instant since,
        String statement,
        List<Integer> blockedBy) {

    public BlockingSession {
        blockedBy = List.copyOf(blockedBy);
    }

    /** For readers who may not see personal data. */
    public BlockingSession withoutStatement() {
        return new BlockingSession(id, application, user, state, since, "", blockedBy);
    }
}
