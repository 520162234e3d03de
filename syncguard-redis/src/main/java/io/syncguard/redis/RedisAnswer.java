package io.syncguard.redis;

import io.syncguard.LockErrorCode;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * What the errors of a server mean to locks. Other words may precede the decisive one: before Redis 7, a text about the
 * script precedes the error of a command in it. An answer belongs to the first constant whose words it has.
 */
enum RedisAnswer {
    /** First, because the answer quotes arguments, which may have any words. */
    UNKNOWN_COMMAND(LockErrorCode.INTERNAL, "(?i)unknown( redis)? command"),

    REFUSED_LOGIN(LockErrorCode.AUTH_FAILED, "\\b(NOAUTH|WRONGPASS)\\b|invalid password"),
    MISSING_RIGHT(
            LockErrorCode.AUTH_FAILED, "\\b(NOPERM|DENIED)\\b|ACL failure in script|user executing the script can't"),
    UNKNOWN_DATABASE(LockErrorCode.INVALID_ARGUMENT, "DB index"),
    REFUSED_KEY(LockErrorCode.INVALID_ARGUMENT, "\\b(WRONGTYPE|CROSSSLOT)\\b"),

    /** Another server may be the master by now, behind the same address. */
    NO_MASTER(LockErrorCode.SERVICE_UNAVAILABLE, "\\b(READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|MOVED)\\b"),

    REFUSED_WRITE(LockErrorCode.SERVICE_UNAVAILABLE, "\\b(TRYAGAIN|ASK|NOREPLICAS|MISCONF)\\b"),
    NO_CAPACITY(LockErrorCode.RATE_LIMITED, "\\b(OOM|BUSY|UNKILLABLE)\\b|max number of clients"),
    OTHER(LockErrorCode.INTERNAL, "");

    private final LockErrorCode code;
    private final Pattern words;

    RedisAnswer(LockErrorCode code, String words) {
        this.code = code;
        this.words = Pattern.compile(words);
    }

    /** @param error the message of the server */
    static RedisAnswer of(String error) {
        return Arrays.stream(values())
                .filter(each -> each.words.matcher(error).find())
                .findFirst()
                .orElse(OTHER);
    }

    LockErrorCode code() {
        return code;
    }
}
