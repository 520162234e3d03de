package io.syncguard.postgres;

import io.syncguard.spi.PoolStatus;
import javax.sql.DataSource;

/** A pool that tells how its connections are used. */
public interface PooledDataSource extends DataSource {

    PoolStatus status();
}
