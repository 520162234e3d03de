package io.syncguard.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of locks, with their names and keys. A {@link LockObservationConvention} sets the key values.
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

    /** An acquisition, from the first attempt to the answer. */
    ACQUIRE("acquire"),

    /** The wait of an acquisition, from the refusal of the first attempt to the answer. A child of {@link #ACQUIRE}. */
    WAIT("wait"),

    /**
     * A lock, from its grant to its end, or to the end of its last body if that is later. Its bodies run in its scope.
     */
    HELD("held"),

    /** An extension by hand, or one of the heartbeat that did not succeed. A child of {@link #HELD}. */
    EXTEND("extend"),

    /** The release by the holder. A child of {@link #HELD}. */
    RELEASE("release");

    private final String operation;

    LockObservationDocumentation(String operation) {
        this.operation = operation;
    }

    @Override
    public String getName() {
        return "syncguard.lock." + operation;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return LowCardinalityKeys.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return HighCardinalityKeys.values();
    }

    @Override
    public Observation.Event[] getEvents() {
        return this == HELD ? Events.values() : EMPTY_EVENT_NAMES;
    }

    /** The word for the operation, such as {@code acquire}. */
    String operation() {
        return operation;
    }

    /** Keys with few values. Every observation has all of them. */
    public enum LowCardinalityKeys implements KeyName {

        /** The name of the annotation or the request. */
        NAME("syncguard.lock.name"),

        /** The mode: {@code exclusive} or {@code shared}. */
        MODE("syncguard.lock.mode"),

        /** The name of the backend, such as {@code postgres}. */
        BACKEND("syncguard.lock.backend"),

        /** The {@link io.syncguard.LockOutcome} in lower case; {@code unknown} before the end. */
        OUTCOME("syncguard.lock.outcome");

        private final String key;

        LowCardinalityKeys(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Keys with many values, for traces only. */
    public enum HighCardinalityKeys implements KeyName {

        /** The hash of the key, as lookups show it. */
        KEY_HASH("syncguard.lock.key.hash"),

        /** The fence of the grant, once there is one. */
        FENCE("syncguard.lock.fence"),

        /** The owner of the lock for which an acquisition waited, or because of which it was refused. */
        HOLDER_OWNER("syncguard.lock.holder.owner"),

        /**
         * The {@link io.syncguard.LockErrorCode} in lower case, or the class of another exception of a body. Absent
         * without an error, as OpenTelemetry asks.
         */
        ERROR_TYPE("error.type");

        private final String key;

        HighCardinalityKeys(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** The events of a lock that is held. */
    public enum Events implements Observation.Event {

        /** The lock was lost. Its bodies may still run. */
        LOST {
            @Override
            public String getName() {
                return "syncguard.lock.lost";
            }

            @Override
            public String getContextualName() {
                return "lock lost";
            }
        }
    }
}
