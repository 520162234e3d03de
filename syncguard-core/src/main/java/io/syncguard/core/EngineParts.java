package io.syncguard.core;

import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;

/**
 * What the handles of one engine share.
 *
 * @param backend the store, which tells the handles of one engine from those of another
 * @param threads those whose transactions are bound to leases of this engine
 */
record EngineParts(
        LockBackend backend,
        EngineSettings settings,
        Time time,
        TransactionBoundary transactions,
        TransactionThreads threads,
        ListenerDispatcher dispatcher,
        LeaseReports reports,
        LeaseMonitor monitor,
        LeaseRenewer renewer,
        LockReleaser releaser) {}
