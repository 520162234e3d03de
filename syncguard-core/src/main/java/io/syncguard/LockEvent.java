package io.syncguard;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An event of a lock, for {@link LockListener}.
 *
 * @param name the bounded name of the request, fit for a tag of a meter
 * @param key the key; not bounded, so never a tag of a meter
 * @param mode whether the lease excludes others of the key
 * @param permits with how many shared leases of the key it is granted at most; 0 for no limit
 * @param backend the name of the backend, such as {@code postgres}
 * @param fence the number of the grant; {@code null} while there is none
 * @param reason why it was refused or lost, or failed because it was lost; {@code null} otherwise
 * @param elapsed the time since the acquisition began; since the grant once there is one
 * @param grant the number of the grant in this process, the same in all events of the grant and in no others; 0 before
 *     the grant. Unlike the fence it never changes
 */
public record LockEvent(
        String name,
        String key,
        LockMode mode,
        int permits,
        String backend,
        @Nullable Fence fence,
        @Nullable LockReason reason,
        Duration elapsed,
        long grant) {}
