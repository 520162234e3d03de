package io.syncguard.autoconfigure;

/**
 * Who creates the tables and functions in the database.
 */
enum SchemaManagement {

    /** Flyway, if the application has it and the tables are in the same database; else the library. */
    AUTO,

    /** The library, at the start, under a lock; it does nothing if they are up to date. */
    INITIALIZE,

    /** The application's Flyway, which gets the script's location and placeholders. */
    FLYWAY,

    /** The application's administrator. The start fails if they are missing. */
    NONE;

    /**
     * Whether the application's Flyway runs the script.
     *
     * @param marked whether the locks have a separate DataSource, which is most likely another database
     */
    boolean isLeftToFlyway(boolean hasFlyway, boolean marked) {
        return this == FLYWAY || this == AUTO && hasFlyway && !marked;
    }
}
