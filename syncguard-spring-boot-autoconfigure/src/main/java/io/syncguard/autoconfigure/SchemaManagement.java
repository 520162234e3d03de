package io.syncguard.autoconfigure;

/**
 * Who makes the tables and functions in the database.
 */
enum SchemaManagement {

    /** Flyway where the application has it and the locks are in the same database, else the library. */
    AUTO,

    /** The library, at the start, under a lock; nothing is done when they are up to date. */
    INITIALIZE,

    /** The application's Flyway, which is given the script's location and placeholders. */
    FLYWAY,

    /** Somebody else. The start fails when they are missing. */
    NONE;

    /**
     * Whether the application's Flyway runs the script.
     *
     * @param marked whether the locks have a DataSource of their own, which is most likely another database
     */
    boolean isLeftToFlyway(boolean hasFlyway, boolean marked) {
        return this == FLYWAY || this == AUTO && hasFlyway && !marked;
    }
}
