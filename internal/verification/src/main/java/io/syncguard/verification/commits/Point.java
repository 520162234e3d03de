package io.syncguard.verification.commits;

/** Where a round may be paused. */
enum Point {
    ACQUIRED,
    BEGUN,
    WRITTEN,
    PINNED,
    COMMITTED,
    RELEASED
}
