package io.syncguard.autoconfigure;

import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.SmartLifecycle;

/**
 * Joins elections after everything else has started, and steps down before anything stops: the next leader works while
 * this instance still answers its last requests.
 */
final class LeaderLifecycle implements SmartLifecycle, SmartInitializingSingleton {

    private final LeaderElection election;
    private final ObjectProvider<LeaderListener> listeners;

    /** Not a bean: a bean in a parent context would publish the events of a child's election a second time. */
    private final LeaderEvents events;

    /** The elections to join at the start. */
    private final List<String> autoStarted;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean running;

    LeaderLifecycle(
            LeaderElection election,
            ObjectProvider<LeaderListener> listeners,
            LeaderEvents events,
            List<String> autoStarted) {
        this.election = election;
        this.listeners = listeners;
        this.events = events;
        this.autoStarted = autoStarted;
    }

    /** Adds the listeners late, because a listener bean may depend on the election. */
    @Override
    public void afterSingletonsInstantiated() {
        listeners.orderedStream().forEach(election::addListener);
        election.addListener(events);
    }

    @Override
    public void start() {
        election.start();
        autoStarted.forEach(election::join);
        running = true;
    }

    @Override
    public void stop() {
        election.stop();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** The last to start and the first to stop. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }
}
