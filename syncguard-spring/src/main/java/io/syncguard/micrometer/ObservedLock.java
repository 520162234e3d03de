package io.syncguard.micrometer;

import io.syncguard.Fence;
import io.syncguard.LockRequest;
import io.syncguard.spi.Hashes;
import org.jspecify.annotations.Nullable;

/** The lock that the observations of one acquisition or of one lease share. Thread-safe. */
final class ObservedLock {

    private final String name;
    private final String backend;
    private final LockRequest request;
    private final @Nullable Fence fence;

    /** Computed at its first use, because meters do not need it. Concurrent threads compute equal values. */
    private volatile @Nullable String keyHash;

    ObservedLock(String name, String backend, LockRequest request, @Nullable Fence fence) {
        this.name = name;
        this.backend = backend;
        this.request = request;
        this.fence = fence;
    }

    /** The same lock, once it is granted. */
    ObservedLock granted(Fence fence) {
        ObservedLock granted = new ObservedLock(name, backend, request, fence);
        granted.keyHash = keyHash;
        return granted;
    }

    String name() {
        return name;
    }

    String backend() {
        return backend;
    }

    LockRequest request() {
        return request;
    }

    @Nullable
    Fence fence() {
        return fence;
    }

    String keyHash() {
        String known = keyHash;
        if (known == null) {
            known = Hashes.abbreviated(request.key());
            keyHash = known;
        }
        return known;
    }
}
