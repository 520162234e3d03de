package io.syncguard.autoconfigure;

import io.syncguard.OneLine;
import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One setting of a lock or an election, as it was written.
 *
 * @param kind whose setting it is
 * @param text the name of the property or variable, for messages
 * @param setting such as {@code wait-time}
 * @param variable the value of an environment variable, which cannot spell every name; {@code null} for a property
 */
record WrittenSetting(
        NamedSettings kind,
        String text,
        String setting,
        @Nullable String variable) {

    /**
     * Returns the known name that a variable means but cannot spell; {@code null} if there is none, or this is a
     * property.
     */
    @Nullable
    String unspellable(String name, Collection<String> known) {
        return known.stream()
                .filter(each -> variable != null && plain(each).equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Says how an environment variable sets it for any name. */
    String asJson(String name) {
        return "set SPRING_APPLICATION_JSON={\"" + kind.inBrackets(name, setting) + "\":\""
                + OneLine.of(String.valueOf(variable)) + "\"}";
    }

    String inFile(String name) {
        return "Put " + kind.property(name) + "." + setting + " into a file"
                + (NamedSettings.folded(name).equals(plain(name)) ? ", which the variable then overrides" : "");
    }

    private static String plain(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }
}
