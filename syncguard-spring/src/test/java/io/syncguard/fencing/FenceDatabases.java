package io.syncguard.fencing;

import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Unpooled connections to new, empty databases of each kind. */
final class FenceDatabases {

    private FenceDatabases() {}

    static DataSource postgres() {
        return PostgresServer.newDatabase();
    }

    static DataSource h2() {
        return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    }

    static DataSource mariaDb() {
        return new DriverManagerDataSource(MariaDbServer.newDatabaseUrl());
    }

    /** MariaDB with the driver of MySQL. */
    static DataSource mySqlDriver() {
        return new DriverManagerDataSource(MariaDbServer.newDatabaseUrl().replace("jdbc:mariadb:", "jdbc:mysql:"));
    }

    /** HSQLDB: a database without a statement of its own. */
    static DataSource standard() {
        return new DriverManagerDataSource("jdbc:hsqldb:mem:" + UUID.randomUUID() + ";hsqldb.tx=mvcc");
    }
}
