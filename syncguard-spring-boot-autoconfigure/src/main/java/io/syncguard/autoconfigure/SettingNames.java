package io.syncguard.autoconfigure;

import io.syncguard.LockLimits;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Reads the names of locks or elections in properties, as they were written. Spring Boot's binder ignores unknown
 * settings, splits a name at its dots, and drops characters of it. Here, each of these fails the start.
 */
final class SettingNames {

    /** {@code [name].setting} or {@code .name.setting}. */
    private static final Pattern SETTING = Pattern.compile("(?:\\[([^\\]]*)]|\\.(.+))\\.([^.\\[\\]]+)");

    private final NamedSettings kind;
    private final Map<String, WrittenSetting> properties = new TreeMap<>();
    private final Map<String, String> bare = new TreeMap<>();

    private SettingNames(NamedSettings kind) {
        this.kind = kind;
    }

    /**
     * Returns the names, each with one of its properties.
     *
     * @throws LockSetupException for a property that Spring Boot would not read
     */
    static Map<String, WrittenSetting> in(Environment environment, NamedSettings kind) {
        SettingNames names = new SettingNames(kind);
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
            if (environment && property.toUpperCase(Locale.ROOT).startsWith(kind.variable())) {
                if (variables) {
                    readVariable(property, String.valueOf(enumerable.getProperty(property)), source);
                }
            } else if (!variables && isBelow(property)) {
                readProperty(property, String.valueOf(enumerable.getProperty(property)));
            }
        }
    }

    private boolean isBelow(String property) {
        int end = kind.prefix().length();
        return property.length() > end + 1
                && property.regionMatches(true, 0, kind.prefix(), 0, end)
                && (property.charAt(end) == '.' || property.charAt(end) == '[');
    }

    private void readProperty(String property, String value) {
        Matcher parts = SETTING.matcher(property.substring(kind.prefix().length()));
        if (!parts.matches()) {
            if (value.isBlank()) {
                // In YAML, a name without settings.
                return;
            }
            throw LockSetupException.invalid(
                    property + " is set, but it is no setting of " + kind.owner(),
                    "Write " + kind.prefix() + ".<name>.<setting>: "
                            + kind.settings().values(),
                    "Put a name with other characters than letters, digits and dashes in brackets; in YAML in"
                            + " quotes, too: \"[shop.order]\"");
        }
        String bracketed = parts.group(1);
        String name = bracketed == null ? parts.group(2) : bracketed;
        String setting = requireSetting(property, parts.group(3), name);
        if (bracketed == null) {
            requireReadable(property, name, setting);
            String other = bare.putIfAbsent(NamedSettings.folded(name), name);
            if (other != null && !other.equals(name)) {
                throw LockSetupException.invalid(
                        property + " is set, but Spring Boot takes its name for '" + other + "'",
                        "Put both names in brackets: " + kind.inBrackets(other, setting) + ", "
                                + kind.inBrackets(name, setting));
            }
        }
        add(name, new WrittenSetting(kind, property, setting, null));
    }

    /** Refuses a property that Spring Boot does not bind under this name. */
    private void requireReadable(String property, String name, String setting) {
        ConfigurationPropertyName read = ConfigurationPropertyName.adapt(property, '.');
        int position = ConfigurationPropertyName.of(kind.prefix()).getNumberOfElements();
        boolean same = read.getNumberOfElements() == position + 2
                && read.getElement(position, ConfigurationPropertyName.Form.ORIGINAL)
                        .equals(name);
        if (!same) {
            throw LockSetupException.invalid(
                    property + " is set, but Spring Boot does not read the name '" + name + "' from it",
                    "Put the name in brackets: " + kind.inBrackets(name, setting) + ", in YAML \"[" + name + "]\"");
        }
    }

    private void readVariable(String variable, String value, ConfigurationPropertySource source) {
        String rest = NamedSettings.folded(variable.substring(kind.variable().length()));
        for (String name : properties.keySet()) {
            for (String setting : kind.settings().values()) {
                if (rest.equals(NamedSettings.folded(name) + NamedSettings.folded(setting))
                        && isIn(source, name, setting)) {
                    return;
                }
            }
        }
        String parts = variable.substring(kind.variable().length()).toLowerCase(Locale.ROOT);
        int end = parts.indexOf('_');
        while (end > 0 && !kind.settings().containsKey(NamedSettings.folded(parts.substring(end)))) {
            end = parts.indexOf('_', end + 1);
        }
        String setting = end < 1 ? null : kind.settings().get(NamedSettings.folded(parts.substring(end)));
        String name = end < 1 ? "" : parts.substring(0, end);
        if (setting == null || name.contains("_")) {
            String problem = "The environment variable " + variable + " is no setting of " + kind.owner()
                    + ": in a variable, a name" + " has only letters and digits, and the setting is one of "
                    + kind.settings().values();
            throw setting == null
                    ? LockSetupException.invalid(
                            problem,
                            "For another name, " + new WrittenSetting(kind, "", "ttl", value).asJson("shop.order"))
                    : unspellable(problem, name.replace('_', '-'), new WrittenSetting(kind, variable, setting, value));
        }
        add(name, new WrittenSetting(kind, "The environment variable " + variable, setting, value));
    }

    /** @param name the probable name */
    private LockSetupException unspellable(String problem, String name, WrittenSetting property) {
        return LockSetupException.invalid(
                problem,
                "For '" + name + "', " + property.asJson(name) + ", with the name as the annotation has it",
                property.inFile(name));
    }

    private boolean isIn(ConfigurationPropertySource source, String name, String setting) {
        return source.getConfigurationProperty(
                        ConfigurationPropertyName.adapt(kind.property(name) + "." + setting, '.'))
                != null;
    }

    private String requireSetting(String property, String setting, String name) {
        String known = kind.settings().get(NamedSettings.folded(setting));
        if (known == null) {
            Set<String> all = new TreeSet<>(kind.settings().values());
            throw LockSetupException.invalid(
                    property + " is set, but " + kind.plural() + " have no setting '" + setting + "', only " + all,
                    MessageText.nextSteps(
                            setting,
                            all,
                            "Correct the setting",
                            "Put a name with dots in brackets: " + kind.inBrackets(name + "." + setting, "ttl")));
        }
        return known;
    }

    private void add(String name, WrittenSetting property) {
        if (kind == NamedSettings.LOCKS && name.startsWith(LockLimits.ELECTION_PREFIX)) {
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
}
