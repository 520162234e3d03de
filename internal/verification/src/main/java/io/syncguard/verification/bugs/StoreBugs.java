package io.syncguard.verification.bugs;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Stores with a bug. The history records the requests of the engine and the answers of these stores. */
final class StoreBugs {

    private static final PostgresSettings SETTINGS = new PostgresSettings(
            PostgresTables.DEFAULT,
            Duration.ofSeconds(2),
            PostgresSettings.WAITER_TTL,
            Duration.ZERO,
            false,
            FenceSettings.from(FenceSource.COUNTER));

    private StoreBugs() {}

    static LockBackend releaseByKey(LockBackend right) {
        return new ByKey(right) {
            @Override
            public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
                return super.release(requests.stream()
                        .map(request -> new ReleaseRequest(
                                holderInsteadOf(request.id()),
                                request.handsOver(),
                                request.heldFor(),
                                request.waits(),
                                request.entering()))
                        .toList());
            }
        };
    }

    static LockBackend heartbeatByKey(LockBackend right) {
        return new ByKey(right) {
            @Override
            public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
                return super.extend(requests.stream().map(this::ofHolder).toList());
            }

            private ExtendRequest ofHolder(ExtendRequest request) {
                KeyedLockId holder = holderInsteadOf(request.id());
                return new ExtendRequest(holder, request.ttl(), request.kind());
            }
        };
    }

    private abstract static class ByKey extends ForwardingBackend {

        ByKey(LockBackend right) {
            super(right);
        }

        /** Returns the lock id of the key's exclusive holder. */
        KeyedLockId holderInsteadOf(KeyedLockId id) {
            return Stream.ofNullable(id.key())
                    .flatMap(key -> directory().lookup(key).stream())
                    .filter(lease -> lease.mode() == LockMode.EXCLUSIVE)
                    .map(lease -> new KeyedLockId(id.key(), lease.lockId()))
                    .findFirst()
                    .orElse(id);
        }
    }

    static LockBackend ownGrantMissed(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                return super.acquire(
                        requests.stream()
                                .map(request -> new AcquireRequest(
                                        request.key(),
                                        request.lockId(),
                                        request.options(),
                                        false,
                                        request.waiterNumber()))
                                .toList(),
                        extent);
            }
        };
    }

    static LockBackend lapsedExtended(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
                return super.extend(requests)
                        .thenApply(results -> IntStream.range(0, results.size())
                                .mapToObj(i -> reviving(results.get(i), requests.get(i)))
                                .toList());
            }
        };
    }

    private static ExtendResult reviving(ExtendResult result, ExtendRequest request) {
        return result instanceof ExtendResult.Expired || result instanceof ExtendResult.NotFound
                ? new ExtendResult.Extended(Instant.now().plus(request.ttl()))
                : result;
    }

    static LockBackend wakeUpIsGrant(LockBackend right) {
        return new ForwardingBackend(right) {

            private volatile Fence last = new Fence(1);

            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                return super.acquire(requests, extent).thenApply(results -> {
                    results.forEach(this::remember);
                    return results;
                });
            }

            private void remember(AcquireResult result) {
                if (result instanceof AcquireResult.Granted granted) {
                    last = granted.fence();
                }
            }

            @Override
            public BooleanSupplier connect(WakeUpListener listener) {
                return super.connect(new ForwardingListener(listener) {
                    @Override
                    public void wake(long waiter) {
                        Instant now = Instant.now();
                        super.handOver(
                                waiter,
                                new AcquireResult.Granted(
                                        new Fence(last.value() + 1), now, now.plus(info().waiterTtl())));
                    }
                });
            }
        };
    }

    static LockBackend wakeUpsLost(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public BooleanSupplier connect(WakeUpListener listener) {
                return super.connect(new ForwardingListener(listener) {
                    @Override
                    public void wake(long waiter) {
                        // Lost.
                    }
                });
            }
        };
    }

    private static class ForwardingListener implements WakeUpListener {

        private final WakeUpListener right;

        ForwardingListener(WakeUpListener right) {
            this.right = right;
        }

        @Override
        public void wake(long waiter) {
            right.wake(waiter);
        }

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {
            right.handOver(waiter, grant);
        }

        @Override
        public void wakeUpsMissed() {
            right.wakeUpsMissed();
        }
    }

    /** @param application the connection pool of the application's transactions */
    static LockBackend inCallersTransaction(LockBackend right, Supplier<DataSource> application) {
        return new ForwardingBackend(right) {

            private LockBackend joining;

            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                return TransactionSynchronizationManager.isActualTransactionActive()
                        ? joining().acquire(requests, extent)
                        : super.acquire(requests, extent);
            }

            private synchronized LockBackend joining() {
                if (joining == null) {
                    DataSource joined = new TransactionAwareDataSourceProxy(application.get());
                    joining = new PostgresLockBackend(joined, joined, null, SETTINGS, () -> {});
                }
                return joining;
            }
        };
    }
}
