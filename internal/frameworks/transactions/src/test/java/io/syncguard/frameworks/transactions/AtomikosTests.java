package io.syncguard.frameworks.transactions;

import com.atomikos.icatch.jta.UserTransactionManager;
import com.atomikos.jdbc.AtomikosDataSourceBean;
import org.postgresql.xa.PGXADataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.transaction.jta.JtaTransactionManager;

class AtomikosTests extends GlobalTransactionContract {

    AtomikosTests() {
        super(Atomikos.class, "Atomikos");
    }

    @Configuration(proxyBeanMethods = false)
    static class Atomikos {

        @Bean(destroyMethod = "close")
        @Primary
        AtomikosDataSourceBean shop(@Value("${shop.url}") String url, UserTransactionManager any) {
            return pool("shop", url);
        }

        @Bean(destroyMethod = "close")
        AtomikosDataSourceBean other(@Value("${other.url}") String url, UserTransactionManager any) {
            return pool("other", url);
        }

        @Bean(initMethod = "init", destroyMethod = "close")
        UserTransactionManager transactions() {
            return new UserTransactionManager();
        }

        @Bean
        JtaTransactionManager transactionManager(UserTransactionManager transactions) {
            return new JtaTransactionManager(transactions, transactions);
        }

        private static AtomikosDataSourceBean pool(String name, String url) {
            PGXADataSource source = new PGXADataSource();
            source.setUrl(url);
            AtomikosDataSourceBean pool = new AtomikosDataSourceBean();
            pool.setUniqueResourceName(name);
            pool.setXaDataSource(source);
            pool.setMaxPoolSize(10);
            return pool;
        }
    }
}
