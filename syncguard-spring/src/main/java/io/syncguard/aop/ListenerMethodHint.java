package io.syncguard.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Warns at the start of message listeners whose calls are left out at times. Such a call returns, so the message is
 * acknowledged. Thread-safe.
 */
final class ListenerMethodHint {

    private static final Log log = LogFactory.getLog(ListenerMethodHint.class);

    /** The annotations for Kafka, RabbitMQ, JMS and Pulsar have this one. Alone it handles what nobody acknowledges. */
    private static final String MESSAGE_MAPPING = "org.springframework.messaging.handler.annotation.MessageMapping";

    /** Annotations of listeners that do not have it. */
    private static final Set<String> OTHER_LISTENERS = Set.of(
            "io.awspring.cloud.sqs.annotation.SqsHandler",
            "io.awspring.cloud.sqs.annotation.SqsListener",
            "org.springframework.integration.annotation.Aggregator",
            "org.springframework.integration.annotation.Filter",
            "org.springframework.integration.annotation.Router",
            "org.springframework.integration.annotation.ServiceActivator",
            "org.springframework.integration.annotation.Splitter",
            "org.springframework.integration.annotation.Transformer",
            "org.springframework.modulith.events.ApplicationModuleListener");

    private final String annotation;
    private final String hint;
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /**
     * @param annotation the simple name of the one that leaves calls out
     * @param hint which calls those are, and what to do
     */
    ListenerMethodHint(String annotation, String hint) {
        this.annotation = annotation;
        this.hint = hint;
    }

    /** Called with each method whose calls are left out at times. */
    void check(Method method, String description) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        Stream.concat(
                        annotations.stream(MESSAGE_MAPPING).filter(MergedAnnotation::isMetaPresent),
                        annotations.stream()
                                .filter(each ->
                                        OTHER_LISTENERS.contains(each.getType().getName())))
                .map(listener -> listener.getRoot().getType().getSimpleName())
                .findFirst()
                .filter(listener -> reported.add(description))
                .ifPresent(listener ->
                        log.warn("@" + listener + " and @" + annotation + " on " + description + ": " + hint));
    }
}
