package io.syncguard.verification.commits;

/** A point at which a round may be paused. */
enum Point {
    ACQUIRED,
    BEGUN,
    WRITTEN,
    PINNED,
    COMMITTED,
    RELEASED
}
