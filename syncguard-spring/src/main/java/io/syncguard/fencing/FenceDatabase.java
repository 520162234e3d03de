package io.syncguard.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/**
 * The kinds of databases. Each has its own script for the table, and its own statement for a check.
 */
enum FenceDatabase {
    POSTGRESQL,
    MYSQL,
    H2,
    STANDARD;

    static FenceDatabase of(Connection connection) throws SQLException {
        return ofProduct(connection.getMetaData().getDatabaseProductName());
    }

    static FenceDatabase ofProduct(String product) {
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "postgresql" -> POSTGRESQL;
            case "mysql", "mariadb" -> MYSQL;
            case "h2" -> H2;
            default -> STANDARD;
        };
    }

    /**
     * The folder of the script on the class path. It is outside of {@code db}, which an application's Flyway may scan
     * as a whole.
     */
    String location() {
        return switch (this) {
            case POSTGRESQL -> "syncguard/fences/postgresql";
            case MYSQL -> "syncguard/fences/mysql";
            case H2 -> "syncguard/fences/h2";
            case STANDARD -> "syncguard/fences/standard";
        };
    }

    FenceStatement statement(FenceTable table) {
        return switch (this) {
            case POSTGRESQL -> new ReturningStatement(table.fill(ReturningStatement.POSTGRESQL));
            case MYSQL -> new MySqlStatement(table);
            case H2 -> new ReturningStatement(table.fill(ReturningStatement.H2));
            case STANDARD -> new StandardStatement(table);
        };
    }
}
