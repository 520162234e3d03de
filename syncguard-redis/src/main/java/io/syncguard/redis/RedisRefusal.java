package io.syncguard.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The kinds of refusals of a server that last until a person changes something. */
enum RedisRefusal {
    PASSWORD("\\b(NOAUTH|WRONGPASS)\\b|invalid password"),
    RIGHT("\\b(NOPERM|DENIED)\\b|ACL failure in script|user executing the script can't"),
    DATABASE("DB index"),
    COMMAND("(?i)unknown( redis)? command"),
    KEY("\\b(WRONGTYPE|CROSSSLOT)\\b"),
    OTHER("");

    private final Pattern words;

    RedisRefusal(String words) {
        this.words = Pattern.compile(words);
    }

    /** @param answer the error of the server; other words may precede the decisive one */
    static RedisRefusal of(String answer) {
        for (RedisRefusal each : values()) {
            Matcher found = each.words.matcher(answer);
            if (found.find()) {
                return each;
            }
        }
        return OTHER;
    }
}
