package io.syncguard.autoconfigure;

import io.syncguard.spi.LockBackend;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Checks {@link ConditionalOnBackend}. The property may be a list in any notation. */
final class OnBackendCondition extends SpringBootCondition implements ConfigurationCondition {

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        MergedAnnotation<ConditionalOnBackend> annotation =
                metadata.getAnnotations().get(ConditionalOnBackend.class);
        Backend wanted = new Backend(annotation.getString("value"));
        List<Backend> named = Backend.namedIn(context.getEnvironment());
        boolean isChosen = named.isEmpty() ? annotation.getBoolean("matchIfMissing") : named.contains(wanted);
        List<String> others = Arrays.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                        Objects.requireNonNull(context.getBeanFactory()), LockBackend.class, true, false))
                .filter(bean -> named.stream()
                        .noneMatch(each -> !each.equals(wanted) && each.bean().equals(bean)))
                .toList();
        return new ConditionOutcome(
                isChosen && others.isEmpty(),
                ConditionMessage.forCondition(ConditionalOnBackend.class, wanted.name())
                        .because("syncguard.backend names " + named + ", and there are the beans " + others));
    }
}
