package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each block of the documents is run by a test, or is listed here. */
class DocumentBlockTests {

    /**
     * PropertyBlockTests, SqlBlockTests, DependencyBlockTests, CommandBlockTests, OperatorCommandTests (the answers in
     * JSON), and WalkThroughTests of the sample.
     */
    private static final Set<String> RUN =
            Set.of("properties", "yaml", "sql", "xml", "groovy", "sh", "redis-cli", "console", "json");

    /** Languages of which a block has to be a region of a file that a test compiles or runs. */
    private static final Set<String> REGIONS = Set.of("java", "kotlin", "redis");

    /** The beginnings of blocks that no reader pastes, or that a test of another module runs. */
    private static final List<String> PICTURES = List.of(
            "docs/design.md: ",
            "docs/observability.md: request",
            // RedisRightsTests
            "docs/security.md: ACL SETUSER");

    @Test
    void each_block_is_of_a_kind_that_a_test_runs() {
        assertThat(DocumentBlock.all())
                .hasSizeGreaterThan(100)
                .allMatch(block -> block.language().isEmpty()
                        ? PICTURES.stream().anyMatch(block.name()::startsWith)
                        : RUN.contains(block.language()) || isCompiled(block));
    }

    @Test
    void each_picture_exists() {
        assertThat(PICTURES)
                .allMatch(picture -> DocumentBlock.in("").stream()
                        .anyMatch(block -> block.name().startsWith(picture)));
    }

    private static boolean isCompiled(DocumentBlock block) {
        return REGIONS.contains(block.language()) && (block.isSample() || block.isSkeleton());
    }
}
