package io.syncguard.autoconfigure;

import io.syncguard.LockLimits;
import io.syncguard.LockSettings;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Reads the names of locks under {@code syncguard.locks}, as they were written. Spring Boot's binder ignores unknown
 * settings, splits a name at its dots, and drops characters of it. Here, each of these fails the start.
 */
final class LockPropertyNames {

    static final String PREFIX = "syncguard.locks";

    private static final String ENVIRONMENT_PREFIX = "SYNCGUARD_LOCKS_";

    /** {@code [name].setting} or {@code .name.setting}. */
    private static final Pattern SETTING = Pattern.compile("(?:\\[([^\\]]*)]|\\.(.+))\\.([^.\\[\\]]+)");

    /** The settings by their names without dashes. */
    private static final Map<String, String> SETTINGS = Arrays.stream(LockSettings.class.getRecordComponents())
            .map(component -> component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
            .collect(Collectors.toMap(LockPropertyNames::folded, setting -> setting, (one, same) -> one, TreeMap::new));

    private final Map<String, LockProperty> properties = new TreeMap<>();
    private final Map<String, String> bare = new TreeMap<>();

    private LockPropertyNames() {}

    /**
     * Returns the names, each with one of its properties.
     *
     * @throws LockSetupException for a property that Spring Boot would not read
     */
    static Map<String, LockProperty> in(Environment environment) {
        LockPropertyNames names = new LockPropertyNames();
        // Properties come first, because a variable may override a setting of a name that it cannot spell itself.
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            names.read(source, false);
        }
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            names.read(source, true);
        }
        return names.properties;
    }

    private void read(ConfigurationPropertySource source, boolean variables) {
        if (!(source.getUnderlyingSource() instanceof EnumerablePropertySource<?> enumerable)) {
            return;
        }
        boolean environment = enumerable instanceof SystemEnvironmentPropertySource;
        for (String property : enumerable.getPropertyNames()) {
            if (environment && property.toUpperCase(Locale.ROOT).startsWith(ENVIRONMENT_PREFIX)) {
                if (variables) {
                    readVariable(property, String.valueOf(enumerable.getProperty(property)), source);
                }
            } else if (!variables && isBelow(property)) {
                readProperty(property);
            }
        }
    }

    private static boolean isBelow(String property) {
        return property.length() > PREFIX.length() + 1
                && property.regionMatches(true, 0, PREFIX, 0, PREFIX.length())
                && (property.charAt(PREFIX.length()) == '.' || property.charAt(PREFIX.length()) == '[');
    }

    private void readProperty(String property) {
        Matcher parts = SETTING.matcher(property.substring(PREFIX.length()));
        if (!parts.matches()) {
            throw LockSetupException.invalid(
                    property + " is set, but it is no setting of a lock",
                    "Write " + PREFIX + ".<name>.<setting>: " + SETTINGS.values(),
                    "Put a name with other characters than letters, digits and dashes in brackets; in YAML in"
                            + " quotes, too: \"[shop.order]\"");
        }
        String bracketed = parts.group(1);
        String name = bracketed == null ? parts.group(2) : bracketed;
        String setting = requireSetting(property, parts.group(3), name);
        if (bracketed == null) {
            requireReadable(property, name, setting);
            String other = bare.putIfAbsent(folded(name), name);
            if (other != null && !other.equals(name)) {
                throw LockSetupException.invalid(
                        property + " is set, but Spring Boot takes its name for '" + other + "'",
                        "Put both names in brackets: " + inBrackets(other, setting) + ", " + inBrackets(name, setting));
            }
        }
        add(name, new LockProperty(property, setting, null));
    }

    /** Refuses a property that Spring Boot does not bind under this name. */
    private static void requireReadable(String property, String name, String setting) {
        ConfigurationPropertyName read = ConfigurationPropertyName.adapt(property, '.');
        int position = ConfigurationPropertyName.of(PREFIX).getNumberOfElements();
        boolean same = read.getNumberOfElements() == position + 2
                && read.getElement(position, ConfigurationPropertyName.Form.ORIGINAL)
                        .equals(name);
        if (!same) {
            throw LockSetupException.invalid(
                    property + " is set, but Spring Boot does not read the name '" + name + "' from it",
                    "Put the name in brackets: " + inBrackets(name, setting) + ", in YAML \"[" + name + "]\"");
        }
    }

    private void readVariable(String variable, String value, ConfigurationPropertySource source) {
        String rest = folded(variable.substring(ENVIRONMENT_PREFIX.length()));
        for (String name : properties.keySet()) {
            for (String setting : SETTINGS.values()) {
                if (rest.equals(folded(name) + folded(setting)) && isIn(source, name, setting)) {
                    return;
                }
            }
        }
        String parts = variable.substring(ENVIRONMENT_PREFIX.length()).toLowerCase(Locale.ROOT);
        int end = parts.indexOf('_');
        while (end > 0 && !SETTINGS.containsKey(folded(parts.substring(end)))) {
            end = parts.indexOf('_', end + 1);
        }
        String setting = end < 1 ? null : SETTINGS.get(folded(parts.substring(end)));
        String name = end < 1 ? "" : parts.substring(0, end);
        if (setting == null || name.contains("_")) {
            String problem = "The environment variable " + variable + " is no setting of a lock: in a variable, a name"
                    + " has only letters and digits, and the setting is one of " + SETTINGS.values();
            throw setting == null
                    ? LockSetupException.invalid(
                            problem, "For another name, " + new LockProperty("", "ttl", value).asJson("shop.order"))
                    : unspellable(problem, name.replace('_', '-'), new LockProperty(variable, setting, value));
        }
        add(name, new LockProperty("The environment variable " + variable, setting, value));
    }

    /** @param name the probable name */
    private static LockSetupException unspellable(String problem, String name, LockProperty property) {
        return LockSetupException.invalid(
                problem,
                "For '" + name + "', " + property.asJson(name) + ", with the name as the annotation has it",
                property.inFile(name));
    }

    private static boolean isIn(ConfigurationPropertySource source, String name, String setting) {
        return source.getConfigurationProperty(
                        ConfigurationPropertyName.adapt(LockSettings.property(name) + "." + setting, '.'))
                != null;
    }

    private static String requireSetting(String property, String setting, String name) {
        String known = SETTINGS.get(folded(setting));
        if (known == null) {
            Set<String> all = new TreeSet<>(SETTINGS.values());
            throw LockSetupException.invalid(
                    property + " is set, but locks have no setting '" + setting + "', only " + all,
                    MessageText.nextSteps(
                            setting,
                            all,
                            "Correct the setting",
                            "Put a name with dots in brackets: " + inBrackets(name + "." + setting, "ttl")));
        }
        return known;
    }

    private void add(String name, LockProperty property) {
        if (name.startsWith(LockLimits.ELECTION_PREFIX)) {
            throw LockSetupException.invalid(
                    property.text() + " is set, but the lock of an election has settings of its own",
                    "Write " + ElectionProperties.nameOf(name.substring(LockLimits.ELECTION_PREFIX.length())) + ".*");
        }
        try {
            properties.putIfAbsent(LockLimits.key(name), property);
        } catch (RuntimeException ex) {
            throw LockSetupException.at(property.text(), ex);
        }
    }

    static String inBrackets(String name, String setting) {
        return PREFIX + "[" + name + "]." + setting;
    }

    static String folded(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
    }
}
