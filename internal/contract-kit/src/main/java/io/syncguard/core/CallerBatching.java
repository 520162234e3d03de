package io.syncguard.core;

import io.syncguard.spi.Batching;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.StoreInfo;

/** Which requests of callers share a list with those of other threads. */
public enum CallerBatching {

    /** Requests share a list if they arrive while others are under way, as in an application. */
    AUTO,

    /** No requests share a list: races need a statement for each. */
    OFF,

    /** All requests are sent in lists, as far as possible. */
    ALWAYS;

    public StoreCalls on(LockBackend store) {
        StoreInfo info = store.info();
        Batching own = info.batching();
        Batching changed = switch (this) {
            case AUTO -> own;
            case OFF -> Batching.NONE;
            case ALWAYS -> new Batching(0, own.size());
        };
        return new StoreCalls(new Changed(
                store,
                new StoreInfo(
                        info.backend(),
                        info.timeout(),
                        info.waiterTtl(),
                        info.inDoubtPeriod(),
                        info.servers(),
                        changed)));
    }

    private static final class Changed extends ForwardingBackend {

        private final StoreInfo info;

        Changed(LockBackend store, StoreInfo info) {
            super(store);
            this.info = info;
        }

        @Override
        public StoreInfo info() {
            return info;
        }
    }
}
