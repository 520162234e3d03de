package io.syncguard.frameworks.transactions;

import com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple;
import com.arjuna.ats.jta.TransactionManager;
import com.arjuna.ats.jta.UserTransaction;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.narayana.NarayanaTransactionIntegration;
import java.sql.SQLException;
import org.postgresql.xa.PGXADataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.transaction.jta.JtaTransactionManager;

class NarayanaTests extends GlobalTransactionContract {

    NarayanaTests() {
        super(Narayana.class, "JBossTS");
    }

    @Configuration(proxyBeanMethods = false)
    static class Narayana {

        @Bean
        @Primary
        AgroalDataSource shop(@Value("${shop.url}") String url) throws SQLException {
            return pool(url);
        }

        @Bean
        AgroalDataSource other(@Value("${other.url}") String url) throws SQLException {
            return pool(url);
        }

        @Bean
        JtaTransactionManager transactionManager() {
            return new JtaTransactionManager(
                    UserTransaction.userTransaction(), TransactionManager.transactionManager());
        }

        private static AgroalDataSource pool(String url) throws SQLException {
            return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                    .connectionPoolConfiguration(pool -> pool.maxSize(10)
                            .transactionIntegration(new NarayanaTransactionIntegration(
                                    TransactionManager.transactionManager(),
                                    new TransactionSynchronizationRegistryImple()))
                            .connectionFactoryConfiguration(
                                    factory -> factory.jdbcUrl(url).connectionProviderClass(PGXADataSource.class))));
        }
    }
}
