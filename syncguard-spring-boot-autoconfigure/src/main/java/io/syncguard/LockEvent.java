package io.syncguard;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a lock, as a {@link LockListener} is told.
 *
 * @param name the bounded name of the request, fit for a metric tag
 * @param key the key; not bounded, so never a metric tag
 * @param mode how the grant stands beside others
 * @param backend the name of the backend, such as {@code postgres}
 * @param fence the number of the grant; {@code null} while there is none
 * @param reason why it was refused or lost, or failed because it was lost; {@code null} otherwise
 * @param elapsed the time since the acquisition began; since the grant once there is one
 */
public record LockEvent(
        String name,
        String key,
        LockMode mode,
        String backend,
        @Nullable Fence fence,
        @Nullable LockReason reason,
        Duration elapsed) {}
