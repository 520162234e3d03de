package io.syncguard.core;

import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;

/**
 * What the handles of one engine share.
 *
 * @param backend the store. Each engine has one of its own, so it identifies the engine
 * @param threads the threads whose transactions are bound to leases of this engine
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
