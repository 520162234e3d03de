package io.syncguard.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;
import org.springframework.jdbc.support.JdbcTransactionManager;

class TransactionManagerAotProcessorTests {

    @Test
    void the_data_source_of_a_transaction_manager_is_readable_in_an_image() {
        GenericApplicationContext application = new GenericApplicationContext();
        application.registerBean(JdbcTransactionManager.class);
        GenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("generated", "Application")), new InMemoryGeneratedFiles());

        new ApplicationContextAotGenerator().processAheadOfTime(application, generation);

        assertThat(reflection().onMethodInvocation(JdbcTransactionManager.class, "getDataSource"))
                .accepts(generation.getRuntimeHints());
    }
}
