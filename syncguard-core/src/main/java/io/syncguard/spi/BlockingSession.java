package io.syncguard.spi;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session of the store's server whose transaction locks rows of a key: it commits under a lease of the key, or its
 * operations wait for it. For diagnostics. Fields that the library's user may not see are empty.
 *
 * @param id the number of the session, with which an administrator can end it
 * @param application the name that its client has set
 * @param user the user of the server
 * @param state such as {@code idle in transaction}
 * @param since when its transaction began, by the server's clock; {@code null} if it is not visible
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
