package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Shows why locks cannot be set up, and what to do. Runs before the analyzers of Spring Boot, which would explain a
 * cause of the exception.
 */
@Order(0)
final class LockSetupFailureAnalyzer extends AbstractFailureAnalyzer<LockSetupException> {

    /** Matches a description that begins with the wrong property. */
    private static final Pattern PROPERTY =
            Pattern.compile("(syncguard\\.[\\w.-]+(?:\\[[^\\]]*][\\w.-]*)?)(:| is ).*", Pattern.DOTALL);

    private final Environment environment;

    LockSetupFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockSetupException cause) {
        return new FailureAnalysis(cause.problem() + "." + origin(cause.problem()), action(cause.nextSteps()), cause);
    }

    /** Returns where the wrong property is set, such as the line of a file. */
    private String origin(String problem) {
        Matcher matcher = PROPERTY.matcher(problem);
        if (!matcher.matches()) {
            return "";
        }
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(matcher.group(1), '.');
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .map(source -> source.getConfigurationProperty(name))
                .filter(Objects::nonNull)
                .map(ConfigurationProperty::getOrigin)
                .filter(Objects::nonNull)
                .findFirst()
                .map(origin -> System.lineSeparator() + "It is set in " + origin + ".")
                .orElse("");
    }

    static String action(List<String> nextSteps) {
        return nextSteps.size() == 1
                ? nextSteps.get(0) + "."
                : nextSteps.stream()
                        .map(step -> System.lineSeparator() + "- " + step + ".")
                        .collect(Collectors.joining("", "Do one of these:", ""));
    }
}
