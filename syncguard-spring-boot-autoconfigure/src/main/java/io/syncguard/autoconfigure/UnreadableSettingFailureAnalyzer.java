package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionFailedException;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Explains which values a property of the library accepts. Spring Boot's analysis, which comes later, names Java types.
 */
@Order(0)
final class UnreadableSettingFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    private final LockSetupFailureAnalyzer mistakes;

    UnreadableSettingFailureAnalyzer(Environment environment) {
        this.mistakes = new LockSetupFailureAnalyzer(environment);
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        ConfigurationProperty property = cause.getProperty();
        ConversionFailedException failed = findCause(cause, ConversionFailedException.class);
        if (property == null || failed == null || !property.getName().toString().startsWith("syncguard.")) {
            return null;
        }
        LockSetupException mistake = mistake(
                property.getName().toString(),
                String.valueOf(property.getValue()),
                ClassUtils.resolvePrimitiveIfNecessary(failed.getTargetType().getType()));
        return mistake == null ? null : mistakes.analyze(rootFailure, mistake);
    }

    private static @Nullable LockSetupException mistake(String property, String value, Class<?> type) {
        String problem = property + " is '" + OneLine.of(value) + "', but has to be ";
        String correct = "Correct " + property;
        if (type == Duration.class) {
            return LockSetupException.invalid(problem + "a duration", "Write 30s, 500ms, 5m or PT30S");
        }
        if (type == Boolean.class) {
            return LockSetupException.invalid(problem + "true or false", correct);
        }
        if (Number.class.isAssignableFrom(type)) {
            return LockSetupException.invalid(problem + "a whole number", correct);
        }
        if (!type.isEnum()) {
            return null;
        }
        List<String> names = Stream.of(type.getEnumConstants())
                .map(constant ->
                        ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
                // In an annotation, this constant stands for the value of a property.
                .filter(name -> !name.equals("default"))
                .toList();
        return LockSetupException.invalid(
                problem + String.join(", ", names.subList(0, names.size() - 1)) + " or " + names.get(names.size() - 1),
                MessageText.nextSteps(value, names, correct));
    }
}
