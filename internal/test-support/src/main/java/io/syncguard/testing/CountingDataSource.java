package io.syncguard.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Counts the requests for a connection. Without a connection, the library can send no statement. */
public final class CountingDataSource extends DelegatingDataSource {

    private final AtomicLong asked = new AtomicLong();

    public CountingDataSource(DataSource target) {
        super(target);
    }

    public long asked() {
        return asked.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        asked.incrementAndGet();
        return super.getConnection();
    }
}
