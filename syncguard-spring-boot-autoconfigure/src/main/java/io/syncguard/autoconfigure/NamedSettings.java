package io.syncguard.autoconfigure;

import io.syncguard.LockSettings;
import java.util.Arrays;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Properties with the name of a lock or an election in them.
 *
 * @param prefix the property in front of the name
 * @param owner what has such settings, with its article
 * @param settings by their names without dashes
 */
record NamedSettings(String prefix, String owner, SortedMap<String, String> settings) {

    private static final Pattern SIMPLE = Pattern.compile("[A-Za-z0-9-]+");

    static final NamedSettings LOCKS = new NamedSettings("syncguard.locks", "a lock", settingsIn(LockSettings.class));

    static final NamedSettings ELECTIONS =
            new NamedSettings("syncguard.leader.elections", "an election", settingsIn(ElectionProperties.class));

    /** The beginning of environment variables. */
    String variable() {
        return prefix.toUpperCase(Locale.ROOT).replace('.', '_') + "_";
    }

    /** What has such settings, in the plural. */
    String plural() {
        return prefix.substring(prefix.lastIndexOf('.') + 1);
    }

    /** The common start of the properties of a name, in the notation of Spring Boot for keys of maps. */
    String property(String name) {
        return prefix + (SIMPLE.matcher(name).matches() ? "." + name : "[" + name + "]");
    }

    String inBrackets(String name, String setting) {
        return prefix + "[" + name + "]." + setting;
    }

    static String folded(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
    }

    private static SortedMap<String, String> settingsIn(Class<? extends Record> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(component ->
                        component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .collect(Collectors.toMap(NamedSettings::folded, setting -> setting, (one, same) -> one, TreeMap::new));
    }
}
