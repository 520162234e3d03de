package io.syncguard.autoconfigure;

/**
 * Who creates the tables and functions in the database.
 */
enum SchemaManagement {

    /**
     * The library, after the application's migrations, with the rights of their user if that is on the same database.
     */
    AUTO,

    /** The library, with the rights of the locks' own user. */
    INITIALIZE,

    /** The application's Flyway, which gets the script's location and placeholders. */
    FLYWAY,

    /** The application's administrator. The start fails if they are missing. */
    NONE
}
