package io.syncguard.benchmarks;

import io.syncguard.Fence;
import io.syncguard.RawLockInfo;
import io.syncguard.core.Attempt;
import io.syncguard.core.Claim;
import io.syncguard.core.ExtendOutcome;
import io.syncguard.core.Extension;
import io.syncguard.core.LockBackend;
import io.syncguard.core.ReleaseOutcome;
import io.syncguard.core.WakeUps;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Grants everything and keeps nothing, so that only the library is measured. */
final class GrantingBackend implements LockBackend {

    private static final Attempt GRANT = new Attempt.Grant(new Fence(1), Instant.EPOCH, Instant.EPOCH);

    @Override
    public String name() {
        return "granting";
    }

    @Override
    public Attempt acquire(Claim claim) {
        return GRANT;
    }

    @Override
    public ReleaseOutcome release(String lockId) {
        return ReleaseOutcome.RELEASED;
    }

    @Override
    public ReleaseOutcome releaseAfter(String lockId, Duration held) {
        return ReleaseOutcome.RELEASED;
    }

    @Override
    public List<Duration> keepPlaces(List<String> lockIds) {
        return lockIds.stream().map(each -> Duration.ZERO).toList();
    }

    @Override
    public Duration placeTtl() {
        return Duration.ofSeconds(5);
    }

    @Override
    public void connect(WakeUps wakeUps) {}

    @Override
    public boolean isConnected() {
        return false;
    }

    @Override
    public List<ReleaseOutcome> releaseAll(List<String> lockIds) {
        return lockIds.stream().map(this::release).toList();
    }

    @Override
    public ExtendOutcome extend(Extension extension) {
        return extend(List.of(extension)).get(0);
    }

    @Override
    public List<ExtendOutcome> extend(List<Extension> extensions) {
        return extensions.stream()
                .<ExtendOutcome>map(each -> new ExtendOutcome.Extended(Instant.EPOCH))
                .toList();
    }

    @Override
    public ExtendOutcome rotate(Extension extension) {
        return new ExtendOutcome.Rotated(Instant.EPOCH, new Fence(1));
    }

    @Override
    public boolean isLocked(String key) {
        return false;
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return List.of();
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        return Optional.empty();
    }

    @Override
    public Duration settlingTime() {
        return Duration.ZERO;
    }

    @Override
    public void close() {}
}
