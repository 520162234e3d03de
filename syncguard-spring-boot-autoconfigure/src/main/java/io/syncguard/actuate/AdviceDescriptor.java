package io.syncguard.actuate;

import org.jspecify.annotations.Nullable;

/**
 * A problem for an operator to look at.
 *
 * @param subject the name or the key of a lock, or its hash; {@code null} if the problem concerns the whole process
 * @param problem what is wrong
 * @param action what to do
 */
public record AdviceDescriptor(@Nullable String subject, String problem, String action) {}
