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
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
            public ReleaseResult release(KeyedLockId id) {
                return super.release(holderInsteadOf(id));
            }

            @Override
            public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
                return super.releaseAfter(holderInsteadOf(id), held);
            }

            @Override
            public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
                return super.releaseAll(ids.stream().map(this::holderInsteadOf).toList());
            }
        };
    }

    static LockBackend heartbeatByKey(LockBackend right) {
        return new ByKey(right) {
            @Override
            public List<ExtendResult> extend(List<ExtendRequest> requests) {
                return super.extend(requests.stream().map(this::ofHolder).toList());
            }

            @Override
            public ExtendResult extend(ExtendRequest request) {
                return super.extend(ofHolder(request));
            }

            private ExtendRequest ofHolder(ExtendRequest request) {
                KeyedLockId holder = holderInsteadOf(new KeyedLockId(request.key(), request.lockId()));
                return new ExtendRequest(holder.key(), holder.lockId(), request.ttl());
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
                    .flatMap(key -> lookup(key).stream())
                    .filter(lease -> lease.mode() == LockMode.EXCLUSIVE)
                    .map(lease -> new KeyedLockId(id.key(), lease.lockId()))
                    .findFirst()
                    .orElse(id);
        }
    }

    static LockBackend ownGrantMissed(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public AcquireResult acquire(AcquireRequest request) {
                return super.acquire(new AcquireRequest(
                        request.key(),
                        request.mode(),
                        request.permits(),
                        request.lockId(),
                        request.ttl(),
                        request.owner(),
                        request.handOver(),
                        false,
                        request.waiterNumber()));
            }
        };
    }

    static LockBackend lapsedExtended(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public List<ExtendResult> extend(List<ExtendRequest> requests) {
                List<ExtendResult> results = super.extend(requests);
                return IntStream.range(0, results.size())
                        .mapToObj(i -> reviving(results.get(i), requests.get(i)))
                        .toList();
            }

            @Override
            public ExtendResult extend(ExtendRequest request) {
                return reviving(super.extend(request), request);
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
            public AcquireResult acquire(AcquireRequest request) {
                AcquireResult result = super.acquire(request);
                if (result instanceof AcquireResult.Granted granted) {
                    last = granted.fence();
                }
                return result;
            }

            @Override
            public void connect(WakeUpListener listener) {
                super.connect(new ForwardingListener(listener) {
                    @Override
                    public void wake(long waiter) {
                        Instant now = Instant.now();
                        super.handOver(
                                waiter,
                                new AcquireResult.Granted(new Fence(last.value() + 1), now, now.plus(waiterTtl())));
                    }
                });
            }
        };
    }

    static LockBackend wakeUpsLost(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public void connect(WakeUpListener listener) {
                super.connect(new ForwardingListener(listener) {
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
            public AcquireResult acquire(AcquireRequest request) {
                return TransactionSynchronizationManager.isActualTransactionActive()
                        ? joining().acquire(request)
                        : super.acquire(request);
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
