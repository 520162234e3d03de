package io.syncguard.autoconfigure;

import io.syncguard.MessageText;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Warns of properties under {@code syncguard} that nothing reads: Spring Boot ignores them. Leaves out environment
 * variables and system properties, because others may set them for other programs.
 */
final class UnreadProperties {

    private static final Log log = LogFactory.getLog(UnreadProperties.class);

    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("syncguard");

    /** Below these are names of the application. */
    private static final List<ConfigurationPropertyName> OPEN = Stream.of(NamedSettings.LOCKS, NamedSettings.ELECTIONS)
            .map(kind -> ConfigurationPropertyName.of(kind.prefix()))
            .toList();

    /** All names that the library reads, and those in front of others. */
    private final Set<ConfigurationPropertyName> known = new TreeSet<>(Comparator.comparing(Object::toString));

    private final Environment environment;

    UnreadProperties(Environment environment) {
        this.environment = environment;
        known.addAll(OPEN);
        // The binder looks for each property of a type, whether it is set or not.
        Binder nothing = new Binder(name -> null);
        nothing.bind(ROOT, Bindable.of(SyncGuardProperties.class), new BindHandler() {
            @Override
            public <T> Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
                known.add(name);
                return target;
            }
        });
    }

    void warn() {
        Set<String> unread = new TreeSet<>();
        ConfigurationPropertySources.get(environment).forEach(source -> {
            if (source.getUnderlyingSource() instanceof EnumerablePropertySource<?> properties
                    && isOfApplication(properties)) {
                unread.addAll(List.of(properties.getPropertyNames()));
            }
        });
        unread.removeIf(property -> !property.startsWith(ROOT + ".") || isRead(nameOf(property)));
        unread.forEach(property ->
                log.warn(property + " is set, but SyncGuard has no such property. " + nextStep(nameOf(property))));
    }

    private static boolean isOfApplication(EnumerablePropertySource<?> source) {
        return !(source instanceof SystemEnvironmentPropertySource)
                && !source.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
    }

    /** The name without the index in a list. */
    private static ConfigurationPropertyName nameOf(String property) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        return name.isLastElementIndexed() ? name.getParent() : name;
    }

    private boolean isRead(ConfigurationPropertyName name) {
        return known.stream().anyMatch(each -> each.equals(name) || name.isAncestorOf(each))
                || OPEN.stream().anyMatch(each -> each.isAncestorOf(name))
                || Backend.namedIn(environment).stream()
                        .filter(store -> !LockStores.isOurs(store))
                        .anyMatch(store -> store.name().equals(name.getElement(1, Form.DASHED)));
    }

    private String nextStep(ConfigurationPropertyName name) {
        int read = 2;
        while (isRead(name.chop(read))) {
            read++;
        }
        int wrong = read - 1;
        ConfigurationPropertyName rest = name.subName(wrong + 1);
        String tail = (rest.isEmpty() || rest.toString().startsWith("[") ? "" : ".") + rest;
        ConfigurationPropertyName parent = name.chop(wrong);
        String element = name.getElement(wrong, Form.DASHED);
        List<String> elsewhere = known.stream()
                .filter(each -> wrong == 1 && each.getLastElement(Form.DASHED).equals(element))
                .map(each -> each + tail)
                .toList();
        if (!elsewhere.isEmpty()) {
            return "Did you mean '" + String.join("' or '", elsewhere) + "'? Correct the name";
        }
        List<String> siblings = known.stream()
                .filter(parent::isParentOf)
                .map(each -> each + tail)
                .toList();
        return MessageText.nextSteps(name.toString(), siblings, "Correct the name", "Correct the name, or remove it")[
                0];
    }
}
