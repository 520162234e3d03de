package io.syncguard.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/**
 * What differs between databases: the script of the table, and the statement.
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

    /** Where the script is on the class path: outside of db, which an application's Flyway may scan as a whole. */
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
