package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import io.syncguard.LockTemplate;
import io.syncguard.test.LockTestControl;
import java.util.List;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurationImportSelector;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AnnotationAttributes;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** What slices import. Their annotations have other names in each generation of Spring Boot. */
class SliceTests {

    private static final String WEB_MVC = BootVersion.is3()
            ? "org.springframework.boot.test.autoconfigure.web.servlet."
            : "org.springframework.boot.webmvc.test.autoconfigure.";

    private static final String JDBC = BootVersion.is3()
            ? "org.springframework.boot.test.autoconfigure.jdbc.AutoConfigureJdbc"
            : "org.springframework.boot.jdbc.test.autoconfigure.AutoConfigureJdbc";

    @Test
    void that_of_controllers_has_problem_details_and_locks_in_memory() throws Exception {
        new WebApplicationContextRunner()
                .withUserConfiguration(WebMvc.class, Controller.class)
                .run(slice -> {
                    MockMvc mvc = slice.getBean(MockMvc.class);
                    assertThat(mvc.perform(post("/orders")).andReturn().getResponse().getContentAsString())
                            .isEqualTo("order:42");
                    slice.getBean(LockTestControl.class).refuseNextAcquire("order:42");

                    assertThat(mvc.perform(post("/orders")).andReturn().getResponse().getStatus())
                            .isEqualTo(409);
                });
    }

    @Configuration(proxyBeanMethods = false)
    @Import(WebMvc.Imports.class)
    static class WebMvc {

        static final class Imports extends SliceImports {

            Imports() {
                super(WEB_MVC + "AutoConfigureWebMvc", WEB_MVC + "AutoConfigureMockMvc");
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Jdbc.Imports.class)
    static class Jdbc {

        static final class Imports extends SliceImports {

            Imports() {
                super(JDBC);
            }
        }
    }

    /** Imports the classes that the annotation imports. */
    abstract static class SliceImports extends AutoConfigurationImportSelector {

        private final List<String> annotations;

        SliceImports(String... annotations) {
            this.annotations = List.of(annotations);
        }

        @Override
        protected List<String> getCandidateConfigurations(
                AnnotationMetadata metadata, AnnotationAttributes attributes) {
            return annotations.stream()
                    .map(name -> ClassUtils.resolveClassName(name, null))
                    .flatMap(slice ->
                            StreamSupport.stream(ImportCandidates.load(slice, null).spliterator(), false))
                    .map(name -> name.replace("optional:", ""))
                    .filter(name -> ClassUtils.isPresent(name, null))
                    .toList();
        }

        @Override
        protected AnnotationAttributes getAttributes(AnnotationMetadata metadata) {
            return new AnnotationAttributes();
        }

        @Override
        protected Set<String> getExclusions(AnnotationMetadata metadata, AnnotationAttributes attributes) {
            return Set.of();
        }
    }

    @RestController
    static class Controller {

        private final LockTemplate locks;

        Controller(LockTemplate locks) {
            this.locks = locks;
        }

        @PostMapping("/orders")
        String submit() {
            return locks.execute("order:42", lock -> lock.key());
        }
    }
}
