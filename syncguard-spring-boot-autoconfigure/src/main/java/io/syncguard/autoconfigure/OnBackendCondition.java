package io.syncguard.autoconfigure;

import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Checks whether {@code syncguard.backend} names a backend. The property may be a list in any notation.
 */
final class OnBackendCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        MergedAnnotation<ConditionalOnBackend> annotation =
                metadata.getAnnotations().get(ConditionalOnBackend.class);
        Backend wanted = annotation.getEnum("value", Backend.class);
        List<Backend> named = Backend.namedIn(context.getEnvironment());
        boolean matches = named.isEmpty() ? annotation.getBoolean("matchIfMissing") : named.contains(wanted);
        return new ConditionOutcome(
                matches,
                ConditionMessage.forCondition(ConditionalOnBackend.class, wanted)
                        .because("syncguard.backend names " + named));
    }
}
