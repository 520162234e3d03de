package io.syncguard.rules;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.JointResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was decided about the keys of one joint acquisition. The store writes the changes of all grants in one
 * transaction.
 *
 * @param grants one for each of the first requests, in their order
 * @param refusal the first request that cannot be granted; {@code null} if all can be
 */
public record JointDecision(List<Decision<AcquireResult>> grants, JointResult.@Nullable Refusal refusal) {

    public JointDecision {
        grants = List.copyOf(grants);
    }

    public JointResult answer() {
        return new JointResult(
                grants.stream()
                        .map(decision -> (AcquireResult.Granted) decision.answer())
                        .toList(),
                refusal);
    }
}
