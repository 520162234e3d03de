package io.syncguard.autoconfigure;

/**
 * Who makes the tables and functions in the database.
 */
enum SchemaManagement {

    /** Flyway where the application has it, else the library. */
    AUTO,

    /** The library, at the start, under a lock; nothing is done when they are up to date. */
    INITIALIZE,

    /** The application's Flyway, which is given the script's location and placeholders. */
    FLYWAY,

    /** Somebody else. The start fails when they are missing. */
    NONE
}
