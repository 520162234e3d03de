package io.syncguard.portable;

import io.syncguard.core.ServerAnswersContract;
import io.syncguard.core.StoppedStore;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.util.UUID;
import org.junit.jupiter.api.Nested;

/** The portable store gives the answers of PostgreSQL's functions and of Redis' scripts, in each database. */
class PortableSameAnswersTests {

    private abstract static class Answers extends ServerAnswersContract {

        @Override
        protected boolean remembersLapsedLeases() {
            return true;
        }
    }

    @Nested
    class Postgres extends Answers {

        @Override
        protected StoppedStore newStore(FenceSource fences) {
            return new PortableStoppedStore(new PostgresDialect(), PostgresServer.newDatabaseUrl(), fences);
        }
    }

    @Nested
    class MariaDb extends Answers {

        @Override
        protected StoppedStore newStore(FenceSource fences) {
            return new PortableStoppedStore(new MySqlDialect(), MariaDbServer.newDatabaseUrl(), fences);
        }
    }

    @Nested
    class H2 extends Answers {

        @Override
        protected StoppedStore newStore(FenceSource fences) {
            String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
            return new PortableStoppedStore(new H2Dialect(), url, fences);
        }
    }
}
