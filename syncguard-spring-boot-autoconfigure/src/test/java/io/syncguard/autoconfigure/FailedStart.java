package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.testing.GoldenMessages;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.Configurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.type.AnnotationMetadata;

/** Starts an application that fails, and compares what a person reads with {@link GoldenMessages}. */
final class FailedStart {

    static final String NO_DATA_SOURCE =
            "spring.autoconfigure.exclude=" + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

    private static final String TITLE = "APPLICATION FAILED TO START";

    private static final int MAX_LINES = 15;

    private final CapturedOutput output;
    private final List<Class<?>> sources = new ArrayList<>(List.of(Application.class));
    private final Map<Pattern, String> placeholders = new LinkedHashMap<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private boolean warns;
    private ClassLoader classLoader = getClass().getClassLoader();

    FailedStart(CapturedOutput output) {
        this.output = output;
        // Boot would create a database of its own, with the H2 of the tests.
        with("spring.datasource.embedded-database-connection=none");
        with("spring.flyway.enabled=false", "spring.liquibase.enabled=false");
        // Spring Data would look for repositories in all classes of this package.
        with("spring.data.redis.repositories.enabled=false");
        with("spring.main.banner-mode=off", "syncguard.postgres.network-timeout=500ms");
        // The start waits as long for a server that does not answer.
        with("spring.datasource.hikari.connection-timeout=500");
    }

    FailedStart with(Class<?>... configurations) {
        sources.addAll(List.of(configurations));
        return this;
    }

    /** @param more name and value; a later one replaces an earlier one */
    FailedStart with(String... more) {
        for (String property : more) {
            String[] parts = property.split("=", 2);
            properties.put(parts[0], parts[1]);
        }
        return this;
    }

    /** Hides these classes. */
    FailedStart without(Class<?>... hidden) {
        classLoader = new FilteredClassLoader(hidden);
        return this;
    }

    /** Expects that the pool or the driver logs a warning with a stack trace before. */
    FailedStart afterAWarning() {
        warns = true;
        return this;
    }

    /** Replaces a value that differs from run to run by a placeholder. */
    FailedStart whereas(String value, String placeholder) {
        return whereasMatches(Pattern.quote(value), placeholder);
    }

    /** Replaces all matches of a pattern, such as the messages of several versions of a server. */
    FailedStart whereasMatches(String pattern, String placeholder) {
        placeholders.put(Pattern.compile(pattern), placeholder);
        return this;
    }

    /** @param mistake the name of its section */
    void reads(String mistake) {
        String before = output.getAll();
        Throwable failure = catchThrowable(this::run);
        String said = output.getAll().substring(before.length());

        assertThat(failure).isNotNull();
        assertThat(said).contains(TITLE);
        String report = said.substring(said.indexOf(TITLE)).strip();
        assertThat(warns ? report : said).doesNotContain("\tat ");
        for (Map.Entry<Pattern, String> each : placeholders.entrySet()) {
            report = each.getKey().matcher(report).replaceAll(Matcher.quoteReplacement(each.getValue()));
        }
        String actual = report.substring(report.indexOf("Description:"));
        GoldenMessages.compare(mistake, actual);
        // The line of stars above the title is counted, too.
        assertThat(report.lines()).hasSizeLessThan(MAX_LINES);
    }

    private void run() {
        Thread thread = Thread.currentThread();
        ClassLoader own = thread.getContextClassLoader();
        thread.setContextClassLoader(classLoader);
        try {
            new SpringApplicationBuilder(new DefaultResourceLoader(classLoader), sources.toArray(Class<?>[]::new))
                    .web(WebApplicationType.NONE)
                    .run(properties.entrySet().stream()
                            .map(property -> "--" + property.getKey() + "=" + property.getValue())
                            .toArray(String[]::new))
                    .close();
        } finally {
            thread.setContextClassLoader(own);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(AutoConfigurationsOfLocks.class)
    static class Application {}

    /**
     * The auto-configurations of an application with locks. Those of all libraries of the tests would take most of the
     * time.
     */
    private static final class AutoConfigurationsOfLocks implements DeferredImportSelector, EnvironmentAware {

        private String excluded = "";

        @Override
        public void setEnvironment(Environment environment) {
            excluded = environment.getProperty("spring.autoconfigure.exclude", "");
        }

        @Override
        public String[] selectImports(AnnotationMetadata metadata) {
            return Stream.of(Configurations.getClasses(
                            Applications.ofBoot(),
                            Applications.ours(),
                            SortedAutoConfigurations.of(
                                    DataRedisAutoConfiguration.class,
                                    FlywayAutoConfiguration.class,
                                    LiquibaseAutoConfiguration.class,
                                    PropertyPlaceholderAutoConfiguration.class)))
                    .map(Class::getName)
                    .filter(name -> !excluded.contains(name))
                    .toArray(String[]::new);
        }
    }
}
