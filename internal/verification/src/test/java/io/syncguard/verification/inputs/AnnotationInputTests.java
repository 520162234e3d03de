package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockSetupException;
import io.syncguard.OnContention;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.SuperMethodCall;
import net.bytebuddy.matcher.ElementMatchers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Annotations with random attributes fail the start by name, and their methods have documented answers only. */
@Timeout(3600)
class AnnotationInputTests {

    /** Expressions that are harmless, whatever is appended. */
    private static final List<String> EXPRESSIONS = List.of(
            "#orderId",
            "#p0",
            "#a0",
            "'daily'",
            "daily",
            "#root.args[0]",
            "#root.args[7]",
            "#root.method.name",
            "#root.target",
            "#orderId.length()",
            "#orderId.length() > 3",
            "#orderId.nope",
            "#nope",
            "{#orderId, #orderId + 1}",
            "{}",
            "{#orderId, null}",
            "new int[3]",
            "{a: #orderId}",
            "null",
            "1/0",
            "true",
            "#orderId == null",
            "#orderId +",
            "T(java.lang.Integer).parseInt(#orderId)",
            "T(java.lang.Math).nope",
            "@lockBackend",
            "@nope",
            "#orderId?.toString() ?: 'none'",
            "#orderId matches '(a+)+b'",
            "''",
            "");

    private static final List<String> TIMES = List.of(
            "", "30s", "0s", "-1s", "1ms", "365d", "366d", "soon", "PT5S", "9223372036854775807s", "${nope}", "1");

    private static ConfigurableApplicationContext application;

    private final InputSettings settings = InputSettings.of(400, 1);
    private final Inputs inputs = new Inputs(settings.seed());
    private final Answers answers = new Answers();

    /** An interface of an application. A proxy has its methods. */
    public interface Submission {

        String submit(String orderId);
    }

    public static class Orders implements Submission {

        @Override
        public String submit(String orderId) {
            return LockHandle.current().map(LockHandle::key).orElse("not locked");
        }
    }

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.main.banner-mode=off",
                        "--spring.aop.proxy-target-class=false",
                        "--syncguard.wait-time=0s");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void every_answer_is_a_documented_one() throws Exception {
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; answers.total() < settings.calls(); i++) {
                Submission orders = bean("orders" + i);
                for (int call = 0; orders != null && call < 3; call++) {
                    call(orders);
                }
                log.messages().forEach(message -> answers.requireOneLine("log", message));
                log.messages().clear();
            }
        }
        System.out.println("AnnotationInputTests with " + settings.command() + ": " + answers.total() + " calls; "
                + answers.counts());
        assertThat(answers.violations()).as(settings.command()).isEmpty();
        assertThat(answers.counts()).containsKeys("start refused", "start answered", "call answered");
    }

    /** The start of an application with such a bean. */
    private Submission bean(String name) throws Exception {
        Orders annotated = annotated().getDeclaredConstructor().newInstance();
        try {
            Object bean = application.getAutowireCapableBeanFactory().initializeBean(annotated, name);
            answers.count("start", "answered");
            return (Submission) bean;
        } catch (RuntimeException ex) {
            LockSetupException reason = reason(ex);
            if (reason == null || !reason.problem().contains("submit")) {
                answers.violated("A start fails without the name of the method: " + Answers.describe(ex));
            } else {
                answers.count("start", "refused");
                answers.requireOneLine("start", reason.getMessage());
            }
            return null;
        }
    }

    private static LockSetupException reason(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof LockSetupException reason) {
                return reason;
            }
        }
        return null;
    }

    private void call(Submission orders) {
        String orderId = inputs.textOrNull();
        try {
            orders.submit(orderId);
            answers.count("call", "answered");
        } catch (LockException ex) {
            answers.count("call", ex.code().name());
            answers.require(
                    List.of(LockErrorCode.INVALID_ARGUMENT, LockErrorCode.ACQUISITION_TIMEOUT, LockErrorCode.LOST)
                            .contains(ex.code()),
                    "A call throws " + ex);
            answers.requireOneLine("call", ex.getMessage());
        } catch (NumberFormatException | ArithmeticException ex) {
            // parseInt and 1/0 in the expressions: what the code of an expression throws reaches the caller.
            answers.count("call", "of the expression");
        } catch (RuntimeException ex) {
            answers.violated("A call throws " + ex);
        }
    }

    /** A class file has room for less. */
    private String text() {
        String text = inputs.text();
        return text.substring(0, Math.min(text.length(), 2000));
    }

    private Class<? extends Orders> annotated() {
        AnnotationDescription.Builder annotation = AnnotationDescription.Builder.ofType(DistributedLock.class);
        annotation = annotation.define("name", inputs.chance(60) ? "order" : text());
        annotation = annotation.define("key", inputs.chance(70) ? inputs.oneOf(EXPRESSIONS) : text());
        if (inputs.chance(20)) {
            annotation = annotation.define("condition", inputs.oneOf(EXPRESSIONS));
        }
        if (inputs.chance(10)) {
            annotation = annotation.define("fencedResource", inputs.oneOf(EXPRESSIONS));
        }
        for (String time : List.of("ttl", "waitTime", "holdAtLeast", "holdAtMost")) {
            if (inputs.chance(10)) {
                annotation = annotation.define(time, inputs.chance(80) ? inputs.oneOf(TIMES) : text());
            }
        }
        if (inputs.chance(10)) {
            annotation = annotation.define("permits", inputs.chance(60) ? "5" : text());
        }
        for (String name : List.of("value", "fallback", "lockManager")) {
            if (inputs.chance(5)) {
                annotation = annotation.define(name, text());
            }
        }
        return new ByteBuddy()
                .subclass(Orders.class)
                .method(ElementMatchers.named("submit"))
                .intercept(SuperMethodCall.INSTANCE)
                .annotateMethod(annotation
                        .define("mode", inputs.oneOf(List.of(LockMode.values())))
                        .define("onContention", inputs.oneOf(List.of(OnContention.values())))
                        .build())
                .make()
                .load(Orders.class.getClassLoader(), ClassLoadingStrategy.Default.WRAPPER)
                .getLoaded();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {

        @Bean
        LockBackend lockBackend() {
            return new InMemoryLockBackend();
        }
    }
}
