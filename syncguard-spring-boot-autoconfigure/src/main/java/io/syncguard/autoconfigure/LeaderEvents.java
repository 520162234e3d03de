package io.syncguard.autoconfigure;

import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderFenceRotatedEvent;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderRevokedEvent;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes the events of leadership as application events.
 */
final class LeaderEvents implements LeaderListener {

    private final ApplicationEventPublisher publisher;

    LeaderEvents(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    @Override
    public void elected(LeaderElectedEvent event) {
        publisher.publishEvent(event);
    }

    @Override
    public void fenceRotated(LeaderFenceRotatedEvent event) {
        publisher.publishEvent(event);
    }

    @Override
    public void revoked(LeaderRevokedEvent event) {
        publisher.publishEvent(event);
    }
}
